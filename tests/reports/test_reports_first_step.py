"""Kind 1: what the first step, the longest batch, an evaluation, a save or a resume adds to a peak."""

from __future__ import annotations

import resource
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Final

import pytest

from sitegen.memory import formulas
from sitegen.records.case import Case
from sitegen.records.summary import summarise
from sitegen.units import GB_BYTES, GIB_BYTES, KIB_BYTES, MIB_BYTES, readable
from sitegen.workload import peak
from tests.factory_samples import ended_badly

if TYPE_CHECKING:
    from tests.reports.conftest import Tracing

# Embeddings 512 × 64 (tied); a layer's q and o 64 × 64, k and v 64 × 32, three projections of 64 × 128, two norms; a
# last norm. AdamW also counts its steps in a float32 a tensor: nine a layer and two.
PARAMETERS: Final = 512 * 64 + 2 * (2 * 64 * 64 + 2 * 64 * 32 + 3 * 64 * 128 + 2 * 64) + 64
STEP_COUNTERS_BYTES: Final = 4 * (2 * 9 + 2)
LLAMA_2_7B: Final = 6_738_415_616
FLOAT32: Final = 4


@pytest.mark.parametrize(
    ("optimizer", "state_bytes"),
    [("sgd", 0), ("sgd-momentum", 4 * PARAMETERS), ("adamw", 8 * PARAMETERS + STEP_COUNTERS_BYTES)],
)
def test_k1_01_the_state_comes_with_the_first_update_and_the_second_adds_nothing(
    trace: Tracing, optimizer: str, state_bytes: int
) -> None:
    first, second = (
        {phase.name: phase.live_bytes[-1] for phase in step.phases} for step in trace(optimizer=optimizer).steps
    )
    loss_bytes = 2 * FLOAT32  # the loss and its division by the number of micro-batches end with the backward
    assert first["optimizer_step"] - first["backward"] == state_bytes - loss_bytes
    assert second["optimizer_step"] == first["optimizer_step"]


def test_k1_01_a_run_that_ends_before_the_update_has_no_peak() -> None:
    sample = ended_badly("out_of_memory", "killed in the first update", "2026-03-02T08:30:00Z")
    assert summarise(Case(), (sample,)).peak_bytes is None


def test_k1_03_the_multi_tensor_step_makes_one_more_set_of_parameters(trace: Tracing) -> None:
    """8 bytes a parameter in pure bfloat16, 10 with `foreach`: 53.91 GB for Llama-2-7B without."""
    assert formulas.fixed_bill(LLAMA_2_7B, 2) / GB_BYTES == pytest.approx(53.91, abs=0.005)
    assert formulas.fixed_bill(LLAMA_2_7B, 2) / GIB_BYTES == pytest.approx(50.21, abs=0.005)
    eight_layers = {"num_hidden_layers": 8}
    one, all_at_once = (
        trace(eight_layers, dtype="bfloat16", foreach=foreach).steps[-1].phases[-1] for foreach in (False, True)
    )
    parameters = trace(eight_layers, steps=1).parameters
    held = one.components
    assert held.weights + held.gradients + held.optimizer_state == pytest.approx(8 * parameters, rel=0.001)
    assert held.temporaries <= 3 * 2 * 512 * 64  # those of one parameter, the largest
    assert all_at_once.components.temporaries == pytest.approx(2 * parameters, rel=0.001)


def test_k1_04_the_peak_is_a_maximum_over_phases_and_no_sum() -> None:
    """In GB: weights 1.2, gradients 1.2, state 2.4, temporaries 1.2, activations 0.4."""
    whole = formulas.training_peak(1200, 0, 1200, 2400, 400, 1200)
    fused = formulas.training_peak(1200, 0, 0, 2400, 400, 0)
    assert (whole, fused) == (6000, 4000)


def test_k1_07_five_steps_show_no_more_than_two_because_every_batch_is_the_longest(trace: Tracing) -> None:
    """The reported run grew after 60 steps with a longer batch; every batch of a case has the case's length."""
    steps = trace(steps=5).steps
    assert len({step.phases for step in steps[1:]}) == 1


@pytest.mark.parametrize(
    ("samples", "length", "vocabulary", "gib"),
    [(500, 1024, 262_144, 500.0), (500, 1024, 128_256, 244.63), (1000, 512, 151_936, 289.79)],
)
def test_k1_09_logits_kept_through_an_evaluation(samples: int, length: int, vocabulary: int, gib: float) -> None:
    kept = formulas.logits_bytes(samples, length, vocabulary, FLOAT32)
    assert kept / GIB_BYTES == pytest.approx(gib, abs=0.005)


def test_k1_09_the_index_of_the_greatest_logit_costs_next_to_nothing() -> None:
    assert formulas.logits_bytes(32, 128, 32_000, FLOAT32) == 500 * MIB_BYTES
    assert formulas.logits_bytes(32, 128, 1, FLOAT32) == 16 * KIB_BYTES


def test_k1_10_a_save_that_streams_copies_one_tensor_at_a_time() -> None:
    """Tensors of 4, 1 and 1 GiB."""
    held = 6 * GIB_BYTES
    assert formulas.copy_bytes(held, held) == 12 * GIB_BYTES
    assert formulas.copy_bytes(held, 4 * GIB_BYTES) == 10 * GIB_BYTES


def test_k1_11_a_resume_costs_more_than_a_start() -> None:
    """N float32 parameters under Adam: 16 N; 24 N while the saved ones are loaded; 28 N if they are never released."""
    weights, state = formulas.weights_bytes(1000, FLOAT32), formulas.adamw_state_bytes(1000, FLOAT32)
    assert formulas.fixed_bill(1000, FLOAT32) == 16_000
    assert formulas.resume_bytes(weights, state) == 24_000
    assert formulas.resume_kept_bytes(weights, formulas.gradients_bytes(1000, FLOAT32), state) == 28_000


def test_k1_12_the_system_s_peak_is_read_in_its_unit_and_printed_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """`time -f %M` printed 87286376: KiB, hence 83.24 GiB or 89.38 GB."""
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(resource, "getrusage", lambda _: SimpleNamespace(ru_maxrss=87_286_376))
    assert readable(peak.ru_maxrss_bytes()) == "89.38 GB"
    assert peak.ru_maxrss_bytes() / GIB_BYTES == pytest.approx(83.24, abs=0.005)


def test_k1_12_loading_shards_holds_the_model_and_the_largest_one() -> None:
    assert formulas.copy_bytes(42 * GB_BYTES, 10 * GB_BYTES) == 52 * GB_BYTES


def test_k1_13_accumulation_keeps_one_set_of_gradients_whatever_the_number_of_micro_batches(trace: Tracing) -> None:
    forward = {
        count: trace(gradient_accumulation=count, zero_grad="free").steps[-1].peak_bytes()["forward"]
        for count in (1, 2, 4, 8)
    }
    assert forward[2] - forward[1] == 4 * PARAMETERS
    assert forward[2] == forward[4] == forward[8]
