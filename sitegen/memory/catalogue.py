"""The models that people fine-tune and the memories they must fit in: facts with their sources, no torch.

A model's `config` holds the keys of its config.json that decide how many bytes it takes, under the names that
transformers gives them. What only moves values is left out: the base and the stretching of the rotary positions,
epsilons, multipliers, token ids. So the shapes are the published model's, and its text would not be.

A card's total is what its driver was seen to report, or its trade size less 3 %; for Apple, what Metal recommends to
occupy at most. Notes are in French: the site's readers see them.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

import msgspec

from sitegen.errors import ModelError, UsageError

Kind = Literal["consumer", "workstation", "data-centre", "apple", "ram"]
Basis = Literal["reported", "nominal"]

KINDS: Final[tuple[Kind, ...]] = ("consumer", "workstation", "data-centre", "apple", "ram")
"""The kinds of card, in the order in which they are shown."""

_FOLDER: Final = Path(__file__).parent / "catalogue_data"
_SUGGESTIONS: Final = 3


class _Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every line of the catalogue has: a name to type, one to read, and where the fact comes from.

    `source` is an address, read on `read_on` (ISO 8601); `aliases` are other names that mean the same entry.
    """

    key: str
    name: str
    aliases: tuple[str, ...]
    source: str
    read_on: str
    note: str


class CatalogueModel(_Entry, frozen=True):
    """A published model: ``AutoConfig.for_model(**config)`` of transformers builds it.

    `source` is the address of its config.json and `evidence` where its values were read; `parameters` is exact, and
    `count_source` says who published it. `licence` is the tag that the hub gives. `aliases` are other models of the
    same shapes, such as the instruct one beside the base.
    """

    hub_id: str
    licence: str
    parameters: int
    evidence: str
    count_source: str
    config: dict[str, Any]


class Card(_Entry, frozen=True):
    """A graphics card, or a machine whose memory is its RAM.

    `nominal_gib` is the size of its trade name, in GiB as memory chips are; `reading` is what `source` shows, and is
    empty when `basis` is ``nominal``.
    """

    kind: Kind
    nominal_gib: int
    total_bytes: int
    basis: Basis
    reading: str


_AnyEntry = TypeVar("_AnyEntry", CatalogueModel, Card)


@cache
def models() -> tuple[CatalogueModel, ...]:
    """Every model, the smallest first."""
    return tuple(sorted(_read("models", CatalogueModel), key=lambda entry: (entry.parameters, entry.key)))


@cache
def cards() -> tuple[Card, ...]:
    """Every card, by kind, the smallest memory first."""
    return tuple(sorted(_read("cards", Card), key=lambda card: (KINDS.index(card.kind), card.total_bytes, card.key)))


def model(name: str) -> CatalogueModel:
    """The model of that key, hub id (with or without its owner), display name or alias, in any case.

    Raises:
        ModelError: no such model; the remedy names the closest ones.
    """
    found = _by_handle(models()).get(_folded(name))
    if found is None:
        raise ModelError(
            f"The catalogue has no model {name!r}.",
            f"{_suggested(name, models())}For any other model, give its config.json.",
        )
    return found


def card(name: str) -> Card:
    """The card of that key, display name or alias, in any case.

    Raises:
        UsageError: no such card; the remedy names the closest ones.
    """
    found = _by_handle(cards()).get(_folded(name))
    if found is None:
        raise UsageError(
            f"The catalogue has no card {name!r}.",
            f"{_suggested(name, cards())}Choose one of: {', '.join(entry.key for entry in cards())}.",
        )
    return found


def handles(entry: CatalogueModel | Card) -> frozenset[str]:
    """Every folded name that means this entry."""
    names = [entry.key, entry.name, *entry.aliases]
    if isinstance(entry, CatalogueModel):
        names.append(entry.hub_id)
    return frozenset(form for name in names for form in (_folded(name), _folded(name.rpartition("/")[2])))


def _read(folder: str, kind: type[_AnyEntry]) -> Iterator[_AnyEntry]:
    """The entries of a folder's files, in the files' order."""
    for path in sorted((_FOLDER / folder).glob("*.json")):
        yield from msgspec.json.decode(path.read_bytes(), type=list[kind])  # type: ignore[valid-type]


def _by_handle(entries: Iterable[_AnyEntry]) -> dict[str, _AnyEntry]:
    """The entries under each of their names."""
    return {handle: entry for entry in entries for handle in handles(entry)}


def _folded(name: str) -> str:
    """A name as it is compared: lower case, and one dash for each run of blanks, dashes and underscores."""
    return re.sub(r"[\s_-]+", "-", name.strip().lower())


def _suggested(name: str, entries: tuple[_AnyEntry, ...]) -> str:
    """A sentence with the keys of the entries whose names are closest; nothing when none is close."""
    known = _by_handle(entries)
    close = difflib.get_close_matches(_folded(name), known, n=2 * _SUGGESTIONS)
    keys = list(dict.fromkeys(known[handle].key for handle in close))[:_SUGGESTIONS]
    return f"Close names: {', '.join(keys)}. " if keys else ""
