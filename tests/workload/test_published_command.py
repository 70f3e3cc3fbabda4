"""The command that traces published runs refuses what it cannot do, before it loads anything heavy."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitegen.workload import published

FOLDER = str(Path(__file__).parents[2] / "measurements" / "published")


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert published.main(list(arguments)) == 2  # UsageError
    return capsys.readouterr().err


def test_the_installed_transformers_is_not_that_of_the_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert "made with transformers 4.48.1" in refused(capsys, FOLDER, "fms-2025-01")


def test_an_unknown_stack_is_named_with_those_that_exist(capsys: pytest.CaptureFixture[str]) -> None:
    message = refused(capsys, FOLDER, "fms-1999")
    assert "fms-1999" in message
    assert "fms-2025-01" in message


def test_the_folder_and_the_stack_are_needed(capsys: pytest.CaptureFixture[str]) -> None:
    assert "expected" in refused(capsys, FOLDER)
