"""Kind 4: number formats, and what they do not save."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from msgspec.structs import replace

from sitegen.french import MINUS, NO_BREAK, change, ratio
from sitegen.measure.machine import circumstances
from sitegen.memory import formulas
from sitegen.records.case import Case
from sitegen.records.store import load, save
from sitegen.render.tables import peak_of, percentage
from sitegen.units import GIB_BYTES, MIB_BYTES
from tests import factories

if TYPE_CHECKING:
    from tests.reports.conftest import Tracing

ROTARY_BYTES: Final = (64 // 4 // 2) * 4 * 2
"""Frequencies of half a head of 16, in float32, kept twice: the only buffers of the model."""


def test_k4_01_mixed_precision_keeps_sixteen_bytes_a_parameter(trace: Tracing) -> None:
    mixed = trace(mixed_precision="bf16")
    held = mixed.steps[-1].phases[1].components
    counters = 4 * (2 * 9 + 2)  # a float32 a tensor
    static = held.weights + held.gradients + held.optimizer_state
    assert static == formulas.sixteen_bytes(mixed.parameters) + ROTARY_BYTES + counters


@pytest.mark.parametrize(
    ("float32_mib", "mixed_mib", "shown"),
    [(4247, 4163, "2,0"), (4971, 4793, "3,6"), (6827, 6207, "9,1"), (10_037, 8061, "19,7")],
)
def test_k4_01_the_published_savings_never_reach_a_half(float32_mib: int, mixed_mib: int, shown: str) -> None:
    assert change(mixed_mib / float32_mib - 1, 1) == f"{MINUS}{shown}{NO_BREAK}%"


def test_k4_02_mixed_precision_may_cost_and_the_cost_is_shown(trace: Tracing) -> None:
    """Weights cast to 16 bits are held beside the float32 ones; with few activations, that is a loss."""
    plain, mixed = (
        trace(mixed_precision=precision, batch_size=1, sequence_length=2).steps[-1].peak_bytes()["forward"]
        for precision in ("none", "bf16")
    )
    assert mixed > plain
    assert change(26_235 / 25_361 - 1, 1) == f"+3,4{NO_BREAK}%"
    assert percentage(26_235 / 25_361 - 1).text == "+3"


@pytest.mark.parametrize("key", ["torch_dtype", "dtype"])
def test_k4_03_the_dtype_of_the_case_wins_over_that_of_the_configuration(trace: Tracing, key: str) -> None:
    for dtype, each in (("float32", 4), ("bfloat16", 2)):
        done = trace({key: "bfloat16"}, mode="inference", dtype=dtype)
        assert (
            done.steps[0].phases[0].components.weights == formulas.weights_bytes(done.parameters, each) + ROTARY_BYTES
        )


def test_k4_04_a_frozen_base_in_float32_costs_two_bytes_a_parameter_and_nothing_varies(trace: Tracing) -> None:
    peaks = [trace(method="lora", dtype="bfloat16").steps for _ in range(3)]
    assert peaks[0] == peaks[1] == peaks[2]
    held = {
        dtype: trace(method="lora", dtype=dtype).steps[-1].phases[-1].components.weights
        for dtype in ("float32", "bfloat16")
    }
    assert held["float32"] - held["bfloat16"] == formulas.weights_bytes(trace(method="lora").parameters, 2)


def test_k4_04_the_published_pair_in_one_unit_and_its_ratio() -> None:
    """48 241 and 18 658 MiB, three times each: 28.89 GiB saved, a ratio of 2.586."""
    forgotten, given = 48_241 * MIB_BYTES, 18_658 * MIB_BYTES
    assert (forgotten - given) / GIB_BYTES == pytest.approx(28.89, abs=0.005)
    assert ratio(forgotten / given, 3) == f"2,586{NO_BREAK}×"


def test_k4_05_the_processor_is_recorded_and_a_timeout_is_a_row(tmp_path: Path) -> None:
    assert set(circumstances().cpu_flags) <= {*Path("/proc/cpuinfo").read_text("utf-8").split()}
    case = replace(factories.BFLOAT16, timeout=60)
    path = save(factories.record(case, status="timeout", reason="no end within 60 s"), tmp_path)
    ended = load(path)
    assert ended.summary.peak_bytes is None
    assert ended.circumstances.cpu_flags == factories.CIRCUMSTANCES.cpu_flags
    cell = peak_of(ended)
    assert cell.text
    assert cell.href is not None
    assert case.id == Case(batch_size=8, dtype="bfloat16").id  # the limit is no property of the run
