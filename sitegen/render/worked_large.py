"""The worked example of the companion articles: Llama 3.1 8B, which was not run here.

Its dimensions come from the catalogue, its bytes from `sitegen.memory.formulas`: all of it is arithmetic.
"""

from __future__ import annotations

from typing import Any, Final

from sitegen.memory import catalogue, formulas
from sitegen.units import MIB_BYTES

_MODEL: Final = catalogue.model("llama-3.1-8b")
_CONFIG: Final[dict[str, Any]] = _MODEL.config
_LAYERS: Final[int] = _CONFIG["num_hidden_layers"]
_HIDDEN: Final[int] = _CONFIG["hidden_size"]
_HEADS: Final[int] = _CONFIG["num_attention_heads"]
_KV_HEADS: Final[int] = _CONFIG["num_key_value_heads"]
_HEAD_SIZE: Final = _HIDDEN // _HEADS

NAME: Final = _MODEL.name
PARAMETERS: Final = _MODEL.parameters
VOCABULARY: Final[int] = _CONFIG["vocab_size"]
PROJECTIONS: Final = formulas.projection_weights(
    _LAYERS, _HIDDEN, _CONFIG["intermediate_size"], _HEADS, _KV_HEADS, _HEAD_SIZE
)
"""The weights of the seven projections: those that QLoRA packs; embeddings, head and norms stay as they are."""
KEPT: Final = PARAMETERS - PROJECTIONS

TOKENS: Final = 8192
BATCH: Final = 4
LENGTH: Final = 4096

NF4_BITS: Final = formulas.block_bits(4, 32, 64)
NF4_DOUBLE_BITS: Final = formulas.double_block_bits(4, 8, 64, 32, 256)

BFLOAT16_BYTES: Final = formulas.weights_bytes(PARAMETERS, 2)
NAIVE_4BIT_BYTES: Final = PARAMETERS // 2
"""Half a byte for every parameter: what « 4 bits » seems to promise."""
NF4_BYTES: Final = formulas.nf4_bytes(PROJECTIONS) + formulas.weights_bytes(KEPT, 2)
NF4_DOUBLE_BYTES: Final = formulas.nf4_double_bytes(PROJECTIONS) + formulas.weights_bytes(KEPT, 2)
PREPARED_BYTES: Final = formulas.nf4_double_bytes(PROJECTIONS) + formulas.weights_bytes(KEPT, 4)
"""After `prepare_model_for_kbit_training`, which turns what is not packed into float32."""

CHECKPOINTS_BYTES: Final = formulas.korthikanti_checkpointed_bytes(LENGTH, BATCH, _LAYERS, _HIDDEN)
PREPARED_CHECKPOINTS_BYTES: Final = 2 * CHECKPOINTS_BYTES
"""The inputs of the layers that gradient checkpointing keeps: in 16 bits, then in the float32 of a prepared model."""

KV_TOKEN_BYTES: Final = formulas.kv_token_bytes(_LAYERS, _KV_HEADS, _HEAD_SIZE, 2)
KV_BYTES: Final = formulas.kv_cache_bytes(1, TOKENS, _LAYERS, _KV_HEADS, _HEAD_SIZE, 2)
LOGITS_BYTES: Final = formulas.logits_bytes(1, TOKENS, VOCABULARY, 4)

ELSEWHERE_BYTES: Final = round((7.92 * 1024 - 1.67 * 1024 - 124.28 - 156.00) * MIB_BYTES)
"""What is neither this process's nor free, where PyTorch printed « 7.92 GiB total capacity; 1.67 GiB already allocated;
156.00 MiB free; 124.28 MiB cached »: https://github.com/pytorch/pytorch/issues/29198, a card that others filled."""
