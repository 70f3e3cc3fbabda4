"""The table of each chart, and the sentence that tells it: what a reader has who does not see the picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sitegen.french import NO_BREAK, change
from sitegen.records.model import Record
from sitegen.render.labels import COMPONENT_NAMES, STATUS_NAMES
from sitegen.render.phases import PhasePeak
from sitegen.render.tables import Cell, Column, Row, Table, address, measured, peak_of, relative, timed

_MO: Final = "Mo"
_NOT_COUNTED: Final = Cell("non réparti")


def components(identifier: str, caption: str, records: Sequence[Record], names: Sequence[str]) -> Table:
    """The peak of each record and what it is made of."""
    columns = (
        Column("Essai"),
        *(Column(COMPONENT_NAMES[name], _MO, numeric=True) for name in ("weights", "gradients", "optimizer_state")),
        Column(f"{COMPONENT_NAMES['activations']}, par différence", _MO, numeric=True),
        Column("Pic", _MO, numeric=True),
    )
    rows = (
        Row(Cell(name), (*_components(record), peak_of(record))) for record, name in zip(records, names, strict=True)
    )
    return Table(f"{identifier}-donnees", caption, columns, tuple(rows))


def phases(identifier: str, peaks: Sequence[PhasePeak]) -> Table:
    """The peak and the duration of each phase."""
    columns = (Column("Phase"), Column("Pic net", _MO, numeric=True), Column("Durée", "s", numeric=True))
    rows = (Row(Cell(peak.name), (measured(peak.net_bytes), timed(peak.duration_ns))) for peak in peaks)
    return Table(f"{identifier}-donnees", "Pic et durée de chaque phase", columns, tuple(rows))


def fixes(identifier: str, records: Sequence[Record], names: Sequence[str]) -> Table:
    """Each fix against the first record, in memory and in time."""
    columns = (
        Column("Correctif"),
        Column("Pic", _MO, numeric=True),
        Column("Écart de pic", numeric=True),
        Column("Durée de la dernière étape", "s", numeric=True),
        Column("Écart de durée", numeric=True),
    )
    rows = (Row(Cell(name), _against(record, records[0])) for record, name in zip(records, names, strict=True))
    return Table(f"{identifier}-donnees", "Chaque correctif comparé à l’essai sans correctif", columns, tuple(rows))


def allocators(identifier: str, pairs: Sequence[tuple[Record, Record]], names: Sequence[str]) -> Table:
    """The peak of each case under both allocators."""
    columns = (
        Column("Entraînement"),
        Column("Par défaut", _MO, numeric=True),
        Column("Seuil fixe", _MO, numeric=True),
        Column("Écart", numeric=True),
    )
    rows = []
    for (fixed, default), name in zip(pairs, names, strict=True):
        low, high = fixed.summary.peak_bytes or 0, default.summary.peak_bytes or 0
        rows.append(Row(Cell(name), (peak_of(default), peak_of(fixed), relative(low / high - 1))))
    return Table(f"{identifier}-donnees", "Pic net sous deux allocateurs", columns, tuple(rows))


def published_path(identifier: str, runs: Sequence[tuple[str, int]]) -> Table:
    """Each published run, and how far it is from the one before."""
    columns = (Column("Essai"), Column("Pic alloué", _MO, numeric=True), Column("Écart", numeric=True))
    rows = []
    previous = None
    for name, size in runs:
        gap = Cell("référence") if previous is None else Cell(change(size / previous - 1), size / previous - 1)
        rows.append(Row(Cell(name), (measured(size, kind="quoted"), gap)))
        previous = size
    return Table(f"{identifier}-donnees", "Pic alloué de chaque essai publié", columns, tuple(rows))


def told(table: Table) -> str:
    """The table as French sentences, with every value: the text alternative of its chart."""
    rows = "\u202f; ".join(_row_told(table, row) for row in table.rows)
    return f"{table.caption}. {rows}."


def _row_told(table: Table, row: Row) -> str:
    """One row: its name, then each column with its value."""
    values = (
        f"{column.title[0].lower()}{column.title[1:]} {_with_unit(cell, column)}"
        for column, cell in zip(table.columns[1:], row.cells, strict=True)
    )
    return f"{row.header.text}{NO_BREAK}: {', '.join(values)}"


def _with_unit(cell: Cell, column: Column) -> str:
    """A figure with its unit; a word alone."""
    return f"{cell.text}{NO_BREAK}{column.unit}" if column.unit and cell.sort_value is not None else cell.text


def _components(record: Record) -> tuple[Cell, Cell, Cell, Cell]:
    """The four components of a peak, where they are known."""
    counted, peak = record.summary.component_bytes, record.summary.peak_bytes
    if record.status != "ok":
        return (Cell(STATUS_NAMES[record.status]),) * 4
    if counted is None or peak is None:
        return (_NOT_COUNTED,) * 4
    sizes = (counted.weights, counted.gradients, counted.optimizer_state)
    rest = peak - sum(sizes)
    href = address(record)
    weights, gradients, state = (measured(size, href) for size in sizes)
    return weights, gradients, state, measured(rest, href) if rest >= 0 else _NOT_COUNTED


def _against(record: Record, whole: Record) -> tuple[Cell, Cell, Cell, Cell]:
    """Peak and duration, and how far each is from the full run's."""
    durations, reference = record.summary.step_duration_ns, whole.summary.step_duration_ns
    last = durations[-1] if durations else None
    peak, full = record.summary.peak_bytes, whole.summary.peak_bytes
    none = Cell("référence" if record is whole else "sans chiffre")
    other = record is not whole
    return (
        peak_of(record),
        relative(peak / full - 1) if other and peak and full else none,
        timed(last),
        relative(last / reference[-1] - 1) if other and last and reference else none,
    )
