"""What a process of the reference suite counted of its own tensors is what a trace counts."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Final

import msgspec
import pytest

from sitegen.measure.suites import REFERENCE
from sitegen.records.model import Record
from sitegen.records.trace import Trace
from sitegen.workload.trace import traced

_ROOT: Final = Path(__file__).parents[2]
_CONFIG: Final = _ROOT / "sitegen" / "workload" / "configurations" / "smollm2-135m-instruct.json"
_REFERENCE: Final = {case.id for case in REFERENCE}


def _records() -> list[Record]:
    """The committed measurements under the allocator whose peak is that of the live tensors."""
    paths = sorted((_ROOT / "measurements").glob("*/*/*-fixed-*.json"))
    records = [msgspec.json.decode(path.read_bytes(), type=Record) for path in paths]
    return [
        record
        for record in records
        if record.status == "ok"
        and record.case.mode != "baseline"
        and record.case_id in _REFERENCE
        and _of_here(record)
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


def test_the_components_are_those_that_the_run_counted(pair: tuple[Record, Trace]) -> None:
    record, trace = pair
    counted, held = record.summary.component_bytes, trace.steps[-1].phases[-1].components
    assert counted is not None
    assert (held.weights, held.gradients) == (counted.weights, counted.gradients)
    assert held.optimizer_state == counted.optimizer_state
    assert trace.parameters == record.summary.parameters
    assert trace.trainable_parameters == record.summary.trainable_parameters
