"""What there is to do: each case of a suite is new, failed, stale or done, and it is said why."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

import msgspec

from sitegen.measure.machine import environment_of, this_machine, workload_sha256
from sitegen.records.case import Case
from sitegen.records.model import PROTOCOL, ModelIdentity, Record, Sample
from sitegen.records.store import load

State = Literal["new", "failed", "stale", "done"]
_OUTCOMES: Final = {
    "failed": "its last run failed",
    "invalid": "an option did not take effect in its last run",
    "timeout": "its last run exceeded its time limit",
    "out_of_memory": "its last run ran out of memory",
    "killed": "its last run was killed",
    "skipped": "it could not run here last time",
}


class Task(msgspec.Struct, frozen=True):
    """A case, its state here and now, why, the record that exists, and those of its samples that still count."""

    case: Case
    state: State
    why: str
    record: Record | None
    kept: tuple[Sample, ...] = ()

    @property
    def pending(self) -> bool:
        """Whether there is something to measure."""
        return self.state != "done"


def plan(cases: Mapping[Case, ModelIdentity | None], root: Path, repeat: int = 1, force: bool = False) -> list[Task]:
    """The state of each case on this machine, in this environment.

    Args:
        cases: what should have a record, each with its prepared weights, when they are already known.
        root: the folder of the records.
        repeat: how many samples each record should hold.
        force: measure even what is done.

    Raises:
        RecordError: a record that would be reused cannot be trusted.
    """
    return [_task(case, root, model, repeat, force) for case, model in cases.items()]


def record_path(case: Case, root: Path) -> Path:
    """Where the case's record is, for this machine and this environment."""
    return root / this_machine().slug / environment_of(case).id / f"{case.id}.json"


def _task(case: Case, root: Path, model: ModelIdentity | None, repeat: int, force: bool) -> Task:
    """Judge one case."""
    path = record_path(case, root)
    if force:
        return Task(case, "stale", "measured again on demand (--force)", None)
    if not path.exists():
        return Task(case, "new", "no record for this machine and these versions", None)
    record = load(path)
    stale = _stale_because(record, model)
    good = () if stale else tuple(sample for sample in record.samples if sample.status == "ok")
    if record.status != "ok":
        return Task(case, "failed", _OUTCOMES[record.status], record, good)
    if stale:
        return Task(case, "stale", stale, record)
    if len(good) < repeat:
        return Task(case, "stale", f"it has {len(good)} of {repeat} samples", record, good)
    return Task(case, "done", "up to date", record, good)


def _stale_because(record: Record, model: ModelIdentity | None) -> str | None:
    """Why the record no longer describes what would be measured now, if it does not."""
    if record.protocol < PROTOCOL:
        return f"measured under protocol {record.protocol}, now {PROTOCOL}"
    if record.workload_sha256 != workload_sha256():
        return "the workload's code has changed"
    if model is None or record.model is None:
        return None
    if record.model.config_sha256 != model.config_sha256:
        return "the model's configuration has changed"
    if record.model.revision and model.revision and record.model.revision != model.revision:
        return "the model's revision has changed"
    return None
