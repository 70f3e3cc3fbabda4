"""The tables of the pages of the calculators: arithmetic on dimensions of the catalogue, and said to be so."""

from __future__ import annotations

from typing import Final

from sitegen.french import number, percent
from sitegen.memory.formulas import PROJECTIONS, lora_matrix_parameters
from sitegen.memory.shapes import Shape, shape
from sitegen.render import calculator_inference as inference
from sitegen.render import calculator_lora as lora
from sitegen.render.series import Series
from sitegen.render.tables import Cell, Column, Row, Table, arithmetic
from sitegen.units import GB_BYTES

_NOTE: Final = "Calculé d’après les configurations publiées, non exécuté ici."
_CACHED: Final = (
    "smollm2-135m",
    "llama-2-7b",
    "mistral-7b-v0.1",
    "llama-3.1-8b",
    "qwen3-8b",
    "gemma-3-27b",
    "gpt-oss-20b",
    "llama-3.3-70b",
)
_LENGTH: Final = 32_768
_KB_BYTES: Final = 1000
_ADAPTED: Final = ("smollm2-135m", "tinyllama-1.1b", "llama-3.1-8b", "llama-3.3-70b")
_SEVEN: Final = tuple(matrix.name for matrix in PROJECTIONS)
_RANKS: Final = ((8, ("q_proj", "v_proj")), (16, _SEVEN), (64, _SEVEN))


def cached_models(_: Series) -> Table:
    """The cache of one long sequence beside the weights, for models that attend in different ways."""
    return Table(
        "cache-par-modele",
        f"Poids et cache KV de quelques modèles, en 16 bits, pour une séquence de {number(_LENGTH)} jetons",
        (
            Column("Modèle"),
            Column("Couches complètes", numeric=True),
            Column("Couches à fenêtre", numeric=True),
            Column("Têtes KV", numeric=True),
            Column("Cache d’un jeton", "Ko", numeric=True),
            Column("Cache", "Go", numeric=True),
            Column("Poids", "Go", numeric=True),
        ),
        tuple(_cached_row(shape(key)) for key in _CACHED),
        _NOTE,
    )


def _cached_row(model: Shape) -> Row:
    """One model."""
    sizes = (
        (inference.cache_of(model, 1, 1) / _KB_BYTES, 1),
        (inference.cache_of(model, 1, _LENGTH) / GB_BYTES, 2),
        (inference.weights_of(model) / GB_BYTES, 2),
    )
    counts = (model.full_layers, model.window_layers, model.dimensions["kv_heads"])
    return Row(
        Cell(model.name, lang="en"),
        (*(arithmetic(count) for count in counts), *(arithmetic(value, decimals) for value, decimals in sizes)),
    )


def adapted_matrices(_: Series) -> Table:
    """What each matrix of the example would add."""
    model = shape(lora.EXAMPLE_MODEL)
    rows = []
    for matrix in PROJECTIONS:
        widths = matrix.widths(model.dimensions)
        parameters = lora_matrix_parameters(lora.EXAMPLE_RANK, model.dimensions["layers"], *widths)
        rows.append(Row(Cell(matrix.name, lang="en"), tuple(arithmetic(each) for each in (*widths, parameters))))
    return Table(
        "matrices-lora",
        f"Ce que chaque matrice ajoute, au rang {lora.EXAMPLE_RANK}, pour {model.name}",
        (
            Column("Matrice"),
            Column("Entrée", numeric=True),
            Column("Sortie", numeric=True),
            Column("Paramètres, toutes couches", numeric=True),
        ),
        tuple(rows),
        _NOTE,
    )


def adapted_shares(_: Series) -> Table:
    """The share of the model that adapters of several ranks are."""
    titles = [f"Rang {rank}, {'q et v' if len(targets) < len(_SEVEN) else 'sept matrices'}" for rank, targets in _RANKS]
    return Table(
        "parts-lora",
        "Part des paramètres qu’un adaptateur ajoute, selon le rang et les matrices",
        (Column("Modèle"), *(Column(title, "%", numeric=True) for title in titles)),
        tuple(_share_row(shape(key)) for key in _ADAPTED),
        _NOTE,
    )


def _share_row(model: Shape) -> Row:
    """One model, each rank."""
    shares = [lora.adapter_of(model, rank, targets) / model.parameters for rank, targets in _RANKS]
    return Row(
        Cell(model.name, lang="en"),
        tuple(Cell(percent(share, 2).removesuffix("\u00a0%"), share, kind="arithmetic") for share in shares),
    )
