"""The calculator « Paramètres LoRA »: what an adapter adds, matrix by matrix."""

from __future__ import annotations

from typing import Any, Final

from sitegen.french import gigabytes, number, percent, size
from sitegen.memory import formulas
from sitegen.memory.formulas import PROJECTIONS, Matrix
from sitegen.memory.shapes import Shape, shape, shapes
from sitegen.render.calculator import Calculator, Checks, Choice, Chooser, Field, Group, equation
from sitegen.render.calculator_inference import BILLION

EXAMPLE_MODEL: Final = "llama-3.1-8b"
EXAMPLE_RANK: Final = 16
EXAMPLE_TARGETS: Final = ("q_proj", "v_proj")
FLOAT32_BYTES: Final = 4

FIELD_OF: Final = {
    "hidden": "h",
    "intermediate": "i",
    "heads": "q",
    "kv_heads": "k",
    "head_size": "d",
    "layers": "l",
}
"""The name of each dimension's field."""


def lora_parameters() -> Calculator:
    """How many parameters an adapter has, and what training it keeps."""
    first = shape(EXAMPLE_MODEL)
    return Calculator(
        key="lora",
        groups=(
            Group("Adaptateur", (_rank(), _targets(), _bytes())),
            Group("Modèle", (_models(),)),
            Group("Dimensions", _dimensions(first), compact=True),
        ),
        equations=(equation("lora_matrix_parameters"), equation("adapter_bytes")),
        example=_example(),
        result=("Paramètres de l’adaptateur", "P_a"),
        columns=(("Matrice", ""), ("Entrée", ""), ("Sortie", ""), ("Paramètres, toutes couches", "")),
        invitation="Indiquez le rang de l’adaptateur, r, pour obtenir ses paramètres.",
        extra={"matrices": [_matrix(matrix) for matrix in PROJECTIONS]},
    )


def adapter_of(model: Shape, rank: int, targets: tuple[str, ...]) -> int:
    """How many parameters an adapter of that rank on these matrices has."""
    return sum(
        formulas.lora_matrix_parameters(rank, model.dimensions["layers"], *matrix.widths(model.dimensions))
        for matrix in PROJECTIONS
        if matrix.name in targets
    )


def _matrix(matrix: Matrix) -> dict[str, Any]:
    """A matrix for the script: its widths are products of fields."""
    return {
        "name": matrix.name,
        "inputs": [FIELD_OF[name] for name in matrix.inputs],
        "outputs": [FIELD_OF[name] for name in matrix.outputs],
    }


def _rank() -> Field:
    """The rank, r."""
    return Field(
        "r",
        "Rang",
        "r",
        "",
        "Souvent de 8 à 64.",
        "Indiquez le rang : par exemple 16.",
        EXAMPLE_RANK,
        whole=True,
    )


def _targets() -> Checks:
    """The seven projections."""
    return Checks(
        "targets",
        "Matrices ciblées",
        "Les modules à adapter, sous leur nom dans les bibliothèques.",
        {matrix.name: matrix.name for matrix in PROJECTIONS},
        EXAMPLE_TARGETS,
        "Cochez au moins une matrice.",
    )


def _bytes() -> Field:
    """O_a."""
    return Field(
        "o",
        "Octets par nombre de l’adaptateur",
        "O_a",
        "octets",
        "4 : l’adaptateur reste en général en float32, même sur des poids de 16 bits.",
        "Indiquez les octets par nombre : par exemple 4.",
        FLOAT32_BYTES,
    )


def _models() -> Chooser:
    """The models of the catalogue whose layers have the seven matrices, each on its own."""
    choices = tuple(Choice(model.key, model.name, _filled(model)) for model in shapes() if model.projections)
    return Chooser("model", "Modèle du catalogue", choices, EXAMPLE_MODEL, "Autre modèle, saisi ci-dessous", "select")


def _filled(model: Shape) -> dict[str, float]:
    """What a model writes into the fields, by their names."""
    return {"n": round(model.parameters / BILLION, 3)} | {
        field: model.dimensions[name] for name, field in FIELD_OF.items()
    }


def _dimensions(first: Shape) -> tuple[Field, ...]:
    """P and the dimensions of the matrices."""
    given = _filled(first)
    parameters = Field(
        "n",
        "Paramètres",
        "P",
        "milliards",
        "",
        "Indiquez le nombre de paramètres du modèle, en milliards : par exemple 8.",
        given["n"],
    )
    return (
        parameters,
        _count("l", "Couches", "L", given),
        _count("h", "Largeur", "h", given),
        _count("i", "Largeur intermédiaire", "i", given),
        _count("q", "Têtes d’attention", "H", given),
        _count("k", "Têtes de clés et valeurs", "K", given),
        _count("d", "Taille d’une tête", "d", given),
    )


def _count(name: str, label: str, symbol: str, given: dict[str, float]) -> Field:
    """A dimension: a whole number above 0."""
    return Field(
        name, label, symbol, "", "", "Indiquez un nombre entier, comme dans config.json.", given[name], whole=True
    )


def _example() -> str:
    """The example's parameters, their share of the model and what they keep in memory."""
    model = shape(EXAMPLE_MODEL)
    adapter = adapter_of(model, EXAMPLE_RANK, EXAMPLE_TARGETS)
    kept = formulas.adapter_bytes(adapter, FLOAT32_BYTES)
    return (
        f"Pour {model.name}, au rang {EXAMPLE_RANK} sur deux matrices : {number(adapter)} paramètres, soit "
        f"{percent(adapter / model.parameters, 2)} du modèle, et {size(kept)} de poids, gradients et moments, "
        f"quand les poids gelés en prennent {gigabytes(formulas.weights_bytes(model.parameters, 2))} en 16 bits."
    )
