"""What the usual rules and other calculators say of a training run: their published formulas, one function each.

Every function takes a `Setting` and gives bytes, or ``None`` where its source does not cover the method. All of them
assume Adam. None of this is our estimate.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, NamedTuple

from sitegen.units import GB_BYTES, MIB_BYTES


class Setting(NamedTuple):
    """A run in the terms of the rules: `weight_bytes` a parameter as loaded (0.5 for 4 bits), one GPU.

    `checkpointing` says that layers are recomputed in the backward.
    """

    method: str
    parameters: int
    adapter_parameters: int
    weight_bytes: float
    checkpointing: bool
    batch_size: int
    sequence_length: int
    hidden: int
    intermediate: int
    layers: int
    heads: int
    vocabulary: int

    @property
    def token_layers(self) -> int:
        """Positions times layers times hidden size, ``s·b·h·L``."""
        return self.sequence_length * self.batch_size * self.hidden * self.layers

    @property
    def scores(self) -> float:
        """Positions times heads over hidden size, ``a·s/h``: what attention scores weigh beside a token's vector."""
        return self.heads * self.sequence_length / self.hidden

    @property
    def trains_all(self) -> bool:
        """Whether every parameter trains."""
        return self.method == "full"


def four_times_weights(setting: Setting) -> float | None:
    """Weights as loaded, four times: the column « Training using Adam » of ``accelerate estimate-memory``."""
    return 4 * setting.weight_bytes * setting.parameters if setting.trains_all else None


def sixteen_bytes(setting: Setting) -> float:
    """16 bytes a parameter that trains (Rajbhandari et al., ZeRO, 2020, section 3.1), frozen weights as loaded."""
    if setting.trains_all:
        return 16 * setting.parameters
    return setting.weight_bytes * setting.parameters + 16 * setting.adapter_parameters


def korthikanti(setting: Setting) -> float:
    """The rule of 16 bytes, and activations: ``s·b·h·L·(34 + 5·a·s/h)``, ``2·s·b·h·L`` when layers are recomputed.

    Korthikanti et al., Reducing Activation Recomputation in Large Transformer Models, 2022, table 2.
    """
    each = 2 if setting.checkpointing else 34 + 5 * setting.scores
    return sixteen_bytes(setting) + each * setting.token_layers


def eleuther(setting: Setting) -> float | None:
    """2 + 4 + 12 bytes a parameter, ``34·s·b·h·L`` and without checkpointing the scores; the true parameter count."""
    each = 34 if setting.checkpointing else 34 + 5 * setting.scores
    return 18 * setting.parameters + each * setting.token_layers if setting.trains_all else None


def llama_factory(setting: Setting) -> float | None:
    """GB for `x` billion parameters: full 18x, 8x in pure bf16; LoRA on 16 bits 2x; QLoRA on 4 bits x/2."""
    each = _LLAMA_FACTORY.get((setting.method, setting.weight_bytes))
    return None if each is None else each * setting.parameters / 1e9 * GB_BYTES


_LLAMA_FACTORY: Final = {("full", 4.0): 18.0, ("full", 2.0): 8.0, ("lora", 2.0): 2.0, ("qlora", 0.5): 0.5}
"""By method and bytes a weight as loaded: the lines of its table."""


def deepspeed(setting: Setting) -> float | None:
    """4 bytes a parameter and 16 more on one GPU, stage 2 without offload; full training."""
    return 20 * setting.parameters if setting.trains_all else None


_GPU_POOR_4_BITS: Final = 2 * (1 / 4 - 1 / 64 + 0.06)
"""Bytes a parameter of QLoRA's weights: a quarter of 16 bits, less a 64th, and 6 % beside."""


def gpu_poor(setting: Setting) -> float:
    """Its own parameter count at 16 bits, gradients and Adam, its activations (15 % if recomputed), 650 MiB beside."""
    h, i, layers = setting.hidden, setting.intermediate, setting.layers
    parameters = 2 * setting.vocabulary * h + layers * (4 * h * h + 3 * i * h)
    weights = _GPU_POOR_4_BITS if setting.method == "qlora" else 2.0
    state = {
        "full": 3 * 2.0 * parameters,
        "lora": layers * 8 * h * 2 * 4 * 3 * 2.0,
        "qlora": layers * 8 * h * 0.5 * 4 * 3 + _gpu_poor_quantisation(setting),
    }[setting.method]
    kept = 0.15 if setting.checkpointing else 1.0
    return parameters * weights + state + kept * _gpu_poor_activations(setting) + 650 * MIB_BYTES


def _gpu_poor_activations(setting: Setting) -> float:
    """Attention, feed-forward and norms of every layer at 2 bytes an element, scores at 4 more."""
    s, h, i = setting.sequence_length, setting.hidden, setting.intermediate
    attention = s * h * 8 * 2 + s * s * setting.heads * (2 + 4 + 2)
    layer = attention + s * h * 2 * 2 + s * i * 6 * 2 + s * 8 + s * h * 6 * 2
    return float(layer * setting.layers * setting.batch_size)


def _gpu_poor_quantisation(setting: Setting) -> float:
    """What it adds for the unpacking of 4-bit weights, in the square root of the length."""
    widths = (15 * setting.hidden + 6 * setting.intermediate) * setting.layers
    return 0.75 * widths * 50 * math.sqrt(max(setting.sequence_length / 50, 1)) * setting.batch_size


class Peer(NamedTuple):
    """A rule or a calculator: its name, where its formula is published, the formula."""

    name: str
    source: str
    bytes_of: Callable[[Setting], float | None]


_GITHUB: Final = "https://github.com/"
PEERS: Final = (
    Peer(
        "accelerate estimate-memory",
        "https://huggingface.co/docs/accelerate/usage_guides/model_size_estimator",
        four_times_weights,
    ),
    Peer("16 octets par paramètre", "https://arxiv.org/abs/1910.02054", sixteen_bytes),
    Peer("Korthikanti et al. + 16 octets", "https://arxiv.org/abs/2205.05198", korthikanti),
    Peer("EleutherAI cookbook", f"{_GITHUB}EleutherAI/cookbook/blob/main/calc/calc_transformer_mem.py", eleuther),
    Peer("LLaMA-Factory", f"{_GITHUB}hiyouga/LLaMA-Factory#hardware-requirement", llama_factory),
    Peer("DeepSpeed ZeRO-2", "https://deepspeed.readthedocs.io/en/latest/memory.html", deepspeed),
    Peer("gpu_poor", f"{_GITHUB}RahulSChand/gpu_poor/blob/main/src/App.js", gpu_poor),
)
