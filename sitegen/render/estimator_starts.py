"""The ready starts of the page « Estimateur », estimated here: the page teaches without a script and opens on one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from math import floor
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

import msgspec

from sitegen.french import percent, size
from sitegen.memory.catalogue import Card, CatalogueModel, card, model
from sitegen.memory.estimate import Device, Estimate, Setting, TypicalPages, estimated
from sitegen.memory.families import FAMILIES
from sitegen.memory.intervals import rows_of
from sitegen.memory.reading import read
from sitegen.memory.runtime import RuntimePages, shape_of
from sitegen.memory.tabled import Tables, bill_of, has_small_tensors
from sitegen.records import tables
from sitegen.records.bill import PhaseBill
from sitegen.records.case import Case
from sitegen.records.model import Record
from sitegen.render import estimator_words as words
from sitegen.render.estimator_options import OPTIONS, Option
from sitegen.render.labels import PHASE_NAMES

State = Mapping[str, str]

_SEVEN: Final = ",".join(FAMILIES["llama"].targets["all-linear"])
_CUDA: Final = {"device": "cuda", "foreach": "true"}
_CPU: Final = {"device": "cpu", "foreach": "false", "allocator": "fixed"}
_SMALL: Final = {"numbers": "bfloat16", "batch_size": "1", "sequence_length": "2048", "gradient_checkpointing": "true"}
_LLAMA: Final = {"model": "llama-3.1-8b", "card": "rtx-4090", **_CUDA}
_ADAPTER: Final = {**_LLAMA, **_SMALL, "lora_rank": "16"}
_WHOLE: Final = {"method": "full", "gradient_checkpointing": "true", "numbers": "bfloat16", **_CUDA}

STARTS: Final[tuple[tuple[str, State], ...]] = (
    ("8B sur 24 Go : LoRA", {**_ADAPTER, "method": "lora"}),
    ("8B sur 24 Go : QLoRA", {**_ADAPTER, "method": "qlora", "lora_targets": _SEVEN}),
    (
        "7B entier sur 80 Go",
        {"model": "mistral-7b-v0.3", "batch_size": "4", "sequence_length": "4096", "card": "h100-sxm", **_WHOLE},
    ),
    (
        "1,7B entier sur 24 Go",
        {"model": "qwen3-1.7b", "batch_size": "2", "sequence_length": "1024", "card": "rtx-4090", **_WHOLE},
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
            **_LLAMA,
            "mode": "generation",
            "method": "full",
            "numbers": "bfloat16",
            "batch_size": "8",
            "sequence_length": "2048",
            "new_tokens": "512",
        },
    ),
)
OPENING: Final = 1
"""The start that the page opens on."""

ROOM: Final = 1.04
"""A drawing ends a little beyond what it shows."""


class Piece(NamedTuple):
    """A rectangle of a bar: its component, and where it is, in percent of the width."""

    component: str
    x: str
    width: str


class Part(NamedTuple):
    """A component at the peak."""

    key: str
    name: str
    size: str
    share: str


class PhaseRow(NamedTuple):
    """A phase with its bar; `peaks` for the one that is the peak."""

    name: str
    pieces: tuple[Piece, ...]
    limit: str
    size: str
    peaks: bool


class Gauge(NamedTuple):
    """The large bar: its pieces, the ends of the interval and the card's limit, in percent; what the limit is."""

    pieces: tuple[Piece, ...]
    low: str
    high: str
    limit: str
    legend: str
    at: float


@dataclass(frozen=True, slots=True)
class Shown:
    """A result as the page writes it: what its script would write for the same state."""

    source: str
    recap: str
    value: str
    interval: str
    verdict: str
    mark: str
    word: str
    margin: str
    why: str
    gauge: Gauge
    parts: tuple[Part, ...]
    phases: tuple[PhaseRow, ...]
    lines: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Start:
    """A ready start: the link's text, the state as the fragment of an address, and its result where a table has it."""

    label: str
    state: str
    shown: Shown | None


class Known(NamedTuple):
    """What a start is estimated from: the tables' files by family and variant, the records, the runtime's pages."""

    files: Mapping[tuple[str, str], Path]
    records: Iterable[Record]
    pages: RuntimePages | None


def starts(known: Known | None) -> tuple[Start, ...]:
    """Every start, with its result where `known` has an exact table for it."""
    loaded = cache(lambda path: tables.unpacked(tables.load(path)))  # starts have models, and so tables, in common
    return tuple(
        Start(label, urlencode(state, safe=","), shown_of(state, known, loaded) if known else None)
        for label, state in STARTS
    )


