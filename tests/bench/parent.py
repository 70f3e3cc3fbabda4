"""The parent of a suite, held before each case until a line comes in: ``bench.py`` puts a stand-alone run in between.

Everything else is what ``sitegen build`` does, its display included.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import msgspec

from sitegen.measure.campaign import Campaign, measure
from sitegen.measure.display import LiveDisplay, PlainDisplay, display_for
from sitegen.measure.plan import Task
from sitegen.measure.timing import Clock
from sitegen.measure.weights import source_of
from sitegen.records.case import DEFAULT_MODEL, Case
from sitegen.records.model import Record


class HeldDisplay:
    """The usual display, which waits for a line on standard input before a case and writes one after it."""

    def __init__(self, usual: LiveDisplay | PlainDisplay) -> None:
        self.planned = usual.planned
        self.preparing = usual.preparing
        self.progressed = usual.progressed
        self._usual = usual

    def started(self, task: Task) -> None:
        tell("ready")
        sys.stdin.readline()
        self._usual.started(task)

    def finished(self, task: Task, record: Record) -> None:
        self._usual.finished(task, record)
        tell(record.status)


def tell(word: str) -> None:
    """Write to the pipe itself: a live display takes `sys.stdout` for its own."""
    os.write(1, f"{word}\n".encode())


def main() -> None:
    """Measure the cases of the JSON in the first argument into the folder of the second."""
    records = Path(sys.argv[2])
    usual = display_for(sys.stderr, Clock({}))
    campaign = Campaign(
        cases=msgspec.json.decode(sys.argv[1], type=tuple[Case, ...]),
        sources={DEFAULT_MODEL: source_of(DEFAULT_MODEL)},
        records=records,
        lock=records / ".lock",
        force=True,
    )
    try:
        measure(campaign, HeldDisplay(usual))
    finally:
        usual.close()


if __name__ == "__main__":
    main()
