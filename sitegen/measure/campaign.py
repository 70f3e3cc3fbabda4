"""Measure what is pending, case by case; every finished sample is on disk before the next one starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import filelock
import msgspec

from sitegen.allocators import environment_for
from sitegen.errors import BusyError, MeasurementError, UsageError, from_os_error
from sitegen.measure.machine import circumstances, environment_of, installed_version, this_machine, workload_sha256
from sitegen.measure.plan import Task, plan
from sitegen.measure.runner import run_sample, skipped_sample
from sitegen.measure.weights import ModelSource, Prepared, lookup, prepare
from sitegen.records.case import Case
from sitegen.records.model import PROTOCOL, SCHEMA_VERSION, ModelIdentity, Record, Sample
from sitegen.records.observation import Progress
from sitegen.records.store import save, seal
from sitegen.records.summary import status_of, summarise


class Display(Protocol):
    """What shows the author how far the measurement is."""

    def planned(self, tasks: Sequence[Task]) -> None:
        """All the cases, done ones included."""

    def preparing(self, message: str) -> None:
        """The weights are being prepared."""

    def started(self, task: Task) -> None:
        """A case begins."""

    def progressed(self, task: Task, progress: Progress) -> None:
        """A phase of the case begins."""

    def finished(self, task: Task, record: Record) -> None:
        """The case's record is on disk."""


class Campaign(msgspec.Struct, frozen=True, kw_only=True):
    """What to measure and where to keep it; `sources` are the models by the name that the cases give them."""

    cases: tuple[Case, ...]
    sources: Mapping[str, ModelSource]
    records: Path
    lock: Path
    repeat: int = 1
    force: bool = False


def measure(campaign: Campaign, display: Display) -> list[Record]:
    """Measure every pending case, and return the records of all the cases, in their order.

    Raises:
        BusyError: another measurement holds the lock.
        ModelError: the weights cannot be had or trusted.
        RecordError: an existing record cannot be trusted.
        StorageError: the disk refuses a record.
    """
    with _exclusive(campaign.lock):
        tasks = tasks_of(campaign)
        display.planned(tasks)
        weights = _Weights(campaign.sources, display.preparing)
        return [_done(task) or _measured(task, campaign, weights, display) for task in tasks]


def tasks_of(campaign: Campaign) -> list[Task]:
    """The state of each of the campaign's cases."""
    identities = {case: _identity(campaign.sources[case.model], case) for case in campaign.cases}
    return plan(identities, campaign.records, campaign.repeat, campaign.force)


def _identity(source: ModelSource, case: Case) -> ModelIdentity | None:
    """What the case's weights are, when they are already prepared."""
    prepared = lookup(source, case.dtype)
    return prepared.identity if prepared else None


def require_all_ok(records: Sequence[Record]) -> None:
    """Raise `MeasurementError` when a case did not end well; a case that this machine cannot run is no failure."""
    bad = [record for record in records if record.status not in ("ok", "skipped")]
    if bad:
        lines = "\n".join(f"  {record.case_id}: {record.status}, {record.reason}" for record in bad)
        raise MeasurementError(
            f"{len(bad)} of {len(records)} cases did not end well:\n{lines}",
            "Their records say more; the same command runs them again.",
        )


class _Weights:
    """The prepared weights, one folder a model and dtype, prepared when first needed."""

    def __init__(self, sources: Mapping[str, ModelSource], say: Callable[[str], None]) -> None:
        self._sources, self._say = sources, say
        self._known: dict[tuple[str, str], Prepared] = {}

    def of(self, case: Case) -> Prepared | None:
        """The weights that the case loads; none for a baseline."""
        if case.mode == "baseline":
            return None
        key, source = (case.model, case.dtype), self._sources[case.model]
        if key not in self._known:
            self._known[key] = lookup(source, case.dtype) or prepare(source, case.dtype, self._say)
        return self._known[key]


@contextmanager
def _exclusive(lock: Path) -> Iterator[None]:
    """Hold the lock; two measurements at once would spoil each other's peaks and durations."""
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        with filelock.FileLock(lock, timeout=0):
            yield
    except filelock.Timeout as error:
        raise BusyError(
            "Another measurement is running in this project.", "Wait until it ends, then run the same command again."
        ) from error
    except OSError as error:
        raise from_os_error(error, "taking the measurement lock") from error


def _done(task: Task) -> Record | None:
    """The record of a case that has nothing pending."""
    return None if task.pending else task.record


def _measured(task: Task, campaign: Campaign, weights: _Weights, display: Display) -> Record:
    """Run what the case lacks, saving the record after each sample."""
    impossible = _impossible(task.case)
    prepared = None if impossible else weights.of(task.case)
    display.started(task)
    samples = task.kept
    record = None
    while record is None or len(samples) < (1 if impossible else campaign.repeat):
        sample = skipped_sample(impossible) if impossible else _sample(task, prepared, display)
        samples = (*samples, sample)
        record = _record(task.case, prepared, samples)
        save(record, campaign.records)
        if sample.status != "ok":
            break
    display.finished(task, record)
    return record


def _sample(task: Task, prepared: Prepared | None, display: Display) -> Sample:
    """One fresh process."""
    folder = prepared.folder if prepared else None
    return run_sample(task.case, folder, lambda progress: display.progressed(task, progress))


def _impossible(case: Case) -> str | None:
    """Why the case cannot run on this machine at all, if so."""
    needs_bitsandbytes = case.method == "qlora" or case.optimizer == "adamw-8bit"
    if needs_bitsandbytes and installed_version("bitsandbytes") is None:
        return "bitsandbytes is not installed: pip install 'sitegen[qlora]'"
    try:
        environment_for(case.allocator)
    except UsageError as error:
        return str(error).replace("\n", " ")
    return None


def _record(case: Case, prepared: Prepared | None, samples: tuple[Sample, ...]) -> Record:
    """The sealed record of the case with the samples taken so far."""
    status, reason = status_of(samples)
    return seal(
        Record(
            schema_version=SCHEMA_VERSION,
            protocol=PROTOCOL,
            case_id=case.id,
            case=case,
            status=status,
            reason=reason,
            summary=summarise(case, samples),
            model=prepared.identity if prepared else None,
            machine=this_machine(),
            environment=environment_of(case),
            circumstances=circumstances(),
            workload_sha256=workload_sha256(),
            samples=samples,
            content_sha256="",
        )
    )
