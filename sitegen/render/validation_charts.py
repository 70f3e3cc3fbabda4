"""The charts of the page « Estimé et mesuré »: one dot a case, at its estimate over its measure or at its error.

A drawing of estimates against measures would put every dot on its diagonal: errors of a thousandth show on their own
scale alone, and rules that are off by a factor need one of ratios.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from sitegen.french import NO_BREAK, change, number, percent, signed, small_percent
from sitegen.memory.deviations import Deviations, deviations
from sitegen.memory.peers import PEERS
from sitegen.memory.published import Comparison
from sitegen.memory.validation import Compared
from sitegen.render import chart_tables
from sitegen.render.charts import PREFIX, Chart
from sitegen.render.drawing import Point, Scale, Strip, scattered
from sitegen.render.evidence import Evidence
from sitegen.render.interactive import specification
from sitegen.render.labels import short_label
from sitegen.render.peer_tables import THIS_SITE, error_of
from sitegen.render.pictures import Picture
from sitegen.render.published_tables import name_of
from sitegen.render.series import Series
from sitegen.render.tables import Cell, Column, Row, Table
from sitegen.render.validation_tables import GROUPS, group_of

Case = Compared | Comparison
_KEY: Final = "Point plein : mesuré ici, à seuil fixe. Point creux : publié par d’autres."
_MARGIN: Final = 1.08
"""An axis of errors ends a little after the largest one."""


_ROOM: Final = 0.2
"""What an axis of ratios has beyond the last dot, a doubling being 1."""
_STEPS: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
_MOST_MARKS: Final = 3
"""Graduations on either side of an axis of errors, less than."""


def own_errors(series: Series, prefix: str = PREFIX) -> Chart:
    """The error of each of our estimates, kind after kind: our own rows, then the published runs."""
    evidence = Evidence(series)
    ours = evidence.compared("fixed")
    named: list[tuple[str, Sequence[Case]]] = [
        (name, [row for row in ours if group_of(row.record.case) == key]) for key, name in GROUPS.items()
    ]
    others = [row for row in series.published if row.error is not None]
    named += [(f"Publié : {name}", [row for row in others if row.group == key]) for key, name in _PUBLISHED.items()]
    found = [(name, rows) for name, rows in named if rows]
    strips = [Strip(name, _figure(rows, THIS_SITE), tuple(_errors(rows))) for name, rows in found]
    picture = scattered(strips, _error_scale([row.error or 0.0 for _, rows in found for row in rows]), (0.0, "Mesuré"))
    return _chart(
        f"{prefix}-ecarts",
        "L’écart de chaque estimation à la mesure",
        "À gauche de la ligne, l’estimation est trop basse ; à droite, trop haute. "
        f"Au bout de la rangée, l’écart médian. {_KEY}",
        picture,
        _table("Les écarts de l’estimation", "Groupe", [(name, _deviations(rows, THIS_SITE)) for name, rows in found]),
    )


def rules(series: Series, prefix: str = PREFIX) -> Chart:
    """The estimate over the measure, for this site and for each rule, on the same training runs."""
    evidence = Evidence(series)
    ours: list[Case] = [row for row in evidence.compared("fixed") if row.peers]
    rows = [*ours, *(row for row in series.published if row.error is not None)]
    names = (THIS_SITE, *(peer.name for peer in PEERS))
    found = [(name, _deviations(rows, name)) for name in names]
    strips = [Strip(name, _figure(rows, name), tuple(_ratios(rows, name))) for name in names]
    errors = [error for _, each in found if each for error in each.errors]
    return _chart(
        f"{prefix}-regles",
        "Estimé sur mesuré : ce site et les règles usuelles",
        "Chaque entraînement, à son estimation divisée par sa mesure ; d’une graduation à l’autre, un facteur quatre. "
        f"Au bout de la rangée, l’écart médian. {_KEY}",
        scattered(strips, _ratio_scale(errors), (0.0, "Mesuré")),
        _table("Les écarts de chaque règle", "Règle ou calculateur", found),
    )


VALIDATION_CHARTS: Final[dict[str, Callable[..., Chart]]] = {"own_errors": own_errors, "rules": rules}
_PUBLISHED: Final = {"transformers": "perte tracée", "liger": "Liger", "unsloth": "Unsloth"}


def _chart(identifier: str, title: str, caption: str, picture: Picture, table: Table) -> Chart:
    """The whole figure."""
    known = Table(f"{identifier}-donnees", table.caption, table.columns, table.rows)
    return Chart(identifier, title, caption, chart_tables.told(known), picture, specification(picture), known)


def _name(row: Case) -> str:
    """The case."""
    return short_label(row.record.case) if isinstance(row, Compared) else name_of(row)


def _is_hollow(row: Case) -> bool:
    """Whether others measured it."""
    return isinstance(row, Comparison)


def _errors(rows: Iterable[Case]) -> Iterable[Point]:
    """Our error of each case."""
    for row in rows:
        if row.error is not None:
            yield row.error, _is_hollow(row), f"{_name(row)}<br>Écart{NO_BREAK}: {change(row.error, 3)}"


def _ratios(rows: Iterable[Case], name: str) -> Iterable[Point]:
    """The logarithm of a rule's estimate over the measure of each case."""
    for row in rows:
        error = error_of(row, name)
        if error is not None:
            times = number(1 + error, 2)
            yield math.log2(1 + error), _is_hollow(row), f"{_name(row)}<br>{name}{NO_BREAK}: {times}{NO_BREAK}×"


