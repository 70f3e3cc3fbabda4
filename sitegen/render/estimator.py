"""The page « Estimateur »: what its template shows and the data that its scripts read.

The estimate itself is made in the browser, from the tables of the families; here are the catalogue, the options, the
French names and the ready starts.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from sitegen.memory.catalogue import KINDS, Card, CatalogueModel, Kind, cards, models
from sitegen.memory.estimate import BASELINE_BYTES
from sitegen.memory.families import FAMILIES
from sitegen.render.estimator_options import GROUPS, OPTIONS, Group, Option
from sitegen.render.labels import MODES, OPTIMIZER_NAMES, PHASE_NAMES

TEMPLATE: Final = "estimator.html"
KIND_NAMES: Final[dict[Kind, str]] = {
    "consumer": "Grand public",
    "workstation": "Stations de travail",
    "data-centre": "Centres de données",
    "apple": "Apple",
    "ram": "Ordinateurs sans carte",
}
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
SEVEN: Final = ",".join(FAMILIES["llama"].targets["all-linear"])
_SCRIPT: Final = Path(__file__).parent / "static" / "estimator_script.txt"
_CUDA: Final = {"device": "cuda", "foreach": "true"}
_CPU: Final = {"device": "cpu", "foreach": "false", "allocator": "fixed"}
_SMALL: Final = {"numbers": "bfloat16", "batch_size": "1", "sequence_length": "2048", "gradient_checkpointing": "true"}


@dataclass(frozen=True, slots=True)
class Start:
    """A ready start: what the link says, and the state that it sets, as the fragment of an address."""

    label: str
    state: str


@dataclass(frozen=True, slots=True)
class Estimator:
    """What the template shows (`models` is their number), and the `data` that the scripts read."""

    groups: tuple[Group, ...]
    starts: tuple[Start, ...]
    models: int
    data: dict[str, Any]


def estimator() -> Estimator:
    """The estimator of the site."""
    return Estimator(GROUPS, tuple(_start(label, state) for label, state in _STARTS), len(models()), _data())


_STARTS: Final[tuple[tuple[str, dict[str, str]], ...]] = (
    (
        "8B sur 24 Go : LoRA",
        {"model": "llama-3.1-8b", "method": "lora", "lora_rank": "16", "card": "rtx-4090", **_CUDA, **_SMALL},
    ),
    (
        "8B sur 24 Go : QLoRA",
        {
            "model": "llama-3.1-8b",
            "method": "qlora",
            "lora_rank": "16",
            "lora_targets": SEVEN,
            "card": "rtx-4090",
            **_CUDA,
            **_SMALL,
        },
    ),
    (
        "7B entier sur 80 Go",
        {
            "model": "mistral-7b-v0.3",
            "method": "full",
            "numbers": "bfloat16",
            "batch_size": "4",
            "sequence_length": "4096",
            "gradient_checkpointing": "true",
            "card": "h100-sxm",
            **_CUDA,
        },
    ),
    (
        "1,7B entier sur 16 Go",
        {
            "model": "qwen3-1.7b",
            "method": "full",
            "numbers": "mixed",
            "optimizer": "adamw-8bit",
            "batch_size": "2",
            "sequence_length": "1024",
            "card": "rtx-4060-ti-16",
            **_CUDA,
        },
    ),
    (
        "SmolLM2 sur un portable",
        {
            "model": "smollm2-135m",
            "method": "full",
            "numbers": "float32",
            "batch_size": "8",
            "sequence_length": "256",
            "card": "ram-8",
            "zero_grad": "keep",
            **_CPU,
        },
    ),
    (
        "8B en génération",
        {
            "model": "llama-3.1-8b",
            "mode": "generation",
            "method": "full",
            "numbers": "bfloat16",
            "batch_size": "8",
            "sequence_length": "2048",
            "new_tokens": "512",
            "card": "rtx-4090",
            **_CUDA,
        },
    ),
)


def _start(label: str, state: dict[str, str]) -> Start:
    """A start and its address; commas stay readable."""
    return Start(label, urlencode(state, safe=","))


def _data() -> dict[str, Any]:
    """Everything that the scripts read; what has an order is a list, for keys are sorted when it is written."""
    return {
        "models": [_model(model) for model in models()],
        "cards": [_card(card) for card in cards()],
        "kinds": [[kind, KIND_NAMES[kind]] for kind in KINDS],
        "options": {option.name: _option(option) for option in OPTIONS},
        "components": list(COMPONENT_NAMES.items()),
        "phases": PHASE_NAMES,
        "modes": MODES,
        "optimizers": OPTIMIZER_NAMES,
        "targets": {name: family.targets for name, family in FAMILIES.items()},
        "start": _STARTS[1][1],
        "baseline_bytes": BASELINE_BYTES,
        "script": _SCRIPT.read_text("utf-8"),
    }


def _model(model: CatalogueModel) -> dict[str, Any]:
    """A model for the scripts."""
    return {
        "key": model.key,
        "name": model.name,
        "hub": model.hub_id,
        "aliases": list(model.aliases),
        "parameters": model.parameters,
        "config": model.config,
    }


def _card(card: Card) -> dict[str, Any]:
    """A card for the scripts; `exact` says that its driver was seen to report the total."""
    return {
        "key": card.key,
        "name": card.name,
        "kind": card.kind,
        "bytes": card.total_bytes,
        "exact": card.basis == "reported",
        "note": card.note,
    }


def _option(option: Option) -> dict[str, Any]:
    """The rules of an option for the scripts."""
    return {
        "kind": option.kind,
        "label": option.label,
        "default": option.default,
        "when": {name: list(values) for name, values in option.when},
        "least": option.least,
        "most": option.most,
        "choices": {choice.value: {"label": choice.label, "code": choice.code} for choice in option.choices},
        "names": [[name.place, name.name] for name in option.names],
    }
