"""Every public report of these kinds is a test here, or has a line that says why it cannot be one."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
REPORTS: Final = {
    "K1": (1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13),
    "K2": (1, 2, 3, 4, 5),
    "K3": (1, 2, 3, 4, 5),
    "K4": (1, 2, 3, 4, 5),
    "K5": (1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13),
    "K7": (2, 3, 4, 6, 7, 8, 9, 10, 11, 13),
    "K8": (1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12),
}
"""The numbers of the reports that were collected, by kind."""


def _tested() -> set[str]:
    names = (
        name
        for path in HERE.glob("test_reports_*.py")
        for name in re.findall(r"def test_(k\d_\d\d)_", path.read_text("utf-8"))
    )
    return {name.upper().replace("_", "-") for name in names}


def test_every_report_is_a_test_or_has_a_reason() -> None:
    expected = {f"{kind}-{number:02}" for kind, numbers in REPORTS.items() for number in numbers}
    reasons = tomllib.loads((HERE / "not_applicable.toml").read_text("utf-8"))
    tested = _tested()
    assert tested | set(reasons) == expected
    assert not tested & set(reasons)
    assert all(line.keys() == {"reason"} and line["reason"].endswith(".") for line in reasons.values())
