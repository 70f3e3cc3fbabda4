"""The parent of a trace: one child for all that is asked, nothing traced twice, errors said again."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace

from sitegen.errors import ConfigurationError, ModelError
from sitegen.measure import tracing
from sitegen.measure.tracing import bills, stack
from sitegen.records.bill import Bill, BillRequest
from sitegen.records.case import Case
from tests.measure.conftest import TINY

REQUEST: Final = BillRequest(case=Case(mode="inference", sequence_length=16), config=TINY)
BAD: Final = replace(REQUEST, config={key: value for key, value in TINY.items() if key != "hidden_size"})


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SITEGEN_CACHE", str(tmp_path))
    return tmp_path


def _no_child(*_arguments: object, **_options: object) -> None:
    raise AssertionError("a child was started")


def test_one_child_answers_all_and_nothing_is_traced_again(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    longer = replace(REQUEST, case=replace(REQUEST.case, sequence_length=32))
    first, error, second = bills([REQUEST, BAD, longer])
    assert isinstance(first, Bill)
    assert isinstance(second, Bill)
    assert first.peak.peak_bytes < second.peak.peak_bytes
    assert isinstance(error, ConfigurationError)
    assert "has no hidden_size" in error.what
    assert error.remedy
    monkeypatch.setattr(subprocess, "run", _no_child)
    elsewhere = replace(REQUEST.case, allocator="fixed", seed=3, threads=1, model="other", timeout=5)
    assert bills([replace(REQUEST, case=elsewhere), longer]) == [first, second]
    assert len(list(cache.rglob("*.json"))) == 2


def test_a_spoilt_memory_is_traced_again(cache: Path) -> None:
    (first,) = bills([REQUEST])
    (path,) = cache.rglob("*.json")
    path.write_text("{}", encoding="utf-8")
    assert bills([REQUEST]) == [first]


def test_another_stack_is_another_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    bills([REQUEST])
    monkeypatch.setattr(tracing, "stack", lambda: stack() | {"torch": "3.0"})
    monkeypatch.setattr(subprocess, "run", _no_child)
    with pytest.raises(AssertionError, match="a child was started"):
        bills([REQUEST])


def test_a_child_that_dies_is_an_error_with_its_last_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "_MODULE", "sitegen.no_such_module")
    with pytest.raises(ModelError, match=r"No module named sitegen\.no_such_module"):
        bills([REQUEST])


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(cache: Path) -> None:
    (cache / "bills").write_text("a file where a folder should be", encoding="utf-8")
    (found,) = bills([REQUEST])
    assert isinstance(found, Bill)


def test_the_stack_names_the_traced_packages_and_the_code_that_traces() -> None:
    assert set(stack()) == {"torch", "transformers", "peft", "bitsandbytes", "tracer"}
