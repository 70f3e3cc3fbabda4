"""The figures that sum errors up."""

from __future__ import annotations

from sitegen.memory.deviations import deviations


def test_the_median_has_no_sign_and_the_worst_keeps_its_own() -> None:
    found = deviations([0.01, None, -0.03, 0.02])
    assert found is not None
    assert (found.count, found.median, found.worst) == (3, 0.02, -0.03)


def test_nothing_known_is_no_figure() -> None:
    assert deviations([]) is None
    assert deviations([None, None]) is None
