"""The worked example: a model of 7 billion parameters, which was not run here.

It is the formula's arithmetic, whose bytes a parameter come from `sitegen.memory.formulas`.
"""

from __future__ import annotations

from typing import Final

from sitegen.french import NO_BREAK, number
from sitegen.memory.formulas import (
    DEFAULT_PARAMETERS_BILLIONS,
    EXAMPLE_ACTIVATIONS_GB,
    MIXED_ADAM,
    PURE_16BIT_ADAM,
    training_vram,
)
from sitegen.records.case import Case
from sitegen.units import GB_BYTES

VOCABULARY: Final = 49_152
"""Of SmolLM2-135M-Instruct, from its configuration."""
SMALL_MACHINE_BYTES: Final = 8 * GB_BYTES
SMALL_CARD_BYTES: Final = 24 * GB_BYTES
LARGE_CARD_BYTES: Final = 80 * GB_BYTES
"""Nominal capacities, as sold: the real ones differ by a few percent."""

RUN_BYTES_PER_PARAMETER: Final = PURE_16BIT_ADAM.shares[0].bytes_per_parameter
"""The 16-bit weights alone."""

_RUN = training_vram(DEFAULT_PARAMETERS_BILLIONS, RUN_BYTES_PER_PARAMETER, EXAMPLE_ACTIVATIONS_GB)
_PURE = training_vram(DEFAULT_PARAMETERS_BILLIONS, PURE_16BIT_ADAM.bytes_per_parameter, EXAMPLE_ACTIVATIONS_GB)
_MIXED = training_vram(DEFAULT_PARAMETERS_BILLIONS, MIXED_ADAM.bytes_per_parameter, EXAMPLE_ACTIVATIONS_GB)

WEIGHTS_BYTES: Final = round(_RUN.model * GB_BYTES)
PURE_BYTES: Final = round(_PURE.model * GB_BYTES)
MIXED_BYTES: Final = round(_MIXED.model * GB_BYTES)
ACTIVATIONS_BYTES: Final = round(_MIXED.activations * GB_BYTES)
TOTAL_BYTES: Final = round(_MIXED.total * GB_BYTES)
ADAPTER_TOTAL_BYTES: Final = round(_RUN.total * GB_BYTES)
"""Frozen 16-bit weights and the activations; the adapter's own bytes are left out, being a few tens of millions."""


def logits_bytes(case: Case) -> int:
    """The float32 logits of every position, in bytes."""
    return case.batch_size * case.sequence_length * VOCABULARY * 4


def billions(value: float) -> str:
    """A count of parameters: ``7 milliards``."""
    return f"{number(value)}{NO_BREAK}milliards"


def bytes_a_parameter(value: float) -> str:
    """``16 octets``."""
    return f"{number(value)}{NO_BREAK}octets"
