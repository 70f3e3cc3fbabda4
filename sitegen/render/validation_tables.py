"""The tables of the page « Estimé et mesuré »: every row of ours, the usual rules beside, and what others published."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from typing import Final

from sitegen.french import change, number, percent
from sitegen.memory import published
from sitegen.memory.peers import PEERS
from sitegen.memory.published import Comparison
from sitegen.memory.validation import Compared, compared, median_error
from sitegen.render.labels import label
from sitegen.render.series import Series
from sitegen.render.tables import Cell, Column, Row, Table, address, measured
from sitegen.units import MB_BYTES

_NOT_COVERED: Final = "hors du domaine de la règle"
_GROUPS: Final = {
    "transformers": "Perte de transformers, tracée",
    "liger": "Perte fusionnée de Liger, modélisée",
    "unsloth": "Noyaux fusionnés d’Unsloth, modélisés",
}
_ABSENT: Final = "Aucune trace pour ces relevés : la commande sitegen trace les fait."


def summary(series: Series) -> Table:
    """How far the estimates are from the measures, under either allocator."""
    rows = compared(series.records, series.bills)
    fixed = [row for row in rows if row.record.case.allocator == "fixed"]
    default = [row for row in rows if row.record.case.allocator == "default"]
    named = (("À seuil fixe", fixed), ("Celui du système", default))
    return Table(
        "estime-resume",
        "L’estimation et la mesure, par allocateur",
        (
            Column("Allocateur"),
            Column("Essais", numeric=True),
            Column("Écart médian", "%", numeric=True),
            Column("Écart le plus grand", "%", numeric=True),
            Column("Mesures dans l’intervalle"),
            Column("Largeur médiane de l’intervalle", "%", numeric=True),
        ),
        tuple(_summary_row(name, group) for name, group in named if group),
        None if rows else _ABSENT,
    )


def every_row(series: Series) -> Table:
    """Every record beside its estimate, under the allocator whose peak is that of the live tensors."""
    rows = [row for row in compared(series.records, series.bills) if row.record.case.allocator == "fixed"]
    return _detailed(
        "estime-lignes",
        "Chaque essai à seuil fixe, estimé et mesuré",
        sorted(rows, key=lambda row: -abs(row.error)),
    )


def default_rows(series: Series) -> Table:
    """The rows under the system's own allocator, whose interval comes from the other rows."""
    rows = [row for row in compared(series.records, series.bills) if row.record.case.allocator == "default"]
    return _detailed(
        "estime-systeme",
        "Les mêmes sous l’allocateur du système : l’intervalle, non le point, dit ce qui est possible",
        sorted(rows, key=lambda row: (row.is_covered, -abs(row.error))),
    )


def usual_rules(series: Series) -> Table:
    """The usual rules and calculators on the same rows, ours first."""
    rows = [
        row
        for row in compared(series.records, series.bills)
        if row.peers and row.record.case.allocator == "fixed" and row.record.case.method in ("full", "lora", "qlora")
    ]
    return _peers_table(
        "estime-regles",
        "Écart médian sur nos essais d’entraînement, selon la méthode",
        {name: _errors_of(rows, name) for name in ("", *(peer.name for peer in PEERS))},
    )


def others(series: Series) -> Table:
    """The published runs, by group, ours and the rules."""
    rows = _published(series)
    groups = {key: [row for row in rows if row.group == key] for key in _GROUPS}
    return Table(
        "estime-publies",
        "Les essais publiés par d’autres, tracés avec leurs propres versions",
        (
            Column("Groupe"),
            Column("Essais", numeric=True),
            Column("Écart médian", "%", numeric=True),
            Column("Le plus haut", "%", numeric=True),
            Column("Le plus bas", "%", numeric=True),
        ),
        tuple(_group_row(_GROUPS[key], group) for key, group in groups.items() if group),
        _untraced(rows),
    )


def published_rules(series: Series) -> Table:
    """The usual rules on the published runs, by method."""
    rows = [row for row in _published(series) if row.estimated_bytes is not None]
    errors = {"": _by_method((row.run.method, row.error) for row in rows)}
    for peer in PEERS:
        said = ((row.run.method, row.peers.get(peer.name), row.run.measured_bytes) for row in rows)
        errors[peer.name] = _by_method((method, None if one is None else one / size - 1) for method, one, size in said)
    return _peers_table("estime-publies-regles", "Écart médian sur les essais publiés, selon la méthode", errors)


def _published(series: Series) -> tuple[Comparison, ...]:
    """The published runs with what is known of them; none in a project without them."""
    if series.published is None:
        return ()
    runs, traces = series.published
    return published.compared(runs, traces)


