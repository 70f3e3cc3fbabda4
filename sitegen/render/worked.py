"""The worked example: a model of 7 billion parameters, which was not run here.

It is the formula's arithmetic, whose bytes a parameter come from `sitegen.memory.formulas`.
"""

from __future__ import annotations

from typing import Final

from sitegen.french import NO_BREAK, number
from sitegen.memory import formulas
from sitegen.memory.formulas import (
    DEFAULT_PARAMETERS_BILLIONS,
    EXAMPLE_ACTIVATIONS_GB,
    MIXED_ADAM,
    PURE_16BIT_ADAM,
    training_vram,
)
from sitegen.records.case import Case
from sitegen.units import GB_BYTES, MIB_BYTES

VOCABULARY: Final = 49_152
_DIMENSIONS: Final = {
    "layers": 30,
    "hidden": 576,
    "intermediate": 1536,
    "heads": 9,
    "kv_heads": 3,
    "head_size": 64,
}
"""Of SmolLM2-135M-Instruct, from its configuration."""
PARAMETERS: Final = formulas.llama_parameters(vocabulary_tables=1, vocabulary=VOCABULARY, **_DIMENSIONS)
_PACKED: Final = formulas.projection_weights(**_DIMENSIONS)
PACKED_BYTES: Final = formulas.nf4_double_bytes(_PACKED)
"""The seven projections in NF4 with double quantisation; code books left out."""
KEPT_BYTES: Final = formulas.weights_bytes(PARAMETERS - _PACKED, 4)
"""The embeddings and the norms, which the preparation for k-bit training turns into float32."""
_LOGIT_BYTES: Final = 4
SMALL_MACHINE_BYTES: Final = 8 * GB_BYTES
SMALL_CARD_BYTES: Final = 24 * GB_BYTES
LARGE_CARD_BYTES: Final = 80 * GB_BYTES
LARGER_CARDS_BYTES: Final = (141 * GB_BYTES, 192 * GB_BYTES)
"""Nominal capacities, as sold."""
L4_BYTES: Final = 23_034 * MIB_BYTES
RTX_4090_BYTES: Final = 24_564 * MIB_BYTES
"""What the driver of two cards sold as of 24 Go reports."""

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
    return formulas.logits_bytes(case.batch_size, case.sequence_length, VOCABULARY, _LOGIT_BYTES)


def adapter_share(rank: int) -> float:
    """Parameters of an adapter on the seven projections, over those of the model."""
    return formulas.lora_seven_parameters(rank, **_DIMENSIONS) / PARAMETERS


def billions(value: float) -> str:
    """A count of parameters: ``7 milliards``."""
    return f"{number(value)}{NO_BREAK}milliards"


def card(size_bytes: int) -> str:
    """What a card really holds, with one decimal: ``24,2 Go``."""
    return f"{number(size_bytes / GB_BYTES, 1)}{NO_BREAK}Go"


def bytes_a_parameter(value: float) -> str:
    """``16 octets``."""
    return f"{number(value)}{NO_BREAK}octets"


def query_value_parameters(rank: int) -> int:
    """Parameters of an adapter on q_proj and v_proj of the measured model."""
    hidden, head_size = _DIMENSIONS["hidden"], _DIMENSIONS["head_size"]
    queries = formulas.lora_parameters(rank, hidden, _DIMENSIONS["heads"] * head_size)
    values = formulas.lora_parameters(rank, hidden, _DIMENSIONS["kv_heads"] * head_size)
    return _DIMENSIONS["layers"] * (queries + values)
