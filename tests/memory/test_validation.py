"""The committed measurements against their estimates: the bounds that the program promises, and every miss by name."""

from __future__ import annotations

import statistics
from functools import cache
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from sitegen.memory.deviations import deviations
from sitegen.memory.measured import is_probe
from sitegen.memory.validation import Compared, compared
from sitegen.records.bills import merged
from sitegen.records.store import load_all
from sitegen.records.summary import net_peak_bytes
from sitegen.units import MB_BYTES

MEASUREMENTS: Final = Path(__file__).parents[2] / "measurements"
WORST_SHARE: Final = 0.01
WORST_BYTES: Final = 12 * MB_BYTES


@cache
def _rows() -> tuple[Compared, ...]:
    """Every row that can be compared."""
    return compared(load_all(MEASUREMENTS), merged(MEASUREMENTS))


def _under(allocator: str) -> list[Compared]:
    """The rows under one allocator."""
    return [row for row in _rows() if row.record.case.allocator == allocator]


def test_more_than_24_cases_of_more_than_five_other_architectures_are_compared() -> None:
    rows = _under("fixed")
    assert len(rows) >= 10 + 24
    assert len({row.record.case.model for row in rows}) >= 1 + 5


def test_no_probe_validates_anything() -> None:
    assert not any(is_probe(row.record) for row in _rows())


def test_the_median_error_is_at_most_three_thousandths() -> None:
    found = deviations(row.error for row in _under("fixed"))
    assert found is not None
    assert found.median <= 0.003


def test_no_row_lies_beyond_the_larger_of_one_percent_and_12_mb() -> None:
    beyond = [
        row.record.case_id
        for row in _under("fixed")
        if abs(row.estimated_bytes - row.measured_bytes) > max(WORST_SHARE * row.measured_bytes, WORST_BYTES)
    ]
    assert beyond == []
    assert not any(row.is_missed for row in _under("fixed"))


def test_the_systems_allocator_stays_within_its_interval_which_is_not_too_wide() -> None:
    rows = _under("default")
    assert sum(row.is_covered for row in rows) >= 0.95 * len(rows)
    assert statistics.median(row.width for row in rows) <= 0.30
    assert [row for row in rows if row.is_missed] == [row for row in rows if not row.is_covered]


def test_a_row_counts_its_samples_and_those_within_its_interval() -> None:
    for row in _under("default"):
        low, high = row.interval_bytes
        peaks = [net_peak_bytes(sample) or 0 for sample in row.record.samples]
        assert row.covered_samples == sum(low <= peak <= high for peak in peaks)
        assert row.is_repeated == (len(peaks) >= 3)


def test_without_bills_or_probes_nothing_is_compared() -> None:
    records = load_all(MEASUREMENTS)
    assert compared(records, {}) == ()
    assert compared([record for record in records if not is_probe(record)], merged(MEASUREMENTS)) == ()


def test_usual_rules_speak_of_training_with_adam_alone() -> None:
    for row in _rows():
        case = row.record.case
        assert bool(row.peers) == (case.mode == "training" and case.optimizer == "adamw")


def test_weights_times_four_is_what_it_says() -> None:
    # SmolLM2 in float32: 4 x 4 bytes x 134 515 008 parameters.
    row = next(
        one
        for one in _under("fixed")
        if one.record.case
        == replace(one.record.case, model="smollm2-135m-instruct", mode="training", method="full", dtype="float32")
    )
    assert row.peers["accelerate estimate-memory"] == 16 * 134_515_008
    assert row.peer_error("accelerate estimate-memory") == 16 * 134_515_008 / row.measured_bytes - 1
    assert row.peer_error("none of them") is None
