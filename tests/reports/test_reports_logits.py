"""Kind 2: the logits, which outweigh the layers when the vocabulary is large."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from sitegen.memory import formulas
from sitegen.units import GIB_BYTES, MIB_BYTES
from sitegen.workload import training

if TYPE_CHECKING:
    import torch

    from sitegen.records.case import Case
    from tests.reports.conftest import Tracing

BFLOAT16: Final = 2
FLOAT32: Final = 4
LLAMA_3: Final = 128_256
LARGE: Final = {"vocab_size": 8192}


def test_k2_01_one_position_or_all_and_a_float32_copy_in_training(trace: Tracing) -> None:
    """One sequence of 8192 tokens with the vocabulary of Llama 3."""
    assert formulas.logits_bytes(1, 1, LLAMA_3, BFLOAT16) / MIB_BYTES == pytest.approx(0.25, abs=0.01)
    assert formulas.logits_bytes(1, 8192, LLAMA_3, BFLOAT16) / GIB_BYTES == pytest.approx(1.957, abs=0.0005)
    assert formulas.logits_bytes(1, 8192, LLAMA_3, FLOAT32) / GIB_BYTES == pytest.approx(3.914, abs=0.0005)
    one_copy = formulas.logits_bytes(2, 32, LARGE["vocab_size"], BFLOAT16)
    every, last = (
        trace(LARGE, mode="inference", dtype="bfloat16", logits=kept).steps[0].phases[0].components
        for kept in ("all", "last")
    )
    assert every.logits_and_loss == one_copy
    assert last.logits_and_loss == 0  # the peak now stands elsewhere
    forward = trace(LARGE, dtype="bfloat16").steps[-1].phases[0].components
    assert forward.logits_and_loss >= one_copy + 2 * one_copy  # as computed, and their float32 copy


@pytest.mark.parametrize(("vocabulary", "two_bytes", "four_bytes"), [(128_256, 1.957, 3.914), (202_048, 3.083, 6.166)])
def test_k2_02_a_published_table_is_float32_under_another_name(
    vocabulary: int, two_bytes: float, four_bytes: float
) -> None:
    for each, expected in ((BFLOAT16, two_bytes), (FLOAT32, four_bytes)):
        assert formulas.logits_bytes(1, 8192, vocabulary, each) / GIB_BYTES == pytest.approx(expected, abs=0.0005)


def test_k2_03_the_logits_of_a_batch_and_of_a_position() -> None:
    assert formulas.logits_bytes(2, 512, 32_000, FLOAT32) == 131_072_000 == 125 * MIB_BYTES
    one = formulas.logits_bytes(1, 1, 32_000, FLOAT32)
    assert one == 128_000
    assert round(262e6 / one) == 2047  # positions that make 262 MB: the run was 2048 long, one being the target


def test_k2_04_labels_that_are_ignored_save_nothing(trace: Tracing, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = trace(LARGE).peak_bytes
    drawn = training.draw_batch

    def ignoring(case: Case, vocabulary: int, generator: torch.Generator) -> training.Batch:
        batch = drawn(case, vocabulary, generator)
        labels = batch.labels.clone()
        labels[:, :28] = training.IGNORED  # 28 positions of 32, as 900 of 1024
        return training.Batch(batch.ids, labels, batch.mask)

    monkeypatch.setattr(training, "draw_batch", ignoring)
    assert trace(LARGE).peak_bytes == pytest.approx(whole, rel=0.01)


def test_k2_05_a_chunked_loss_is_seen_to_hold_a_chunk_only(trace: Tracing) -> None:
    """Of 2 × 1024 tokens, 512 at a time; the logits, their log-softmax and the gradient of either live together."""
    shape = {"batch_size": 2, "sequence_length": 1024}
    full, chunked = (
        {phase.name: phase.components.logits_and_loss for phase in trace(LARGE, loss=loss, **shape).steps[-1].phases}
        for loss in ("full", "chunked")
    )
    vocabulary = LARGE["vocab_size"]
    assert full["backward"] >= 3 * formulas.logits_bytes(2, 1023, vocabulary, FLOAT32)
    assert chunked["backward"] <= 3 * formulas.logits_bytes(1, training.CHUNK_TOKENS, vocabulary, FLOAT32)
    assert chunked["forward"] <= 2 * formulas.logits_bytes(1, training.CHUNK_TOKENS, vocabulary, FLOAT32)
