"""An honest time left: what the same cases took before, scaled by how fast this machine has been so far."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable, Mapping, Sequence

from sitegen.measure.plan import Task
from sitegen.records.model import Record
from sitegen.units import NS_PER_S

_MINUTE_S = 60.0


def known_durations(records: Iterable[Record]) -> dict[str, float]:
    """Median seconds a sample of each case took, whatever the machine, by case id."""
    taken: dict[str, list[float]] = {}
    for record in records:
        if record.status == "ok":
            seconds = [sample.duration_ns / NS_PER_S for sample in record.samples]
            taken.setdefault(record.case_id, []).extend(seconds)
    return {case_id: statistics.median(seconds) for case_id, seconds in taken.items()}


class Clock:
    """Follows a campaign: what is finished, what it took, what is left."""

    def __init__(self, known: Mapping[str, float]) -> None:
        """`known`: seconds that each case took before, by case id."""
        self._known = known
        self._waiting: list[str] = []
        self._pace: list[float] = []
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
        self._waiting = [task.case.id for task in tasks if task.pending]
        self._total = len(self._waiting)

    def start(self, task: Task) -> None:
        """A case begins."""
        del task
        self._began = time.monotonic()

    def finish(self, task: Task) -> None:
        """A case has ended: learn this machine's pace from it."""
        expected = self._known.get(task.case.id)
        if expected:
            self._pace.append((time.monotonic() - self._began) / expected)
        if task.case.id in self._waiting:
            self._waiting.remove(task.case.id)

    def left(self) -> str:
        """``about 3 min left``; ``at least …`` when some case has never been timed; else that it is unknown."""
        pace = statistics.median(self._pace) if self._pace else 1.0
        expected = [self._known.get(case_id) for case_id in self._waiting]
        timed = [seconds * pace for seconds in expected if seconds is not None]
        if not timed:
            return "time left unknown"
        seconds = max(0.0, sum(timed) - (time.monotonic() - self._began))
        text = f"{seconds:.0f} s" if seconds < _MINUTE_S else f"{seconds / _MINUTE_S:.0f} min"
        return f"{'about' if len(timed) == len(expected) else 'at least'} {text} left"
