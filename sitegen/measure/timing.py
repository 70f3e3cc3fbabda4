"""An honest time left: what the same cases took before, scaled by how fast this machine has been so far."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from sitegen.measure.plan import Task
from sitegen.records.case import Case
from sitegen.records.model import Record
from sitegen.units import NS_PER_S

_MINUTE_S: Final = 60.0
_START_TOKENS: Final = 3000  # importing and loading take about as long as this many tokens of one forward


def known_durations(records: Iterable[Record]) -> dict[Case, float]:
    """Median seconds that a sample of each case took, whatever the machine."""
    taken: dict[Case, list[float]] = {}
    for record in records:
        if record.status == "ok":
            seconds = [sample.duration_ns / NS_PER_S for sample in record.samples]
            taken.setdefault(record.case, []).extend(seconds)
    return {case: statistics.median(seconds) for case, seconds in taken.items()}


def work(case: Case) -> float:
    """A rough size of a case, in tokens of one forward: a backward counts as two (Kaplan et al. 2020, section 2.1)."""
    tokens = case.batch_size * case.sequence_length
    passes = {"baseline": 0, "inference": 1, "generation": 1}.get(case.mode)
    if passes is None:
        passes = 3 * case.steps * case.gradient_accumulation
    return _START_TOKENS + tokens * passes


class Clock:
    """Follows a campaign: what is finished, what it took, what is left."""

    def __init__(self, known: Mapping[Case, float]) -> None:
        """`known`: seconds that each case took before."""
        self._known = {case.id: seconds for case, seconds in known.items()}
        self._waiting: list[Case] = []
        self._paces: list[float] = []
        self._rates = [seconds / work(case) for case, seconds in known.items()]
        self._began = 0.0
        self._total = 0

    @property
    def finished(self) -> int:
        """How many cases are done."""
        return self._total - len(self._waiting)

    @property
    def position(self) -> str:
        """The running case's rank, e.g. ``3/22``."""
        return f"{self.finished + 1}/{self._total}"

    def plan(self, tasks: Sequence[Task]) -> None:
        """The cases to come."""
        self._waiting = [task.case for task in tasks if task.pending]
        self._total = len(self._waiting)

    def start(self) -> None:
        """A case begins."""
        self._began = time.monotonic()

    def finish(self, case: Case) -> None:
        """A case has ended: learn this machine's pace from it."""
        seconds = time.monotonic() - self._began
        if case.id in self._known:
            self._paces.append(seconds / self._known[case.id])
        self._rates.append(seconds / work(case))
        self._waiting = [waiting for waiting in self._waiting if waiting.id != case.id]

    def left(self) -> str:
        """``about 3 min left``; ``roughly …`` when a case has never been timed; else that it is unknown."""
        guesses = [self._expected(case) for case in self._waiting]
        known = [seconds for seconds in guesses if seconds is not None]
        if len(known) < len(guesses):
            return "time left unknown"
        seconds = max(0.0, sum(known) - (time.monotonic() - self._began))
        text = f"{seconds:.0f} s" if seconds < _MINUTE_S else f"{seconds / _MINUTE_S:.0f} min"
        sure = all(case.id in self._known for case in self._waiting)
        return f"{'about' if sure else 'roughly'} {text} left"

    def _expected(self, case: Case) -> float | None:
        """Seconds that a case should take here; by its size when only others were timed; unknown at the very start."""
        if case.id in self._known:
            return self._known[case.id] * (statistics.median(self._paces) if self._paces else 1.0)
        return work(case) * statistics.median(self._rates) if self._rates else None
