"""The sentences of an estimate, for the page as it is built and for its script: one place says them for both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sitegen.french import NO_BREAK, number, percent, size
from sitegen.memory.catalogue import CatalogueModel
from sitegen.memory.estimate import Estimate
from sitegen.memory.intervals import Interval
from sitegen.memory.reading import read
from sitegen.memory.verdicts import Answer, Verdict
from sitegen.records.case import Case
from sitegen.render.labels import MODES, OPTIMIZER_NAMES

COMPONENT_NAMES: Final = {
    "weights": "Poids",
    "gradients": "Gradients",
    "optimizer_state": "État de l’optimiseur",
    "saved_activations": "Activations gardées",
    "logits_and_loss": "Logits et perte",
    "kv_cache": "Cache KV",
    "temporaries": "Tampons temporaires",
    "runtime": "Pages du programme",
}
"""The components of `sitegen.records.trace.LiveComponents`, and what a run holds beside its tensors."""
SOURCES: Final = {"polynomial": "tracé", "traced": "tracé", "bound": "non vérifié", "fixed": "calculé"}
VERDICTS: Final = {
    "fits": ("✓", "tient"),
    "tight": ("≈", "à la limite"),
    "over": ("✕", "ne tient pas"),
    "unknown": ("?", "indécis"),
}
"""A mark for the eye, a word for all."""
ANSWERS: Final[dict[Answer, str]] = {"fits": "fits", "tight": "tight", "does not fit": "over"}
METHODS: Final = {"full": "entraînement complet", "lora": "LoRA", "qlora": "QLoRA"}
WHERE: Final = {
    "forward": "pendant la passe avant",
    "backward": "pendant la passe arrière",
    "optimizer_step": "pendant la mise à jour",
    "prefill": "à la lecture de l’invite",
    "decode": "pendant la génération",
}
COEXISTING: Final = {
    "step": "poids, gradients et état de l’optimiseur y sont tous ensemble, avec les tampons du calcul",
    "loss": "les logits et leur gradient s’y ajoutent aux activations gardées",
    "recompute": "une couche y recalcule ses activations à côté des gradients",
    "backward": "les gradients s’y ajoutent aux activations encore gardées",
    "kept": "toutes les activations que lira la passe arrière sont déjà là",
    "cache": "le cache KV y grandit à côté des poids",
    "layer": "aux poids s’ajoutent les tampons d’une couche et les logits",
}
"""What is there together at a peak."""
LINES: Final = {
    "allocated": "Alloué par PyTorch",
    "reserved": "Réservé par son allocateur",
    "device": "Occupé selon le pilote",
    "load": "Chargement du modèle",
}
_WEIGHTY: Final = 0.05
"""The share of a peak above which a component is worth naming."""


def as_data() -> dict[str, object]:
    """All of it, for the script."""
    return {
        "sources": SOURCES,
        "verdicts": {key: {"mark": mark, "text": text} for key, (mark, text) in VERDICTS.items()},
        "methods": METHODS,
        "where": WHERE,
        "coexisting": COEXISTING,
        "lines": LINES,
        "weighty": _WEIGHTY,
    }


def between(interval: Interval, word: str = "à") -> str:
    """``13,00 à 13,90 Go``: the unit once when it is the same."""
    low, high = (size(end) for end in interval)
    unit = low[-3:]
    return f"{low[:-3] if high.endswith(unit) else low} {word} {high}"


def recap(model: CatalogueModel, case: Case) -> str:
    """One line for what is estimated."""
    trains = case.mode == "training"
    words = [
        model.name,
        "" if trains else MODES[case.mode].lower(),
        METHODS[case.method] if trains or case.method != "full" else "",
        f"rang {case.lora_rank}" if case.method != "full" else "",
        "précision mixte" if case.mixed_precision == "bf16" else case.dtype,
        f"{number(case.batch_size)} × {number(case.sequence_length)} jetons",
        OPTIMIZER_NAMES[case.optimizer] if trains and case.optimizer != "adamw" else "",
        "points de contrôle" if case.gradient_checkpointing else "",
    ]
    return " · ".join(filter(None, words))


def facts(model: CatalogueModel) -> str:
    """What was understood of a model."""
    reading = read(model.config)
    at = reading.dimensions
    shared = at.get("K") and at["K"] != at["H"]
    words = [
        _counted(model.parameters, "paramètre"),
        reading.family,
        _counted(at["L"], "couche"),
        f"largeur{NO_BREAK}{number(at['h'])}",
        f"{at['H']} têtes pour {at['K']} clés" if shared else _counted(at["H"], "tête"),
        f"{at['E']} experts, dont {at['k']} par jeton" if "E" in at else "",
        f"vocabulaire{NO_BREAK}{number(at['V'])}",
    ]
    return " · ".join(filter(None, words))


def why(found: Estimate) -> str:
    """The phase that peaks, and why, in one sentence; then the heaviest component."""
    heaviest = max(found.components, key=lambda name: found.components[name])
    step = f", étape {found.step}" if found.case.mode == "training" else ""
    share = percent(found.components[heaviest] / found.peak_bytes)
    return (
        f"Le pic survient {WHERE[found.phase]}{step} : {COEXISTING[_together(found)]}. "
        f"Le poste le plus lourd : {COMPONENT_NAMES[heaviest].lower()}, {share}."
    )


def room(found: Verdict) -> str:
    """What is left or missing on a card, the way that promises least."""
    low, high = found.needed_bytes
    if found.verdict == "fits":
        return f"il reste au moins {size(found.total_bytes - high)}"
    if found.verdict == "tight":
        return f"il peut manquer {size(high - found.total_bytes)}"
    return f"il manque au moins {size(low - found.total_bytes)}"


def lines(found: Estimate) -> list[tuple[str, str]]:
    """What is said beside the peak: the lines of a card, or the loading of a machine."""
    if found.cuda is None:
        return [(LINES["load"], size(found.load_peak_bytes))]
    shown: Mapping[str, Any] = {
        "allocated": found.cuda.allocated_interval_bytes,
        "reserved": found.cuda.reserved_interval_bytes,
        "device": found.cuda.device_interval_bytes,
    }
    return [(LINES[name], between(interval)) for name, interval in shown.items()]


def _together(found: Estimate) -> str:
    """Which of `COEXISTING` holds at the peak."""
    at, case = found.components, found.case
    if found.phase == "optimizer_step":
        return "step"
    if found.phase == "backward":
        logits = at["logits_and_loss"] > _WEIGHTY * found.peak_bytes
        return "loss" if logits else "recompute" if case.gradient_checkpointing else "backward"
    if case.mode == "training":
        return "kept"
    return "cache" if at["kv_cache"] > _WEIGHTY * found.peak_bytes else "layer"


def _counted(count: int, word: str) -> str:
    """A number of things."""
    return f"{number(count)}{NO_BREAK}{word}{'s' if count > 1 else ''}"