def _summary_row(name: str, rows: Sequence[Compared]) -> Row:
    """One allocator."""
    worst = max(rows, key=lambda row: abs(row.error))
    covered = sum(row.is_covered for row in rows)
    return Row(
        Cell(name),
        (
            Cell(number(len(rows)), float(len(rows)), kind="arithmetic"),
            _share(median_error(rows)),
            Cell(_signed(worst.error), worst.error, address(worst.record), kind="arithmetic"),
            Cell(f"{number(covered)} sur {number(len(rows))}", covered / len(rows), kind="arithmetic"),
            _share(statistics.median(row.width for row in rows)),
        ),
    )


def _detailed(identifier: str, caption: str, rows: Sequence[Compared]) -> Table:
    """A row for each record."""
    return Table(
        identifier,
        caption,
        (
            Column("Essai"),
            Column("Mesuré", "Mo", numeric=True),
            Column("Estimé", "Mo", numeric=True),
            Column("Écart", "Mo", numeric=True),
            Column("Écart", "%", numeric=True),
            Column("Intervalle"),
        ),
        tuple(_detailed_row(row) for row in rows),
        "Écart : l’estimation moins la mesure. Les plus grands d’abord." if rows else _ABSENT,
    )


def _detailed_row(row: Compared) -> Row:
    """One record."""
    difference = (row.estimated_bytes - row.measured_bytes) / MB_BYTES
    return Row(
        Cell(label(row.record.case), href=address(row.record)),
        (
            measured(row.measured_bytes, address(row.record)),
            measured(row.estimated_bytes, kind="estimated"),
            Cell(number(difference, 1), difference, kind="arithmetic"),
            Cell(_signed(row.error), row.error, kind="arithmetic"),
            Cell("dedans" if row.is_covered else "dehors"),
        ),
    )


def _peers_table(identifier: str, caption: str, errors: dict[str, dict[str, float | None]]) -> Table:
    """Median errors, a rule a row, a method a column."""
    methods = (("full", "Complète"), ("lora", "LoRA"), ("qlora", "QLoRA"))
    return Table(
        identifier,
        caption,
        (Column("Règle ou calculateur"), *(Column(name, "%", numeric=True) for _, name in methods)),
        tuple(
            Row(Cell(name or "Ce site"), tuple(_share(known.get(method)) for method, _ in methods))
            for name, known in errors.items()
            if any(one is not None for one in known.values())
        ),
        "Un tiret : la règle ne dit rien de cette méthode. Chaque règle est récrite d’après sa description publiée.",
    )


def _errors_of(rows: Iterable[Compared], name: str) -> dict[str, float | None]:
    """Median errors by method: ours for the empty name, else a rule's."""
    said = ((row, row.estimated_bytes if not name else row.peers.get(name)) for row in rows)
    return _by_method(
        (row.record.case.method, None if one is None else one / row.measured_bytes - 1) for row, one in said
    )


def _by_method(errors: Iterable[tuple[str, float | None]]) -> dict[str, float | None]:
    """The median absolute error of each method."""
    found: dict[str, list[float]] = {}
    for method, error in errors:
        if error is not None:
            found.setdefault(method, []).append(abs(error))
    return {method: statistics.median(sizes) for method, sizes in found.items()}


def _group_row(name: str, rows: Sequence[Comparison]) -> Row:
    """One group of published runs."""
    errors = [row.error for row in rows if row.error is not None]
    return Row(
        Cell(name),
        (
            Cell(number(len(rows)), float(len(rows)), kind="arithmetic"),
            _share(published.median_error(errors)),
            Cell(_signed(max(errors)), max(errors), kind="arithmetic"),
            Cell(_signed(min(errors)), min(errors), kind="arithmetic"),
        ),
    )


def _untraced(rows: Sequence[Comparison]) -> str:
    """How many runs have no estimate, and why."""
    reasons = [row.reason for row in rows if row.estimated_bytes is None]
    if not rows:
        return "Aucun essai publié dans ce projet."
    if not reasons:
        return "Tous les essais ont une estimation."
    listed = "; ".join(f"{reason} ({number(reasons.count(reason))} essais)" for reason in dict.fromkeys(reasons))
    return f"Sans estimation : {listed}."


def _share(value: float | None) -> Cell:
    """A share in percent, without its sign: the heading has it."""
    if value is None:
        return Cell("—")
    decimals = 3 if value < 0.001 else 1  # noqa: PLR2004 - a tenth of a percent
    return Cell(percent(value, decimals).removesuffix("%").rstrip(), value, kind="arithmetic")


def _signed(value: float) -> str:
    """A signed share in percent, without its sign."""
    return change(value, 2).removesuffix("%").rstrip()
