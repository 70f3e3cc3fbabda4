"""Estimated against measured, row by row.

The estimate of a peak takes nothing from these rows. The interval under the default heap does: it is drawn from the
other rows of the same allocator, never from the row itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from sitegen.memory import intervals
from sitegen.memory.intervals import ERROR_FLOOR_BYTES, ERROR_SHARE, REPEATS, Interval, Ratios
from sitegen.memory.measured import configuration, is_probe, measured_pages
from sitegen.memory.peers import PEERS, Setting
from sitegen.memory.reading import read
from sitegen.memory.runtime import RuntimePages, margins_bytes, shape_of
from sitegen.records.bill import Bill
from sitegen.records.model import Record
from sitegen.records.summary import net_peak_bytes

_ITEM_BYTES: Final = {"float32": 4.0, "bfloat16": 2.0, "float16": 2.0}
_PACKED_BYTES: Final = 0.5


class Compared(NamedTuple):
    """A record, the estimate of its peak and the interval that the estimate gave under its allocator, in bytes.

    `bill` is what was traced; `peers` are what the usual rules say, by name.
    """

    record: Record
    bill: Bill
    estimated_bytes: int
    interval_bytes: Interval
    peers: Mapping[str, float | None]

    @property
    def measured_bytes(self) -> int:
        """What was measured, net."""
        return self.record.summary.peak_bytes or 0

    @property
    def error(self) -> float:
        """Signed relative error: positive when the estimate is above the measure."""
        return self.estimated_bytes / self.measured_bytes - 1

    def peer_error(self, name: str) -> float | None:
        """The same of a rule or calculator; ``None`` where it says nothing of the case."""
        said = self.peers.get(name)
        return None if said is None else said / self.measured_bytes - 1

    @property
    def difference_bytes(self) -> int:
        """The estimate less the measure."""
        return self.estimated_bytes - self.measured_bytes

    @property
    def is_within_bounds(self) -> bool:
        """Whether the estimate is as near as is aimed at: 1 % of the measure, or 12 MB where that is more."""
        return abs(self.difference_bytes) <= max(ERROR_SHARE * self.measured_bytes, ERROR_FLOOR_BYTES)

    @property
    def is_covered(self) -> bool:
        """Whether the measure, the median sample's peak, lies in the interval."""
        return self._covers(self.measured_bytes)

    @property
    def is_missed(self) -> bool:
        """Whether the estimate is wrong by its own standard: the bounds of a point, the interval of a heap."""
        return not (self.is_within_bounds if self.record.case.allocator == "fixed" else self.is_covered)

    @property
    def covered_samples(self) -> int:
        """How many of the record's samples lie in the interval, each for itself."""
        peaks = [net_peak_bytes(sample) for sample in self.record.samples]
        return sum(peak is not None and self._covers(peak) for peak in peaks)

    @property
    def is_repeated(self) -> bool:
        """Whether the row has samples enough to say what chance does."""
        return len(self.record.samples) >= REPEATS

    @property
    def width(self) -> float:
        """The interval's width over the estimate."""
        low, high = self.interval_bytes
        return (high - low) / self.estimated_bytes

    def _covers(self, size_bytes: int) -> bool:
        """Whether a peak lies in the interval."""
        low, high = self.interval_bytes
        return low <= size_bytes <= high


def compared(records: Iterable[Record], bills: Mapping[str, Bill]) -> tuple[Compared, ...]:
    """Every record that can be compared, in their order: ended well, traced, and no probe.

    Args:
        records: of one machine and environment.
        bills: traced bills, by case id.

    Returns:
        Nothing when the runtime's pages were not probed.
    """
    known = tuple(records)
    pages = measured_pages(known, bills)
    rows = intervals.rows_of(known, "default")
    return tuple(
        _row(record, bills[record.case_id], pages, rows)
        for record in known
        if pages is not None and _is_comparable(record) and record.case_id in bills
    )


def _is_comparable(record: Record) -> bool:
    """Whether a record says what an estimate says."""
    known = record.status == "ok" and bool(record.summary.peak_bytes) and record.case.mode != "baseline"
    return known and not is_probe(record) and record.case.allocator in ("fixed", "default")


def _row(record: Record, bill: Bill, pages: RuntimePages, rows: Iterable[Ratios]) -> Compared:
    """One record; the interval of a row under the default heap comes from the other rows alone."""
    config = configuration(record.case.model) or {}
    shape = shape_of(config, bill.quantised_parameters, bill.passing_heap_bytes)
    peaks = (phase.peak_bytes + pages.bytes_for(record.case, shape, phase.name) for phase in bill.phases)
    estimated_bytes = max(peaks)
    others = [row for row in rows if row.case != record.case]
    margins = margins_bytes(record.case, shape)
    interval = (
        intervals.of_fixed(estimated_bytes, margins)
        if record.case.allocator == "fixed"
        else intervals.under(estimated_bytes, intervals.ratios_for(record.case, others), margins)
    )
    return Compared(record, bill, estimated_bytes, interval, _peers(record, bill, config))


def _peers(record: Record, bill: Bill, config: dict[str, Any]) -> dict[str, float | None]:
    """What the usual rules say of training with Adam, which all of them assume; nothing of another case."""
    if record.case.mode != "training" or record.case.optimizer != "adamw":
        return {}
    case, at = record.case, read(config).dimensions
    setting = Setting(
        method=case.method,
        parameters=bill.parameters,
        adapter_parameters=bill.trainable_parameters if case.method != "full" else 0,
        weight_bytes=_PACKED_BYTES if case.method == "qlora" else _ITEM_BYTES[case.dtype],
        checkpointing=case.gradient_checkpointing,
        batch_size=case.batch_size,
        sequence_length=case.sequence_length,
        hidden=at["h"],
        intermediate=at.get("i", at.get("m", 0)),
        layers=at["L"],
        heads=at["H"],
        vocabulary=at["V"],
    )
    return {peer.name: peer.bytes_of(setting) for peer in PEERS}
