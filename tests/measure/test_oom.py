"""How a process ended, from its exit code and the kernel's counters."""

from __future__ import annotations

import pytest

from sitegen.measure.oom import OomKills, scope_of
from sitegen.measure.runner import ended

BEFORE = OomKills(host=4, cgroup=1)


@pytest.mark.parametrize(
    ("returncode", "now", "status", "scope"),
    [
        (-9, OomKills(5, 1), "out_of_memory", "host"),
        (-9, OomKills(5, 2), "out_of_memory", "cgroup"),  # the host's counter counts a group's own kills too
        (-9, OomKills(4, 1), "killed", None),
        (137, OomKills(5, 1), "out_of_memory", "host"),  # a shell's way to say -9
        (137, OomKills(4, 1), "killed", None),
        (1, OomKills(4, 1), "failed", None),
        (-11, OomKills(5, 2), "failed", None),  # a crash is a crash, whatever else the kernel killed
        (0, OomKills(4, 1), "failed", None),  # no result is no success
    ],
)
def test_the_ending_is_told_from_code_and_counters(
    returncode: int, now: OomKills, status: str, scope: str | None
) -> None:
    ending = ended(returncode, BEFORE, now)
    assert (ending.status, ending.oom_scope) == (status, scope)
    assert ending.reason


def test_a_system_without_counters_blames_nobody() -> None:
    assert scope_of(OomKills(None, None), OomKills(None, None)) is None
    assert ended(-9, OomKills(None, None), OomKills(None, None)).status == "killed"
