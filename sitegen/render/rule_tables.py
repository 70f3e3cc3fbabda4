"""The tables of the rule, for a model that was not run here: arithmetic, and said to be so."""

from __future__ import annotations

from typing import Final

from sitegen.french import gigabytes, listed, number
from sitegen.memory.formulas import (
    DEFAULT_PARAMETERS_BILLIONS,
    MIXED_ADAM,
    PRESETS,
    PURE_16BIT_ADAM,
    Preset,
    training_vram,
)
from sitegen.render import worked
from sitegen.render.calculator_training import PRESET_NAMES, SHARE_NAMES
from sitegen.render.series import Series
from sitegen.render.tables import Cell, Column, Row, Table, arithmetic
from sitegen.units import GB_BYTES

_LARGER_CARDS: Final = " et de ".join(gigabytes(size) for size in worked.LARGER_CARDS_BYTES)


def seven_billion(_: Series) -> Table:
    """The same 7 billion parameters: what runs, what trains, and what one large card holds. Arithmetic."""
    pure, mixed = PURE_16BIT_ADAM.bytes_per_parameter, MIXED_ADAM.bytes_per_parameter
    rows = (
        ("Faire tourner, poids de 16 bits", worked.RUN_BYTES_PER_PARAMETER, worked.WEIGHTS_BYTES),
        (
            "Entraîner un adaptateur sur des poids gelés de 16 bits",
            worked.RUN_BYTES_PER_PARAMETER,
            worked.WEIGHTS_BYTES,
        ),
        ("Entraîner tout, nombres de 16 bits seulement", pure, worked.PURE_BYTES),
        ("Entraîner tout, précision mixte ou float32", mixed, worked.MIXED_BYTES),
    )
    return Table(
        "sept-milliards",
        "Un modèle de 7 milliards de paramètres, avant toute activation",
        (
            Column("Usage"),
            Column("Par paramètre", "octets", numeric=True),
            Column("Mémoire", "Go", numeric=True),
            Column("Sur une seule carte de 80 Go"),
        ),
        tuple(
            Row(
                Cell(name),
                (
                    arithmetic(each),
                    arithmetic(total / GB_BYTES),
                    Cell("tient" if total < worked.LARGE_CARD_BYTES else "ne tient pas"),
                ),
            )
            for name, each, total in rows
        ),
        "Calculé, non exécuté ici. L’adaptateur ajoute ses propres octets, peu devant ceux des poids gelés. "
        f"Il existe des cartes de {_LARGER_CARDS}, où tout tient avant activations.",
    )


def mixed_bytes(_: Series) -> Table:
    """What each component of mixed-precision Adam takes of the example, and their sum."""
    shares = [(SHARE_NAMES[share.component], share.bytes_per_parameter) for share in MIXED_ADAM.shares]
    shares.append(("Total, M", MIXED_ADAM.bytes_per_parameter))
    return Table(
        "composantes-precision-mixte",
        "Adam en précision mixte, composante par composante, pour 7 milliards de paramètres",
        (Column("Composante"), Column("Par paramètre", "octets", numeric=True), Column("Mémoire", "Go", numeric=True)),
        tuple(Row(Cell(name), (arithmetic(each), _example(each))) for name, each in shares),
        "Calculé, non exécuté ici.",
    )


def presets(_: Series) -> Table:
    """The ways of training that the calculator offers."""
    return Table(
        "facons-d-entrainer",
        "Octets par paramètre selon la façon d’entraîner",
        (
            Column("Façon d’entraîner"),
            Column("Composantes"),
            Column("Par paramètre", "octets", numeric=True),
            Column("Pour 7 milliards de paramètres", "Go", numeric=True),
        ),
        tuple(
            Row(
                Cell(PRESET_NAMES[preset.key]),
                (
                    Cell(_shares(preset)),
                    arithmetic(preset.bytes_per_parameter),
                    _example(preset.bytes_per_parameter),
                ),
            )
            for preset in PRESETS
        ),
        "Calculé, non exécuté ici. SGD avec moment passe à 12 octets avec une copie maîtresse, ou tout en float32.",
    )


def _shares(preset: Preset) -> str:
    """The components with their bytes."""
    return listed(
        [f"{SHARE_NAMES[share.component].lower()} {number(share.bytes_per_parameter)}" for share in preset.shares]
    )


def _example(bytes_per_parameter: float) -> Cell:
    """What the example's parameters take, in Go."""
    return arithmetic(training_vram(DEFAULT_PARAMETERS_BILLIONS, bytes_per_parameter, 0).model)
