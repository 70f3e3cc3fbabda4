"""The tables of the companion articles: arithmetic for models that were not run here, and said to be so."""

from __future__ import annotations

from typing import Final, NamedTuple

from sitegen.french import number
from sitegen.memory import catalogue, cuda, formulas
from sitegen.memory.formulas import DEFAULT_PARAMETERS_BILLIONS, EXAMPLE_ACTIVATIONS_GB, MIXED_ADAM
from sitegen.render import worked, worked_large
from sitegen.render.series import Series
from sitegen.render.tables import Cell, Column, Row, Table, arithmetic
from sitegen.units import GB_BYTES, MIB_BYTES

_NOT_RUN: Final = "Calculé, non exécuté ici."
_CARDS: Final = ("l4", "rtx-4090", "l40s", "a100-40", "a100-80", "h100-sxm", "h200")
_VOCABULARIES: Final = ("llama-2-7b", "smollm2-135m", "llama-3.1-8b", "qwen2.5-7b", "gemma-3-1b")


class Step(NamedTuple):
    """A way of training 7 billion parameters: what the model takes and what the activations take, in GB."""

    name: str
    model_gb: float
    activations_gb: float


def _steps() -> tuple[Step, ...]:
    """From the whole model to what fits."""
    billions, whole = DEFAULT_PARAMETERS_BILLIONS, EXAMPLE_ACTIVATIONS_GB
    frozen = billions * worked.RUN_BYTES_PER_PARAMETER
    packed = billions * worked_large.NF4_DOUBLE_BITS / 8
    return (
        Step("Entraîner tout, précision mixte", billions * MIXED_ADAM.bytes_per_parameter, whole),
        Step("LoRA, poids gelés de 16 bits", frozen, whole),
        Step("LoRA, lot réduit de moitié", frozen, whole / 2),
        Step("LoRA, lot réduit au quart", frozen, whole / 4),
        Step("QLoRA, tous les poids en NF4", packed, whole),
        Step("QLoRA, lot réduit de moitié", packed, whole / 2),
    )


def small_card_path(_: Series) -> Table:
    """How the bill of 7 billion parameters comes down to a card of 24 Go. Arithmetic."""
    card = catalogue.card("l4")
    rows = tuple(
        Row(
            Cell(step.name),
            (*(_gb(value) for value in (step.model_gb, step.activations_gb, total)), Cell(_verdict(total, card))),
        )
        for step in _steps()
        for total in (step.model_gb + step.activations_gb,)
    )
    return Table(
        "vers-la-petite-carte",
        "De la facture complète à une carte de 24 Go, pour 7 milliards de paramètres",
        (
            Column("Réglage"),
            Column("Modèle et états", "Go", numeric=True),
            Column("Activations", "Go", numeric=True),
            Column("Total", "Go", numeric=True),
            Column(f"Sur une {card.name}"),
        ),
        rows,
        f"{_NOT_RUN} Les activations de départ sont une valeur choisie ; elles suivent ici le lot en proportion. "
        "L’adaptateur ajoute ses propres octets. « À la limite » : il reste moins que ce que prend le contexte CUDA.",
    )


def _verdict(total_gb: float, card: catalogue.Card) -> str:
    """Whether it fits, the context that the driver keeps being counted."""
    needed = total_gb * GB_BYTES
    if needed > card.total_bytes:
        return "ne tient pas"
    return "tient" if needed + cuda.CONTEXT_BYTES <= card.total_bytes else "à la limite"


def quantised_weights(_: Series) -> Table:
    """The weights of a model of 8 billion parameters in each format, all of them, then as libraries pack them."""
    whole, packed, kept = worked_large.PARAMETERS, worked_large.PROJECTIONS, worked_large.KEPT
    rows = (
        ("float32", 32.0, formulas.weights_bytes(whole, 4), formulas.weights_bytes(whole, 4)),
        ("16 bits", 16.0, formulas.weights_bytes(whole, 2), formulas.weights_bytes(whole, 2)),
        ("8 bits", 8.0, whole, packed + formulas.weights_bytes(kept, 2)),
        ("NF4", worked_large.NF4_BITS, formulas.nf4_bytes(whole), worked_large.NF4_BYTES),
        (
            "NF4, double quantification",
            worked_large.NF4_DOUBLE_BITS,
            formulas.nf4_double_bytes(whole),
            worked_large.NF4_DOUBLE_BYTES,
        ),
    )
    return Table(
        "poids-quantifies",
        f"Les poids de {worked_large.NAME} selon le format",
        (
            Column("Format"),
            Column("Par poids", "bits", numeric=True),
            Column("Si tout était dans ce format", "Go", numeric=True),
            Column("Plongements, tête de sortie et normalisations en 16 bits", "Go", numeric=True),
        ),
        tuple(
            Row(Cell(name), (arithmetic(bits, _decimals(bits)), _bytes(every), _bytes(real)))
            for name, bits, every, real in rows
        ),
        f"{_NOT_RUN} Les deux premières lignes valent pour tous les poids. Les échelles du 8 bits n’y sont pas.",
    )


def logits_by_vocabulary(_: Series) -> Table:
    """One float32 copy of the logits of 8192 tokens, for vocabularies that people meet."""
    found = [catalogue.model(key) for key in _VOCABULARIES]
    rows = []
    for entry in sorted(found, key=lambda entry: int(entry.config["vocab_size"])):
        vocabulary = int(entry.config["vocab_size"])
        copy = formulas.logits_bytes(1, worked_large.TOKENS, vocabulary, 4)
        rows.append(Row(Cell(entry.name), (arithmetic(vocabulary, 0), _bytes(copy))))
    return Table(
        "logits-et-vocabulaire",
        f"Une copie des logits en float32, pour {number(worked_large.TOKENS)} jetons",
        (Column("Modèle"), Column("Vocabulaire", "entrées", numeric=True), Column("Une copie", "Go", numeric=True)),
        tuple(rows),
        f"{_NOT_RUN} La perte et sa passe arrière en gardent plusieurs, selon le code.",
    )


def card_units(_: Series) -> Table:
    """What cards are sold as, what their driver reports, and the same in Go."""
    rows = []
    for key in _CARDS:
        card = catalogue.card(key)
        cells = (
            Cell(number(card.nominal_gib), card.nominal_gib, kind="quoted"),
            Cell(number(card.total_bytes / MIB_BYTES), card.total_bytes, href=card.source, kind="quoted"),
            arithmetic(card.total_bytes / GB_BYTES, 1),
        )
        rows.append(Row(Cell(card.name), cells))
    return Table(
        "capacites-reelles",
        "La même carte sous trois unités",
        (
            Column("Carte"),
            Column("Vendue pour", "« Go »", numeric=True),
            Column("Rapporté par le pilote", "Mio", numeric=True),
            Column("Soit", "Go", numeric=True),
        ),
        tuple(rows),
        "Un Mio vaut 2²⁰ octets, un Go 10⁹. Le nombre de l’étiquette est, à peu près, celui de Gio.",
    )


def _decimals(bits: float) -> int:
    """How many decimals a number of bits needs."""
    return 0 if bits == round(bits) else 1 if bits * 10 == round(bits * 10) else 2


def _bytes(size_bytes: int) -> Cell:
    """A size in Go, to a hundredth."""
    return arithmetic(size_bytes / GB_BYTES, 2)


def _gb(value: float) -> Cell:
    """A size given in Go, to a tenth where it is not whole."""
    return arithmetic(value, 0 if value == round(value) else 1)
