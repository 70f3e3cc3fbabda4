"""The page « Estimateur »: what its template shows and the data that its scripts read.

The estimate itself is made in the browser, from the tables of the families; here are the catalogue, the options, the
French names and the ready starts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sitegen.french import size
from sitegen.memory.catalogue import KINDS, Card, CatalogueModel, Kind, card, cards, model, models
from sitegen.memory.estimate import BASELINE_BYTES
from sitegen.memory.families import FAMILIES
from sitegen.memory.verdicts import ON_CUDA
from sitegen.render import estimator_words
from sitegen.render.estimator_options import GROUPS, OPTIONS, Group, Option
from sitegen.render.estimator_starts import OPENING, STARTS, Known, Shown, Start, counts, starts, values_of
from sitegen.render.labels import MODES, OPTIMIZER_NAMES, PHASE_NAMES

TEMPLATE: Final = "estimator.html"
KIND_NAMES: Final[dict[Kind, str]] = {
    "consumer": "Grand public",
    "workstation": "Stations de travail",
    "data-centre": "Centres de données",
    "apple": "Apple",
    "ram": "Ordinateurs sans carte",
}
SET_NAMES: Final = {"q-v": "par défaut", "attention": "attention", "all-linear": "tous"}
"""The named sets of modules, as the buttons that tick them are called."""
_SCRIPT: Final = Path(__file__).parent / "static" / "estimator_script.txt"


@dataclass(frozen=True, slots=True)
class Opening:
    """What the form holds when the page opens: the state, the options' values, the model, its modules and the cards."""

    state: Mapping[str, str]
    values: Mapping[str, str]
    model: CatalogueModel
    facts: str
    modules: tuple[str, ...]
    sets: tuple[str, ...]
    ticked: tuple[str, ...]
    cards: tuple[tuple[str, tuple[tuple[Card, str], ...]], ...]
    card: Card

    def hides(self, option: Option) -> bool:
        """Whether an option does not count then."""
        return not counts(option, self.values)


@dataclass(frozen=True, slots=True)
class Estimator:
    """What the template shows (`models` is their number), and the `data` that the scripts read."""

    groups: tuple[Group, ...]
    starts: tuple[Start, ...]
    opening: Opening
    shown: Shown | None
    models: int
    data: dict[str, Any]


def estimator(known: Known | None = None) -> Estimator:
    """The estimator of the site; its ready starts have results when it is `known` what to estimate them from."""
    ready = starts(known)
    return Estimator(GROUPS, ready, _opening(), ready[OPENING].shown, len(models()), _data())


def _opening() -> Opening:
    """The state that the page opens on."""
    state = STARTS[OPENING][1]
    values, subject = values_of(state), model(state["model"])
    targets = FAMILIES[subject.config["model_type"]].targets
    return Opening(
        state=state,
        values=values,
        model=subject,
        facts=estimator_words.facts(subject),
        modules=targets["all-linear"],
        sets=tuple(name for key, name in SET_NAMES.items() if key in targets),
        ticked=tuple(values["lora_targets"].split(",")),
        cards=tuple(
            (KIND_NAMES[kind], tuple((each, size(each.total_bytes)) for each in cards() if each.kind == kind))
            for kind in KINDS
            if kind in ON_CUDA
        ),
        card=card(state["card"]),
    )


def _data() -> dict[str, Any]:
    """Everything that the scripts read; what has an order is a list, for keys are sorted when it is written."""
    return {
        "models": [_model(entry) for entry in models()],
        "cards": [_card(entry) for entry in cards()],
        "kinds": [[kind, KIND_NAMES[kind]] for kind in KINDS],
        "options": {option.name: _option(option) for option in OPTIONS},
        "order": [option.name for option in OPTIONS],
        "components": list(estimator_words.COMPONENT_NAMES.items()),
        "phases": PHASE_NAMES,
        "modes": MODES,
        "optimizers": OPTIMIZER_NAMES,
        "sets": list(SET_NAMES.items()),
        "targets": {name: family.targets for name, family in FAMILIES.items()},
        "start": STARTS[OPENING][1],
        "baseline_bytes": BASELINE_BYTES,
        "script": _SCRIPT.read_text("utf-8"),
    }


def _model(entry: CatalogueModel) -> dict[str, Any]:
    """A model for the scripts."""
    return {
        "key": entry.key,
        "name": entry.name,
        "hub": entry.hub_id,
        "aliases": list(entry.aliases),
        "parameters": entry.parameters,
        "config": entry.config,
    }


def _card(entry: Card) -> dict[str, Any]:
    """A card for the scripts; `exact` says that its driver was seen to report the total."""
    return {
        "key": entry.key,
        "name": entry.name,
        "kind": entry.kind,
        "bytes": entry.total_bytes,
        "exact": entry.basis == "reported",
        "note": entry.note,
    }


def _option(option: Option) -> dict[str, Any]:
    """The rules of an option for the scripts."""
    return {
        "kind": option.kind,
        "label": option.label,
        "default": option.default,
        "when": {name: list(values) for name, values in option.when},
        "unit": option.unit,
        "least": option.least,
        "most": option.most,
        "choices": {choice.value: {"label": choice.label, "code": choice.code} for choice in option.choices},
        "names": [[name.place, name.name] for name in option.names],
    }
