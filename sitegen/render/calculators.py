"""The calculators that a page may ask for: a new one is a module that describes it, a script, and one line here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sitegen.render.calculator import Calculator
from sitegen.render.calculator_inference import inference_vram
from sitegen.render.calculator_lora import lora_parameters
from sitegen.render.calculator_training import training_vram

CALCULATORS: Final[dict[str, Callable[[], Calculator]]] = {
    "training_vram": training_vram,
    "inference_vram": inference_vram,
    "lora_parameters": lora_parameters,
}
SCRIPTED: Final = (
    "model_gb",
    "total_gb",
    "weights_bytes",
    "kv_windowed_bytes",
    "inference_bytes",
    "lora_matrix_parameters",
    "adapter_bytes",
)
"""The formulas that their scripts call."""
