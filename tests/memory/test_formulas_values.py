"""The formulas against values published elsewhere or worked out by hand; the source stands beside each."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitegen.errors import UsageError
from sitegen.memory import formulas
from sitegen.units import GB_BYTES

# Dimensions of published configurations: vocabulary, layers, hidden, intermediate, heads, kv_heads, head_size.
LLAMA_2_7B: Final = (32_000, 32, 4096, 11_008, 32, 32, 128)
LLAMA_3_8B: Final = (128_256, 32, 4096, 14_336, 32, 8, 128)
TINYLLAMA: Final = (32_000, 22, 2048, 5632, 32, 4, 64)
SMOLLM2_135M: Final = (49_152, 30, 576, 1536, 9, 3, 64)
MIXTRAL_8X7B: Final = {"vocabulary": 32_000, "layers": 32, "hidden": 4096, "intermediate": 14_336, "experts": 8}
FLOAT32: Final = 4
BFLOAT16: Final = 2


@pytest.mark.parametrize(
    ("tables", "dimensions", "expected"),
    [
        (2, LLAMA_2_7B, 6_738_415_616),  # metadata of the safetensors files of meta-llama/Llama-2-7b-hf
        (2, LLAMA_3_8B, 8_030_261_248),  # metadata of the safetensors files of meta-llama/Meta-Llama-3-8B
        (2, TINYLLAMA, 1_100_048_384),  # printed by peft: github.com/huggingface/peft/issues/1514, all less adapter
        (1, SMOLLM2_135M, 134_515_008),  # counted by loading the model
        (2, SMOLLM2_135M, 162_826_560),  # the same with a head of its own: 49 152 × 576 more
    ],
)
def test_parameters_of_llama_like_decoders(tables: int, dimensions: tuple[int, ...], expected: int) -> None:
    assert formulas.llama_parameters(tables, *dimensions) == expected


def test_a_mixture_holds_all_its_experts() -> None:
    """Total of the safetensors index of mistralai/Mixtral-8x7B-v0.1, 93 405 585 408 bytes, in bfloat16."""
    found = formulas.mixtral_parameters(2, **MIXTRAL_8X7B, heads=32, kv_heads=8, head_size=128)
    assert found == 46_702_792_704 == 93_405_585_408 // BFLOAT16


def test_qwen_adds_biases_and_norms() -> None:
    """The two counts are on the models' cards: 7 615 616 512 (Qwen2.5-7B) and 8 190 735 360 (Qwen3-8B)."""
    qwen_2_5 = formulas.llama_parameters(2, 152_064, 28, 3584, 18_944, 28, 4, 128)
    assert qwen_2_5 + formulas.qkv_biases(28, 28, 4, 128) == 7_615_616_512
    qwen_3 = formulas.llama_parameters(2, 151_936, 36, 4096, 12_288, 32, 8, 128)
    assert qwen_3 + formulas.query_key_norms(36, 128) == 8_190_735_360


def test_gpt2_tied_and_untied() -> None:
    """124 439 808: github.com/huggingface/transformers/issues/14960; a head of its own adds 50 257 × 768."""
    assert formulas.gpt2_parameters(1, 50_257, 1024, 12, 768) == 124_439_808
    assert formulas.gpt2_parameters(2, 50_257, 1024, 12, 768) == 163_037_184


def test_lora_on_the_seven_projections_of_tinyllama() -> None:
    """50 462 720 of 1 150 511 104, 4.3861 %: github.com/huggingface/peft/issues/1514."""
    adapter = formulas.lora_seven_parameters(64, *TINYLLAMA[1:])
    assert adapter == 50_462_720
    assert adapter + formulas.llama_parameters(2, *TINYLLAMA) == 1_150_511_104


def test_lora_on_two_projections_of_smollm2() -> None:
    """460 800, which the published reference states: rank 8 on q (576 to 576) and v (576 to 192), 30 layers."""
    query, value = formulas.lora_parameters(8, 576, 576), formulas.lora_parameters(8, 576, 192)
    assert 30 * (query + value) == 460_800


def test_llama_2_7b_in_four_bits() -> None:
    """3 500 412 928 raw elements and 3 642 753 024 bytes: 6 476 005 376 weights at 4.5 bits."""
    packed = formulas.projection_weights(*LLAMA_2_7B[1:])
    assert packed == 6_476_005_376
    assert formulas.packed_elements(6_738_415_616 - packed, packed) == 3_500_412_928
    assert formulas.nf4_bytes(packed) == 3_642_753_024


def test_double_quantisation() -> None:
    """4096 × 4096: 8 388 608 packed, 262 144 scales of a byte, 1024 scales of scales in float32."""
    assert formulas.nf4_double_bytes(4096 * 4096) == 8_388_608 + 262_144 + 4096
    assert formulas.nf4_bytes(65) == 33 + 4 * 2  # a block begun is a block
    assert formulas.nf4_double_bytes(64 * 256 + 1) == 8193 + 257 + 4 * 2


