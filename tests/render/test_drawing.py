"""The geometry of pictures: what is drawn where, in bytes across and in pixels down."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitegen.render.drawing import Line, Pair, Part, Reference, paired, stacked
from sitegen.render.pictures import Picture

MO = 10**6


def line(label: str, *sizes_mo: int) -> Line:
    names = ("weights", "gradients", "optimizer_state", "activations")
    parts = tuple(
        Part(name, size * MO, name, f"{size} Mo")  # type: ignore[arg-type]  # the names are the components
        for name, size in zip(names, sizes_mo, strict=False)
    )
    return Line(label, parts, f"{sum(sizes_mo)} Mo")


def callouts(picture: Picture) -> list[str]:
    return [text.text for text in picture.texts if text.role == "callout"]


def test_the_parts_of_a_row_are_drawn_end_to_end() -> None:
    picture = stacked([line("Essai", 100, 200, 300)])
    assert [(bar.start, bar.size) for bar in picture.bars] == [
        (0, 100 * MO),
        (100 * MO, 200 * MO),
        (300 * MO, 300 * MO),
    ]


def test_a_part_of_nothing_is_not_drawn() -> None:
    picture = stacked([line("Essai", 100, 0, 300)], named=0)
    assert [bar.component for bar in picture.bars] == ["weights", "optimizer_state"]
    assert callouts(picture) == ["optimizer_state", "weights"]


def test_the_row_that_is_asked_for_names_its_parts_the_last_one_first() -> None:
    picture = stacked([line("Plus long", 100, 1), line("Nommé", 10, 20, 30)], named=1)
    assert callouts(picture) == ["optimizer_state", "gradients", "weights"]
    baselines = [text.y for text in picture.texts if text.role == "callout"]
    assert baselines == sorted(baselines)
    assert [leader.bottom for leader in picture.leaders] == baselines
    assert min(baselines) > max(bar.top for bar in picture.bars)


def test_no_row_names_its_parts_unasked() -> None:
    assert callouts(stacked([line("Essai", 1, 1)])) == []


def test_rows_do_not_overlap() -> None:
    picture = stacked([line("A", 10, 20), line("B", 5), line("Un nom bien trop long pour une seule ligne de texte", 4)])
    tops = sorted({bar.top for bar in picture.bars})
    assert all(above + 22 < below for above, below in pairwise(tops))
    assert picture.floor > tops[-1] + 22
    assert picture.height > picture.floor


def test_a_long_name_takes_several_lines() -> None:
    picture = stacked([line("8 × 256, LoRA de rang 8 sur q_proj et v_proj", 4)])
    labels = [text for text in picture.texts if text.role == "label"]
    assert [text.text for text in labels] == ["8 × 256, LoRA de rang 8 sur", "q_proj et v_proj"]
    assert labels[1].y > labels[0].y
    assert picture.bars[0].top > labels[1].y


def test_a_row_without_parts_says_why_in_the_place_of_its_bar() -> None:
    picture = stacked([line("Bon", 10), Line("Mauvais", (), "mémoire insuffisante")])
    assert len(picture.bars) == 1
    said = next(text for text in picture.texts if text.text == "mémoire insuffisante")
    assert said.value == 0
    assert said.y < picture.floor


def test_a_reference_crosses_every_row_and_is_named() -> None:
    picture = stacked([line("A", 10), line("B", 30)], reference=Reference(20 * MO, "Plancher"))
    assert {rule.value for rule in picture.rules} == {20 * MO}
    assert all(any(rule.top < bar.top < rule.bottom - 22 for rule in picture.rules) for bar in picture.bars)
    name = next(text for text in picture.texts if text.role == "reference")
    assert (name.text, name.value) == ("Plancher", 20 * MO)


def test_a_reference_crosses_no_text() -> None:
    picture = stacked([line("A", 10), line("B", 15, 15)], named=1, reference=Reference(20 * MO, "Plancher"))
    for text in picture.texts:
        if text.role != "reference":
            # A text of 13 px goes from 10 px above its baseline to 3 px below it.
            assert not any(rule.top < text.y + 3 and text.y - 10 < rule.bottom for rule in picture.rules), text.text


def test_a_reference_beyond_the_bars_is_still_in_the_picture() -> None:
    picture = stacked([line("A", 10)], reference=Reference(50 * MO, "Plancher"))
    assert picture.domain > 50 * MO


@pytest.mark.parametrize(("start", "anchor"), [(10, "start"), (90, "end")])
def test_a_name_goes_where_there_is_room(start: int, anchor: str) -> None:
    picture = stacked([line("A", start, 100 - start)], named=0)
    name = next(text for text in picture.texts if text.text == "gradients")
    assert name.anchor == anchor
    assert (name.shift < 0) == (anchor == "end")


def test_pairs_are_two_dots_named_under_the_first_row() -> None:
    pairs = [Pair("A", 10 * MO, 30 * MO, "−67 %", "", ("a", "b")), Pair("B", 20 * MO, 40 * MO, "−50 %", "", ("c", "d"))]
    picture = paired(pairs, ("Creux", "Plein"))
    assert [(span.start, span.end) for span in picture.spans] == [(10 * MO, 30 * MO), (20 * MO, 40 * MO)]
    assert callouts(picture) == ["Plein", "Creux"]


def test_places_are_shares_of_the_width() -> None:
    picture = stacked([line("A", 100)])
    assert picture.domain == 104 * MO  # the margin of 4 %
    assert picture.across(0) == "0%"
    assert picture.across(52 * MO) == "50%"
    assert picture.across(13 * MO) == "12.5%"


@pytest.mark.parametrize(
    ("largest_mo", "expected"),
    [
        (6800, ["0 Go", "2 Go", "4 Go", "6 Go"]),
        (560, ["0 Go", "0,2 Go", "0,4 Go"]),
        (6178, ["0 Go", "2 Go", "4 Go", "6 Go"]),
        (100, ["0 Go", "0,05 Go", "0,10 Go"]),
        (40, ["0 Go", "0,02 Go", "0,04 Go"]),
        (90_000, ["0 Go", "20 Go", "40 Go", "60 Go", "80 Go"]),
    ],
)
def test_graduations_are_round_and_french(largest_mo: int, expected: list[str]) -> None:
    ticks = stacked([line("A", largest_mo)]).ticks
    assert [tick.text.replace("\u00a0", " ") for tick in ticks] == expected


@given(st.integers(1, 10**15))
def test_graduations_fit_any_size(largest: int) -> None:
    picture = stacked([Line("A", (Part("weights", largest, "Poids", ""),), "")])
    assert 1 <= len(picture.ticks) <= 5
    assert all(0 <= tick.value < picture.domain for tick in picture.ticks)
    assert not any(tick.before for tick in picture.ticks[:-1])


def test_the_last_graduation_is_written_before_its_line_where_the_edge_is_near() -> None:
    # 6 178 Mo with a margin of 4 % end the axis at 6,43 Go: 6 Go are at 93,4 % of it, 4 Go at 62 %.
    assert [tick.before for tick in stacked([line("A", 6178)]).ticks] == [False, False, False, True]
