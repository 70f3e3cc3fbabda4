"""The interactive form of a picture: the same geometry as a Plotly specification.

The vertical axis counts the picture's pixels, so that bars, names and lines fall where the static picture has them and
nothing moves when one takes the other's place. Colours are CSS variables, which the page's script turns into those of
the theme.
"""

from __future__ import annotations

from typing import Any, Final

import plotly.graph_objects as go

from sitegen.french import NO_BREAK, typography
from sitegen.render.pictures import AXIS_PX, Bar, Dot, Picture, Span, Text, Upright
from sitegen.units import GB_BYTES

PATTERNS: Final = {
    "weights": "",
    "gradients": "/",
    "optimizer_state": "x",
    "activations": ".",
    "phase": "",
    "peak": "",
    "saved": "\\",
}
GAPS: Final = {"saved": 0.8}
"""How much of a texture is paper: little, but for what is no longer there."""
DETAIL: Final = ' <span style="font-weight:400;color:var(--muted)">{}</span>'
"""A detail after its name, as the picture has it: the page's script drops it where room lacks."""
HOVER: Final = "%{customdata}<extra></extra>"
FRENCH_SEPARATORS: Final = ",\u202f"

CONFIG: Final[dict[str, Any]] = {
    "displayModeBar": False,
    "displaylogo": False,
    "showSendToCloud": False,
    "responsive": False,
    "doubleClick": "reset",
}


_AS_GIVEN: Final = {"_validate": False}
"""Judging each property took longer than all else on a record's page: a test has plotly judge every chart instead."""


def specification(picture: Picture) -> dict[str, Any]:
    """`data`, `layout` and `config`: plain lists and texts, in the order in which they are drawn."""
    traces = [*_bar_traces(picture.bars), *_span_traces(picture.spans), *_dot_traces(picture.dots)]
    return {
        "data": [trace.to_plotly_json() for trace in traces],
        "layout": _layout(picture).to_plotly_json(),
        "config": CONFIG,
    }


def _go(size_bytes: int) -> float:
    """Bytes in Go, the axis's unit, to the kilobyte."""
    return round(size_bytes / GB_BYTES, 6)


def _bar_traces(bars: tuple[Bar, ...]) -> list[go.Bar]:
    """One trace a component."""
    components = dict.fromkeys(bar.component for bar in bars)
    return [_bar_trace(component, [bar for bar in bars if bar.component == component]) for component in components]


def _bar_trace(component: str, bars: list[Bar]) -> go.Bar:
    """The pieces of one component, each at its place."""
    pattern = {
        "shape": PATTERNS[component],
        "fillmode": "overlay",
        "fgcolor": "var(--paper)",
        "fgopacity": 1,
        "size": 7,
        "solidity": GAPS.get(component, 0.22),
    }
    return go.Bar(
        orientation="h",
        base=[_go(bar.start) for bar in bars],
        x=[_go(bar.size) for bar in bars],
        y=[bar.top + bar.thickness / 2 for bar in bars],
        width=[bar.thickness for bar in bars],
        customdata=[typography(bar.hover) for bar in bars],
        hovertemplate=HOVER,
        marker={
            "color": f"var(--{component})",
            "line": {"color": "var(--paper)", "width": 1},
            **({"pattern": pattern} if PATTERNS[component] else {}),
        },
        **_AS_GIVEN,
    )


def _span_traces(spans: tuple[Span, ...]) -> list[go.Scatter]:
    """The two dots of each row, and the line between them."""
    if not spans:
        return []
    links = [
        go.Scatter(
            x=[_go(span.start), _go(span.end)],
            y=[span.y, span.y],
            mode="lines",
            hoverinfo="skip",
            line=_LINK,
            **_AS_GIVEN,
        )
        for span in spans
    ]
    hollow = [(span.start, span.y, span.hover_start) for span in spans]
    full = [(span.end, span.y, span.hover_end) for span in spans]
    outline = {"color": "var(--peak)", "width": 2}
    fills = ((hollow, "var(--paper)"), (full, "var(--peak)"))
    return [*links, *(_dots(points, {"size": 12, "color": fill, "line": outline}) for points, fill in fills)]


