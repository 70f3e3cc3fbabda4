"""Which records speak for the runtime's pages: sound ones of the probe models, each beside its bill."""

from __future__ import annotations

from typing import Final

import pytest
from msgspec.structs import replace

from sitegen.memory.measured import configuration, is_probe, measured_pages
from sitegen.memory.runtime import computed_bytes, shape_of
from sitegen.records.bill import Bill
from sitegen.records.case import Case
from sitegen.records.model import Record
from tests.factories import record
from tests.factory_bills import bill

PROBE: Final = Case(model="synthetic-probe", allocator="fixed", batch_size=2)


def _bill_of(row: Record, beyond_bytes: int) -> Bill:
    """A bill whose second step lies as much below each measured phase; its first step would be far off."""
    peaks = row.summary.phase_peak_bytes
    (first, second) = bill().phases
    phases = [
        replace(second, step=2, name=name, peak_bytes=peak - beyond_bytes) for name, peak in peaks.items() if peak
    ]
    return replace(bill(), phases=(replace(first, step=1), *phases))


def test_only_the_configurations_that_come_with_the_program_are_known() -> None:
    assert configuration("no-such-model") is None
    shipped = configuration("synthetic-probe")
    assert shipped is not None
    assert shipped["model_type"]


def test_a_probe_says_what_lies_beyond_the_tensors_of_its_last_step() -> None:
    row = record(PROBE, net_mib=(900.0,))
    assert is_probe(row)
    pages = measured_pages([row], {row.case_id: _bill_of(row, 70_000_000)})
    assert pages is not None
    shape = shape_of(configuration("synthetic-probe") or {})
    phase = next(name for name, peak in row.summary.phase_peak_bytes.items() if peak)
    assert pages.bytes_for(PROBE, shape, phase) == pytest.approx(70_000_000, abs=2)
    assert computed_bytes(PROBE, shape, pages.threads) <= 70_000_000


@pytest.mark.parametrize(
    "case", [replace(PROBE, model="smollm2-135m-instruct"), replace(PROBE, allocator="default")], ids=["model", "heap"]
)
def test_another_model_or_allocator_says_nothing(case: Case) -> None:
    row = record(case, net_mib=(900.0,))
    assert measured_pages([row], {row.case_id: _bill_of(row, 70_000_000)}) is None


def test_a_failed_or_untraced_probe_says_nothing() -> None:
    failed = record(PROBE, status="killed", reason="killed")
    assert measured_pages([failed], {failed.case_id: bill()}) is None
    assert measured_pages([record(PROBE, net_mib=(900.0,))], {}) is None
