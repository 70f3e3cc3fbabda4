"""What a fact is, and where each kind of number comes from: records, others, the rule, a configuration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from sitegen.render import published
from sitegen.render.evidence import Evidence
from sitegen.render.tables import Kind


@dataclass(frozen=True)
class Source:
    """Where a number that no record backs comes from: what it is, in French, and the place that explains it."""

    title: str
    href: str


PUBLISHED: Final = Source(f"Cité. {published.REFERENCE_SOURCE}", "mesures/index.html#reference-publiee")
RULE: Final = Source(
    "Calcul : rien de cela n’a été exécuté ici", "calculateurs/vram-entrainement/index.html#la-formule"
)
CONSTANT: Final = Source("Valeur nominale ou calcul, avec son origine", "donnees/index.html#constantes")


@dataclass(frozen=True)
class Fact:
    """How a quantity is written in French, how it is computed, what kind of quantity it is and whence it comes.

    `source` is for what no record backs; `computed` for what is worked out of records.
    """

    write: Callable[[Any], str]
    value: Callable[[Evidence], Any]
    kind: Kind = "measured"
    source: Source | None = None
    computed: bool = False


def computed(write: Callable[[Any], str], value: Callable[[Evidence], Any]) -> Fact:
    """A quantity worked out of one record or more."""
    return Fact(write, value, computed=True)


def quoted(write: Callable[[Any], str], value: Callable[[Evidence], Any]) -> Fact:
    """A quantity that the published reference gives, or that follows from it alone."""
    return Fact(write, value, "quoted", PUBLISHED)


def rule(write: Callable[[Any], str], value: float) -> Fact:
    """A quantity that the rule gives, for a model that was not run here."""
    return Fact(write, lambda _: value, "arithmetic", RULE)


def constant(write: Callable[[Any], str], value: float) -> Fact:
    """A nominal value, or one that the model's configuration gives."""
    return Fact(write, lambda _: value, "arithmetic", CONSTANT)