_LINK: Final = {"color": "var(--edge)", "width": 3}


def _dots(points: list[tuple[int, int, str]], marker: dict[str, Any]) -> go.Scatter:
    """Dots of one kind."""
    return go.Scatter(
        x=[_go(value) for value, _, _ in points],
        y=[y for _, y, _ in points],
        customdata=[typography(hover) for _, _, hover in points],
        hovertemplate=HOVER,
        mode="markers",
        cliponaxis=False,
        marker=marker,
        **_AS_GIVEN,
    )


def _dot_traces(dots: tuple[Dot, ...]) -> list[go.Scatter]:
    """The many dots of the rows, the hollow ones and the full ones, through which others show."""
    drawn = []
    for is_hollow, fill in ((True, "var(--paper)"), (False, "var(--weights)")):
        kept = [(dot.value, dot.y, dot.hover) for dot in dots if dot.is_hollow == is_hollow]
        outline = {"color": "var(--weights)", "width": 1.5}
        drawn += [_dots(kept, {"size": 8, "color": fill, "opacity": 0.75, "line": outline})] if kept else []
    return drawn


def _layout(picture: Picture) -> go.Layout:
    """The frame: no margin but the axis, the page's own face and colours."""
    return go.Layout(
        autosize=True,
        margin={"l": 0, "r": 0, "t": 0, "b": AXIS_PX, "pad": 0},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"color": "var(--ink)", "size": 13},
        separators=FRENCH_SEPARATORS,
        showlegend=False,
        barmode="overlay",
        dragmode="zoom",
        hovermode="closest",
        hoverlabel={"bgcolor": "var(--raised)", "bordercolor": "var(--edge)", "font": {"color": "var(--ink)"}},
        xaxis=_x_axis(picture),
        yaxis={"range": [picture.floor, 0], "visible": False, "fixedrange": True},
        annotations=[_annotation(text, picture) for text in picture.texts],
        shapes=[
            *(_shape(line, "var(--edge)", 1, "solid") for line in picture.leaders),
            *(_shape(line, "var(--ink)", 1.5, "dash") for line in picture.rules),
        ],
        **_AS_GIVEN,
    )


def _x_axis(picture: Picture) -> dict[str, Any]:
    """Go in French, whose graduations follow when a part is enlarged; or those that the picture names."""
    named = {"tickvals": [_go(tick.value) for tick in picture.ticks], "ticktext": [tick.text for tick in picture.ticks]}
    axis = {
        "range": [0, _go(picture.domain)],
        "nticks": len(picture.ticks) + 1,
        "tickformat": ".3~f",
        "ticksuffix": f"{NO_BREAK}Go",
        "ticklabelposition": "outside right",
        "ticklabeloverflow": "hide past div",
        "tickfont": {"size": 12, "color": "var(--muted)"},
        "gridcolor": "var(--line)",
        "zeroline": False,
    }
    return axis | named | {"ticksuffix": ""} if picture.is_named else axis


def _annotation(text: Text, picture: Picture) -> dict[str, Any]:
    """A text of the picture. Names and figures of rows keep to the edges when a part is enlarged."""
    at_edge = text.role in ("label", "value")
    return {
        "name": text.role,
        "text": typography(text.text) + (DETAIL.format(typography(text.detail)) if text.detail else ""),
        "xref": "paper" if at_edge else "x",
        "x": text.value / picture.domain if at_edge else _go(text.value),
        "y": text.y - 5,
        "xshift": text.shift,
        "xanchor": "right" if text.anchor == "end" else "left",
        "yanchor": "middle",
        "showarrow": False,
        "borderpad": 0,
        "font": {"size": 13.5 if at_edge else 12.5, "weight": 600 if text.role in ("label", "reference") else 400},
    }


def _shape(line: Upright, colour: str, width_px: float, dash: str) -> dict[str, Any]:
    """A vertical line of the picture."""
    x = _go(line.value)
    style = {"color": colour, "width": width_px, "dash": dash}
    return {"type": "line", "x0": x, "x1": x, "y0": line.top, "y1": line.bottom, "line": style, "layer": "below"}
