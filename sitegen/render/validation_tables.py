"""The tables of our own rows on the page « Estimé et mesuré »: each record beside its estimate, and every miss."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final

from sitegen.french import NO_BREAK, number, signed, small_percent
from sitegen.memory.deviations import Deviations, deviations
from sitegen.memory.validation import Compared
from sitegen.records.case import Allocator, Case
from sitegen.render.labels import label, short_label
from sitegen.render.series import Series
from sitegen.render.tables import Cell, Column, Row, Table, address, measured
from sitegen.render.validation_facts import PAGE
from sitegen.units import MB_BYTES

_FIXED_ID: Final = "estime-lignes"
_DEFAULT_ID: Final = "estime-systeme"
ABSENT: Final = "Aucune trace pour ces relevés : la commande sitegen trace les fait."
DIFFERENCE: Final = "Écart : l’estimation moins la mesure."
GROUPS: Final = {
    "inference": "Inférence",
    "generation": "Génération",
    "full": "Entraînement complet",
    "lora": "LoRA",
    "qlora": "QLoRA",
}
"""The kinds of cases, in the order in which they are shown."""


def group_of(case: Case) -> str:
    """The kind of a case, among `GROUPS`."""
    return case.method if case.mode == "training" else case.mode


def summary(series: Series) -> Table:
    """How far the estimates are from the measures, under either allocator."""
    named: tuple[tuple[str, Allocator, str], ...] = (
        ("À seuil fixe", "fixed", _FIXED_ID),
        ("Celui du système", "default", _DEFAULT_ID),
    )
    rows = tuple(
        _summary_row(name, group, f"{PAGE}#{rows_id}")
        for name, allocator, rows_id in named
        if (group := _under(series, allocator))
    )
    return Table(
        "estime-resume",
        "L’estimation et la mesure, par allocateur",
        (
            Column("Allocateur"),
            Column("Essais", numeric=True),
            Column("Écart médian", "%", numeric=True),
            Column("Écart le plus grand", "%", numeric=True),
            Column("Dans l’intervalle", numeric=True),
            Column("Largeur médiane de l’intervalle", "%", numeric=True),
        ),
        rows,
        f"{DIFFERENCE} Sous l’allocateur du système, l’estimation est celle des tenseurs vivants : c’est l’intervalle, "
        "et non elle, qui s’y compare à la mesure."
        if rows
        else ABSENT,
    )


def misses(series: Series) -> Table:
    """Every row that is wrong by its own standard, the worst first."""
    missed = sorted((row for row in series.compared if row.is_missed), key=lambda row: -abs(row.error))
    return Table(
        "estime-hors-bornes",
        "Les essais hors des bornes, ou hors de l’intervalle",
        (
            Column("Essai"),
            *_SIZES,
            Column("Écart", "Mo", numeric=True),
            Column("Écart", "%", numeric=True),
        ),
        tuple(_missed_row(row) for row in missed),
        DIFFERENCE if missed else "Aucun essai de cette page n’est hors de ses bornes." if series.compared else ABSENT,
    )


def every_row(series: Series) -> Table:
    """Every record beside its estimate, under the allocator whose peak is that of the live tensors."""
    rows = tuple(
        Row(
            Cell(without_mode(row.record.case), href=address(row.record)),
            (
                measured(row.measured_bytes),
                measured(row.estimated_bytes, kind="estimated"),
                difference(row.difference_bytes),
                share(row.error),
            ),
            section,
        )
        for section, row in _grouped(_under(series, "fixed"))
    )
    return Table(
        _FIXED_ID,
        "Chaque essai à seuil fixe, estimé et mesuré",
        (Column("Essai"), *_SIZES, Column("Écart", "Mo", numeric=True), Column("Écart", "%", numeric=True)),
        rows,
        f"{DIFFERENCE} Dans chaque groupe, les plus grands d’abord. Chaque nom mène au relevé." if rows else ABSENT,
    )


def default_rows(series: Series) -> Table:
    """The rows under the system's own allocator, each with the interval that the other rows give it."""
    rows = tuple(
        Row(Cell(without_mode(row.record.case), href=address(row.record)), _interval(row), section)
        for section, row in _grouped(_under(series, "default"))
    )
    return Table(
        _DEFAULT_ID,
        "Chaque essai sous l’allocateur du système, et l’intervalle tiré des autres",
        (
            Column("Essai"),
            Column("Relevés", numeric=True),
            Column("Mesuré", "Mo", numeric=True),
            Column("Intervalle, bas", "Mo", numeric=True),
            Column("Intervalle, haut", "Mo", numeric=True),
            Column("Largeur", "%", numeric=True),
            Column("Relevés dans l’intervalle", numeric=True),
        ),
        rows,
        "Mesuré : le pic médian des relevés. Largeur : celle de l’intervalle, sur l’estimation." if rows else ABSENT,
    )