def values_of(state: State) -> dict[str, str]:
    """The value of every option in a state."""
    usual = {option.name: option.default for option in OPTIONS}
    return {name: state.get(name, default) for name, default in usual.items()}


def counts(option: Option, values: State) -> bool:
    """Whether an option counts, given the values of the others."""
    return all(values[name] in allowed for name, allowed in option.when)


def case_of(state: State) -> Case:
    """The case of a state; an option that does not count keeps the value that changes nothing."""
    values = values_of(state)
    given: dict[str, Any] = {
        option.name: _READERS[option.kind](values[option.name])
        for option in OPTIONS
        if option.name in Case.__struct_fields__ and option.name != "device" and counts(option, values)
    }
    mixed = values["numbers"] == "mixed"
    numbers = {"dtype": "float32" if mixed else values["numbers"]}
    if mixed and values["mode"] == "training":  # else there is nothing to mix
        numbers["mixed_precision"] = "bf16"
    return msgspec.convert(given | numbers, Case)


_READERS: Final[dict[str, Callable[[str], Any]]] = {
    "radio": str,
    "select": str,
    "count": int,
    "switch": lambda text: text == "true",
    "targets": lambda text: text.split(","),
}


def shown_of(state: State, known: Known, load: Callable[[Path], Tables]) -> Shown | None:
    """The result of a state; none where no table is exact for it. `load` reads a file of tables."""
    subject, where, case = model(state["model"]), card(state["card"]), case_of(state)
    reading = read(subject.config)
    path = known.files.get((reading.family, reading.variant))
    bill = bill_of(case, subject.config, load(path)) if path else None
    device = msgspec.convert(values_of(state)["device"], Device)
    if bill is None or (device == "cpu" and (known.pages is None or has_small_tensors(case, subject.config))):
        return None
    setting = Setting(
        device=device,
        runtime=known.pages or TypicalPages(threads=1),  # which a card has no use for
        shape=shape_of(subject.config, bill.quantised_parameters),
        rows=rows_of(known.records, case.allocator),
        cards=(where,),
    )
    return _shown(subject, where, estimated(bill, case, setting))


def _shown(subject: CatalogueModel, where: Card, found: Estimate) -> Shown:
    """An estimate as the page writes it."""
    (verdict,) = found.verdicts
    key = words.ANSWERS[verdict.verdict]
    mark, word = words.VERDICTS[key]
    return Shown(
        source=words.SOURCES[found.source],
        recap=words.recap(subject, found.case),
        value=size(found.peak_bytes),
        interval=f"entre {words.between(found.interval_bytes, 'et')}",
        verdict=key,
        mark=mark,
        word=word,
        margin=f"sur {where.name} : {words.room(verdict)}",
        why=words.why(found),
        gauge=_gauge(found, where),
        parts=tuple(_parts(found)),
        phases=tuple(_phase(phase, found, where) for phase in found.phases),
        lines=tuple(words.lines(found)),
    )


def _gauge(found: Estimate, where: Card) -> Gauge:
    """The large bar."""
    low, high = found.verdicts[0].needed_bytes
    whole = ROOM * max(where.total_bytes, high)
    at = where.total_bytes / whole
    legend = f"{where.name} : {size(where.total_bytes)}"
    return Gauge(_pieces(found.components, whole), _across(low / whole), _across(high / whole), _across(at), legend, at)


def _parts(found: Estimate) -> Iterable[Part]:
    """The components that weigh something."""
    for key, name in words.COMPONENT_NAMES.items():
        weight = found.components.get(key, 0)
        if weight > 0:
            yield Part(key, name, size(weight), percent(weight / found.peak_bytes))


def _phase(phase: PhaseBill, found: Estimate, where: Card) -> PhaseRow:
    """One phase's row; all bars have one scale."""
    whole = ROOM * found.peak_bytes
    several = any(one.step > 1 for one in found.phases)
    name = PHASE_NAMES[phase.name]
    return PhaseRow(
        f"{phase.step}. {name}" if several else name,
        _pieces(phase.components, whole),
        _across(where.total_bytes / whole) if where.total_bytes <= whole else "-10",
        size(phase.peak_bytes),
        (phase.step, phase.name) == (found.step, found.phase),
    )


def _pieces(components: Mapping[str, int], whole: float) -> tuple[Piece, ...]:
    """Components side by side."""
    left, found = 0.0, []
    for key in words.COMPONENT_NAMES:
        share = max(0, components.get(key, 0)) / whole
        if share:
            found.append(Piece(key, _across(left), _across(share)))
        left += share
    return tuple(found)


def _across(share: float) -> str:
    """A length across a drawing, rounded as the script does."""
    return f"{floor(1e4 * share + 0.5) / 100:g}%"
