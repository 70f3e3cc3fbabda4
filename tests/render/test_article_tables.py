"""The tables of the companion articles against arithmetic done by hand."""

from __future__ import annotations

from sitegen.render.article_tables import card_units, logits_by_vocabulary, quantised_weights, small_card_path
from sitegen.render.series import Series
from sitegen.render.tables import Table


def cells(table: Table) -> dict[str, list[str]]:
    return {row.header.text: [cell.text for cell in row.cells] for row in table.rows}


def test_the_bill_comes_down_to_the_small_card(series: Series) -> None:
    rows = cells(small_card_path(series))
    assert rows["Entraîner tout, précision mixte"] == ["112", "20", "132", "ne tient pas"]  # 7 x 16, and 20
    assert rows["LoRA, poids gelés de 16 bits"] == ["14", "20", "34", "ne tient pas"]  # 7 x 2
    assert rows["LoRA, lot réduit de moitié"] == ["14", "10", "24", "à la limite"]  # an L4 holds 24.15
    assert rows["LoRA, lot réduit au quart"] == ["14", "5", "19", "tient"]
    assert rows["QLoRA, tous les poids en NF4"] == ["3,6", "20", "23,6", "à la limite"]  # 7 x 4.127 / 8
    assert rows["QLoRA, lot réduit de moitié"] == ["3,6", "10", "13,6", "tient"]


def test_quantised_weights_leave_the_vocabulary_as_it_is(series: Series) -> None:
    rows = cells(quantised_weights(series))
    assert rows["float32"] == ["32", "32,12", "32,12"]  # 8 030 261 248 x 4
    assert rows["8 bits"] == ["8", "8,03", "9,08"]  # 6 979 321 856 + 1 050 939 392 x 2
    assert rows["NF4"] == ["4,5", "4,52", "6,03"]
    assert rows["NF4, double quantification"] == ["4,13", "4,14", "5,70"]


def test_logits_grow_with_the_vocabulary(series: Series) -> None:
    rows = cells(logits_by_vocabulary(series))
    assert rows["Llama 3.1 8B"] == ["128\u202f256", "4,20"]  # 8192 x 128 256 x 4 = 3.914 GiB
    assert rows["Gemma 3 1B"] == ["262\u202f144", "8,59"]


def test_a_card_is_shown_in_three_units_with_its_source(series: Series) -> None:
    table = card_units(series)
    assert cells(table)["L4"] == ["24", "23\u202f034", "24,2"]
    assert cells(table)["GeForce RTX 4090"] == ["24", "24\u202f564", "25,8"]
    assert all((row.cells[1].href or "").startswith("https://") for row in table.rows)
