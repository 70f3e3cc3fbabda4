"""The calculators of the site: what their template and script are given, taken from the formulas themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from markupsafe import Markup

from sitegen.french import NO_BREAK, gigabytes, number
from sitegen.memory import formulas
from sitegen.memory.formulas import printing
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


@dataclass(frozen=True, slots=True)
class Choice:
    """A preset as the reader chooses it."""

    key: str
    label: str
    bytes_text: str


@dataclass(frozen=True, slots=True)
class Example:
    """The worked example that stands where the calculator cannot run, written in French."""

    inputs: str
    model: str
    activations: str
    total: str


@dataclass(frozen=True, slots=True)
class Calculator:
    """What the template shows, and the `data` that the script reads."""

    presets: tuple[Choice, ...]
    default_preset: str
    equations: tuple[Markup, ...]
    example: Example
    data: dict[str, Any]


def training_vram() -> Calculator:
    """The calculator « VRAM d'entraînement »."""
    return Calculator(
        presets=tuple(_choice(preset) for preset in formulas.PRESETS),
        default_preset=formulas.MIXED_ADAM.key,
        equations=tuple(equation(name) for name in ("model_gb", "total_gb")),
        example=_example(),
        data={"defaults": _defaults(), "presets": [_preset_data(preset) for preset in formulas.PRESETS]},
    )


def equation(name: str) -> Markup:
    """A formula as a reader sees it: a ``<math>`` element with its text alternative."""
    return Markup(printing.mathml(name))  # noqa: S704  # written by sympy from our own symbols


CALCULATORS: Final = {"training_vram": training_vram}


def _choice(preset: formulas.Preset) -> Choice:
    """The preset's name and its bytes a parameter."""
    return Choice(preset.key, PRESET_NAMES[preset.key], f"{number(preset.bytes_per_parameter)}{NO_BREAK}octets")


def _preset_data(preset: formulas.Preset) -> dict[str, Any]:
    """The preset for the script: its shares in bytes a parameter, under their French names."""
    shares = [
        {
            "component": COLOURS[share.component],
            "label": SHARE_NAMES[share.component],
            "bytes": share.bytes_per_parameter,
        }
        for share in preset.shares
    ]
    return {"key": preset.key, "bytes": preset.bytes_per_parameter, "shares": shares}


def _defaults() -> dict[str, str]:
    """What the fields hold at first, as an address would say it."""
    return {
        "n": f"{formulas.DEFAULT_PARAMETERS_BILLIONS:g}",
        "b": f"{formulas.MIXED_ADAM.bytes_per_parameter:g}",
        "a": f"{formulas.DEFAULT_ACTIVATIONS_GB:g}",
        "preset": formulas.MIXED_ADAM.key,
    }


def _example() -> Example:
    """N and B by default, then with activations."""
    n, b = formulas.DEFAULT_PARAMETERS_BILLIONS, formulas.MIXED_ADAM.bytes_per_parameter
    bill = formulas.training_vram(n, b, formulas.EXAMPLE_ACTIVATIONS_GB)
    model, activations, total = (_gb(value) for value in (bill.model, bill.activations, bill.total))
    return Example(
        inputs=f"{number(n)}{NO_BREAK}milliards de paramètres et {number(b)}{NO_BREAK}octets par paramètre",
        model=f"{number(n)} × {number(b)} = {model}",
        activations=activations,
        total=total,
    )


def _gb(value: float) -> str:
    """A size given in Go, in French."""
    return gigabytes(value * GB_BYTES)
