"""The picture that a shared link shows: the site's name and what the same batch takes to run and to train, as measured.

Words are drawn only with an installed font that has the French letters; without one the picture has none.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Final

from PIL import Image, ImageDraw, ImageFont

from sitegen.french import size, typography
from sitegen.render.evidence import Component, Evidence, MissingFigureError
from sitegen.render.series import INFERENCE_8, TRAINING_8, Series

PATH: Final = "apercu.png"
SIZE: Final = (1200, 630)
"""Pixels, as the Open Graph protocol's readers crop least."""
_FONTS: Final = (
    ("DejaVuSans-Bold.ttf", "DejaVuSans.ttf"),
    ("LiberationSans-Bold.ttf", "LiberationSans-Regular.ttf"),
    ("NotoSans-Bold.ttf", "NotoSans-Regular.ttf"),
    ("Arial Bold.ttf", "Arial.ttf"),
    ("arialbd.ttf", "arial.ttf"),
)
_LETTERS: Final = "îœ—’é"
_MISSING: Final = "\U0010ffff"
_MARGIN: Final = 80
_WIDTH: Final = SIZE[0] - 2 * _MARGIN
_PAPER, _INK, _MUTED = "#fdfcf9", "#1b1f24", "#555b63"
_COMPONENTS: Final[tuple[tuple[Component, str], ...]] = (
    ("weights", "#2a5caa"),
    ("gradients", "#b84a0e"),
    ("optimizer_state", "#0c7263"),
)
_REST: Final = "#8b3c8b"
"""The light theme's colours, as in tokens.css."""

_WHAT: Final = "Pic de mémoire mesuré. SmolLM2-135M-Instruct, lot de 8 séquences de 256 jetons."

Bar = tuple[str, int, tuple[tuple[int, str], ...]]
Faces = tuple[ImageFont.FreeTypeFont, ImageFont.FreeTypeFont]


def publish(site: Path, title: str, series: Series) -> None:
    """Draw the picture of the site into its folder; `OSError` when the disk refuses."""
    draw(title, bars(series), faces()).save(site / PATH, optimize=False, compress_level=6)


def bars(series: Series) -> list[Bar]:
    """Running and training eight sequences: name, peak in bytes, and its parts; none where they are not measured."""
    found: list[Bar] = []
    with suppress(MissingFigureError):
        for name, case in (("Inférence", INFERENCE_8), ("Entraînement", TRAINING_8)):
            evidence = Evidence(series)
            parts = [(evidence.component(case, part), colour) for part, colour in _COMPONENTS]
            found.append((name, evidence.peak(case), (*parts, (evidence.activations(case), _REST))))
    return found


def faces() -> Faces | None:
    """A bold and a regular font that have the French letters; none where no such font is installed."""
    for bold, regular in _FONTS:
        with suppress(OSError):
            found = ImageFont.truetype(bold, 76), ImageFont.truetype(regular, 34)
            if all(_has(font, letter) for font in found for letter in _LETTERS):
                return found
    return None


def draw(title: str, measured: list[Bar], words: Faces | None) -> Image.Image:
    """The picture, with words where there are fonts for them."""
    picture = Image.new("RGB", SIZE, _PAPER)
    pen = ImageDraw.Draw(picture)
    if words:
        for line, text in enumerate(_lines(typography(title), words[0])[:2]):
            pen.text((_MARGIN, 70 + 92 * line), text, fill=_INK, font=words[0])
        if measured:
            pen.text((_MARGIN, 560), _WHAT, fill=_MUTED, font=words[1].font_variant(size=26))
    largest = max((peak for _, peak, _ in measured), default=1)
    for row, (name, peak, parts) in enumerate(measured):
        top = 330 + 140 * row
        if words:
            pen.text((_MARGIN, top - 48), f"{name} : {size(peak)}".replace(" :", "\u00a0:"), fill=_MUTED, font=words[1])
        _bar(pen, top, parts, _WIDTH / largest)
    return picture


def _bar(pen: ImageDraw.ImageDraw, top: int, parts: tuple[tuple[int, str], ...], scale: float) -> None:
    """One bar, `scale` pixels a byte."""
    left = float(_MARGIN)
    for part_bytes, colour in parts:
        right = left + part_bytes * scale
        if right - left >= 1:
            pen.rectangle((round(left), top, round(right) - 1, top + 56), fill=colour)
        left = right


def _lines(text: str, font: ImageFont.FreeTypeFont) -> list[str]:
    """The text cut where it is too wide."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if font.getlength(longer) <= _WIDTH:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _has(font: ImageFont.FreeTypeFont, letter: str) -> bool:
    """Whether a font draws a letter, and not the box of one that it lacks."""
    return bytes(font.getmask(letter)) != bytes(font.getmask(_MISSING))
