"""How far the measurement is, and an honest time left: on a terminal as one live line, elsewhere as plain lines."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeElapsedColumn
from rich.progress import Task as Line
from rich.text import Text

from sitegen.measure.plan import Task
from sitegen.measure.timing import Clock
from sitegen.records.model import Record
from sitegen.records.observation import Progress as Report
from sitegen.units import NS_PER_S, readable


def display_for(stream: TextIO, clock: Clock) -> PlainDisplay | LiveDisplay:
    """The display that suits the stream."""
    return LiveDisplay(stream, clock) if stream.isatty() else PlainDisplay(stream, clock)


class PlainDisplay:
    """One line an event: what is read in a log."""

    def __init__(self, stream: TextIO = sys.stderr, clock: Clock | None = None) -> None:
        self._stream = stream
        self._clock = clock or Clock({})

    def planned(self, tasks: Sequence[Task]) -> None:
        """Say what will be measured, and how long that should take."""
        self._clock.plan(tasks)
        pending = [task for task in tasks if task.pending]
        self._say(f"{len(tasks)} cases: {len(tasks) - len(pending)} up to date, {len(pending)} to measure")
        for task in pending:
            self._say(f"  {task.state:<6} {task.case.id}: {task.why}")

    def preparing(self, message: str) -> None:
        """Say what the preparation of the weights does."""
        self._say(f"model: {message}")

    def started(self, task: Task) -> None:
        """Say which case begins and how much is left."""
        self._clock.start()
        self._say(f"[{self._clock.position}] {task.case.id} … ({self._clock.left()})")

    def progressed(self, task: Task, progress: Report) -> None:
        """A log has no use for phases."""

    def finished(self, task: Task, record: Record) -> None:
        """Say what came out."""
        self._clock.finish(task.case)
        self._say(f"  {outcome(record)}")

    def close(self) -> None:
        """Nothing to put away."""

    def _say(self, line: str) -> None:
        """One line, at once."""
        print(line, file=self._stream, flush=True)


class _Left(ProgressColumn):
    """The time left, asked again at each refresh."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock

    def render(self, task: Line) -> Text:
        """The clock's own words."""
        del task
        return Text(self._clock.left())


class LiveDisplay(PlainDisplay):
    """One live line under the finished ones: case, phase, elapsed, time left."""

    def __init__(self, stream: TextIO, clock: Clock) -> None:
        super().__init__(stream, clock)
        self._console = Console(file=stream, highlight=False)
        self._bar = Progress(
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TextColumn("{task.description}", markup=False),
            TimeElapsedColumn(),
            _Left(self._clock),
            console=self._console,
            refresh_per_second=1,
            transient=True,
        )
        self._line = self._bar.add_task("", total=None, start=False)

    def planned(self, tasks: Sequence[Task]) -> None:
        """Say what will be measured, and show the bar."""
        super().planned(tasks)
        self._bar.update(self._line, total=sum(task.pending for task in tasks))
        self._bar.start()

    def started(self, task: Task) -> None:
        """Show the case."""
        self._clock.start()
        self._bar.reset(self._line, completed=self._clock.finished, description=task.case.id)

    def progressed(self, task: Task, progress: Report) -> None:
        """Show the phase."""
        where = progress.phase if progress.step is None else f"step {progress.step}, {progress.phase}"
        self._bar.update(self._line, description=f"{task.case.id}: {where}")

    def finished(self, task: Task, record: Record) -> None:
        """Leave the case's line behind."""
        self._clock.finish(task.case)
        self._bar.update(self._line, completed=self._clock.finished)
        self._say(f"{task.case.id}: {outcome(record)}")

    def close(self) -> None:
        """Take the bar away."""
        self._bar.stop()

    def _say(self, line: str) -> None:
        """One line above the live one."""
        self._console.print(line, markup=False, soft_wrap=True)


def outcome(record: Record) -> str:
    """A record in one line: its net peak and what it took, or why there is none."""
    if record.status != "ok":
        return f"{record.status}: {record.reason}"
    took = sum(sample.duration_ns for sample in record.samples) / NS_PER_S
    if record.summary.peak_bytes is None:
        return f"baseline {readable(record.summary.baseline_bytes)} in {took:.0f} s"
    return f"peak {readable(record.summary.peak_bytes)} net of {readable(record.summary.baseline_bytes)}, {took:.0f} s"
