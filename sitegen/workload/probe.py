"""The measured process: import, load, run, and report each peak as soon as it is known.

Started as ``python -m sitegen.workload.probe`` with a `Request` on standard input; writes one `Progress` a line on
standard output. Whatever the libraries print goes to standard error.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from sitegen.records.case import Case
from sitegen.records.model import Phase, Step
from sitegen.records.observation import Failure, Observed, Progress, Request
from sitegen.workload import peak
from sitegen.workload.guard import die_with_parent

_REASON_CHARACTERS: Final = 2000
_ALLOCATION_FAILED: Final = ("can't allocate memory", "not enough memory", "Cannot allocate memory")


class Observer:
    """Measures the phases of a workload and keeps the parent told."""

    def __init__(self, stream: BinaryIO) -> None:
        """Report on `stream`, a binary one."""
        self.observed = Observed()
        self.after_phase: Callable[[str], None] = lambda _name: None
        self._stream = stream
        if peak.swap_bytes() is None:
            self.observed.reasons["swap_bytes"] = "this system does not tell what a process has in swap"
        self._step: int | None = None
        self._phases: dict[str, Phase] = {}
        self._highest = 0

    def tell(self, phase: str, failure: Failure | None = None, done: bool = False) -> None:
        """Send all that is known, and what begins now."""
        seen = self.observed
        seen.swap_bytes, seen.major_faults = peak.swap_bytes(), peak.major_faults()
        line = Progress(phase=phase, step=self._step, observed=seen, failure=failure, done=done)
        self._stream.write(msgspec.json.encode(line) + b"\n")
        self._stream.flush()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure ``import`` or ``load``: what precedes the steps."""
        self.tell(name)
        begun = time.perf_counter_ns()
        with peak.phase_peak() as reading:
            yield
        setattr(self.observed, f"{name}_duration_ns", time.perf_counter_ns() - begun)
        setattr(self.observed, f"{name}_peak_bytes", reading.peak_rss_bytes)
        self._keep_highest()

    def baseline(self) -> None:
        """Take what is resident now, before any model, as the baseline."""
        gc.collect()
        if peak.reset_peak():
            self.observed.baseline_bytes = peak.process_peak_bytes()
        else:
            self.observed.baseline_bytes = peak.ru_maxrss_bytes()
            self.observed.reasons["phases"] = peak.NO_PHASES
        self._keep_highest()

    @contextmanager
    def step(self, number: int) -> Iterator[None]:
        """Measure one step, made of phases. One that fails keeps the phases it finished."""
        self._step, self._phases = number, {}
        try:
            yield
        finally:
            spent = sum(phase.duration_ns for phase in self._phases.values())
            self.observed.steps.append(Step(duration_ns=spent, phases=self._phases))

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Measure one phase; when it runs again in its step (micro-batches) peaks give their maximum, times add."""
        self.tell(name)
        begun = time.perf_counter_ns()
        with peak.phase_peak() as reading:
            yield
        spent = time.perf_counter_ns() - begun
        self._phases[name] = _merged(
            self._phases.get(name), Phase(peak_rss_bytes=reading.peak_rss_bytes, duration_ns=spent)
        )
        self._keep_highest()
        self.after_phase(name)

    def _keep_highest(self) -> None:
        """Follow the peak of the whole process across the resets."""
        self._highest = max(self._highest, peak.process_peak_bytes())
        self.observed.process_peak_bytes = self._highest
        self.observed.ru_maxrss_bytes = peak.ru_maxrss_bytes()


def observe(workload: Callable[[Request, Observer], None]) -> None:
    """Run `workload` as a measured process: read the request, report, and end with the parent.

    Every end that Python can see is reported as a `Failure`; the others (a kill, a timeout) are the parent's to record.
    """
    stream = _private_stdout()
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=Request)
    die_with_parent(request.parent_pid)
    observer = Observer(stream)
    try:
        workload(request, observer)
    except MemoryError as error:
        observer.tell("end", Failure(status="out_of_memory", reason=_said(error)), done=True)
    except Exception as error:  # noqa: BLE001 - whatever a library raises is a result to record
        observer.tell("end", _failure(error), done=True)
    else:
        observer.tell("end", done=True)


def _run_case(request: Request, observer: Observer) -> None:
    """The whole life of a measured case."""
    with observer.stage("import"):
        from sitegen.workload import evidence, models, training  # noqa: PLC0415 - importing is what this stage measures

        models.import_for(request.case, request.folder)
        _set_threads(request.case)
    observer.baseline()
    if request.folder is None:
        observer.observed.reasons["peak_bytes"] = "a baseline runs nothing after the imports"
        return
    with observer.stage("load"):
        job, observer.observed.parameters = models.load(request.case, Path(request.folder))
    witness = evidence.Witness(job, observer.observed)
    observer.after_phase = witness.after_phase
    training.run(job, witness.announcing(observer.phase), observer.step)
    problem = witness.verdict()
    if problem:
        raise InvalidCaseError(problem)


class InvalidCaseError(Exception):
    """The case ran, but an option did not do what it says: its memory is no measurement of that option."""


def _set_threads(case: Case) -> None:
    """Use the number of threads that the case names; torch's own choice otherwise."""
    if case.threads is not None:
        import torch  # noqa: PLC0415 - part of the import stage

        torch.set_num_threads(case.threads)


def _failure(error: Exception) -> Failure:
    """The kind of an exception: out of memory when it says so, invalid when we said so, failed otherwise."""
    if isinstance(error, InvalidCaseError):
        return Failure(status="invalid", reason=_said(error))
    if any(words in str(error) for words in _ALLOCATION_FAILED):
        return Failure(status="out_of_memory", reason=_said(error))
    return Failure(status="failed", reason=f"{type(error).__name__}: {_said(error)}")


def _said(error: BaseException) -> str:
    """The message, cut to a length that a record can hold."""
    return (str(error) or type(error).__name__)[:_REASON_CHARACTERS]


def _merged(earlier: Phase | None, now: Phase) -> Phase:
    """Two runs of one phase in one step: the higher peak, the time of both."""
    if earlier is None:
        return now
    peaks = [p for p in (earlier.peak_rss_bytes, now.peak_rss_bytes) if p is not None]
    return Phase(peak_rss_bytes=max(peaks, default=None), duration_ns=earlier.duration_ns + now.duration_ns)


def _private_stdout() -> BinaryIO:
    """Keep standard output for the report, and send everyone else's prints to standard error."""
    private = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return private


if __name__ == "__main__":
    observe(_run_case)
