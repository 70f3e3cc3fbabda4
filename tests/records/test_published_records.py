"""The files of published runs: what is damaged is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitegen.errors import RecordError, StorageError
from sitegen.records.published import RUNS, encode, load_runs, load_traces

FOLDER = Path(__file__).parents[2] / "measurements" / "published"


def test_the_committed_table_reads_and_writes_the_same_bytes() -> None:
    assert encode(load_runs(FOLDER)) == (FOLDER / RUNS).read_bytes()


def test_every_run_names_a_model_and_a_stack_of_the_table() -> None:
    table = load_runs(FOLDER)
    assert {run.model for run in table.runs} == set(table.models)
    assert {run.stack for run in table.runs} == set(table.stacks)
    assert len({run.id for run in table.runs}) == len(table.runs)


def test_every_trace_is_of_a_run_that_can_be_traced() -> None:
    assert set(load_traces(FOLDER)) == {run.id for run in load_runs(FOLDER).runs if run.traceable}


def test_a_damaged_table_is_named(tmp_path: Path) -> None:
    (tmp_path / RUNS).write_text('{"runs": 3}')
    with pytest.raises(RecordError, match=r"runs\.json is not a table of published runs"):
        load_runs(tmp_path)


def test_a_missing_table_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"runs\.json"):
        load_runs(tmp_path)
