"""Kind 5: adapters, quantised weights, and how parameters are counted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
import pytest
from msgspec.structs import replace

from sitegen.measure import machine
from sitegen.memory import formulas
from sitegen.records.case import SEVEN_PROJECTIONS, Case
from sitegen.records.store import load, save
from sitegen.render.comparison_tables import fixes
from sitegen.render.series import Series
from sitegen.units import GIB_BYTES, MB_BYTES, MIB_BYTES
from tests import factories

if TYPE_CHECKING:
    from tests.reports.conftest import Tracing

FLOAT32: Final = 4
LLAMA_2_7B: Final = {
    "layers": 32,
    "hidden": 4096,
    "intermediate": 11_008,
    "heads": 32,
    "kv_heads": 32,
    "head_size": 128,
}
TINYLLAMA: Final = {"layers": 22, "hidden": 2048, "intermediate": 5632, "heads": 32, "kv_heads": 4, "head_size": 64}
SMOLLM2: Final = {
    "hidden_size": 576,
    "intermediate_size": 1536,
    "num_attention_heads": 9,
    "num_key_value_heads": 3,
    "head_dim": 64,
    "vocab_size": 49_152,
}
# Of the traced llama, whose two layers are alike: the matrices of a layer, the tied table with the norms, and, in
# bytes, the rotary frequencies (half a head of 16, float32, kept twice) with the adapter of rank 8 on q and v.
MATRICES: Final = (64 * 64, 64 * 32, 64 * 32, 64 * 64, 64 * 128, 64 * 128, 128 * 64)
UNPACKED: Final = 512 * 64 + 2 * 2 * 64 + 64
OTHERS_BYTES: Final = 8 * 4 * 2 + 4 * 2 * 8 * ((64 + 64) + (64 + 32))


def test_k5_01_the_rank_of_an_adapter_from_its_parameters() -> None:
    """788 480 a unit of rank; k and v of grouped-query attention go from 2048 to 256."""
    base = formulas.llama_parameters(vocabulary_tables=2, vocabulary=32_000, **TINYLLAMA)
    assert formulas.lora_seven_parameters(1, **TINYLLAMA) == 788_480
    assert 50_462_720 / 788_480 == 64
    assert base == 1_100_048_384
    assert 50_462_720 / (base + 50_462_720) == pytest.approx(0.04386113252149889, rel=1e-12)


def test_k5_02_an_adapter_above_full_training_is_a_row_like_another(tmp_path: Path) -> None:
    """Reported on a ResNet-50: activations of 2618 MiB against 1311. No table says that LoRA is smaller."""
    records = factories.reference_suite()
    full = next(record.summary.peak_bytes or 0 for record in records if record.case == factories.TRAINING[8])
    above = factories.record(factories.LORA, net_mib=(full / MIB_BYTES, 1.5 * full / MIB_BYTES))
    assert load(save(above, tmp_path)) == above
    others = [record for record in records if record.case != factories.LORA]
    lora = next(row for row in fixes(Series([*others, above])).rows if "LoRA" in row.header.text)
    assert lora.cells[2].text == "+50"


def test_k5_03_adapters_are_float32_over_a_bfloat16_base(trace: Tracing) -> None:
    """460 800 parameters at 16 bytes: 7.03 MiB, and not 3.52."""
    assert formulas.adapter_bytes(460_800, FLOAT32) / MIB_BYTES == pytest.approx(7.03, abs=0.005)
    done = trace(method="lora", dtype="bfloat16")
    held, adapter = done.steps[-1].phases[-1].components, done.trainable_parameters
    assert held.gradients == formulas.gradients_bytes(adapter, FLOAT32)
    counters = 4 * 2 * 2 * 2  # A and B of q and v in two layers
    assert held.optimizer_state == formulas.adamw_state_bytes(adapter, FLOAT32) + counters


def test_k5_05_three_counts_of_llama_2_7b() -> None:
    """3 540 389 888 was printed: packed weights and an adapter of rank 16 that nobody mentioned."""
    logical = formulas.llama_parameters(vocabulary_tables=2, vocabulary=32_000, **LLAMA_2_7B)
    packed = formulas.projection_weights(**LLAMA_2_7B)
    raw = formulas.packed_elements(logical - packed, packed)
    assert (logical, raw) == (6_738_415_616, 3_500_412_928)
    assert 3_540_389_888 - raw == formulas.lora_seven_parameters(16, **LLAMA_2_7B) == 39_976_960


def test_k5_06_what_is_left_unpacked_is_no_adapter() -> None:
    assert formulas.packed_elements(295_773_504, 6_921_725_248 - 295_773_504) == 3_608_749_376


def test_k5_07_a_tied_head_counts_once_in_all(trace: Tracing) -> None:
    """GPT-2: 124 439 808 and 163 037 184; SmolLM2-135M: 134 515 008 and 162 826 560."""
    gpt2 = [formulas.gpt2_parameters(tables, 50_257, 1024, 12, 768) for tables in (1, 2)]
    assert gpt2 == [124_439_808, 163_037_184]
    assert gpt2[1] - gpt2[0] == 38_597_376
    whole = [SMOLLM2 | {"num_hidden_layers": 30, "tie_word_embeddings": tied} for tied in (True, False)]
    assert [trace(each, mode="inference").parameters for each in whole] == [134_515_008, 162_826_560]
    table = 49_152 * 576
    tied, untied = (trace(each | {"num_hidden_layers": 1}).steps[-1].phases[-1].components for each in whole)
    assert untied.weights - tied.weights == FLOAT32 * table
    assert untied.gradients - tied.gradients == FLOAT32 * table
    assert untied.optimizer_state - tied.optimizer_state == 2 * FLOAT32 * table + FLOAT32  # and a counter of steps


def test_k5_08_a_saved_module_is_a_copy_beside_the_original(trace: Tracing) -> None:
    """On a tied model the head and the embeddings drift apart: two copies of 28 311 552."""
    one_layer = SMOLLM2 | {"num_hidden_layers": 1}
    alone = trace(one_layer, method="lora")
    saving = trace(one_layer, method="lora", modules_to_save=("lm_head", "embed_tokens"))
    added = saving.trainable_parameters - alone.trainable_parameters
    assert added == 2 * 28_311_552
    held = [done.steps[-1].phases[-1].components.weights for done in (alone, saving)]
    assert held[1] - held[0] == FLOAT32 * added  # the originals are still there


def test_k5_09_the_preparation_of_a_four_bit_model_casts_what_is_not_packed(trace: Tracing) -> None:
    """131 072 × 4096, a head of its own: 2 GiB more than in bfloat16; the reported +17 994 MB is not explained."""
    tables = 2 * 131_072 * 4096
    cast = formulas.weights_bytes(tables, 4) - formulas.weights_bytes(tables, 2)
    assert cast == 2 * GIB_BYTES < 17_994 * MB_BYTES / 8
    prepared = trace(method="qlora", dtype="bfloat16").steps[-1].phases[0].components.weights
    packed = 2 * sum(formulas.nf4_bytes(matrix) + formulas.NF4_CODE_BYTES for matrix in MATRICES)
    assert prepared - packed - OTHERS_BYTES == formulas.weights_bytes(UNPACKED, FLOAT32)


def test_k5_10_four_bits_are_more_than_four_bits(trace: Tracing) -> None:
    assert formulas.block_bits(4, 32, 64) == 4.5  # NF4
    assert formulas.double_block_bits(4, 8, 64, 32, 256) == pytest.approx(4.127, abs=0.0005)
    assert formulas.block_bits(4, 8, 32) == 4.25  # MXFP4
    assert formulas.block_bits(4, 8, 16) == 4.5  # NVFP4
    assert formulas.nf4_bytes(formulas.projection_weights(**LLAMA_2_7B)) == 3_642_753_024
    codes = formulas.NF4_CODE_BYTES
    nested_codes = codes + formulas.NF4_DOUBLE_BYTES
    single = 2 * sum(formulas.nf4_bytes(matrix) + codes for matrix in MATRICES)
    nested = 2 * sum(formulas.nf4_double_bytes(matrix) + nested_codes for matrix in MATRICES)
    weights = {
        double: trace(method="qlora", double_quant=double).steps[-1].phases[0].components.weights
        for double in (False, True)
    }
    others = formulas.weights_bytes(UNPACKED, FLOAT32) + OTHERS_BYTES
    assert weights == {False: single + others, True: nested + others}


def test_k5_10_an_unknown_four_bit_format_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="int4"):
        msgspec.convert({"dtype": "int4"}, Case)


def test_k5_11_dora_is_not_modelled_and_its_parameters_explain_nothing() -> None:
    """0.9 million parameters at 16 bytes are 14 MB of the 1782 reported, so no option stands for it."""
    assert formulas.adapter_bytes(900_000, FLOAT32) < 0.01 * 1782 * MB_BYTES
    with pytest.raises(msgspec.ValidationError, match="use_dora"):
        msgspec.convert({"method": "lora", "use_dora": True}, Case)


def test_k5_12_two_versions_of_the_quantisation_library_make_two_series(monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case(method="qlora")
    versions = dict(machine.environment_of(case).packages)
    keys = set()
    for version in ("0.43.0", "0.49.0"):
        monkeypatch.setattr(machine, "installed_version", (versions | {"bitsandbytes": version}).get)
        environment = machine.environment_of(case)
        assert environment.packages["bitsandbytes"] == version
        keys.add(environment.id)
    assert len(keys) == 2


def test_k5_13_rank_and_targets_move_the_bill_and_nothing_else_does(trace: Tracing) -> None:
    """Llama-2-7B: q with rank 4, then q, k and v with rank 32; 368 MiB of AdamW between them."""
    matrix = formulas.lora_parameters(1, 4096, 4096)
    small, large = 32 * 4 * matrix, 32 * 3 * 32 * matrix
    assert (small, large) == (1_048_576, 25_165_824)
    assert formulas.adapter_bytes(large - small, FLOAT32) == 368 * MIB_BYTES
    targets: dict[str, Any] = {"method": "lora", "lora_targets": SEVEN_PROJECTIONS}
    four, eight = (trace(lora_rank=rank, **targets) for rank in (4, 8))
    assert eight.trainable_parameters == 2 * four.trainable_parameters
    # Alpha and rank-stabilised scaling change values: no option of a case names them.
    assert not {"lora_alpha", "use_rslora"} & set(replace(Case()).options())
