"""What grows with the batch and the length: activations, logits, attention scores, the KV cache and what it adds."""

from __future__ import annotations

from typing import Final

from sitegen.memory.formulas.arithmetic import Value, least
from sitegen.memory.formulas.formula import counted
from sitegen.memory.formulas.symbols import BYTES

_KORTHIKANTI: Final = "Korthikanti et al., Reducing Activation Recomputation, 2022, table 2: arXiv 2205.05198"
_GQA: Final = "Ainslie et al., GQA, 2023, section 2: arXiv 2305.13245"
_SHAPE: Final = "the shape of the tensor"


@counted("A", "activations, 16 bits", BYTES, _KORTHIKANTI)
def korthikanti_bytes(sequence_length: Value, batch_size: Value, layers: Value, hidden: Value, heads: Value) -> Value:
    """The published ``s·b·h·L·(34 + 5·a·s/h)``, with h brought inside so that no division is left."""
    return sequence_length * batch_size * layers * (34 * hidden + 5 * heads * sequence_length)


@counted("A", "activations, 16 bits, attention recalculée", BYTES, _KORTHIKANTI)
def korthikanti_selective_bytes(sequence_length: Value, batch_size: Value, layers: Value, hidden: Value) -> Value:
    """With selective recomputation, or an attention that never holds its scores."""
    return 34 * sequence_length * batch_size * layers * hidden


@counted("A", "activations, 16 bits, couches recalculées", BYTES, _KORTHIKANTI)
def korthikanti_checkpointed_bytes(sequence_length: Value, batch_size: Value, layers: Value, hidden: Value) -> Value:
    """With full recomputation: the input of each layer."""
    return 2 * sequence_length * batch_size * layers * hidden


@counted("A", "scores d’attention d’une couche", BYTES, _SHAPE)
def attention_scores_bytes(batch_size: Value, heads: Value, sequence_length: Value, number_bytes: Value) -> Value:
    """The matrix that eager attention holds in each layer."""
    return batch_size * heads * sequence_length**2 * number_bytes


@counted("A", "logits", BYTES, _SHAPE)
def logits_bytes(batch_size: Value, sequence_length: Value, vocabulary: Value, number_bytes: Value) -> Value:
    """One copy of the logits of every position."""
    return batch_size * sequence_length * vocabulary * number_bytes


@counted("C_1", "cache KV d’un jeton", BYTES, _GQA)
def kv_token_bytes(layers: Value, kv_heads: Value, head_size: Value, number_bytes: Value) -> Value:
    """Keys and values of one token in every layer."""
    return 2 * layers * kv_heads * head_size * number_bytes


@counted("C", "cache KV", BYTES, _GQA)
def kv_cache_bytes(
    batch_size: Value, sequence_length: Value, layers: Value, kv_heads: Value, head_size: Value, number_bytes: Value
) -> Value:
    """Keys and values of every token in every layer."""
    return 2 * batch_size * sequence_length * layers * kv_heads * head_size * number_bytes


@counted("C", "cache KV, couches à fenêtre", BYTES, "Mistral 7B, 2023, section 2: arXiv 2310.06825; and " + _GQA)
def kv_windowed_bytes(  # noqa: PLR0913, PLR0917 - one argument a dimension
    batch_size: Value,
    sequence_length: Value,
    window: Value,
    full_layers: Value,
    window_layers: Value,
    kv_heads: Value,
    head_size: Value,
    number_bytes: Value,
) -> Value:
    """The same when some layers keep only the last tokens, a window of them."""
    tokens = full_layers * sequence_length + window_layers * least(sequence_length, window)
    return 2 * batch_size * tokens * kv_heads * head_size * number_bytes


@counted("V", "mémoire d’inférence", BYTES, "weights and cache are resident together while text is generated")
def inference_bytes(weights: Value, cache: Value) -> Value:
    """What generating text keeps: the weights and the cache; a step's own temporaries come on top."""
    return weights + cache
