"""Fixes added one to another, as a waterfall: each row is a run, and what it takes from the row above is hatched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final, NamedTuple

from sitegen.french import NO_BREAK, change, megabytes
from sitegen.memory import catalogue
from sitegen.render import chart_tables
from sitegen.render.charts import COUNTED, PREFIX, Chart, line_of
from sitegen.render.drawing import Line, Part, Reference, stacked
from sitegen.render.evidence import Evidence
from sitegen.render.further_facts import LORA_64, QLORA, SHORT_CHECKPOINTED, mistral
from sitegen.render.interactive import specification
from sitegen.render.pictures import Picture
from sitegen.render.series import TRAINING_4, Series, under
from sitegen.render.tables import Table

_STEPS: Final = (
    (TRAINING_4, "Sans correctif"),
    (under(TRAINING_4, "fixed"), "Allocateur à seuil fixe"),
    (SHORT_CHECKPOINTED, "… 16 bits et points de contrôle"),
    (LORA_64, "… LoRA de rang 64"),
    (QLORA, "… QLoRA de rang 8"),
)
_CARD: Final = "l4"


class Published(NamedTuple):
    """A published run of the path: how it is asked for, and its name."""

    method: str
    fused: bool
    name: str


_PUBLISHED: Final = (
    Published("full", fused=False, name="Tous les poids, 16 bits"),
    Published("lora", fused=False, name="LoRA de rang 16"),
    Published("qlora", fused=False, name="QLoRA de rang 16"),
    Published("qlora", fused=True, name="… noyaux fusionnés"),
)


def fix_path(series: Series) -> Chart:
    """The measured model at batch 4: each row adds a fix to the row above. All of it was run here."""
    evidence = Evidence(series)
    records = [evidence.record(case) for case, _ in _STEPS]
    names = [name for _, name in _STEPS]
    rows = [line_of(record, name) for record, name in zip(records, names, strict=True)]
    identifier = f"{PREFIX}-cascade"
    return _waterfall(
        identifier,
        "Correctifs ajoutés l’un à l’autre",
        f"Lot de 4, 256 jetons ; pic net. Chaque ligne part de la précédente ; la partie hachurée est ce qu’elle lui "
        f"retire. La dernière passe aussi du rang 64 sur sept projections au rang 8 sur deux. {COUNTED}",
        stacked(waterfall(rows), named=2),
        chart_tables.components(identifier, "Pic de chaque étape de la cascade", records, names),
    )


def published_path(series: Series) -> Chart:
    """A model of 7 billion parameters on one card, as others measured it, with what a card of 24 Go holds."""
    evidence = Evidence(series)
    runs = [(each.name, mistral(evidence, each.method, 4, fused=each.fused).measured_bytes) for each in _PUBLISHED]
    rows = [Line(name, (Part("phase", size, "Pic alloué", megabytes(size)),), megabytes(size)) for name, size in runs]
    card = catalogue.card(_CARD)
    identifier = f"{PREFIX}-cascade-publiee"
    return _waterfall(
        identifier,
        "Mistral 7B : ce que d’autres ont mesuré",
        "Essais publiés par fms-acceleration, cités : lot de 4, 4 096 jetons, points de contrôle de gradient, "
        "mémoire allouée par PyTorch sur une carte A100. Le pilote en voit davantage.",
        stacked(
            waterfall(rows),
            reference=Reference(card.total_bytes, f"{card.name}{NO_BREAK}: {megabytes(card.total_bytes)}"),
        ),
        chart_tables.published_path(identifier, runs),
    )


FIX_CHARTS: Final[dict[str, Callable[[Series], Chart]]] = {"fix_path": fix_path, "published_path": published_path}
"""The waterfalls that a page may ask for by name."""


def waterfall(rows: Sequence[Line]) -> list[Line]:
    """The rows, each but the first with what it takes from the one above, and by how much it changed it.

    A row above the one before it takes nothing: its change is positive, and says so.
    """
    return [*rows[:1], *(_fallen(upper, lower) for upper, lower in pairwise(rows))]


def _fallen(upper: Line, lower: Line) -> Line:
    """A row with its hatched part."""
    before, after = _size(upper), _size(lower)
    saved = max(0, before - after)
    removed = Part("saved", saved, "Retiré", megabytes(saved))
    return replace(lower, parts=(*lower.parts, removed), figure_detail=change(after / before - 1))


def _size(line: Line) -> int:
    """What a row holds, in bytes."""
    return sum(part.size for part in line.parts)


def _waterfall(identifier: str, title: str, caption: str, picture: Picture, table: Table) -> Chart:
    """The whole figure."""
    return Chart(identifier, title, caption, chart_tables.told(table), picture, specification(picture), table)
