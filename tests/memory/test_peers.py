"""Other people's formulas give the figures that their own pages give."""

from __future__ import annotations

import pytest

from sitegen.memory import peers
from sitegen.memory.peers import Setting
from sitegen.units import GIB_BYTES

SEVEN_BILLION = Setting(
    method="full",
    parameters=7_000_000_000,
    adapter_parameters=0,
    weight_bytes=2.0,
    checkpointing=True,
    batch_size=4,
    sequence_length=4096,
    hidden=4096,
    intermediate=14336,
    layers=32,
    heads=32,
    vocabulary=32_000,
)
TOKEN_LAYERS = 4 * 4096 * 4096 * 32


def test_accelerate_says_1_61_gib_of_bert_base_in_float32() -> None:
    # The table of its documentation: float32, training using Adam.
    bert = SEVEN_BILLION._replace(parameters=108_310_272, weight_bytes=4.0)
    assert peers.four_times_weights(bert) == pytest.approx(1.61 * GIB_BYTES, abs=0.005 * GIB_BYTES)


def test_seven_billion_in_16_bits_are_56_gb_by_the_first_rule_and_112_by_the_second() -> None:
    assert peers.four_times_weights(SEVEN_BILLION) == 56e9
    assert peers.sixteen_bytes(SEVEN_BILLION) == 112e9


def test_an_adapter_pays_16_bytes_a_parameter_and_the_rest_its_weights() -> None:
    lora = SEVEN_BILLION._replace(method="lora", adapter_parameters=1_000_000)
    assert peers.sixteen_bytes(lora) == 14e9 + 16e6


def test_full_recomputation_keeps_two_bytes_a_position_a_layer_and_a_dimension() -> None:
    assert peers.korthikanti(SEVEN_BILLION) == 112e9 + 2 * TOKEN_LAYERS


def test_what_is_not_recomputed_is_kept_scores_included() -> None:
    # Table 2: s·b·h·L·(34 + 5·a·s/h); 32 heads at length 4096 over a width of 4096 are 32.
    kept = SEVEN_BILLION._replace(checkpointing=False)
    assert peers.korthikanti(kept) == 112e9 + (34 + 5 * 32) * TOKEN_LAYERS
    assert peers.eleuther(kept) == 126e9 + (34 + 5 * 32) * TOKEN_LAYERS


def test_eleuther_counts_18_bytes_and_34_with_checkpointing() -> None:
    assert peers.eleuther(SEVEN_BILLION) == 126e9 + 34 * TOKEN_LAYERS


@pytest.mark.parametrize(
    ("method", "weight_bytes", "gigabytes"),
    [("full", 4.0, 18), ("full", 2.0, 8), ("lora", 2.0, 2), ("qlora", 0.5, 0.5)],
)
def test_llama_factory_counts_in_billions(method: str, weight_bytes: float, gigabytes: float) -> None:
    # The lines of its table for 32, 16, 16 and 4 bits.
    setting = SEVEN_BILLION._replace(method=method, weight_bytes=weight_bytes)
    assert peers.llama_factory(setting) == gigabytes * 7e9


def test_deepspeed_needs_20_bytes_a_parameter_on_one_gpu() -> None:
    assert peers.deepspeed(SEVEN_BILLION) == 140e9


def test_what_a_source_does_not_cover_is_left_out() -> None:
    lora = SEVEN_BILLION._replace(method="lora", adapter_parameters=1_000_000)
    assert peers.four_times_weights(lora) is None
    assert peers.eleuther(lora) is None
    assert peers.deepspeed(lora) is None
    assert peers.llama_factory(lora._replace(weight_bytes=4.0)) is None


def test_gpu_poor_counts_its_own_parameters() -> None:
    # 2·32000·4096 + 32·(4·4096² + 3·14336·4096) parameters; 2 bytes of weights, 6 of gradients and Adam.
    parameters = 262_144_000 + 32 * (67_108_864 + 176_160_768)
    attention = 4096 * 4096 * 16 + 4096 * 4096 * 32 * 8
    feed_forward = 4096 * 4096 * 4 + 4096 * 14336 * 12
    norms = 4096 * 8 + 4096 * 4096 * 12
    activations = 0.15 * 4 * 32 * (attention + feed_forward + norms)
    assert peers.gpu_poor(SEVEN_BILLION) == pytest.approx(8 * parameters + activations + 650 * 2**20)
    kept = SEVEN_BILLION._replace(checkpointing=False)
    assert peers.gpu_poor(kept) == pytest.approx(8 * parameters + activations / 0.15 + 650 * 2**20)


def test_gpu_poor_holds_weights_in_16_bits_whatever_the_run_does_and_qlora_in_a_little_over_4() -> None:
    # Its page: 2 bytes; QLoRA a quarter of them, less a 64th of 16 bits, and 6 % of 16 bits beside.
    assert peers.gpu_poor(SEVEN_BILLION._replace(weight_bytes=4.0)) == peers.gpu_poor(SEVEN_BILLION)
    parameters = 262_144_000 + 32 * (67_108_864 + 176_160_768)
    qlora = SEVEN_BILLION._replace(method="qlora", weight_bytes=0.5, layers=0)
    assert peers.gpu_poor(qlora) - 650 * 2**20 == pytest.approx(262_144_000 * (0.5 - 2 / 64 + 0.12))
    state = peers.gpu_poor(SEVEN_BILLION) - peers.gpu_poor(SEVEN_BILLION._replace(method="lora"))
    assert state == pytest.approx(6 * parameters - 32 * 8 * 4096 * 48)


def test_gpu_poor_of_four_bits_grows_with_the_root_of_the_length() -> None:
    qlora = SEVEN_BILLION._replace(method="qlora", weight_bytes=0.5)
    short, long = (peers._gpu_poor_quantisation(qlora._replace(sequence_length=n)) for n in (50, 5000))
    assert short == 0.75 * (15 * 4096 + 6 * 14336) * 32 * 50 * 4
    assert long == pytest.approx(10 * short)
