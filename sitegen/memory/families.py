"""The families of models that tables are made for.

Symbols: b batch size, s sequence length, L layers, h hidden size, i intermediate size, m a routed expert's intermediate
size, V vocabulary, H attention heads, K key/value heads, d head size, R rotary dimensions of a head, P learned
positions, E experts, k experts a token, r rank of an adapter, W sliding window.
"""

from __future__ import annotations

from typing import Final

from sitegen.memory.family import Family, Flag, Requirement, Rule


def _plain(symbol: str, *keys: str) -> Rule:
    """A symbol that must be given."""
    return Rule(symbol=symbol, keys=keys)


_SIZES: Final = (
    _plain("L", "num_hidden_layers"),
    _plain("h", "hidden_size"),
    _plain("V", "vocab_size"),
    _plain("H", "num_attention_heads"),
)
_MLP: Final = _plain("i", "intermediate_size")
_GROUPS: Final = Rule(symbol="K", keys=("num_key_value_heads",), numerator="H")
_HEAD: Final = Rule(symbol="d", keys=("head_dim",), numerator="h", denominator="H")
_LLAMA: Final = (*_SIZES, _MLP, _GROUPS, _HEAD)
_WINDOW: Final = Rule(symbol="W", keys=("sliding_window",), constant=0)
_ROUTED: Final = Rule(symbol="k", keys=("num_experts_per_tok",))

_QV: Final = ("q_proj", "v_proj")
_ATTENTION: Final = ("q_proj", "k_proj", "v_proj", "o_proj")
_SEVEN: Final = (*_ATTENTION, "gate_proj", "up_proj", "down_proj")
_TARGETS: Final = {"q-v": _QV, "attention": _ATTENTION, "all-linear": _SEVEN}
_ATTENTION_ONLY: Final = {"q-v": _QV, "attention": _ATTENTION}


def _tie(default: bool) -> Flag:
    """Whether the output layer shares the embeddings' weights."""
    return Flag(keys=("tie_word_embeddings",), default=default, names=((True, "tied"), (False, "untied")))


_ACTIVATION: Final = Requirement(key="hidden_act", values=("silu", "swish"))
_GELU: Final = Requirement(key="hidden_activation", values=("gelu_pytorch_tanh",))
_NO_BIAS: Final = Requirement(key="attention_bias", values=(False,))
_NO_MLP_BIAS: Final = Requirement(key="mlp_bias", values=(False,))
_NO_DROPOUT: Final = Requirement(key="attention_dropout", values=(0,))
_NO_WINDOW: Final = Requirement(key="use_sliding_window", values=(False,))
_SILU: Final = (_ACTIVATION, _NO_DROPOUT)

