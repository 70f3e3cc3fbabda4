"""The geometry of a chart, computed once: the static picture and the interactive chart both draw it.

Across, everything is in bytes, so that the drawing can be as wide as the page gives it room; down, in pixels. Where the
graduations are named (a scale of ratios or of errors), a byte stands for a billionth of the width.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Component = Literal["weights", "gradients", "optimizer_state", "activations", "phase", "peak", "saved"]
Anchor = Literal["start", "end"]
Role = Literal["label", "value", "callout", "reference"]

AXIS_PX: Final = 28
"""The room under `floor` for the graduations."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A piece of a bar: `start` and `size` in bytes, `top` and `thickness` in pixels, `hover` its French text."""

    start: int
    size: int
    component: Component
    top: int
    thickness: int
    hover: str


@dataclass(frozen=True, slots=True)
class Span:
    """Two figures of the same thing: a hollow dot at `start`, a full one at `end` (bytes), at `y` pixels."""

    start: int
    end: int
    y: int
    hover_start: str
    hover_end: str


@dataclass(frozen=True, slots=True)
class Dot:
    """One figure among many of its row, at `value` across and `y` pixels; `hover` is its French text."""

    value: int
    y: int
    is_hollow: bool
    hover: str


@dataclass(frozen=True, slots=True)
class Text:
    """A text anchored at `value` bytes, its baseline at `y` pixels; `detail` gives way where room lacks."""

    value: int
    y: int
    text: str
    role: Role
    anchor: Anchor = "start"
    shift: int = 0
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Upright:
    """A vertical line at `value` bytes, from `top` to `bottom` pixels."""

    value: int
    top: int
    bottom: int


@dataclass(frozen=True, slots=True)
class Tick:
    """A graduation of the axis, written after its line; `before` it where the right has no room."""

    value: int
    text: str
    before: bool = False


@dataclass(frozen=True, slots=True)
class Picture:
    """All that is drawn. The axis lies at `floor` pixels and its end is `domain` bytes.

    `is_named` says that the graduations are words, and not sizes that could be refined.
    """

    domain: int
    floor: int
    height: int
    bars: tuple[Bar, ...]
    spans: tuple[Span, ...]
    texts: tuple[Text, ...]
    rules: tuple[Upright, ...]
    leaders: tuple[Upright, ...]
    ticks: tuple[Tick, ...]
    dots: tuple[Dot, ...] = ()
    is_named: bool = False

    def across(self, value: int) -> str:
        """A place or a width in bytes as a share of the drawing's width: ``12.5%``."""
        return f"{100 * value / self.domain:.3f}".rstrip("0").rstrip(".") + "%"
