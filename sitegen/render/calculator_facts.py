"""What the calculators' pages say of their examples: arithmetic on dimensions of the catalogue, which no run backs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from sitegen.french import gigabytes, number, percent, ratio, size
from sitegen.memory import formulas
from sitegen.memory.shapes import shape
from sitegen.render import calculator_inference as inference
from sitegen.render import calculator_lora as lora
from sitegen.render.origins import Fact, Source

_CACHE: Final = Source("Calcul : rien de cela n’a été exécuté ici", "calculateurs/vram-inference/index.html#la-formule")
_ADAPTER: Final = Source(
    "Calcul : rien de cela n’a été exécuté ici", "calculateurs/parametres-lora/index.html#la-formule"
)
WINDOWED_MODEL: Final = "mistral-7b-v0.1"
WINDOWED_LENGTH: Final = 32_768
_SEVEN: Final = tuple(matrix.name for matrix in formulas.PROJECTIONS)

_model = shape(inference.EXAMPLE_MODEL)
_windowed = shape(WINDOWED_MODEL)
_weights = inference.weights_of(_model)
_cache = inference.cache_of(_model, inference.EXAMPLE_BATCH, inference.EXAMPLE_LENGTH)
_groups = _model.dimensions["heads"] // _model.dimensions["kv_heads"]
_adapter = lora.adapter_of(_model, lora.EXAMPLE_RANK, lora.EXAMPLE_TARGETS)
_adapter_seven = lora.adapter_of(_model, lora.EXAMPLE_RANK, _SEVEN)


def _cached(write: Callable[[Any], str], value: object) -> Fact:
    """A quantity of the page « VRAM d’inférence »."""
    return Fact(write, lambda _: value, "arithmetic", _CACHE)


def _adapted(write: Callable[[Any], str], value: object) -> Fact:
    """A quantity of the page « Paramètres LoRA »."""
    return Fact(write, lambda _: value, "arithmetic", _ADAPTER)


CALCULATOR_FACTS: Final[dict[str, Fact]] = {
    "kv_example_model": _cached(str, _model.name),
    "kv_example_batch": _cached(number, inference.EXAMPLE_BATCH),
    "kv_example_length": _cached(number, inference.EXAMPLE_LENGTH),
    "kv_example_weights": _cached(gigabytes, _weights),
    "kv_example_token": _cached(size, inference.cache_of(_model, 1, 1)),
    "kv_example_cache": _cached(gigabytes, _cache),
    "kv_example_total": _cached(gigabytes, formulas.inference_bytes(_weights, _cache)),
    "kv_example_groups": _cached(lambda v: ratio(v, 0), _groups),
    "kv_example_ungrouped": _cached(gigabytes, _cache * _groups),
    "kv_window_model": _cached(str, _windowed.name),
    "kv_window_length": _cached(number, WINDOWED_LENGTH),
    "kv_window": _cached(number, _windowed.window),
    "kv_window_cache": _cached(gigabytes, inference.cache_of(_windowed, 1, WINDOWED_LENGTH)),
    "kv_window_unbounded": _cached(
        gigabytes, inference.cache_of(_windowed, 1, _windowed.window) * WINDOWED_LENGTH // _windowed.window
    ),
    "lora_example_model": _adapted(str, _model.name),
    "lora_example_rank": _adapted(number, lora.EXAMPLE_RANK),
    "lora_example_parameters": _adapted(number, _adapter),
    "lora_example_share": _adapted(lambda v: percent(v, 2), _adapter / _model.parameters),
    "lora_example_file": _adapted(size, formulas.weights_bytes(_adapter, lora.FLOAT32_BYTES)),
    "lora_example_kept": _adapted(size, formulas.adapter_bytes(_adapter, lora.FLOAT32_BYTES)),
    "lora_example_seven": _adapted(number, _adapter_seven),
    "lora_example_seven_share": _adapted(lambda v: percent(v, 2), _adapter_seven / _model.parameters),
}
