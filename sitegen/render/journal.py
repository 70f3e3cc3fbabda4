"""What changed in the method: ``content/journal.toml``, dated, for the page « Données » and for the feed."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Final

import msgspec

from sitegen.errors import ContentError, from_os_error
from sitegen.french import date
from sitegen.render.tables import Cell, Column, Row, Table

NAME: Final = "journal.toml"
ANCHOR: Final = "journal"


class Change(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One change of the method: the day, a title and what it means for who compares, in French."""

    date: dt.date
    title: str
    text: str


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file: a list of changes."""

    change: tuple[Change, ...] = ()


def load(content: Path) -> tuple[Change, ...]:
    """Every change, the newest first; none where there is no file.

    Raises:
        ContentError: the file is not valid.
    """
    path = content / NAME
    if not path.exists():
        return ()
    try:
        changes = msgspec.toml.decode(path.read_bytes(), type=_File).change
    except (msgspec.DecodeError, ValueError) as error:
        raise ContentError(f"content/{NAME} is not valid: {error}.", "Correct that line.") from error
    except OSError as error:
        raise from_os_error(error, f"reading content/{NAME}") from error
    return tuple(sorted(changes, key=lambda change: change.date, reverse=True))


def table(changes: tuple[Change, ...]) -> Table:
    """The changes as a table."""
    return Table(
        ANCHOR,
        "Ce qui a changé dans la méthode",
        (Column("Date"), Column("Changement"), Column("Ce qu’il faut en savoir")),
        tuple(Row(Cell(date(each.date.isoformat())), (Cell(each.title), Cell(each.text))) for each in changes),
        "" if changes else "Aucun changement pour l’instant.",
    )
