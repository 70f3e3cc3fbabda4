from typing import get_type_hints

import pytest
from msgspec.structs import fields

from sitegen.records.model import Record, Summary
from sitegen.render.data_tables import FIELDS
from sitegen.render.record_tables import record_tables, summarised
from sitegen.render.registry import TABLES
from sitegen.render.series import LORA_8, TRAINING_8, Series, under
from sitegen.render.series_tables import bill, by_allocator, everything
from sitegen.render.tables import Table, measured, percentage, rebased
from tests.factories import BASELINE, LORA, TRAINING, record, reference_suite


def cells(table: Table) -> dict[str, list[str]]:
    return {row.header.text: [cell.text for cell in row.cells] for row in table.rows}


@pytest.mark.parametrize("name", sorted(TABLES))
def test_every_table_is_rectangular_and_captioned(name: str, series: Series) -> None:
    table = TABLES[name](series)
    assert table.caption
    assert table.rows
    assert {len(row.cells) for row in table.rows} == {len(table.columns) - 1}
    assert all(cell.text for row in table.rows for cell in (row.header, *row.cells))


def test_the_four_lines_add_up_to_the_peak(series: Series) -> None:
    values = [row.cells[-1].sort_value or 0 for row in bill(series).rows]
    record_ = series.ok(TRAINING_8)
    assert record_ is not None
    assert sum(values) == record_.summary.peak_bytes
    # 134 515 008 parameters x 4 bytes = 538 060 032; Adam holds two of them.
    assert values[:3] == [538_060_032, 538_060_032, 1_076_120_064]


@pytest.mark.parametrize(
    ("status", "french"),
    [
        ("failed", "échec"),
        ("invalid", "non valable"),
        ("timeout", "délai dépassé"),
        ("out_of_memory", "mémoire insuffisante"),
        ("killed", "interrompu"),
        ("skipped", "non exécuté"),
    ],
)
def test_a_case_that_failed_keeps_its_row_without_a_zero(status: str, french: str) -> None:
    failed = record(LORA, status=status)  # type: ignore[arg-type]
    (row,) = everything(Series([failed])).rows
    texts = [cell.text for cell in row.cells]
    assert french in texts
    assert "0" not in texts
    assert "" not in texts
    assert texts.count("aucun chiffre") == 5  # peak, two steps, loading, duration
    tables = {table.id: cells(table) for table in record_tables(failed)}
    assert tables["resultats"]["État"] == [french]
    assert tables["resultats"]["Pic, mémoire de départ déduite"] == ["aucun chiffre"]
    assert "phases" not in tables


def test_a_baseline_has_nothing_to_peak() -> None:
    table = cells(record_tables(record(BASELINE))[0])
    assert table["Pic, mémoire de départ déduite"] == ["sans objet"]
    assert table["Mémoire de départ"] == ["359"]


def test_a_record_shows_each_phase_net_and_gross() -> None:
    (phases,) = [table for table in record_tables(record(TRAINING[8])) if table.id == "phases"]
    assert [row.cells[0].text for row in phases.rows] == ["Passe avant", "Passe arrière", "Mise à jour"] * 2
    # the factory's 6541 Mio, and its baseline of 359 Mo
    assert [cell.text for cell in phases.rows[4].cells[1:3]] == ["6\u202f859", "7\u202f218"]


def test_the_sample_that_is_summarised_is_the_one_shown() -> None:
    original = record(TRAINING[1])
    assert summarised(original) is original.samples[0]


def test_allocators_stand_side_by_side_with_their_difference(series: Series) -> None:
    # the factory's 4800 and 3545 Mio: 3545 / 4800 - 1 = -26 %
    assert cells(by_allocator(series))["Entraînement, lot de 8, 256 jetons, LoRA de rang 8 sur q_proj et v_proj"] == [
        "5\u202f033",
        "3\u202f717",
        "\u221226",
    ]


def test_one_allocator_alone_is_not_compared() -> None:
    assert by_allocator(Series([record(LORA)])).rows == ()


def test_a_failed_allocator_says_so() -> None:
    fixed = under(LORA_8, "fixed")
    records = [record(fixed, status="killed") if each.case == fixed else each for each in reference_suite()]
    records.append(record(under(LORA_8, "jemalloc"), net_mib=(3500, 3600)))
    row = next(row for row in by_allocator(Series(records)).rows if "LoRA" in row.header.text)
    assert [cell.text for cell in row.cells] == ["5\u202f033", "interrompu", "3\u202f775", "non mesuré"]


def test_a_cell_keeps_the_raw_value_for_sorting() -> None:
    cell = measured(6_858_735_616, "mesures/x.html")
    assert (cell.text, cell.sort_value, cell.kind) == ("6\u202f859", 6_858_735_616, "measured")
    assert measured(None).text == "inconnu"
    assert percentage(-0.37).text == "\u221237"


def test_addresses_follow_the_page(series: Series) -> None:
    table = rebased(everything(series), "../")
    assert all((row.header.href or "").startswith("../mesures/") for row in table.rows)


def test_every_field_of_a_record_is_explained() -> None:
    expected = set(get_type_hints(Record)) - {"summary"} | {f"summary.{field.name}" for field in fields(Summary)}
    assert set(FIELDS) == {name for name in expected if not name.startswith("__")}
