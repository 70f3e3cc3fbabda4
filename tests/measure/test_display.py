"""What the author sees while measuring: a live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import io

from sitegen.measure.display import LiveDisplay, PlainDisplay, display_for, outcome
from sitegen.measure.plan import Task
from sitegen.measure.timing import Clock
from sitegen.records.case import Case
from sitegen.records.observation import Observed, Progress
from tests.factories import record

CASE = Case()
TASKS = [
    Task(Case(mode="baseline"), "done", "up to date", record(Case(mode="baseline"))),
    Task(CASE, "new", "why", None),
]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _shown(stream: io.StringIO) -> str:
    display = display_for(stream, Clock({CASE: 60.0}))
    display.planned(TASKS)
    display.preparing("downloading the wheel")
    display.started(TASKS[1])
    display.progressed(TASKS[1], Progress(phase="backward", step=2, observed=Observed()))
    display.finished(TASKS[1], record(CASE))
    display.close()
    return stream.getvalue()


def test_plain_lines_say_what_runs_why_and_how_it_ended() -> None:
    text = _shown(io.StringIO())
    assert "2 cases: 1 up to date, 1 to measure" in text
    assert f"new    {CASE.id}: why" in text
    assert "model: downloading the wheel" in text
    assert f"[1/1] {CASE.id} … (about 1 min left)" in text or "(about 60 s left)" in text
    assert "peak " in text
    assert "\x1b" not in text  # no control sequence in a log


def test_a_terminal_gets_the_case_the_phase_and_the_time_left() -> None:
    text = _shown(Terminal())
    assert "step 2, backward" in text
    assert "left" in text
    assert "peak " in text


def test_the_stream_decides() -> None:
    assert isinstance(display_for(Terminal(), Clock({})), LiveDisplay)
    assert type(display_for(io.StringIO(), Clock({}))) is PlainDisplay


def test_an_outcome_is_never_blank_nor_zero() -> None:
    assert outcome(record(CASE, status="out_of_memory", reason="no room")) == "out_of_memory: no room"
    assert outcome(record(CASE)).startswith("peak ")
    assert outcome(record(Case(mode="baseline"))).startswith("baseline ")
