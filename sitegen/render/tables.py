"""What a table is, and the cells that records give: every figure of the site is available in one, without a chart."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Literal

from sitegen.french import UNKNOWN, change, number
from sitegen.records.model import Record
from sitegen.render.labels import STATUS_NAMES
from sitegen.units import MB_BYTES, NS_PER_S

Kind = Literal["measured", "traced", "estimated", "quoted", "arithmetic"]


_SHORT_S: Final = 0.1


@dataclass(frozen=True)
class Cell:
    """One cell. `href` starts at the site's root, without a leading slash: the template puts `page.root` before it.

    One with a scheme leads to another site, and stays as it is.
    """

    text: str
    sort_value: float | None = None
    href: str | None = None
    lang: str | None = None
    kind: Kind | None = None


@dataclass(frozen=True)
class Column:
    """A column's heading; the unit stands in the heading and not in the cells."""

    title: str
    unit: str | None = None
    numeric: bool = False


@dataclass(frozen=True)
class Row:
    """One row: its header cell, then one cell for each other column.

    `section` is the line above a group of rows, on the first of them: what they are, and what they come to.
    """

    header: Cell
    cells: tuple[Cell, ...]
    section: str = ""


@dataclass(frozen=True)
class Table:
    """A table: `columns[0]` is the row headers' column.

    `folded` is the line that a table is folded under, when it is too long to be read through. Without rows, the `note`
    alone is shown.
    """

    id: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    note: str | None = None
    folded: str = ""

    @cached_property
    def shared_kinds(self) -> tuple[Kind | None, ...]:
        """What the figures of each column but the first are, where they are all one thing: its heading says it once."""
        columns = zip(*(row.cells for row in self.rows), strict=True)
        kinds = [{cell.kind for cell in column if cell.kind is not None} for column in columns]
        return tuple(found.pop() if len(found) == 1 else None for found in kinds)


def measured(size_bytes: int | None, href: str | None = None, kind: Kind = "measured") -> Cell:
    """A size in Mo, without its unit; a size that is not known says so."""
    if size_bytes is None:
        return Cell(UNKNOWN, href=href)
    return Cell(number(size_bytes / MB_BYTES), float(size_bytes), href, kind=kind)


def relative(ratio_value: float, href: str | None = None) -> Cell:
    """A relative change with its sign and its percent sign."""
    return Cell(change(ratio_value), ratio_value, href, kind="measured")


def percentage(ratio_value: float, href: str | None = None) -> Cell:
    """A relative change with its sign, without its percent sign: the heading has it."""
    return Cell(change(ratio_value).removesuffix("%").rstrip(), ratio_value, href, kind="measured")


def timed(duration_ns: int | None, href: str | None = None) -> Cell:
    """A duration in seconds, without its unit: to the millisecond when a tenth of a second would say nothing."""
    if duration_ns is None:
        return Cell(UNKNOWN, href=href)
    seconds = duration_ns / NS_PER_S
    return Cell(number(seconds, 1 if seconds >= _SHORT_S else 3), seconds, href, kind="measured")


def address(record: Record) -> str:
    """The permanent page of a record, from the site's root."""
    return f"mesures/{record.key}.html"


def peak_of(record: Record | None) -> Cell:
    """The net peak of a record with a link to it; without one, or when it did not end well, why there is no figure."""
    if record is None:
        return Cell("non mesuré")
    if record.status != "ok":
        return Cell(STATUS_NAMES[record.status], href=address(record))
    return measured(record.summary.peak_bytes, address(record))


def rebased(table: Table, root: str) -> Table:
    """The same table for a page whose way back to the site's root is `root`."""
    return replace(table, rows=tuple(_rebased_row(row, root) for row in table.rows))


def arithmetic(value: float, decimals: int = 0) -> Cell:
    """A number that is computed, and was not run here."""
    return Cell(number(value, decimals), value, kind="arithmetic")


def _rebased_row(row: Row, root: str) -> Row:
    """The row with the addresses of its cells relative to the page."""
    return replace(row, header=_rebased(row.header, root), cells=tuple(_rebased(cell, root) for cell in row.cells))


def _rebased(cell: Cell, root: str) -> Cell:
    """The cell with its address relative to the page."""
    return cell if cell.href is None or "://" in cell.href else replace(cell, href=root + cell.href)
