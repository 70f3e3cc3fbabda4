"""How wide an estimate is: what validation allows, and what an allocator was seen to add."""

from __future__ import annotations

from msgspec.structs import replace

from sitegen.memory.intervals import UNKNOWN_RATIOS, Ratios, of_fixed, ratios_for, rows_of, under
from sitegen.records.case import Case
from sitegen.records.model import Record
from sitegen.records.summary import summarise
from tests.factories import MACHINE, record

CASE = Case(batch_size=2)
LORA = Case(method="lora", batch_size=2)


def _measured(case: Case, *peaks_mib: float) -> Record:
    """A record of one sample a peak."""
    samples = tuple(record(case, net_mib=(peak,)).samples[0] for peak in peaks_mib)
    return replace(record(case, net_mib=(peaks_mib[0],)), samples=samples, summary=summarise(case, samples))


def test_the_fixed_allocators_interval_is_one_percent_or_twelve_megabytes() -> None:
    assert of_fixed(10_000_000_000) == (9_900_000_000, 10_100_000_000)
    assert of_fixed(600_000_000) == (588_000_000, 612_000_000)
    assert of_fixed(5_000_000) == (0, 17_000_000)


def test_what_chance_takes_below_and_above_widens_it() -> None:
    assert of_fixed(10_000_000_000, (7_000_000, 9_000_000)) == (9_893_000_000, 10_109_000_000)
    assert under(10_000_000_000, (1.0, 2.0), (7_000_000, 9_000_000)) == (9_893_000_000, 20_218_000_000)


def test_an_allocators_interval_is_the_fixed_one_times_its_ratios() -> None:
    assert under(10_000_000_000, (1.0, 1.5)) == (9_900_000_000, 15_150_000_000)


def test_a_row_counts_from_three_samples_on_and_beside_its_fixed_twin() -> None:
    fixed = replace(CASE, allocator="fixed")
    alone = _measured(LORA, 300.0, 300.0, 300.0)
    twice = [_measured(CASE, 110.0, 120.0), _measured(fixed, 100.0)]
    assert rows_of([alone, *twice], "default") == []
    three = [_measured(CASE, 110.0, 120.0, 115.0), _measured(fixed, 100.0)]
    (row,) = rows_of([alone, *three], "default")
    assert (row.machine, row.case) == (MACHINE.slug, CASE)
    assert [round(ratio, 6) for ratio in row.ratios] == [1.1, 1.2, 1.15]


def test_a_failed_record_says_nothing() -> None:
    failed = record(replace(CASE, allocator="fixed"), status="killed", reason="killed")
    assert rows_of([failed, _measured(CASE, 110.0, 120.0, 115.0)], "default") == []


def test_two_rows_alike_decide_widened_by_the_largest_spread_of_one_row() -> None:
    longer = replace(CASE, sequence_length=512)
    rows = [Ratios("here", CASE, (1.1, 1.15)), Ratios("here", longer, (1.3, 1.3)), Ratios("here", LORA, (1.5, 1.5))]
    low, high = ratios_for(replace(CASE, batch_size=7), rows)
    assert (low, round(high, 6)) == (1.0, 1.35)


def test_rows_of_the_mode_decide_where_too_few_are_nearer() -> None:
    rows = [Ratios("here", CASE, (1.2, 1.25)), Ratios("here", LORA, (1.4, 1.4))]
    low, high = ratios_for(Case(gradient_checkpointing=True), rows)
    assert (low, round(high, 6)) == (1.0, 1.45)


def test_no_peak_is_below_the_fixed_one_and_without_rows_the_widest_ratios_seen_hold() -> None:
    rows = [Ratios("here", CASE, (1.01, 1.2)), Ratios("here", LORA, (1.3, 1.3))]
    assert ratios_for(CASE, rows)[0] == 1.0
    assert ratios_for(Case(mode="inference"), rows) == UNKNOWN_RATIOS
