"""LoRA adapters, and the quantised weights that they are trained over."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sitegen.memory.formulas.arithmetic import Value, ceil_div
from sitegen.memory.formulas.formula import computed, counted
from sitegen.memory.formulas.symbols import BYTES

_LORA: Final = "Hu et al., LoRA, 2021, section 4: arXiv 2106.09685"
_QLORA: Final = "Dettmers et al., QLoRA, 2023, section 3: arXiv 2305.14314"
_FORMAT: Final = "OCP Microscaling Formats, version 1.0, section 5, and " + _QLORA
_NF4_BLOCK: Final = 64
_NF4_OUTER_BLOCK: Final = 256

NF4_CODE_BYTES: Final = 16 * 4
"""The code book that bitsandbytes keeps for each matrix: 16 float32."""
NF4_DOUBLE_BYTES: Final = 256 * 4 + 4
"""What double quantisation adds to it: a code book of 256 float32 and the float32 mean of the scales."""


@counted("P_a", "paramètres de l’adaptateur", "", _LORA)
def lora_parameters(rank: Value, inputs: Value, outputs: Value) -> Value:
    """Of one adapted matrix: A is rank × inputs, B is outputs × rank."""
    return rank * (inputs + outputs)


@dataclass(frozen=True, slots=True)
class Matrix:
    """A matrix that LoRA may target; `inputs` and `outputs` name the dimensions whose product is each width."""

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def widths(self, dimensions: Mapping[str, int]) -> tuple[int, int]:
        """Its input and output widths for a model of these dimensions, by the names of the symbols."""
        return math.prod(dimensions[name] for name in self.inputs), math.prod(dimensions[name] for name in self.outputs)


_QUERIES: Final = ("heads", "head_size")
_KEYS: Final = ("kv_heads", "head_size")

PROJECTIONS: Final = (
    Matrix("q_proj", ("hidden",), _QUERIES),
    Matrix("k_proj", ("hidden",), _KEYS),
    Matrix("v_proj", ("hidden",), _KEYS),
    Matrix("o_proj", _QUERIES, ("hidden",)),
    Matrix("gate_proj", ("hidden",), ("intermediate",)),
    Matrix("up_proj", ("hidden",), ("intermediate",)),
    Matrix("down_proj", ("intermediate",), ("hidden",)),
)
"""The projections of a llama-like layer (transformers, modeling_llama): grouped queries make k and v narrower."""


@counted("P_m", "paramètres de l’adaptateur d’une matrice ciblée, dans toutes les couches", "", _LORA)
def lora_matrix_parameters(rank: Value, layers: Value, inputs: Value, outputs: Value) -> Value:
    """Of one targeted matrix, which every layer has: the adapter is their sum over the targets."""
    return rank * layers * (inputs + outputs)


@counted("P_a", "paramètres de l’adaptateur sur les sept projections", "", _LORA)
def lora_seven_parameters(  # noqa: PLR0913, PLR0917 - one argument a dimension
    rank: Value, layers: Value, hidden: Value, intermediate: Value, heads: Value, kv_heads: Value, head_size: Value
) -> Value:
    """Of q, k, v, o, gate, up and down in every layer of a llama-like decoder."""
    attention = 2 * (hidden + heads * head_size) + 2 * (hidden + kv_heads * head_size)
    return rank * layers * (attention + 3 * (hidden + intermediate))


@counted("F", "octets de l’adaptateur", BYTES, _LORA)
def adapter_bytes(adapter: Value, number_bytes: Value) -> Value:
    """Its weights, gradients and two moments: peft keeps them in float32 over 16-bit weights."""
    return 4 * adapter * number_bytes


@counted("F", "facture fixe d’un adaptateur", BYTES, _LORA)
def adapter_bill(parameters: Value, number_bytes: Value, adapter: Value, adapter_bytes: Value) -> Value:
    """Frozen weights, which have neither gradient nor state, and the adapter's own."""
    return parameters * number_bytes + 4 * adapter * adapter_bytes


@computed("q_t", "bits par poids, échelles comprises", "bits", _FORMAT)
def block_bits(bits: Value, scale_bits: Value, block: Value) -> Value:
    """Of weights quantised by blocks that share a scale."""
    return bits + scale_bits / block


@computed("q_t", "bits par poids, échelles quantifiées comprises", "bits", _QLORA)
def double_block_bits(
    bits: Value, scale_bits: Value, block: Value, outer_scale_bits: Value, outer_block: Value
) -> Value:
    """The same with double quantisation: the scales are quantised by blocks in their turn."""
    return bits + scale_bits / block + outer_scale_bits / (block * outer_block)


@counted("W", "octets d’une matrice en NF4", BYTES, _QLORA)
def nf4_bytes(elements: Value) -> Value:
    """Half a byte a weight and a float32 scale for 64; the code book is apart (`NF4_CODE_BYTES`)."""
    return ceil_div(elements, 2) + 4 * ceil_div(elements, _NF4_BLOCK)


@counted("W", "octets d’une matrice en NF4, double quantification", BYTES, _QLORA)
def nf4_double_bytes(elements: Value) -> Value:
    """Half a byte a weight, a scale of one byte for 64, a float32 for 256 scales; code books are apart."""
    scales = ceil_div(elements, _NF4_BLOCK)
    return ceil_div(elements, 2) + scales + 4 * ceil_div(scales, _NF4_OUTER_BLOCK)


@counted("P_b", "éléments bruts d’un modèle empaqueté", "", "two 4-bit weights in a byte; bitsandbytes, Params4bit")
def packed_elements(unpacked: Value, packed: Value) -> Value:
    """What counting tensor elements gives once some of the weights are packed: each pair counts for one."""
    return unpacked + ceil_div(packed, 2)
