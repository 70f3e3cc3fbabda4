"""Published runs: the goals of the validation, held on the committed table and traces."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from sitegen.memory.cuda import CUBLAS_BYTES
from sitegen.memory.deviations import Deviations, deviations
from sitegen.memory.peers import PEERS
from sitegen.memory.published import (
    CUBLAS_HANDLES,
    Comparison,
    compared,
    estimated_bytes,
    setting_of,
)
from sitegen.records.published import load_runs, load_traces, traced_with

FOLDER = Path(__file__).parents[2] / "measurements" / "published"
FULL = "fms-a100_80gb-8"  # Mistral-7B, full training, 4 x 4096


@cache
def comparisons() -> tuple[Comparison, ...]:
    return compared(load_runs(FOLDER), load_traces(FOLDER))


def errors(group: str) -> Deviations:
    found = deviations(row.error for row in comparisons() if row.group == group)
    assert found is not None
    return found


def test_every_run_of_one_gpu_with_allocated_bytes_is_there() -> None:
    # 40 runs of January 2025, 47 of the Liger table, 14 of the Granite table; 24 of GPTQ.
    assert len(comparisons()) == 101
    assert sum(row.group == "untraced" for row in comparisons()) == 24


def test_transformers_own_loss_is_estimated_within_one_percent() -> None:
    found = errors("transformers")
    assert found.count == 25
    assert found.median <= 0.01
    assert abs(found.worst) <= 0.05
    assert min(found.errors) >= -0.03


@pytest.mark.parametrize(("loss", "count"), [("liger", 19), ("unsloth", 33)])
def test_fused_losses_are_modelled_within_five_percent(loss: str, count: int) -> None:
    found = errors(loss)
    assert found.count == count
    assert found.median <= 0.05
    assert abs(found.worst) <= 0.05


def test_what_stays_between_steps_is_estimated_too() -> None:
    runs, traces = load_runs(FOLDER), load_traces(FOLDER)
    steady = {run.id: run.steady_bytes for run in runs.runs}
    beside = CUBLAS_HANDLES * CUBLAS_BYTES
    found = deviations((trace.steady_bytes + beside) / steady[name] - 1 for name, trace in traces.items())
    assert found is not None
    assert found.median <= 0.001
    assert abs(found.worst) <= 0.05


def test_only_the_runs_without_a_trace_have_a_reason() -> None:
    assert all(bool(row.reason) == (row.estimated_bytes is None) for row in comparisons())
    assert {(row.run.method, row.reason) for row in comparisons() if row.reason} == {("gptq-lora", "gptq_kernels")}


def test_a_run_that_could_be_traced_and_was_not_says_so() -> None:
    runs = load_runs(FOLDER)
    assert {row.reason for row in compared(runs, {}) if row.run.traceable} == {"not_traced_yet"}


def test_the_gpu_adds_two_work_spaces() -> None:
    # Twice 2 x 4096 KiB + 8 x 16 KiB, PyTorch's default before Hopper.
    trace = load_traces(FOLDER)[FULL]
    assert estimated_bytes(trace) == trace.peak_bytes + 17_039_360


def test_mistral_in_full_peaks_in_the_step_at_ten_bytes_a_parameter() -> None:
    # bf16 weights, gradients and two states, and the many-tensor step's temporary: 5 x 2 bytes of 7 241 740 288.
    trace = load_traces(FOLDER)[FULL]
    assert trace.phase == "optimizer_step"
    assert trace.peak_bytes == pytest.approx(72_417_402_880, rel=1e-4)


def test_each_stack_was_traced_with_its_own_transformers_and_peft() -> None:
    stacks = load_runs(FOLDER).stacks
    for name, versions in traced_with(FOLDER).items():
        assert {key: versions[key] for key in ("transformers", "peft")} == {
            key: stacks[name].versions[key] for key in ("transformers", "peft")
        }


def test_rank_16_on_four_projections_of_mistral_is_13_631_488_parameters() -> None:
    # A layer: q and o 16 x (4096 + 4096), k and v 16 x (4096 + 1024); 32 layers.
    runs = load_runs(FOLDER)
    lora = next(run for run in runs.runs if run.method == "lora" and "Mistral" in run.model)
    assert setting_of(lora, runs.models[lora.model]).adapter_parameters == 13_631_488


@pytest.mark.parametrize("method", ["full", "lora", "qlora"])
def test_no_rule_and_no_calculator_comes_near_on_the_same_runs(method: str) -> None:
    rows = [row for row in comparisons() if row.run.method == method and row.error is not None]
    ours = deviations(row.error for row in rows)
    others = [deviations(row.peer_error(peer.name) for row in rows) for peer in PEERS]
    assert ours is not None
    assert ours.median < min(found.median for found in others if found is not None)
