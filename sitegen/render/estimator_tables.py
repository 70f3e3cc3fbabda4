"""The tables of the page « Estimateur » that need no script: the names of the options, and worked examples."""

from __future__ import annotations

from typing import Final

from sitegen.memory.catalogue import CatalogueModel, model
from sitegen.memory.formulas import (
    MIXED_ADAM,
    PURE_16BIT_ADAM,
    Preset,
    training_vram,
)
from sitegen.render.estimator_options import OPTIONS, Option, Place
from sitegen.render.series import Series
from sitegen.render.tables import Cell, Column, Row, Table, arithmetic
from sitegen.units import GB_BYTES

_EXAMPLES: Final = ("smollm2-135m", "llama-3.2-1b", "qwen3-4b", "llama-3.1-8b", "qwen2.5-14b", "llama-3.3-70b")
_WEIGHT_BYTES: Final = PURE_16BIT_ADAM.shares[0].bytes_per_parameter
_NONE: Final = "—"


def option_names(_: Series) -> Table:
    """Every option with its name on the command line, in Trainer and TRL, in PEFT, and elsewhere."""
    return Table(
        "noms-des-options",
        "Chaque option, et son nom ailleurs",
        (Column("Option"), Column("sitegen"), Column("Trainer et TRL"), Column("PEFT"), Column("transformers")),
        tuple(_names_of(option) for option in OPTIONS),
        "SFTConfig de TRL reprend tous les arguments de TrainingArguments. Un tiret : l’option n’y a pas de nom, "
        "ou y est toujours réglée de la même façon. Noms lus dans transformers 5.24, TRL 1.16 et PEFT 0.21.",
    )


def fixed_examples(_: Series) -> Table:
    """What some models of the catalogue take before any activation: weights, and the fixed bill. Arithmetic."""
    return Table(
        "exemples-calcules",
        "La facture fixe de quelques modèles du catalogue, avant toute activation",
        (
            Column("Modèle"),
            Column("Paramètres", "milliards", numeric=True),
            Column("Faire tourner, 16 bits", "Go", numeric=True),
            Column("Entraîner tout, 16 bits", "Go", numeric=True),
            Column("Entraîner tout, précision mixte", "Go", numeric=True),
        ),
        tuple(_bill(model(key)) for key in _EXAMPLES),
        "Calculé, non exécuté ici : paramètres × octets par paramètre. Les activations s’y ajoutent.",
    )


def _names_of(option: Option) -> Row:
    """One option's row."""
    ours = "dtype, --mixed-precision" if option.name == "numbers" else option.name.replace("_", "-")
    cells = (
        Cell(f"--{ours}", lang="en"),
        _named(option, ("trainer", "trl")),
        _named(option, ("peft",)),
        _named(option, ("model", "quantisation", "shell")),
    )
    return Row(Cell(option.label), cells)


def _named(option: Option, places: tuple[Place, ...]) -> Cell:
    """What these libraries call the option."""
    names = [name.name for name in option.names if name.place in places]
    return Cell(", ".join(names), lang="en") if names else Cell(_NONE)


def _bill(entry: CatalogueModel) -> Row:
    """One model's row."""
    billions = entry.parameters / GB_BYTES
    sizes = (billions * _WEIGHT_BYTES, _fixed(billions, PURE_16BIT_ADAM), _fixed(billions, MIXED_ADAM))
    return Row(
        Cell(entry.name),
        (
            arithmetic(billions, 3),
            *(arithmetic(size, 1) for size in sizes),
        ),
    )


def _fixed(billions: float, preset: Preset) -> float:
    """The model and its states, in Go."""
    return training_vram(billions, preset.bytes_per_parameter, 0).model
