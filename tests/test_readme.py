"""The README says what the program does now."""

from __future__ import annotations

from pathlib import Path

from sitegen.cli import cli
from sitegen.errors import ALL_KINDS
from tests.readme import README, with_helps

ROOT = Path(__file__).parents[1]


def test_the_help_in_the_readme_is_the_program_s() -> None:
    text = README.read_text(encoding="utf-8")
    assert with_helps(text) == text, "run: python -m tests.readme"


def test_every_command_is_in_the_readme() -> None:
    text = README.read_text(encoding="utf-8")
    for command in cli.commands:
        assert f"`sitegen {command}" in text


def test_every_exit_code_is_in_the_readme() -> None:
    (line,) = [line for line in README.read_text(encoding="utf-8").splitlines() if line.startswith("Exit codes:")]
    for kind in ALL_KINDS:
        assert f" {kind.exit_code} " in line


def test_the_two_commands_of_the_readme_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "\nsite:" in makefile
    assert "\ntest:" in makefile
