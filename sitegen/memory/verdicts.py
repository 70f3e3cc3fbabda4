"""Does it fit? Said of an interval, never of a point: saying "fits" wrongly is the fault that counts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

import msgspec

from sitegen.memory.catalogue import Card
from sitegen.memory.intervals import Interval

Answer = Literal["fits", "tight", "does not fit"]

ON_CUDA: Final = ("consumer", "workstation", "data-centre")
"""The kinds of card whose memory a driver counts: there the device-level interval decides."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a case fits a card of `total_bytes` when it takes something within `needed_bytes`."""

    card: str
    total_bytes: int
    needed_bytes: Interval
    verdict: Answer


def verdict(card: Card, needed_bytes: Interval) -> Verdict:
    """``fits`` when the top of the interval does, ``does not fit`` when its bottom does not, else ``tight``."""
    low, high = needed_bytes
    answer: Answer = "fits" if high <= card.total_bytes else "tight" if low <= card.total_bytes else "does not fit"
    return Verdict(card=card.name, total_bytes=card.total_bytes, needed_bytes=needed_bytes, verdict=answer)


def verdicts(cards: Iterable[Card], process: Interval, device: Interval) -> tuple[Verdict, ...]:
    """The verdict on each card.

    Args:
        cards: the cards.
        process: what the process takes of a machine's memory.
        device: what it takes of a card, as its driver counts.
    """
    return tuple(verdict(card, device if card.kind in ON_CUDA else process) for card in cards)
