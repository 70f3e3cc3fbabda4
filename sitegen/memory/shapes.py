"""The dimensions of the catalogue's models that first-order rules ask for, under the names of the formulas' symbols."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from sitegen.memory.catalogue import CatalogueModel, models
from sitegen.memory.families import FAMILIES
from sitegen.memory.formulas import PROJECTIONS
from sitegen.memory.reading import read

_SEVEN: Final = frozenset(matrix.name for matrix in PROJECTIONS)


@dataclass(frozen=True, slots=True)
class Shape:
    """A model as its configuration gives it.

    `full_layers` attend to every token and `window_layers` to the last `window` ones; `dimensions` are named as the
    symbols of the formulas. `projections` says that a layer has the seven matrices of `PROJECTIONS`, each on its own.
    """

    key: str
    name: str
    parameters: int
    full_layers: int
    window_layers: int
    window: int
    dimensions: dict[str, int]
    projections: bool


@cache
def shapes() -> tuple[Shape, ...]:
    """Every model of the catalogue, the smallest first."""
    return tuple(_shapes())


def shape(key: str) -> Shape:
    """The model of that key; raises `StopIteration` for one that the catalogue lacks."""
    return next(each for each in shapes() if each.key == key)


def _shapes() -> Iterator[Shape]:
    """Read each configuration as the estimator does."""
    for model in models():
        yield _shape(model)


def _shape(model: CatalogueModel) -> Shape:
    """One model; the family says after how many layers their types repeat, the last of which attends to everything."""
    reading = read(model.config)
    family, letters = FAMILIES[reading.family], reading.dimensions
    layers, window = letters["L"], letters.get("W", 0)
    full = layers // family.pattern if window and family.pattern > 1 else 0 if window else layers
    dimensions = {
        "layers": layers,
        "hidden": letters["h"],
        "intermediate": letters.get("i", letters.get("m", 0)),
        "heads": letters["H"],
        "kv_heads": letters.get("K", letters["H"]),
        "head_size": letters.get("d", letters["h"] // letters["H"]),
    }
    seven = "E" not in letters and _SEVEN.issubset(family.targets.get("all-linear", ()))
    return Shape(model.key, model.name, model.parameters, full, layers - full, window, dimensions, seven)
