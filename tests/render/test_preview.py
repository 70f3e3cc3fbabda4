"""The picture of a shared link: what is drawn, with words and without."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image, ImageFont

from sitegen.render import preview
from sitegen.render.series import Series
from tests.factories import TRAINING, record

BLUE, ORANGE = "#2a5caa", "#b84a0e"
BARS: list[preview.Bar] = [
    ("Inférence", 1_000, ((1_000, BLUE),)),
    ("Entraînement", 4_000, ((1_000, BLUE), (3_000, ORANGE))),
]


def rgb(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour[1:]))


def test_bars_are_as_long_as_their_bytes() -> None:
    picture = preview.draw("Titre", BARS, None)
    assert picture.size == (1200, 630)
    # 80 pixels of margin, 1040 for the longest: 260 for a quarter of it
    assert [picture.getpixel((x, 350)) for x in (79, 80, 339, 340)] == [
        rgb("#fdfcf9"),
        rgb(BLUE),
        rgb(BLUE),
        rgb("#fdfcf9"),
    ]
    assert [picture.getpixel((x, 490)) for x in (339, 340, 1119, 1120)] == [
        rgb(BLUE),
        rgb(ORANGE),
        rgb(ORANGE),
        rgb("#fdfcf9"),
    ]


def test_without_a_font_there_are_no_words() -> None:
    colours = preview.draw("Titre", BARS, None).getcolors(1000)
    assert colours is not None
    assert {colour for _, colour in colours} == {rgb("#fdfcf9"), rgb(BLUE), rgb(ORANGE)}


def test_with_a_font_there_are() -> None:
    font = ImageFont.load_default(40)  # Pillow's own
    assert isinstance(font, ImageFont.FreeTypeFont)
    assert preview.draw("Ou", [], (font, font)).tobytes() != preview.draw("Oui", [], (font, font)).tobytes()


def test_the_same_records_give_the_same_bytes(tmp_path: Path, series: Series) -> None:
    preview.publish(tmp_path, "Entrer n'est pas entraîner", series)
    first = (tmp_path / preview.PATH).read_bytes()
    preview.publish(tmp_path, "Entrer n'est pas entraîner", series)
    assert (tmp_path / preview.PATH).read_bytes() == first
    with Image.open(tmp_path / preview.PATH) as picture:
        assert picture.size == preview.SIZE


def test_a_font_without_french_letters_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preview, "_has", lambda _, letter: letter != "œ")
    assert preview.faces() is None


def test_no_font_at_all_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError("cannot open resource")

    monkeypatch.setattr(ImageFont, "truetype", refuse)
    assert preview.faces() is None


def test_the_bars_are_measured(series: Series) -> None:
    (_, running, _), (_, training, parts) = preview.bars(series)
    assert (running, training) == (1141 * 2**20, 6541 * 2**20)  # the factory's net peaks
    assert sum(size for size, _ in parts) == training
    assert preview.bars(Series([record(TRAINING[1])])) == []
