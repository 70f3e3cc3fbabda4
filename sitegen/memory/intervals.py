"""How far a peak may lie from its estimate: what validation shows, and what an allocator adds on a machine.

A trace counts live tensors; with a fixed mmap threshold a process holds them and little else. glibc's default heap
fragments, by as much as the machine's own records show: each row measured under both gives a ratio.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from sitegen.records.case import Allocator, Case
from sitegen.records.model import Record
from sitegen.records.summary import net_peak_bytes
from sitegen.units import MB_BYTES

Interval = tuple[int, int]
"""Lowest and highest plausible peak, in bytes."""

ERROR_SHARE: Final = 0.01
ERROR_FLOOR_BYTES: Final = 12 * MB_BYTES
"""The bounds that the validation cases are held to under the fixed allocator: the larger of the two."""

REPEATS: Final = 3
"""Samples that a row must have to say what an allocator does: one says nothing of chance."""

ALIKE: Final = 2
"""Rows that must be alike before they speak for an unseen one."""

UNKNOWN_RATIOS: Final = (1.0, 1.66)
"""Without records: the extremes of 14 varied cases, default over fixed (glibc 2.36, torch 2.13, 2 cores)."""


class Ratios(NamedTuple):
    """Peaks under an allocator over the peak under the fixed one, for one row of one machine."""

    machine: str
    case: Case
    ratios: tuple[float, ...]


def of_fixed(peak_bytes: int, margins_bytes: tuple[int, int] = (0, 0)) -> Interval:
    """The interval of a peak under the fixed allocator, with what chance takes below and above it."""
    error = max(round(ERROR_SHARE * peak_bytes), ERROR_FLOOR_BYTES)
    below_bytes, above_bytes = margins_bytes
    return max(0, peak_bytes - error - below_bytes), peak_bytes + error + above_bytes


def under(peak_bytes: int, ratios: tuple[float, float], margins_bytes: tuple[int, int] = (0, 0)) -> Interval:
    """The interval under an allocator whose peaks stand between two multiples of the fixed one's."""
    low, high = of_fixed(peak_bytes, margins_bytes)
    return round(low * ratios[0]), round(high * ratios[1])


def rows_of(records: Iterable[Record], allocator: Allocator) -> list[Ratios]:
    """The rows that the records have under `allocator`, often enough, and under the fixed one."""
    kept = [record for record in records if record.status == "ok" and record.summary.peak_bytes]
    fixed = {_place(record): record.summary.peak_bytes for record in kept if record.case.allocator == "fixed"}
    return [
        Ratios(
            record.machine.slug, record.case, tuple((net_peak_bytes(sample) or 0) / base for sample in record.samples)
        )
        for record in kept
        if record.case.allocator == allocator and len(record.samples) >= REPEATS and (base := fixed.get(_place(record)))
    ]


def ratios_for(case: Case, rows: Sequence[Ratios]) -> tuple[float, float]:
    """Between which multiples of the fixed peak the case's lies: that peak itself, and the highest of the rows alike.

    A heap may happen not to fragment, but holds no less than the live tensors. An unseen row may lie above those seen,
    by as much as the repeats of one of them were seen to differ.
    """
    for kind in (_kind, _mode):
        alike = [row for row in rows if kind(row.case) == kind(case)]
        if len(alike) >= ALIKE:
            ratios = [ratio for row in alike for ratio in row.ratios]
            margin = max(max(row.ratios) - min(row.ratios) for row in alike)
            return UNKNOWN_RATIOS[0], max(ratios) + margin
    return UNKNOWN_RATIOS


def _place(record: Record) -> tuple[str, str, Case]:
    """The machine, the environment and the case but for its allocator."""
    return record.machine.slug, record.environment.id, replace(record.case, allocator="fixed", timeout=Case().timeout)


def _kind(case: Case) -> tuple[object, ...]:
    """What fragmentation follows most: an adapter's many small tensors, and else whether layers are recomputed."""
    return case.mode, "adapter" if case.method != "full" else case.gradient_checkpointing


def _mode(case: Case) -> tuple[object, ...]:
    """The same, widely."""
    return (case.mode,)
