"""The help in the README: generated, and checked by a test. To write it: ``python -m tests.readme``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from click.testing import CliRunner

from sitegen.cli import cli

README: Final = Path(__file__).parents[1] / "README.md"
_BLOCK: Final = re.compile(r"(<!-- help:(\w+) -->\n)(.*?)(<!-- /help:\2 -->)", re.DOTALL)


def with_helps(text: str) -> str:
    """The README with each help block replaced by the command's help."""
    return _BLOCK.sub(lambda found: f"{found[1]}\n```text\n{_help(found[2])}```\n\n{found[4]}", text)


def _help(command: str) -> str:
    """What ``sitegen COMMAND --help`` prints on a terminal of 110 columns."""
    result = CliRunner().invoke(cli, [command, "--help"], prog_name="sitegen", terminal_width=110)
    return result.output


if __name__ == "__main__":
    README.write_text(with_helps(README.read_text(encoding="utf-8")), encoding="utf-8")