def test_seven_billion_parameters() -> None:
    """7 billion at 2 bytes: 14 GB to run, 56 to train in 16 bits, 112 with 16 bytes a parameter."""
    seven = 7 * 10**9
    assert formulas.weights_bytes(seven, BFLOAT16) == 14 * GB_BYTES
    assert formulas.fixed_bill(seven, BFLOAT16) == 56 * GB_BYTES
    assert formulas.sixteen_bytes(seven) == 112 * GB_BYTES
    assert formulas.four_times_weights(14 * GB_BYTES) == 56 * GB_BYTES


def test_states_and_gradients() -> None:
    """A million parameters in float32: 4 MB of gradients, 8 of Adam's moments, 4 of momentum."""
    assert formulas.gradients_bytes(10**6, FLOAT32) == 4_000_000
    assert formulas.STATE_BYTES["adamw"](10**6, FLOAT32) == 8_000_000
    assert formulas.STATE_BYTES["sgd-momentum"](10**6, FLOAT32) == 4_000_000
    assert formulas.adamw_8bit_state_bytes(4097) == 2 * 4097 + 2 * 4 * 17  # 16 blocks of 256 and one element
    assert formulas.adafactor_state_bytes(1000, 200, FLOAT32) == 4800


def test_an_adapter_costs_sixteen_bytes_a_parameter_of_its_own() -> None:
    assert formulas.adapter_bytes(460_800, FLOAT32) == 16 * 460_800
    assert formulas.adapter_bill(7 * 10**9, BFLOAT16, 10**6, FLOAT32) == 14 * GB_BYTES + 16_000_000


def test_keys_and_values() -> None:
    """Qwen3-32B: 64 layers, 8 heads of 128, 16 bits, 256 KiB a token; Llama-3-8B: 32 layers, 128 KiB."""
    assert formulas.kv_token_bytes(64, 8, 128, BFLOAT16) == 262_144
    assert formulas.kv_token_bytes(32, 8, 128, BFLOAT16) == 131_072
    assert formulas.kv_cache_bytes(4, 512, 30, 3, 64, BFLOAT16) == 4 * 512 * 23_040
    # One layer in two keeps a window of 100: 300 tokens in one, 100 in the other.
    assert formulas.kv_windowed_bytes(1, 300, 100, 1, 1, 1, 1, 1) == 2 * 400
    assert formulas.kv_windowed_bytes(1, 60, 100, 1, 1, 1, 1, 1) == 2 * 120


def test_logits_and_scores() -> None:
    """2 × 512 × 32 000 float32 logits: 131 072 000 bytes; 32 heads of 1024² float32 scores: 128 MiB."""
    assert formulas.logits_bytes(2, 512, 32_000, FLOAT32) == 131_072_000
    assert formulas.attention_scores_bytes(1, 32, 1024, FLOAT32) == 134_217_728


def test_korthikanti() -> None:
    """GPT-3 175B of the paper: s 2048, b 1, L 96, h 12 288, a 96; 34 and 5·a·s/h = 80 parts of s·b·h."""
    part = 2048 * 12_288 * 96
    assert formulas.korthikanti_bytes(2048, 1, 96, 12_288, 96) == (34 + 80) * part
    assert formulas.korthikanti_selective_bytes(2048, 1, 96, 12_288) == 34 * part
    assert formulas.korthikanti_checkpointed_bytes(2048, 1, 96, 12_288) == 2 * part


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (formulas.block_bits(4, 32, 64), 4.5),  # NF4 (QLoRA, section 3)
        (formulas.double_block_bits(4, 8, 64, 32, 256), 4 + 0.127),  # the same paper: 0.127 bit a parameter
        (formulas.block_bits(4, 8, 32), 4.25),  # MXFP4 (OCP Microscaling, section 5.3)
        (formulas.block_bits(4, 8, 16), 4.5),  # NVFP4 (developer.nvidia.com, Introducing NVFP4)
    ],
)
def test_bits_of_a_weight(found: float, expected: float) -> None:
    assert found == pytest.approx(expected, abs=5e-4)


def test_units() -> None:
    assert formulas.megabytes(131_072_000) == 131.072
    assert formulas.mebibytes(131_072_000) == 125


def test_the_peak_is_the_greater_moment() -> None:
    assert formulas.training_peak(1, 1, 1, 2, 10, 1) == 14
    assert formulas.training_peak(1, 0, 1, 2, 1, 3) == 7


@given(st.integers(1, 10**13), st.sampled_from((1, 2, 4, 8)))
def test_whole_numbers_stay_whole_and_exact(count: int, each: int) -> None:
    assert formulas.fixed_bill(count, each) == 4 * count * each
    assert type(formulas.nf4_bytes(count)) is int
    assert 64 * formulas.nf4_bytes(count) >= 36 * count


@pytest.mark.parametrize("value", [-1, float("nan"), float("inf")])
def test_a_quantity_that_cannot_be_is_refused(value: float) -> None:
    with pytest.raises(UsageError, match="weights_bytes is given"):
        formulas.weights_bytes(value, 4)