_SIZES: Final = (Column("Mesuré", "Mo", numeric=True), Column("Estimé", "Mo", numeric=True))


def difference(size_bytes: int) -> Cell:
    """A signed difference in Mo, to a tenth."""
    return Cell(signed(size_bytes / MB_BYTES, 1), float(size_bytes))


def share(error: float) -> Cell:
    """A signed relative error, to a hundredth of a percent; the heading has the sign of percent."""
    return Cell(signed(100 * error, 2), error)


def section_line(name: str, found: Deviations | None, count: int) -> str:
    """The line above a group of rows: how many they are, and how far the estimate is from them."""
    text = f"{name}{NO_BREAK}: {number(count)}{NO_BREAK}essai{'s' if count > 1 else ''}"
    if found is None:
        return text
    median, worst = small_percent(found.median), small_percent(found.worst)
    return f"{text}, écart {worst}" if count == 1 else f"{text}, écart médian {median}, au plus {worst}"


def _under(series: Series, allocator: Allocator) -> list[Compared]:
    """The rows under one allocator."""
    return [row for row in series.compared if row.record.case.allocator == allocator]


def _grouped(rows: Iterable[Compared]) -> Iterable[tuple[str, Compared]]:
    """The rows kind after kind, the largest errors first; before the first of a kind, what the kind comes to."""
    order = list(GROUPS)
    ordered = sorted(rows, key=lambda row: (order.index(group_of(row.record.case)), -abs(row.error)))
    for kind, members in groupby(ordered, key=lambda row: group_of(row.record.case)):
        group = list(members)
        line = _line(GROUPS[kind], group)
        yield from zip([line, *[""] * (len(group) - 1)], group, strict=True)


def _line(name: str, rows: Sequence[Compared]) -> str:
    """What a group comes to: errors of points, or rows that their intervals hold."""
    if rows[0].record.case.allocator == "fixed":
        return section_line(name, deviations(row.error for row in rows), len(rows))
    held = sum(row.is_covered for row in rows)
    return f"{section_line(name, None, len(rows))}, dont {number(held)} dans l’intervalle"


def _summary_row(name: str, rows: Sequence[Compared], href: str) -> Row:
    """One allocator; its median leads to its rows."""
    worst = max(rows, key=lambda row: abs(row.error))
    covered = sum(row.is_covered for row in rows)
    median = statistics.median(abs(row.error) for row in rows)
    width = statistics.median(row.width for row in rows)
    return Row(
        Cell(name),
        (
            Cell(number(len(rows)), float(len(rows))),
            Cell(number(100 * median, 2), median, href),
            Cell(signed(100 * worst.error, 2), worst.error, address(worst.record)),
            Cell(f"{number(covered)} sur {number(len(rows))}", covered / len(rows)),
            Cell(number(100 * width), width),
        ),
    )


def _missed_row(row: Compared) -> Row:
    """One miss, with its name and its size."""
    return Row(
        Cell(label(row.record.case), href=address(row.record)),
        (
            measured(row.measured_bytes),
            measured(row.estimated_bytes, kind="estimated"),
            difference(row.difference_bytes),
            share(row.error),
        ),
    )


def _interval(row: Compared) -> tuple[Cell, ...]:
    """The cells of a row under the system's allocator."""
    low, high = row.interval_bytes
    samples = len(row.record.samples)
    return (
        Cell(number(samples), float(samples)),
        measured(row.measured_bytes),
        measured(low, kind="estimated"),
        measured(high, kind="estimated"),
        Cell(number(100 * row.width), row.width),
        Cell(f"{number(row.covered_samples)} sur {number(samples)}", row.covered_samples / samples),
    )


def without_mode(case: Case) -> str:
    """The case's name without what the line above its group says: « Lot de 8, 256 jetons »."""
    rest = short_label(case).partition(", ")[2]
    return rest if rest.startswith("synthetic-") else f"{rest[:1].upper()}{rest[1:]}"
