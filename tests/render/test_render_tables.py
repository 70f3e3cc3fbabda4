from typing import get_type_hints

import pytest
from msgspec.structs import fields, replace

from sitegen.records.model import Record, Summary
from sitegen.render.comparison_tables import fixes, quoted
from sitegen.render.data_tables import FIELDS
from sitegen.render.record_tables import record_tables, summarised
from sitegen.render.registry import TABLES
from sitegen.render.series import LORA_8, TRAINING_8, Series, under
from sitegen.render.series_tables import bill, by_allocator, everything
from sitegen.render.tables import Table, measured, percentage, rebased, timed
from tests.factories import BASELINE, INFERENCE_8, LORA, TRAINING, record, reference_suite


def cells(table: Table) -> dict[str, list[str]]:
    return {row.header.text: [cell.text for cell in row.cells] for row in table.rows}


@pytest.mark.parametrize(
    "name", sorted(name for name in TABLES if name.startswith("validation") and name != "validation_rules")
)
def test_without_traces_a_comparison_is_empty_and_says_so(name: str, series: Series) -> None:
    table = TABLES[name](series)
    assert table.rows == ()
    assert table.note


@pytest.mark.parametrize("name", sorted(TABLES))
def test_every_table_is_rectangular_and_captioned(name: str, series: Series, committed: Series) -> None:
    table = TABLES[name](committed if name.startswith("validation") else series)
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


def test_a_baseline_says_that_it_has_no_model_and_not_that_it_does_not_know_it() -> None:
    tables = {table.id: table for table in record_tables(record(BASELINE))}
    assert tables["resultats"].note is None
    assert cells(tables["resultats"])["Paramètres"] == ["sans objet"]
    assert cells(tables["protocole"])["Chargement du modèle"] == ["sans objet"]
    assert cells(tables["protocole"])["Pic du chargement"] == ["sans objet"]


def test_an_option_that_the_case_never_reads_says_so() -> None:
    options = cells(next(table for table in record_tables(record(TRAINING[8])) if table.id == "options"))
    for name in ("--lora-rank", "--lora-targets", "--new-tokens", "--logits", "--double-quant"):
        assert options[name] == ["sans effet ici"]
    assert options["--optimizer"] == ["adamw"]
    inference = cells(next(table for table in record_tables(record(INFERENCE_8)) if table.id == "options"))
    assert inference["--optimizer"] == ["sans effet ici"]


def test_a_counter_that_was_reset_says_so() -> None:
    original = record(TRAINING[8])
    reset = replace(original.samples[0], ru_maxrss_bytes=(original.samples[0].process_peak_bytes or 0) - 1)
    for sample, said in ((original.samples[0], False), (reset, True)):
        tables = {table.id: table for table in record_tables(replace(original, samples=(sample,)))}
        assert ("remis à zéro" in (tables["protocole"].note or "")) is said


def test_weights_read_from_a_quantised_file_say_that_it_does_not_matter() -> None:
    original = record(TRAINING[8])
    assert original.model is not None
    file = replace(original.model.files[0], name="x.Q4_1.gguf")
    tables = record_tables(replace(original, model=replace(original.model, files=(file,))))
    notes = [table.note for table in tables if table.id == "modele"]
    assert "convertis" in str(notes)


def test_a_short_duration_is_not_written_as_none() -> None:
    assert timed(5_570_862).text == "0,006"
    assert timed(9_210_000_000).text == "9,2"


def test_every_fix_is_compared_in_memory_and_in_time_under_both_allocators(series: Series) -> None:
    rows = cells(fixes(series))
    # the factory's 4232 / 6541, 3400 / 5876 Mio and 12.5 s for 2048 tokens x 4.5 ms, both allocators alike
    assert rows["Points de contrôle de gradient"][2:] == ["\u221235", "\u221242", "+36", "+36"]
    # 5876 / 6541 Mio, 15 % slower
    assert rows["Allocateur à seuil fixe"][1:] == ["sans objet", "sans objet", "\u221210", "sans objet", "+15"]


def test_the_quoted_weights_are_in_the_unit_in_which_they_were_published(series: Series) -> None:
    assert cells(quoted(series))["Poids"] == ["publiés en Mo", "538", "538"]


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
    assert not any(cell.href for row in table.rows for cell in row.cells)  # one link a record is enough


def test_every_field_of_a_record_is_explained() -> None:
    expected = set(get_type_hints(Record)) - {"summary"} | {f"summary.{field.name}" for field in fields(Summary)}
    assert set(FIELDS) == {name for name in expected if not name.startswith("__")}