FAMILIES: Final[dict[str, Family]] = {
    family.name: family
    for family in (
        Family(
            name="llama",
            rules=_LLAMA,
            targets=_TARGETS,
            flags=(_tie(False),),
            requirements=(*_SILU, _NO_BIAS, _NO_MLP_BIAS),
            variants=("tied-gqa", "untied-gqa", "untied-mha", "tied-mha"),
        ),
        Family(
            name="mistral",
            rules=(*_LLAMA, _WINDOW),
            targets=_TARGETS,
            flags=(_tie(False),),
            requirements=_SILU,
            window=True,
            variants=("untied-gqa",),
        ),
        Family(
            name="qwen2",
            rules=_LLAMA,
            targets=_TARGETS,
            flags=(_tie(False),),
            requirements=(*_SILU, _NO_WINDOW),
            variants=("tied-gqa", "untied-gqa"),
        ),
        Family(
            name="qwen3",
            rules=_LLAMA,
            targets=_TARGETS,
            flags=(_tie(False),),
            requirements=(*_SILU, _NO_WINDOW, _NO_BIAS),
            variants=("tied-gqa", "untied-gqa"),
        ),
        Family(
            name="gemma2",
            rules=(*_LLAMA, _WINDOW),
            targets=_TARGETS,
            attention=("eager",),
            flags=(_tie(True),),
            requirements=(_GELU, _NO_DROPOUT, _NO_BIAS),
            window=True,
            pattern=2,
            variants=("tied-gqa",),
        ),
        Family(
            name="gemma3_text",
            rules=(*_LLAMA, _WINDOW),
            targets=_TARGETS,
            flags=(_tie(True),),
            requirements=(_GELU, _NO_DROPOUT, _NO_BIAS),
            window=True,
            pattern=6,
            variants=("tied-gqa", "tied-mqa"),
        ),
        Family(
            name="phi3",
            rules=(*_SIZES, _MLP, _GROUPS, Rule(symbol="d", numerator="h", denominator="H"), _WINDOW),
            targets={
                "q-v": ("qkv_proj",),
                "attention": ("qkv_proj", "o_proj"),
                "all-linear": ("qkv_proj", "o_proj", "gate_up_proj", "down_proj"),
            },
            flags=(_tie(False),),
            requirements=(
                *_SILU,
                Requirement(key="resid_pdrop", values=(0,)),
                Requirement(key="embd_pdrop", values=(0,)),
                Requirement(key="partial_rotary_factor", values=(1,)),
            ),
            sums=({"Hd": 1, "Kd": 2},),
            window=True,
            variants=("untied-mha", "untied-gqa"),
        ),
        Family(
            name="olmo2",
            rules=_LLAMA,
            targets=_TARGETS,
            flags=(_tie(False),),
            requirements=(*_SILU, _NO_BIAS),
            variants=("untied-mha", "untied-gqa"),
        ),
        Family(
            name="smollm3",
            rules=_LLAMA,
            targets=_TARGETS,
            flags=(_tie(True),),
            requirements=(*_SILU, _NO_WINDOW, _NO_BIAS, _NO_MLP_BIAS),
            pattern=4,
            alike=False,  # every fourth layer does without rotary positions
            variants=("tied-gqa",),
        ),
        Family(
            name="granite",
            rules=_LLAMA,
            targets=_TARGETS,
            flags=(_tie(False),),
            requirements=(*_SILU, _NO_BIAS, _NO_MLP_BIAS),
            variants=("tied-gqa", "untied-gqa"),
        ),
        Family(
            name="gpt2",
            rules=(
                _plain("L", "n_layer", "num_hidden_layers"),
                _plain("h", "n_embd", "hidden_size"),
                _plain("V", "vocab_size"),
                _plain("H", "n_head", "num_attention_heads"),
                Rule(symbol="P", keys=("n_positions", "n_ctx", "max_position_embeddings"), constant=1024),
                Rule(symbol="i", keys=("n_inner",), numerator="h", factor=4),
            ),
            targets={
                "q-v": ("c_attn",),
                "attention": ("attn.c_attn", "attn.c_proj"),
                "all-linear": ("c_attn", "c_proj", "c_fc"),
            },
            flags=(
                _tie(True),
                Flag(
                    keys=("resid_pdrop", "embd_pdrop", "attn_pdrop"),
                    default=0.1,
                    names=((0.1, "dropout"), (0, "plain")),
                ),
            ),
            requirements=(Requirement(key="activation_function", values=("gelu_new",)),),
            heads=False,
            variants=("tied-dropout",),
        ),
        Family(
            name="gpt_neox",
            rules=(
                *_SIZES,
                _MLP,
                Rule(
                    symbol="R",
                    numerator="h",
                    denominator="H",
                    share_keys=("rotary_pct", "partial_rotary_factor"),
                    share=0.25,
                ),
            ),
            targets={
                "q-v": ("query_key_value",),
                "attention": ("query_key_value", "dense"),
                "all-linear": ("query_key_value", "dense", "dense_h_to_4h", "dense_4h_to_h"),
            },
            flags=(
                _tie(False),
                Flag(keys=("hidden_act",), default="gelu", names=(("gelu", "gelu"), ("gelu_fast", "fast"))),
            ),
            requirements=(
                Requirement(key="use_parallel_residual", values=(True,)),
                Requirement(key="attention_bias", values=(True,)),
                Requirement(key="hidden_dropout", values=(0,)),
                _NO_DROPOUT,
            ),
            heads=False,
            variants=("untied-gelu", "untied-fast"),
        ),
        Family(
            name="mixtral",
            rules=(*_LLAMA, Rule(symbol="E", keys=("num_local_experts",)), _ROUTED),
            targets=_ATTENTION_ONLY,
            flags=(_tie(False),),
            requirements=(
                *_SILU,
                Requirement(key="sliding_window", values=()),
                Requirement(key="output_router_logits", values=(False,)),
            ),
            variants=("untied-gqa",),
        ),
        Family(
            name="qwen3_moe",
            rules=(
                *_SIZES,
                _GROUPS,
                _HEAD,
                Rule(symbol="m", keys=("moe_intermediate_size",)),
                Rule(symbol="E", keys=("num_experts", "num_local_experts")),
                _ROUTED,
            ),
            targets=_ATTENTION_ONLY,
            flags=(_tie(False),),
            requirements=(
                *_SILU,
                _NO_WINDOW,
                _NO_BIAS,
                Requirement(key="decoder_sparse_step", values=(1,)),
                Requirement(key="mlp_only_layers", values=([],)),
                Requirement(key="output_router_logits", values=(False,)),
            ),
            variants=("untied-gqa",),
        ),
        Family(
            name="gpt_oss",
            rules=(*_LLAMA, Rule(symbol="E", keys=("num_local_experts", "num_experts")), _ROUTED, _WINDOW),
            targets=_ATTENTION_ONLY,
            attention=("eager",),
            flags=(_tie(False),),
            requirements=(*_SILU, Requirement(key="attention_bias", values=(True,))),
            window=True,
            pattern=2,
            variants=("untied-gqa",),
        ),
    )
}
"""Of each architecture, by its model_type."""

ALIASES: Final = {"gemma3": "gemma3_text"}
