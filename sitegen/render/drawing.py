"""Rows of figures → the geometry of their picture.

A row is a line of text (name on the left, figure on the right) above its bar: long French names stay readable 320
pixels wide. The parts of one row are named under it, at the end of thin lines, and so need no legend.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from textwrap import wrap
from typing import Final

from sitegen.french import NO_BREAK, number
from sitegen.render.pictures import AXIS_PX, Bar, Component, Dot, Picture, Span, Text, Tick, Upright
from sitegen.units import GB_BYTES

ROW_PX: Final = 56
LINE_PX: Final = 17
BASELINE_PX: Final = 14
BAR_TOP_PX: Final = 22
BAR_PX: Final = 22
CALLOUT_PX: Final = 19
CALLOUT_TOP_PX: Final = 16
REFERENCE_PX: Final = 22
RULE_PX: Final = 4
LEADER_SHIFT_PX: Final = 5
LABEL_CHARACTERS: Final = 30
MOST_TICKS: Final = 5
MARGIN: Final = 1.04
"""The axis ends a little after the largest value, so that nothing touches the edge."""
FLIP: Final = 0.55
"""Beyond this share of the width a text is written to the left of what it names."""
LAST_TICK: Final = 0.93
"""Beyond this share of the width a graduation is written before its line."""
WHOLE: Final = 10**9
"""The width of a picture whose axis is not in bytes."""
LANE_PX: Final = 7
TWO_TICKS: Final = 0.28
"""The share of the width that two graduations written towards each other need on the narrowest screen."""


@dataclass(frozen=True, slots=True)
class Part:
    """One component of a row, in bytes: its French name, and its size written in French."""

    component: Component
    size: int
    name: str
    figure: str


@dataclass(frozen=True, slots=True)
class Line:
    """One row of bars: without parts, only its name and its figure (a run that failed)."""

    label: str
    parts: tuple[Part, ...]
    figure: str
    figure_detail: str = ""
    label_detail: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """One row of dots: the same case under two conditions, in bytes."""

    label: str
    hollow: int
    full: int
    figure: str
    figure_detail: str
    hovers: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Reference:
    """A value that every row is to be compared with: a dashed line and its name, in bytes."""

    value: int
    text: str


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis of something else than bytes: its ends, and what is written where, in the unit of the values."""

    low: float
    high: float
    graduations: tuple[tuple[float, str], ...]

    def place(self, value: float) -> int:
        """Where a value lies, in billionths of the width."""
        return round((value - self.low) / (self.high - self.low) * WHOLE)


Point = tuple[float, bool, str]
"""A value on the scale, whether its dot is hollow, and its French text."""


@dataclass(frozen=True, slots=True)
class Strip:
    """One row of dots, a dot a case."""

    label: str
    figure: str
    points: tuple[Point, ...]


Mark = tuple[int, str, str]
"""Where a leader starts (bytes), the name it leads to, and a detail."""


def stacked(lines: Sequence[Line], *, named: int | None = None, reference: Reference | None = None) -> Picture:
    """Rows of stacked bars; the parts of the row of index `named` are named under it."""
    sizes = [sum(part.size for part in line.parts) for line in lines]
    sheet = _Sheet(_domain([*sizes, reference.value if reference else 0]), REFERENCE_PX if reference else 0)
    for index, line in enumerate(lines):
        if line.parts:
            sheet.head(line.label, line.label_detail, line.figure, line.figure_detail)
            sheet.bars += _bars(line, sheet.y + BAR_TOP_PX)
        else:
            sheet.head(line.label, line.label_detail)
            sheet.texts.append(Text(0, sheet.y + BAR_TOP_PX + BASELINE_PX, line.figure, "callout"))
        sheet.close(_marks(line) if index == named else [])
    return sheet.picture(reference)


