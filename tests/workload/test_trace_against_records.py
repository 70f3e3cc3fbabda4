"""What a process really took, less what a trace says lives in it: the runtime's own pages, and nothing else."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Final

import msgspec
import pytest

from sitegen.records.model import Record
from sitegen.records.trace import Trace
from sitegen.units import MB_BYTES
from sitegen.workload.trace import traced

_ROOT: Final = Path(__file__).parents[2]
_CONFIG: Final = _ROOT / "sitegen" / "workload" / "configurations" / "smollm2-135m-instruct.json"
# Code and thread stacks that the first operations touch: some tens of MB, whatever the model and the batch. A bound
# against the trace taking another path than the run (2 % of a peak or more: over 100 MB here), not a validation: the
# runtime's pages are to be measured by probes of their own.
_RUNTIME_BYTES: Final = range(40 * MB_BYTES, 70 * MB_BYTES)


def _records() -> list[Record]:
    """The committed measurements under the allocator whose peak is that of the live tensors."""
    paths = sorted((_ROOT / "measurements").glob("*/*/*-fixed-*.json"))
    records = [msgspec.json.decode(path.read_bytes(), type=Record) for path in paths]
    return [
        record for record in records if record.status == "ok" and record.case.mode != "baseline" and _of_here(record)
    ]


def _of_here(record: Record) -> bool:
    """Whether the record was made by the versions that trace here: another stack takes other operations."""
    return all(record.environment.packages[name] == version(name) for name in ("torch", "transformers", "peft"))


def test_the_versions_of_the_set_up_have_records() -> None:
    assert len(_records()) >= 10  # the reference suite's rows under the fixed allocator


@pytest.fixture(scope="module", params=_records(), ids=lambda record: record.case_id)
def pair(request: pytest.FixtureRequest) -> tuple[Record, Trace]:
    config = json.loads(_CONFIG.read_text(encoding="utf-8"))
    return request.param, traced(request.param.case, config)


def test_the_measured_peak_is_the_traced_one_and_the_runtimes_pages(pair: tuple[Record, Trace]) -> None:
    record, trace = pair
    assert record.summary.peak_bytes is not None
    assert record.summary.peak_bytes - trace.peak_bytes in _RUNTIME_BYTES
    for name, traced_bytes in trace.steps[-1].peak_bytes().items():
        measured_bytes = record.summary.phase_peak_bytes[name]
        assert measured_bytes is not None
        assert measured_bytes - traced_bytes in _RUNTIME_BYTES


def test_the_components_are_those_that_the_run_counted(pair: tuple[Record, Trace]) -> None:
    record, trace = pair
    counted, held = record.summary.component_bytes, trace.steps[-1].phases[-1].components
    assert counted is not None
    assert (held.weights, held.gradients) == (counted.weights, counted.gradients)
    assert held.optimizer_state == counted.optimizer_state
    assert trace.parameters == record.summary.parameters
    assert trace.trainable_parameters == record.summary.trainable_parameters
