"""The tables that show the records of one series."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from sitegen.french import date, number
from sitegen.records.case import Case
from sitegen.records.model import Record
from sitegen.render.evidence import Evidence
from sitegen.render.labels import ALLOCATOR_NAMES, COMPONENT_NAMES, STATUS_NAMES, short_label
from sitegen.render.series import (
    ALLOCATORS,
    REFERENCE,
    TRAINING_8,
    Series,
    under,
)
from sitegen.render.tables import Cell, Column, Row, Table, address, measured, peak_of, percentage, timed

_MO: Final = "Mo"
_LINES: Final = (
    ("weights", "les paramètres du modèle", "du nombre de paramètres et du format des nombres", "oui"),
    ("gradients", "une dérivée par paramètre entraîné", "du nombre de paramètres entraînés", "non"),
    ("optimizer_state", "les deux moments d’Adam", "de l’optimiseur et des paramètres entraînés", "non"),
    (
        "activations",
        "les résultats intermédiaires que la passe arrière réutilise, des tampons, et ce que le tas garde ou fragmente",
        "du lot, de la longueur de séquence, des couches, de la largeur, du vocabulaire",
        "un peu",
    ),
)


def bill(series: Series) -> Table:
    """The four lines at the peak of training at batch 8."""
    evidence = Evidence(series)
    record = evidence.record(TRAINING_8)
    components = record.summary.component_bytes
    href = address(record)
    rows = []
    for name, holds, depends, run in _LINES:
        value = evidence.activations(TRAINING_8) if name == "activations" else getattr(components, name)
        rows.append(
            Row(
                Cell(COMPONENT_NAMES[name]), (Cell(holds), Cell(depends), Cell(run), Cell("oui"), measured(value, href))
            )
        )
    return Table(
        "facture",
        "Les quatre lignes de la facture, à l’entraînement avec un lot de 8",
        (
            Column("Ligne"),
            Column("Ce qu’elle contient"),
            Column("Dépend"),
            Column("Pour faire tourner"),
            Column("Pour entraîner"),
            Column("Au pic", _MO, numeric=True),
        ),
        tuple(rows),
        "Les trois premières lignes sont comptées dans le processus ; la quatrième est le pic moins les trois autres.",
    )


def reference(series: Series) -> Table:
    """Every case of the reference suite, with what it is compared to."""
    weights = Evidence(series).component(TRAINING_8, "weights")
    rows = []
    for case in REFERENCE[1:]:
        record = series.get(case)
        rows.append(
            Row(
                Cell(short_label(case)),
                (
                    peak_of(record),
                    _multiple(record, weights),
                    peak_of(series.get(under(case, "fixed"))),
                    _step_time(record),
                    _step_time(series.get(under(case, "fixed"))),
                ),
            )
        )
    return Table(
        "essais-de-reference",
        "Pic de chaque essai, mémoire de départ déduite",
        (
            Column("Essai"),
            Column("Pic, allocateur par défaut", _MO, numeric=True),
            Column("En multiples des poids", "×", numeric=True),
            Column("Pic, seuil fixe", _MO, numeric=True),
            Column("Durée d’une étape, allocateur par défaut", "s", numeric=True),
            Column("Durée d’une étape, seuil fixe", "s", numeric=True),
        ),
        tuple(rows),
        "Poids du modèle en float32 ; durée de la dernière étape.",
    )


def _multiple(record: Record | None, weights: int) -> Cell:
    """The peak in multiples of the weights."""
    if record is None or record.summary.peak_bytes is None:
        return peak_of(record)
    value = record.summary.peak_bytes / weights
    return Cell(number(value, 1), value, address(record), kind="measured")


def everything(series: Series) -> Table:
    """Every record of a series, failures included."""
    return Table(
        f"releves-{series.machine.slug}-{series.environment.id}".replace(".", "-"),
        "Tous les relevés, mémoire de départ déduite",
        (
            Column("Essai"),
            Column("Allocateur"),
            Column("Départ", _MO, numeric=True),
            Column("Pic", _MO, numeric=True),
            Column("Étape 1", _MO, numeric=True),
            Column("Étape 2", _MO, numeric=True),
            Column("Chargement", _MO, numeric=True),
            Column("Dernière étape", "s", numeric=True),
            Column("Date"),
        ),
        tuple(_record_row(record) for record in series.records),
    )


def _record_row(record: Record) -> Row:
    """One record, one row: its name links to its page, so that its figures need not."""
    summary = record.summary
    steps = [measured(peak) for peak in summary.step_peak_bytes[:2]]
    cells = (
        Cell(ALLOCATOR_NAMES[record.case.allocator].removeprefix("allocateur ")),
        _no_figure(record) if summary.baseline_bytes is None else measured(summary.baseline_bytes),
        _peak_or_status(record),
        *(steps + [_no_figure(record)] * (2 - len(steps))),
        _no_figure(record) if summary.load_peak_bytes is None else measured(summary.load_peak_bytes),
        replace(_step_time(record), href=None),
        Cell(date(record.samples[-1].measured_at)),
    )
    return Row(Cell(short_label(record.case), href=address(record)), cells)


def _peak_or_status(record: Record) -> Cell:
    """The peak, or how the case ended when it did not end well."""
    if record.status != "ok":
        return Cell(STATUS_NAMES[record.status])
    return _no_figure(record) if record.summary.peak_bytes is None else measured(record.summary.peak_bytes)


def _no_figure(record: Record) -> Cell:
    """Why a cell has no figure: the case has no such phase, or it did not end well."""
    return Cell("sans objet" if record.status == "ok" else "aucun chiffre")


def _step_time(record: Record | None) -> Cell:
    """Duration of the last step."""
    if record is None:
        return Cell("non mesuré")
    durations = record.summary.step_duration_ns
    return timed(durations[-1], address(record)) if durations else _no_figure(record)


def by_allocator(series: Series) -> Table:
    """Each case under every allocator that measured something, and what the fixed threshold changes."""
    present = [name for name in ALLOCATORS if any(record.case.allocator == name for record in series.records)]
    cases = dict.fromkeys(under(record.case, "default") for record in series.records if record.case.mode != "baseline")
    rows = [
        Row(
            Cell(short_label(case)),
            (*(peak_of(series.get(under(case, name))) for name in present), _allocator_change(series, case)),
        )
        for case in cases
        if sum(series.ok(under(case, name)) is not None for name in present) > 1
    ]
    columns = [
        Column(ALLOCATOR_NAMES[name].removeprefix("allocateur ").capitalize(), _MO, numeric=True) for name in present
    ]
    return Table(
        f"allocateurs-{series.machine.slug}-{series.environment.id}".replace(".", "-"),
        "Le même essai sous chaque allocateur : pic, mémoire de départ déduite",
        (Column("Essai"), *columns, Column("Seuil fixe par rapport au défaut", "%", numeric=True)),
        tuple(rows),
    )


def _allocator_change(series: Series, case: Case) -> Cell:
    """What the fixed threshold changes."""
    default, fixed = series.ok(case), series.ok(under(case, "fixed"))
    peaks = [None if record is None else record.summary.peak_bytes for record in (default, fixed)]
    if not peaks[0] or not peaks[1]:
        return Cell("non mesuré")
    return percentage(peaks[1] / peaks[0] - 1)
