"""The time left that is shown while measuring."""

from __future__ import annotations

import time
from itertools import count

import pytest

from sitegen.measure.plan import Task
from sitegen.measure.timing import Clock, known_durations, work
from sitegen.records.case import Case
from sitegen.units import NS_PER_S
from tests.factories import record

A, B = Case(batch_size=1), Case(batch_size=8)


def _tasks(*cases: Case) -> list[Task]:
    return [Task(case, "new", "", None) for case in cases]


@pytest.fixture(autouse=True)
def _ten_seconds_a_look(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = count(0.0, 10.0)
    monkeypatch.setattr(time, "monotonic", lambda: next(ticks))


def test_nothing_is_promised_before_anything_was_timed() -> None:
    clock = Clock({})
    clock.plan(_tasks(A, B))
    clock.start()
    assert clock.left() == "time left unknown"


def test_known_durations_are_scaled_by_this_machine_s_pace() -> None:
    clock = Clock({A: 5.0, B: 40.0})
    clock.plan(_tasks(A, B))
    clock.start()  # at 0 s
    clock.finish(A)  # at 10 s: twice what is known
    clock.start()  # at 20 s
    assert clock.left() == "about 1 min left"  # 40 s x 2, less the 10 s that have passed: 70 s
    assert clock.position == "2/2"


def test_a_case_never_timed_is_guessed_by_its_size_and_said_so() -> None:
    clock = Clock({})
    clock.plan(_tasks(A, B))
    clock.start()
    clock.finish(A)  # 10 s
    clock.start()
    expected = 10.0 * work(B) / work(A) - 10.0
    assert clock.left() == f"roughly {expected:.0f} s left"


def test_a_case_never_timed_is_guessed_from_the_others_records() -> None:
    clock = Clock({A: 8.0})
    clock.plan(_tasks(B))
    clock.start()  # at 0 s; asked at 10 s
    expected = 8.0 * work(B) / work(A) - 10.0
    assert clock.left() == f"roughly {expected:.0f} s left"


def test_training_weighs_three_forwards_a_step() -> None:
    start = work(Case(mode="baseline"))
    assert work(Case(batch_size=2)) - start == 3 * 2 * (2 * 256)
    assert work(Case(mode="inference", batch_size=2)) - start == 2 * 256


def test_failed_records_teach_no_duration() -> None:
    good = record(A)
    seconds = good.samples[0].duration_ns / NS_PER_S
    assert known_durations([good, record(B, status="timeout", reason="slow")]) == {A: seconds}
