"""The records of one machine and one environment, and the cases that the site speaks of, with their French names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import groupby
from typing import Final

from msgspec.structs import replace

from sitegen.errors import ContentError
from sitegen.memory import published, validation
from sitegen.memory.published import Comparison
from sitegen.memory.validation import Compared
from sitegen.records.bill import Bill
from sitegen.records.case import Allocator, Case
from sitegen.records.model import Environment, Machine, Record
from sitegen.records.published import PublishedModel, PublishedRuns, PublishedStack, PublishedTrace

BASELINE: Final = Case(mode="baseline")
INFERENCE_1: Final = Case(mode="inference", batch_size=1)
INFERENCE_8: Final = Case(mode="inference", batch_size=8)
TRAINING_1: Final = Case(batch_size=1)
TRAINING_2: Final = Case(batch_size=2)
TRAINING_4: Final = Case(batch_size=4)
TRAINING_8: Final = Case(batch_size=8)
TRAINING_4_LONG: Final = Case(batch_size=4, sequence_length=512)
CHECKPOINTING_8: Final = Case(batch_size=8, gradient_checkpointing=True)
BFLOAT16_8: Final = Case(batch_size=8, dtype="bfloat16")
LORA_8: Final = Case(batch_size=8, method="lora")

DOUBLING: Final = (TRAINING_1, TRAINING_2, TRAINING_4, TRAINING_8)
FIXES: Final = (CHECKPOINTING_8, BFLOAT16_8, LORA_8)
ALLOCATORS: Final[tuple[Allocator, ...]] = ("default", "fixed", "jemalloc", "mimalloc", "tcmalloc")
REFERENCE: Final = (BASELINE, INFERENCE_1, INFERENCE_8, *DOUBLING, TRAINING_4_LONG, *FIXES)
"""The cases of the reference suite, under the default allocator; the suite runs each under ``fixed`` too."""


def under(case: Case, allocator: Allocator) -> Case:
    """The same case under another allocator."""
    return replace(case, allocator=allocator)


class Series:
    """What one machine measured in one environment: the only records that may be compared with one another.

    Args:
        records: those of the machine and environment.
        bills: the traced bills of its cases, by id, where they are known.
        published: the runs of other people and their traces, where they are known.
    """

    def __init__(
        self,
        records: Iterable[Record],
        bills: Mapping[str, Bill] | None = None,
        published: tuple[PublishedRuns, Mapping[str, PublishedTrace]] | None = None,
    ) -> None:
        self.records = tuple(sorted(records, key=_order))
        self.bills: Mapping[str, Bill] = bills or {}
        self._published = published
        self._by_case = {record.case_id: record for record in self.records}

    @property
    def machine(self) -> Machine:
        """Where."""
        return self.records[0].machine

    @property
    def environment(self) -> Environment:
        """Under which versions."""
        return self.records[0].environment

    @property
    def name(self) -> str:
        """``<machine>/<environment>``, as in the settings and in the addresses."""
        return f"{self.machine.slug}/{self.environment.id}"

    def get(self, case: Case) -> Record | None:
        """The record of a case, whatever its status."""
        return self._by_case.get(case.id)

    def ok(self, case: Case) -> Record | None:
        """The record of a case that ended well with a peak."""
        record = self.get(case)
        return record if record is not None and record.status == "ok" else None

    @cached_property
    def compared(self) -> tuple[Compared, ...]:
        """Every record that has an estimate beside it; none without traces and probes."""
        return validation.compared(self.records, self.bills)

    @cached_property
    def published(self) -> tuple[Comparison, ...]:
        """Every run that others published, with its estimate or the reason why it has none."""
        return published.compared(*self._published) if self._published else ()

    @property
    def published_models(self) -> Mapping[str, PublishedModel]:
        """The models of the published runs, by name."""
        return self._published[0].models if self._published else {}

    @property
    def published_stacks(self) -> Mapping[str, PublishedStack]:
        """What measured the published runs, by name."""
        return self._published[0].stacks if self._published else {}

    @cached_property
    def measured_at(self) -> str:
        """When the newest sample was taken, ISO."""
        return max((sample.measured_at for record in self.records for sample in record.samples), default="")

    @cached_property
    def completeness(self) -> int:
        """How many cases of the reference suite ended well."""
        cases = (under(case, allocator) for case in REFERENCE for allocator in ("default", "fixed"))
        return sum(self.ok(case) is not None for case in cases)


def grouped(records: Iterable[Record]) -> list[Series]:
    """One series a machine and environment, in the order of their names."""
    ordered = sorted(records, key=_group)
    return [Series(group) for _, group in groupby(ordered, key=_group)]


def chosen(records: Iterable[Record], setting: str | None) -> Series:
    """The series that the prose speaks of: the one that the setting names, else the most complete, then the newest.

    Raises:
        ContentError: there is no record, or none where the setting says.
    """
    candidates = grouped(records)
    if not candidates:
        raise ContentError("There is no record under measurements/.", "Measure first: sitegen build")
    if setting is None:
        return max(candidates, key=lambda series: (series.completeness, series.measured_at))
    for series in candidates:
        if series.name == setting:
            return series
    known = ", ".join(series.name for series in candidates)
    raise ContentError(
        f"The setting environment names {setting}, which has no record; there are: {known}.",
        "Correct environment in content/site.toml, or measure there.",
    )


def _group(record: Record) -> tuple[str, str]:
    """What splits the records into series."""
    return record.machine.slug, record.environment.id


def _order(record: Record) -> tuple[int, int, str, int, str]:
    """The reference suite first, in its order, each case with its allocators side by side; then the others by name."""
    case = replace(record.case, allocator="default")
    rank = REFERENCE.index(case) if case in REFERENCE else len(REFERENCE)
    allocator = ALLOCATORS.index(record.case.allocator)
    return rank, ("baseline", "inference", "generation", "training").index(case.mode), case.id, allocator, record.key
