"""The calculator « VRAM d’inférence »: the weights, and the keys and values that generation keeps."""

from __future__ import annotations

from typing import Final

from sitegen.french import NO_BREAK, gigabytes, number
from sitegen.memory import formulas
from sitegen.memory.formulas import block_bits, double_block_bits
from sitegen.memory.shapes import Shape, shape, shapes
from sitegen.render.calculator import Calculator, Choice, Chooser, Field, Group, equation

BILLION: Final = 10**9
EXAMPLE_MODEL: Final = "llama-3.1-8b"
EXAMPLE_BATCH: Final = 8
EXAMPLE_LENGTH: Final = 8192
BFLOAT16_BYTES: Final = 2
_BITS: Final = 8
_LONGEST: Final = 1e8
_MAY_BE_ZERO: Final = frozenset({"l", "lw", "w"})
_HINTS: Final = {
    "lw": "0 s’il n’y en a pas.",
    "w": "0 sans fenêtre.",
    "k": "Moins que de têtes d’attention avec GQA.",
}

_NF4_BITS: Final = block_bits(4, 32, 64)
_NF4_DOUBLE_BITS: Final = double_block_bits(4, 8, 64, 32, 256)
"""Four bits a weight with a float32 scale for 64; or scales of 8 bits, themselves scaled by 256 (QLoRA, section 3)."""

FORMATS: Final = {
    "float32": ("32 bits (float32)", 4.0),
    "bfloat16": ("16 bits (bfloat16, float16)", 2.0),
    "int8": ("8 bits", 1.0),
    "nf4": ("4 bits (NF4)", _NF4_BITS / _BITS),
    "nf4-double": ("4 bits (NF4, double quantification)", _NF4_DOUBLE_BITS / _BITS),
}
"""Number formats of the weights: French name, bytes a weight with its share of the scales."""
CACHE_FORMATS: Final = {"float32": 4.0, "bfloat16": 2.0, "int8": 1.0}


def inference_vram() -> Calculator:
    """What generating takes, from a model's dimensions, a batch and a length."""
    first = shape(EXAMPLE_MODEL)
    return Calculator(
        key="inference",
        groups=(
            Group("Modèle", (_models(), *_weights(first))),
            Group("Attention", _attention(first), compact=True),
            Group("Usage", _use()),
        ),
        equations=tuple(equation(name) for name in ("weights_bytes", "kv_windowed_bytes", "inference_bytes")),
        example=_example(),
        result=("VRAM d’inférence", "V"),
        columns=(("Composante", ""), ("Calcul", ""), ("Mémoire", "Go")),
        invitation="Indiquez le nombre de paramètres du modèle, P, pour obtenir sa mémoire d’inférence.",
    )


def weights_of(model: Shape, number_bytes: float = BFLOAT16_BYTES) -> float:
    """What the weights take, in bytes."""
    return formulas.weights_bytes(model.parameters, number_bytes)


def cache_of(model: Shape, batch_size: int, length: int) -> int:
    """What keys and values of 16 bits take, in bytes."""
    return formulas.kv_windowed_bytes(
        batch_size,
        length,
        model.window,
        model.full_layers,
        model.window_layers,
        model.dimensions["kv_heads"],
        model.dimensions["head_size"],
        BFLOAT16_BYTES,
    )


def _models() -> Chooser:
    """The catalogue."""
    choices = tuple(Choice(model.key, model.name, _filled(model)) for model in shapes())
    return Chooser("model", "Modèle du catalogue", choices, EXAMPLE_MODEL, "Autre modèle, saisi ci-dessous", "select")


def _filled(model: Shape) -> dict[str, float]:
    """What a model writes into the fields, by their names."""
    return {
        "n": round(model.parameters / BILLION, 3),
        "l": model.full_layers,
        "lw": model.window_layers,
        "w": model.window,
        "k": model.dimensions["kv_heads"],
        "d": model.dimensions["head_size"],
    }


def _weights(first: Shape) -> tuple[Field, Chooser, Field]:
    """P, the format and O."""
    parameters = Field(
        "n",
        "Paramètres",
        "P",
        "milliards",
        "En milliards, experts compris : tous les poids résident en mémoire.",
        "Indiquez le nombre de paramètres, en milliards : par exemple 8.",
        _filled(first)["n"],
    )
    choices = tuple(
        Choice(key, label, {"o": each}, f"{_short(each)}{NO_BREAK}octet{'s' if each >= BFLOAT16_BYTES else ''}")
        for key, (label, each) in FORMATS.items()
    )
    each = Field(
        "o",
        "Octets par poids",
        "O",
        "octets",
        "Suit le choix ci-dessus, ou se saisit librement.",
        "Indiquez les octets par poids : par exemple 2.",
        BFLOAT16_BYTES,
    )
    return parameters, Chooser("format", "Format des poids", choices, "bfloat16", "Autre valeur"), each


def _short(value: float) -> str:
    """A number with no decimal that says nothing: ``2``, ``0,5625``."""
    decimals = next((count for count in range(5) if round(value, count) == value), 5)
    return number(value, decimals)


def _attention(first: Shape) -> tuple[Field, ...]:
    """Layers, window, key-value heads and their size."""
    given = _filled(first)
    return (
        _count("l", "Couches d’attention complète", "L_c", "couches", given),
        _count("lw", "Couches à fenêtre", "L_w", "couches", given),
        _count("w", "Fenêtre", "w", "jetons", given),
        _count("k", "Têtes de clés et valeurs", "K", "têtes", given),
        _count("d", "Taille d’une tête", "d", "nombres", given),
    )


def _count(name: str, label: str, symbol: str, unit: str, given: dict[str, float]) -> Field:
    """A whole number; layers and the window may be 0."""
    zero = name in _MAY_BE_ZERO
    blank = f"Indiquez un nombre entier de {unit}{' : 0 s’il n’y en a pas' if zero else ''}."
    return Field(name, label, symbol, unit, _HINTS.get(name, ""), blank, given[name], zero=zero, whole=True)


def _use() -> tuple[Field, ...]:
    """Batch, length and the cache's format."""
    return (
        Field(
            "b",
            "Taille de lot",
            "b",
            "séquences",
            "Les conversations servies en même temps.",
            "Indiquez la taille de lot : 1 pour une seule conversation.",
            EXAMPLE_BATCH,
            whole=True,
        ),
        Field(
            "s",
            "Longueur de séquence",
            "s",
            "jetons",
            "L’invite et la réponse ensemble, pour la plus longue.",
            "Indiquez la longueur de séquence, en jetons : par exemple 8192.",
            EXAMPLE_LENGTH,
            whole=True,
            largest=_LONGEST,
        ),
        Field(
            "c",
            "Octets par nombre du cache",
            "O",
            "octets",
            "2 en 16 bits, ce que font la plupart des moteurs ; 1 en 8 bits.",
            "Indiquez les octets par nombre du cache : par exemple 2.",
            BFLOAT16_BYTES,
        ),
    )


def _example() -> str:
    """The example's weights, cache and sum."""
    model = shape(EXAMPLE_MODEL)
    weights, cache = weights_of(model), cache_of(model, EXAMPLE_BATCH, EXAMPLE_LENGTH)
    total = formulas.inference_bytes(weights, cache)
    return (
        f"Pour {model.name} en 16 bits, {EXAMPLE_BATCH} séquences de {number(EXAMPLE_LENGTH)} jetons : "
        f"{gigabytes(weights)} de poids et {gigabytes(cache)} de cache, soit {gigabytes(total)}."
    )
