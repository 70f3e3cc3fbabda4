"""How many parameters a decoder has, from the dimensions of its configuration."""

from __future__ import annotations

from typing import Final

from sitegen.memory.formulas.arithmetic import Value
from sitegen.memory.formulas.formula import counted

_LLAMA: Final = "Touvron et al., LLaMA, 2023, section 2.2: arXiv 2302.13971; transformers, modeling_llama"
_MIXTRAL: Final = "Jiang et al., Mixtral of Experts, 2024, section 2: arXiv 2401.04088; transformers, modeling_mixtral"
_GPT2: Final = "Radford et al., 2019, section 2.3; transformers, modeling_gpt2"
_QWEN: Final = "Qwen2 and Qwen3 technical reports: arXiv 2407.10671, 2505.09388; transformers, modeling_qwen2, _qwen3"
_NAME: Final = "paramètres"


@counted("P_l", "poids des projections", "", _LLAMA)
def projection_weights(
    layers: Value, hidden: Value, intermediate: Value, heads: Value, kv_heads: Value, head_size: Value
) -> Value:
    """Weights of q, k, v, o, gate, up and down in every layer: those that QLoRA packs."""
    attention = 2 * hidden * heads * head_size + 2 * hidden * kv_heads * head_size
    return layers * (attention + 3 * hidden * intermediate)


@counted("P", _NAME, "", _LLAMA)
def llama_parameters(  # noqa: PLR0913, PLR0917 - one argument a dimension
    vocabulary_tables: Value,
    vocabulary: Value,
    layers: Value,
    hidden: Value,
    intermediate: Value,
    heads: Value,
    kv_heads: Value,
    head_size: Value,
) -> Value:
    """Of a llama-like decoder: tables, projections, two norms a layer and the last one; no bias."""
    attention = 2 * hidden * heads * head_size + 2 * hidden * kv_heads * head_size
    layer = attention + 3 * hidden * intermediate + 2 * hidden
    return vocabulary_tables * vocabulary * hidden + layers * layer + hidden


@counted("P", _NAME, "", _MIXTRAL)
def mixtral_parameters(  # noqa: PLR0913, PLR0917 - one argument a dimension
    vocabulary_tables: Value,
    vocabulary: Value,
    layers: Value,
    hidden: Value,
    intermediate: Value,
    experts: Value,
    heads: Value,
    kv_heads: Value,
    head_size: Value,
) -> Value:
    """Of a mixture of experts: the attention is shared, every expert is resident, a router chooses."""
    attention = 2 * hidden * heads * head_size + 2 * hidden * kv_heads * head_size
    layer = attention + experts * (3 * hidden * intermediate + hidden) + 2 * hidden
    return vocabulary_tables * vocabulary * hidden + layers * layer + hidden


@counted("P", _NAME, "", _GPT2)
def gpt2_parameters(
    vocabulary_tables: Value, vocabulary: Value, positions: Value, layers: Value, hidden: Value
) -> Value:
    """Of GPT-2: learned positions, an intermediate width of four times the hidden one, biases everywhere."""
    layer = 12 * hidden**2 + 13 * hidden
    return (vocabulary_tables * vocabulary + positions) * hidden + layers * layer + 2 * hidden


@counted("P_b", "biais des projections q, k et v", "", _QWEN)
def qkv_biases(layers: Value, heads: Value, kv_heads: Value, head_size: Value) -> Value:
    """What Qwen2 adds to a llama-like decoder."""
    return layers * (heads + 2 * kv_heads) * head_size


@counted("P_n", "normes des requêtes et des clés", "", _QWEN)
def query_key_norms(layers: Value, head_size: Value) -> Value:
    """What Qwen3 adds to a llama-like decoder."""
    return 2 * layers * head_size