def _deviations(rows: Iterable[Case], name: str) -> Deviations | None:
    """A rule's errors."""
    return deviations(error_of(row, name) for row in rows)


def _figure(rows: Iterable[Case], name: str) -> str:
    """The median error at the end of a row."""
    found = _deviations(rows, name)
    if found is None:
        return ""
    return small_percent(found.median) if name == THIS_SITE else percent(found.median)


def _error_scale(errors: Sequence[float]) -> Scale:
    """Both ways as far as the largest error, with a graduation each percent, or each few."""
    reach = _MARGIN * max(_STEPS[0], *map(abs, errors))
    step = next(step for step in _STEPS if reach / step < _MOST_MARKS)
    marks = [step * rank for rank in range(-int(reach / step), int(reach / step) + 1)]
    decimals = 0 if step >= 0.01 else 1  # noqa: PLR2004  # a percent
    return Scale(-reach, reach, tuple((mark, f"{signed(100 * mark, decimals)}{NO_BREAK}%") for mark in marks))


def _ratio_scale(errors: Sequence[float]) -> Scale:
    """Powers of four, from the smallest ratio to the largest, in logarithms of base 2."""
    low, high = math.log2(1 + min(errors)) - _ROOM, math.log2(1 + max(errors)) + _ROOM
    marks = range(2 * math.ceil(low / 2), math.floor(high) + 1, 2)
    return Scale(low, high, tuple((float(mark), _times(mark)) for mark in marks))


def _times(power: int) -> str:
    """``÷ 4``, ``1``, ``× 2``."""
    if power == 0:
        return f"×{NO_BREAK}1"
    return f"×{NO_BREAK}{2**power}" if power > 0 else f"÷{NO_BREAK}{2**-power}"


def _table(caption: str, heading: str, found: Sequence[tuple[str, Deviations | None]]) -> Table:
    """Count, median, lowest and highest error of each row."""
    columns = (
        Column(heading),
        Column("Essais", numeric=True),
        Column("Écart médian", "%", numeric=True),
        Column("Le plus bas", "%", numeric=True),
        Column("Le plus haut", "%", numeric=True),
    )
    rows = tuple(
        Row(
            Cell(name),
            (
                Cell(number(each.count), float(each.count)),
                Cell(number(100 * each.median, 3), each.median),
                Cell(signed(100 * min(each.errors), 2), min(each.errors)),
                Cell(signed(100 * max(each.errors), 2), max(each.errors)),
            ),
        )
        for name, each in found
        if each is not None
    )
    return Table("", caption, columns, rows)