def paired(pairs: Sequence[Pair], names: tuple[str, str]) -> Picture:
    """Rows of two dots; `names` says under the first row what the hollow and the full dots are."""
    sheet = _Sheet(_domain([max(pair.hollow, pair.full) for pair in pairs]))
    for index, pair in enumerate(pairs):
        sheet.head(pair.label, "", pair.figure, pair.figure_detail)
        sheet.spans.append(Span(pair.hollow, pair.full, sheet.y + BAR_TOP_PX + BAR_PX // 2, *pair.hovers))
        marks = [(pair.hollow, names[0], ""), (pair.full, names[1], "")]
        sheet.close(sorted(marks) if index == 0 else [])
    return sheet.picture()


def scattered(strips: Sequence[Strip], scale: Scale, reference: tuple[float, str]) -> Picture:
    """Rows of dots on a scale of its own, and the value that every dot is to be compared with."""
    sheet = _Sheet(WHOLE, REFERENCE_PX)
    for strip in strips:
        sheet.head(strip.label, "", strip.figure)
        top = sheet.y + BAR_TOP_PX
        sheet.bands.append((top, top + BAR_PX))
        sheet.dots += _dots(strip, scale, top + BAR_PX // 2)
        sheet.close([])
    ticks = tuple(_named(scale.place(value), text) for value, text in scale.graduations)
    value, name = reference
    return replace(sheet.picture(Reference(scale.place(value), name)), ticks=ticks, is_named=True)


@dataclass
class _Sheet:
    """A picture being drawn from the top down: `y` is where the next row begins, in pixels."""

    domain: int
    y: int = 0
    bars: list[Bar] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)
    leaders: list[Upright] = field(default_factory=list)
    dots: list[Dot] = field(default_factory=list)
    bands: list[tuple[int, int]] = field(default_factory=list)

    def head(self, label: str, label_detail: str, figure: str = "", detail: str = "") -> None:
        """The name of a row, on as many lines as it takes, and its figure at the end of the first."""
        if figure:
            self.texts.append(Text(self.domain, self.y + BASELINE_PX, figure, "value", anchor="end", detail=detail))
        lines = wrap(label, LABEL_CHARACTERS, break_long_words=False, break_on_hyphens=False)
        for rank, words in enumerate(lines, 1):
            last = label_detail if rank == len(lines) else ""
            self.texts.append(Text(0, self.y + BASELINE_PX + (rank - 1) * LINE_PX, words, "label", detail=last))
        self.y += LINE_PX * (len(lines) - 1)

    def close(self, marks: Sequence[Mark]) -> None:
        """End a row, with the names of its parts under it: the last part first, so that no leader crosses a name."""
        top = self.y + BAR_TOP_PX + BAR_PX
        for rank, (value, name, detail) in enumerate(reversed(marks)):
            baseline = top + CALLOUT_TOP_PX + rank * CALLOUT_PX
            self.leaders.append(Upright(value, top, baseline))
            self.texts.append(_beside(Text(value, baseline, name, "callout", detail=detail), self.domain))
        self.y += ROW_PX + CALLOUT_PX * len(marks)

    def picture(self, reference: Reference | None = None) -> Picture:
        """The finished picture, with what every row is compared with: a line through each bar, and through no text."""
        rules: tuple[Upright, ...] = ()
        if reference is not None:
            rows = sorted({(bar.top, bar.top + bar.thickness) for bar in self.bars} | set(self.bands))
            reach = [(0, REFERENCE_PX - RULE_PX), *((top - RULE_PX, bottom + RULE_PX) for top, bottom in rows)]
            rules = tuple(Upright(reference.value, top, bottom) for top, bottom in reach)
            name = Text(reference.value, BASELINE_PX - 2, reference.text, "reference")
            self.texts.append(_beside(name, self.domain))
        return Picture(
            domain=self.domain,
            floor=self.y,
            height=self.y + AXIS_PX,
            bars=tuple(self.bars),
            spans=tuple(self.spans),
            texts=tuple(self.texts),
            rules=rules,
            leaders=tuple(self.leaders),
            ticks=_ticks(self.domain),
            dots=tuple(self.dots),
        )


def _beside(text: Text, domain: int) -> Text:
    """A text to the right of the line that it names, or to its left when the right has no room."""
    flipped = text.value > FLIP * domain
    shift = -LEADER_SHIFT_PX if flipped else LEADER_SHIFT_PX
    return replace(text, anchor="end" if flipped else "start", shift=shift)


def _domain(values: Iterable[int]) -> int:
    """Where the axis ends, in bytes."""
    return max(1, round(MARGIN * max(values, default=0)))


def _bars(line: Line, top: int) -> list[Bar]:
    """The pieces of one row, end to end."""
    bars = []
    start = 0
    for part in line.parts:
        hover = f"{line.label}<br>{part.name}{NO_BREAK}: {part.figure}"
        if part.size > 0:
            bars.append(Bar(start, part.size, part.component, top, BAR_PX, hover))
        start += part.size
    return bars


def _dots(strip: Strip, scale: Scale, middle: int) -> Iterable[Dot]:
    """The dots of one row, in three lanes by turns so that near ones do not hide one another."""
    lanes = (0, -LANE_PX, LANE_PX)
    for rank, (value, is_hollow, hover) in enumerate(sorted(strip.points)):
        yield Dot(scale.place(value), middle + lanes[rank % len(lanes)], is_hollow, hover)


def _named(value: int, text: str) -> Tick:
    """A graduation of a scale, before its line where the edge is near."""
    return Tick(value, text, value > LAST_TICK * WHOLE)


def _marks(line: Line) -> list[Mark]:
    """Where each part of a row is led from: its middle, but near its start when it is wide."""
    marks: list[Mark] = []
    start = 0
    total = sum(part.size for part in line.parts)
    for part in line.parts:
        if part.size > 0:
            marks.append((start + min(part.size // 2, total // 40), part.name, part.figure))
        start += part.size
    return marks


def _ticks(domain: int) -> tuple[Tick, ...]:
    """Round values in Go up to the end, `MOST_TICKS` at most, none written over another."""
    step = next(step for step in _steps() if _is_legible(domain, step))
    return tuple(Tick(value, _graduation(value, step), value > LAST_TICK * domain) for value in range(0, domain, step))


def _is_legible(domain: int, step: int) -> bool:
    """Whether graduations are few, and the last one has room even where it turns back towards the one before."""
    last = (domain - 1) // step * step
    return domain / step < MOST_TICKS and (last <= LAST_TICK * domain or step >= TWO_TICKS * domain)


def _graduation(value: int, step: int) -> str:
    """A value in Go, with the decimals that its step needs."""
    decimals = 0 if step >= GB_BYTES or not value else 1 if step >= GB_BYTES // 10 else 2
    return f"{number(value / GB_BYTES, decimals)}{NO_BREAK}Go"


def _steps() -> Iterable[int]:
    """1, 2 and 5 times each power of ten, from 10 Mo."""
    unit = GB_BYTES // 100
    while True:
        yield from (unit, 2 * unit, 5 * unit)
        unit *= 10
