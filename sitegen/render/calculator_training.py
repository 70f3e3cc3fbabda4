"""The calculator « VRAM d’entraînement »: V = M + A, M = N × B."""

from __future__ import annotations

from typing import Any, Final

from sitegen.french import NO_BREAK, gigabytes, number
from sitegen.memory import formulas
from sitegen.render.calculator import Calculator, Choice, Chooser, Field, Group, equation
from sitegen.units import GB_BYTES

PRESET_NAMES: Final = {
    "mixed-adam": "Adam en précision mixte",
    "adam-8bit": "Adam 8 bits, gradients en 32 bits",
    "adam-8bit-16bit-gradients": "Adam 8 bits, gradients en 16 bits",
    "sgd-momentum": "SGD avec moment, sans copie maîtresse",
    "pure-16bit-adam": "Adam tout en 16 bits",
}
SHARE_NAMES: Final[dict[formulas.Component, str]] = {
    "weights": "Poids",
    "gradients": "Gradients",
    "master_copy": "Copie maîtresse",
    "first_moment": "Premier moment",
    "second_moment": "Second moment",
    "momentum": "Moment",
}
COLOURS: Final[dict[formulas.Component, str]] = {
    "weights": "weights",
    "gradients": "gradients",
    "master_copy": "master_copy",
    "first_moment": "optimizer_state",
    "second_moment": "optimizer_state",
    "momentum": "optimizer_state",
}
"""Moments are the optimizer's state, and have its colour and texture everywhere."""


def training_vram() -> Calculator:
    """What training takes, from N, B and A."""
    return Calculator(
        key="training",
        groups=(Group("Modèle", (_parameters(), _presets(), _bytes())), Group("Activations", (_activations(),))),
        equations=(equation("model_gb"), equation("total_gb")),
        example=_example(),
        result=("VRAM d’entraînement", "V"),
        columns=(("Composante", ""), ("Par paramètre", "octets"), ("Mémoire", "Go")),
        invitation="Indiquez le nombre de paramètres du modèle, N, pour obtenir sa mémoire d’entraînement.",
        extra={"shares": {preset.key: _shares(preset) for preset in formulas.PRESETS}},
    )


def _parameters() -> Field:
    """N."""
    return Field(
        "n",
        "Paramètres",
        "N",
        "milliards",
        "En milliards : 7 pour un modèle de 7 milliards de paramètres.",
        "Indiquez le nombre de paramètres, en milliards : par exemple 7.",
        formulas.DEFAULT_PARAMETERS_BILLIONS,
    )


def _presets() -> Chooser:
    """The ways of training, each with its bytes a parameter."""
    choices = (
        Choice(
            preset.key,
            PRESET_NAMES[preset.key],
            {"b": preset.bytes_per_parameter},
            f"{number(preset.bytes_per_parameter)}{NO_BREAK}octets",
        )
        for preset in formulas.PRESETS
    )
    return Chooser("preset", "Façon d’entraîner", tuple(choices), formulas.MIXED_ADAM.key, "Autre valeur")


def _bytes() -> Field:
    """B."""
    return Field(
        "b",
        "Octets par paramètre",
        "B",
        "octets",
        "Suit le choix ci-dessus, ou se saisit librement.",
        "Indiquez les octets par paramètre : par exemple 16.",
        formulas.MIXED_ADAM.bytes_per_parameter,
    )


def _activations() -> Field:
    """A."""
    return Field(
        "a",
        "Mémoire des activations",
        "A",
        "Go",
        "En Go. Elle se mesure sur deux étapes réelles ; 0 pour ne pas en compter.",
        "Indiquez les activations, en Go : 0 si elles ne comptent pas.",
        formulas.DEFAULT_ACTIVATIONS_GB,
        zero=True,
    )


def _shares(preset: formulas.Preset) -> list[dict[str, Any]]:
    """What each component of a preset takes of a parameter, under its French name."""
    return [
        {
            "component": COLOURS[share.component],
            "label": SHARE_NAMES[share.component],
            "bytes": share.bytes_per_parameter,
        }
        for share in preset.shares
    ]


def _example() -> str:
    """N and B by default, then with activations."""
    n, b = formulas.DEFAULT_PARAMETERS_BILLIONS, formulas.MIXED_ADAM.bytes_per_parameter
    bill = formulas.training_vram(n, b, formulas.EXAMPLE_ACTIVATIONS_GB)
    model, activations, total = (gigabytes(value * GB_BYTES) for value in (bill.model, bill.activations, bill.total))
    return (
        f"Avec {number(n)}{NO_BREAK}milliards de paramètres et {number(b)}{NO_BREAK}octets par paramètre : "
        f"{number(n)} × {number(b)} = {model}, et avec {activations} d’activations, {total}."
    )
