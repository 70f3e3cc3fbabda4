"""Kind 7: where other estimators go wrong: counts, heads, missing keys, units, vocabularies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from sitegen.errors import ConfigurationError, ModelError
from sitegen.french import NO_BREAK, gigabytes
from sitegen.memory import formulas
from sitegen.memory.reading import read
from sitegen.records.case import Case
from sitegen.render.rule_tables import seven_billion
from sitegen.render.series import Series
from sitegen.units import GB_BYTES, GIB_BYTES, KIB_BYTES, MIB_BYTES
from sitegen.workload.trace import traced

if TYPE_CHECKING:
    from tests.reports.conftest import Tracing

BFLOAT16: Final = 2
MIXTRAL: Final = {"layers": 32, "hidden": 4096, "intermediate": 14_336, "heads": 32, "kv_heads": 8, "head_size": 128}


def test_k7_02_a_gated_block_has_three_matrices() -> None:
    """Qwen1.5-72B, with its biases: 72 287 920 128; with two matrices a block, 56 181 792 768."""
    shape = {"layers": 80, "hidden": 8192, "heads": 64, "kv_heads": 64, "head_size": 128}
    whole = formulas.llama_parameters(vocabulary_tables=2, vocabulary=152_064, intermediate=24_576, **shape)
    biases = formulas.qkv_biases(80, 64, 64, 128)
    assert whole + biases == 72_287_920_128
    assert whole + biases - 80 * 8192 * 24_576 == 56_181_792_768


def test_k7_03_every_expert_is_resident_and_the_attention_is_shared() -> None:
    parameters = formulas.mixtral_parameters(vocabulary_tables=2, vocabulary=32_000, experts=8, **MIXTRAL)
    assert parameters == 46_702_792_704
    assert formulas.weights_bytes(parameters, BFLOAT16) / GIB_BYTES == pytest.approx(86.99, abs=0.005)


def test_k7_03_a_trace_counts_them_all_too() -> None:
    config = {
        "model_type": "mixtral",
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "num_local_experts": 4,
        "vocab_size": 512,
        "tie_word_embeddings": False,
    }
    expected = formulas.mixtral_parameters(2, 512, 2, 64, 128, 4, 4, 2, 16)
    assert traced(Case(mode="inference", sequence_length=32, dtype="bfloat16"), config).parameters == expected
    assert read(config | {"num_experts_per_tok": 2}).dimensions["E"] == 4


def test_k7_04_a_declared_head_size_is_not_derived(trace: Tracing) -> None:
    """Qwen3-32B declares 128 where 5120 / 64 is 80: 262 144 bytes a token, not 163 840."""
    assert formulas.kv_token_bytes(64, 8, 128, BFLOAT16) == 262_144
    assert formulas.kv_token_bytes(64, 8, 5120 // 64, BFLOAT16) == 163_840
    qwen3 = {"model_type": "qwen3", "vocab_size": 151_936, "intermediate_size": 25_600, "num_hidden_layers": 64}
    shape = read(qwen3 | {"hidden_size": 5120, "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 128})
    found = shape.dimensions
    assert formulas.kv_token_bytes(found["L"], found["K"], found["d"], BFLOAT16) == 262_144
    declared, derived = (_cache_bytes(trace, {"head_dim": size}) for size in (32, None))
    assert declared == 2 * derived  # 32 is twice 64 / 4


def test_k7_06_keys_and_values_have_their_own_heads(trace: Tracing) -> None:
    """Llama-3-8B: 8 heads of 128 in 32 layers, 131 072 bytes a token, not 524 288."""
    assert formulas.kv_token_bytes(32, 8, 128, BFLOAT16) == 131_072
    assert formulas.kv_token_bytes(32, 32, 128, BFLOAT16) == 524_288
    grouped, every = (_cache_bytes(trace, {"num_key_value_heads": heads}) for heads in (1, 4))
    assert every == 4 * grouped


def _cache_bytes(trace: Tracing, config: dict[str, Any]) -> int:
    """What one more pass of a generation adds to the cache that the last one leaves."""
    ends = [trace(config, mode="generation", new_tokens=count).steps[0].phases[-1].live_bytes[-1] for count in (3, 4)]
    return ends[1] - ends[0]


@pytest.mark.parametrize(
    ("key", "derived"),
    [("head_dim", 64 // 4), ("num_key_value_heads", 4)],  # hidden / heads; as many as heads
)
def test_k7_07_null_is_absent(trace: Tracing, tiny: dict[str, Any], key: str, derived: int) -> None:
    case = Case(batch_size=2, sequence_length=32)
    absent = traced(case, {name: value for name, value in tiny.items() if name != key})
    assert trace({key: None}).steps == absent.steps == trace({key: derived}).steps


@pytest.mark.parametrize("key", ["hidden_size", "num_attention_heads", "vocab_size", "num_hidden_layers"])
@pytest.mark.parametrize("value", [None, 0])
def test_k7_07_a_dimension_that_is_needed_is_named(trace: Tracing, key: str, value: int | None) -> None:
    with pytest.raises(ConfigurationError, match=key):
        trace({key: value})


@pytest.mark.parametrize(("key", "symbol", "derived"), [("head_dim", "d", 16), ("num_key_value_heads", "K", 4)])
def test_k7_07_the_reader_of_configurations_derives_null_and_refuses_zero(
    tiny: dict[str, Any], key: str, symbol: str, derived: int
) -> None:
    absent = {name: value for name, value in tiny.items() if name != key}
    assert read(absent).dimensions[symbol] == read(tiny | {key: None}).dimensions[symbol] == derived
    with pytest.raises(ConfigurationError, match=key):
        read(tiny | {key: 0})


@pytest.mark.parametrize("key", ["hidden_size", "num_attention_heads", "num_hidden_layers", "vocab_size"])
def test_k7_08_the_text_block_is_read_and_nothing_is_filled_in(tiny: dict[str, Any], key: str) -> None:
    text = tiny | {"model_type": "gemma3_text", "head_dim": 16}
    whole = {"model_type": "gemma3", "text_config": text, "vision_config": {"hidden_size": 999}}
    found = read(whole).dimensions
    assert {symbol: found[symbol] for symbol in "LhHKdV"} == {"L": 2, "h": 64, "H": 4, "K": 2, "d": 16, "V": 512}
    with pytest.raises(ConfigurationError, match=key):
        read(whole | {"text_config": {name: value for name, value in text.items() if name != key}})


def test_k7_08_a_missing_field_of_the_nested_block_is_named() -> None:
    text = {"model_type": "gemma3_text", "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 512}
    with pytest.raises(ConfigurationError, match="hidden_size"):
        traced(Case(), {"model_type": "gemma3", "text_config": text, "vision_config": {"hidden_size": 999}})


def test_k7_09_a_total_says_its_unit_and_that_activations_are_left_out(series: Series) -> None:
    """2851 million parameters on 8 devices, 4 P + 16 P / n: 17.106e9 bytes, printed as 15.93GB."""
    parameters = 2_851_000_000
    total = formulas.weights_bytes(parameters, 4) + formulas.sixteen_bytes(parameters) // 8
    assert total == 17_106_000_000
    assert total / GIB_BYTES == pytest.approx(15.93, abs=0.005)
    assert gigabytes(total) == f"17,11{NO_BREAK}Go"
    assert "avant toute activation" in seven_billion(series).caption


@pytest.mark.parametrize(
    ("size_bytes", "gib", "shown"),
    [
        (83 * GB_BYTES, 77.30, "83"),  # fits a card of 80 GiB
        (45 * GIB_BYTES, 45, "48,32"),  # sold as 48 GB
        (7_906_356 * KIB_BYTES, 7.54, "8,1"),  # shown as 9Gi
    ],
)
def test_k7_10_decimal_and_binary_units_are_not_mixed(size_bytes: int, gib: float, shown: str) -> None:
    assert size_bytes / GIB_BYTES == pytest.approx(gib, abs=0.005)
    assert gigabytes(size_bytes) == f"{shown}{NO_BREAK}Go"


def test_k7_11_a_vision_model_is_no_estimate_of_zero_pixels() -> None:
    """5683 MiB were used where 5.27 GiB had been announced: −5.0 %."""
    announced_bytes, used_bytes = 5.27 * GIB_BYTES, 5683 * MIB_BYTES
    assert announced_bytes / used_bytes - 1 == pytest.approx(-0.050, abs=0.0005)
    vision = {"model_type": "siglip_vision_model", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    with pytest.raises(ModelError, match="siglip_vision_model"):
        traced(Case(), vision)
    with pytest.raises(ConfigurationError, match="reads no text"):
        read(vision | {"patch_size": 16})  # and no image_size


def test_k7_13_memory_follows_the_rows_of_the_table_and_not_the_tokenizer(trace: Tracing, tiny: dict[str, Any]) -> None:
    """151 936 rows for 151 851 tokens; 4096 wide, untied, float32: 2 785 280 bytes more."""
    more = 2 * (151_936 - 151_851) * 4096
    assert formulas.weights_bytes(more, 4) == 2_785_280
    assert read(tiny | {"vocab_size": 151_936}).dimensions["V"] == 151_936
    rows = [trace({"vocab_size": size, "tie_word_embeddings": False}, mode="inference") for size in (512, 512 + 85)]
    weights = [done.steps[0].phases[0].components.weights for done in rows]
    assert weights[1] - weights[0] == formulas.weights_bytes(2 * 85 * 64, 4)
