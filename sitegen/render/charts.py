"""Records → charts. A Chart is one view model: its picture, its interactive form, its table and its text say the same.

Every function takes the series to draw, and a `prefix` for the identifiers, so that one page may show several series. A
run that did not end well keeps its row, with its status and without a bar; when a chart has nothing to compare with, it
raises `MissingFigureError`. The tables are made by `chart_tables`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from sitegen.french import NO_BREAK, change, megabytes
from sitegen.records.case import Case
from sitegen.records.model import Record
from sitegen.render import chart_tables
from sitegen.render.drawing import Line, Pair, Part, Reference, paired, stacked
from sitegen.render.evidence import Evidence
from sitegen.render.interactive import specification
from sitegen.render.labels import ALLOCATOR_NAMES, COMPONENT_NAMES, STATUS_NAMES, short_label
from sitegen.render.phases import PhasePeak, phase_peaks
from sitegen.render.pictures import Component, Picture
from sitegen.render.series import (
    BFLOAT16_8,
    CHECKPOINTING_8,
    DOUBLING,
    FIXES,
    INFERENCE_8,
    LORA_8,
    TRAINING_1,
    TRAINING_4_LONG,
    TRAINING_8,
    Series,
    under,
)
from sitegen.render.tables import Table

PREFIX: Final = "graphique"
FIXED_8: Final = under(TRAINING_8, "fixed")
FIX_NAMES: Final = {
    TRAINING_8: "Sans correctif",
    CHECKPOINTING_8: "Points de contrôle de gradient",
    BFLOAT16_8: "Nombres de 16 bits",
    LORA_8: "LoRA",
    FIXED_8: "Allocateur à seuil fixe",
}
COUNTED: Final = (
    "Poids, gradients et état de l’optimiseur sont comptés dans l’essai ; le reste du pic (activations, "
    "tampons et tas) s’obtient par différence."
)


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure of the site; `description` is its text alternative, with the values."""

    id: str
    title: str
    caption: str
    description: str
    picture: Picture
    plotly: dict[str, Any]
    table: Table


def by_component(series: Series, prefix: str = PREFIX) -> Chart:
    """Where the memory goes, inference beside training, under the default allocator."""
    Evidence(series).peak(TRAINING_8)
    records = _found(series, (INFERENCE_8, TRAINING_1, TRAINING_4_LONG, TRAINING_8))
    names = [_size_name(record) for record in records]
    identifier = f"{prefix}-composantes"
    return _chart(
        identifier,
        "Le pic de mémoire, composante par composante",
        f"Lot × longueur de séquence ; pic net de la mémoire de départ, {ALLOCATOR_NAMES['default']}. {COUNTED}",
        stacked(
            [line_of(record, name, "jetons") for record, name in zip(records, names, strict=True)],
            named=_row_of(TRAINING_8, records),
        ),
        chart_tables.components(identifier, "Mémoire au pic, par composante", records, names),
    )


def by_phase(series: Series, prefix: str = PREFIX) -> Chart:
    """Phase by phase through the two steps of training at batch 8: the second step is seen to hold more."""
    evidence = Evidence(series)
    evidence.step(FIXED_8, 2)
    chart = of_record(evidence.record(FIXED_8), prefix)
    assert chart is not None  # noqa: S101  # a record with a second step has phases
    return chart


def of_record(record: Record, prefix: str = PREFIX) -> Chart | None:
    """The phases and steps of one record; none when it did not end well or has no steps."""
    if record.status != "ok" or not record.summary.step_peak_bytes:
        return None
    peaks = phase_peaks(record)
    highest = max((peak.net_bytes or 0 for peak in peaks), default=0)
    identifier = f"{prefix}-phases"
    return _chart(
        identifier,
        "Le pic de chaque phase",
        f"{short_label(record.case)}, {ALLOCATOR_NAMES[record.case.allocator]} ; pic net de la mémoire de départ.",
        stacked([_phase_line(peak, highest) for peak in peaks], reference=_step_one(record)),
        chart_tables.phases(identifier, peaks),
    )


def batch_doubling(series: Series, prefix: str = PREFIX) -> Chart:
    """Batches 1, 2, 4, 8 with the floor that none of them moves, under the fixed allocator."""
    floor = _states(Evidence(series).record(FIXED_8))
    records = _found(series, [under(case, "fixed") for case in DOUBLING])
    names = [f"Lot de {record.case.batch_size}" for record in records]
    growths = ["", *(_growth(small, large) for small, large in pairwise(records))]
    identifier = f"{prefix}-doublement"
    return _chart(
        identifier,
        "Doubler le lot : ce qui grandit, ce qui reste",
        f"Pic net, {ALLOCATOR_NAMES['fixed']}. Le plancher réunit poids, gradients et état de l’optimiseur. {COUNTED}",
        stacked(
            [line_of(record, name, growth) for record, name, growth in zip(records, names, growths, strict=True)],
            named=_row_of(FIXED_8, records),
            reference=Reference(floor, f"Plancher{NO_BREAK}: {megabytes(floor)}"),
        ),
        chart_tables.components(identifier, "Mémoire au pic selon la taille de lot", records, names),
    )


def fixes(series: Series, prefix: str = PREFIX) -> Chart:
    """Each fix beside the full run at batch 8, under the default allocator, and the allocator among them."""
    whole = Evidence(series).peak(TRAINING_8)
    records = _found(series, (TRAINING_8, *FIXES, FIXED_8))
    names = [FIX_NAMES[record.case] for record in records]
    identifier = f"{prefix}-correctifs"
    return _chart(
        identifier,
        "Ce que chaque correctif retire au pic",
        f"Entraînement, lot de 8, 256 jetons ; pic net, {ALLOCATOR_NAMES['default']} sauf mention. {COUNTED}",
        stacked(
            [_fix_line(record, name, whole) for record, name in zip(records, names, strict=True)],
            named=_row_of(TRAINING_8, records),
        ),
        chart_tables.fixes(identifier, records, names),
    )


def allocators(series: Series, prefix: str = PREFIX) -> Chart:
    """The default allocator against the fixed one, every training case measured under both."""
    Evidence(series).peak(TRAINING_8)
    Evidence(series).peak(FIXED_8)
    pairs = _both(series)
    identifier = f"{prefix}-allocateurs"
    return _chart(
        identifier,
        "Le même essai sous deux allocateurs",
        "Lot × longueur de séquence ; pic net de chaque entraînement ; à droite, ce que le seuil fixe change.",
        paired([_pair(fixed, default) for fixed, default in pairs], ("Seuil fixe", "Par défaut")),
        chart_tables.allocators(identifier, pairs, [_training_name(default) for _, default in pairs]),
    )


CHARTS: Final[dict[str, Callable[..., Chart]]] = {
    "by_component": by_component,
    "by_phase": by_phase,
    "batch_doubling": batch_doubling,
    "fixes": fixes,
    "allocators": allocators,
}
"""The charts that a page may ask for by name."""


def _chart(identifier: str, title: str, caption: str, picture: Picture, table: Table) -> Chart:
    """The whole figure."""
    return Chart(identifier, title, caption, chart_tables.told(table), picture, specification(picture), table)


def _found(series: Series, cases: Iterable[Case]) -> list[Record]:
    """The records of these cases, whatever their status."""
    return [record for case in cases if (record := series.get(case)) is not None]


def _row_of(case: Case, records: Sequence[Record]) -> int:
    """The row of the case that the text speaks of: its parts are the ones to name."""
    return next(index for index, record in enumerate(records) if record.case == case)


def _both(series: Series) -> list[tuple[Record, Record]]:
    """Every training case that ended well under both allocators: the fixed one, then the default one."""
    return [
        (fixed, record)
        for record in series.records
        if record.status == "ok" and record.case.mode == "training" and record.case.allocator == "default"
        if (fixed := series.ok(under(record.case, "fixed"))) is not None
    ]


def _states(record: Record) -> int:
    """Weights, gradients and optimizer state in bytes; 0 when they were not counted."""
    counted = record.summary.component_bytes
    return 0 if counted is None else counted.weights + counted.gradients + counted.optimizer_state


def line_of(record: Record, name: str, detail: str = "") -> Line:
    """One record as a row of components, or as its status."""
    peak = record.summary.peak_bytes
    if record.status != "ok" or peak is None:
        return Line(name, (), STATUS_NAMES[record.status])
    return Line(name, tuple(_parts(record, peak)), megabytes(peak), label_detail=detail)


def _parts(record: Record, peak: int) -> Sequence[Part]:
    """The components of a peak; one undivided part where they were not counted, or do not fit in it."""
    counted, rest = record.summary.component_bytes, peak - _states(record)
    if counted is None or rest < 0:
        return [Part("phase", peak, "Pic, non réparti", megabytes(peak))]
    sizes: dict[Component, int] = {
        "weights": counted.weights,
        "gradients": counted.gradients,
        "optimizer_state": counted.optimizer_state,
        "activations": rest,
    }
    return [Part(component, size, COMPONENT_NAMES[component], megabytes(size)) for component, size in sizes.items()]


def _growth(smaller: Record, larger: Record) -> str:
    """What the larger batch adds to the peak."""
    if smaller.summary.peak_bytes is None or larger.summary.peak_bytes is None:
        return ""
    return f"+{megabytes(larger.summary.peak_bytes - smaller.summary.peak_bytes)}".replace("+−", "−")


def _fix_line(record: Record, name: str, whole: int) -> Line:
    """A fix with its saving in evidence; the full run with its peak."""
    line = line_of(record, name)
    peak = record.summary.peak_bytes
    if record.case == TRAINING_8 or not line.parts or peak is None:
        return line
    return Line(name, line.parts, change(peak / whole - 1), line.figure)


def _step_one(record: Record) -> Reference | None:
    """The peak of the first step, to see whether a second one stands above it."""
    first, *others = record.summary.step_peak_bytes
    return Reference(first, f"Pic de l’étape 1{NO_BREAK}: {megabytes(first)}") if first and others else None


def _phase_line(peak: PhasePeak, highest: int) -> Line:
    """A phase as a row; the one that makes the peak stands out."""
    if peak.net_bytes is None:
        return Line(peak.name, (), "inconnu")
    component: Component = "peak" if peak.net_bytes == highest else "phase"
    figure = megabytes(peak.net_bytes)
    return Line(peak.name, (Part(component, peak.net_bytes, "Pic net", figure),), figure)


def _size_name(record: Record) -> str:
    """The case with its batch and length in their shortest form: « Entraînement, 8 × 256 »."""
    size = f"lot de {record.case.batch_size}, {record.case.sequence_length} jetons"
    shortest = f"{record.case.batch_size}{NO_BREAK}×{NO_BREAK}{record.case.sequence_length}"
    return short_label(record.case).replace(size, shortest)


def _training_name(record: Record) -> str:
    """The same where all are training cases: « 8 × 256, bfloat16 »."""
    return _size_name(record).removeprefix("Entraînement, ")


def _pair(fixed: Record, default: Record) -> Pair:
    """One case under both allocators."""
    low, high = fixed.summary.peak_bytes or 0, default.summary.peak_bytes or 0
    name = _training_name(default)
    hovers = (f"{name}<br>Seuil fixe{NO_BREAK}: {megabytes(low)}", f"{name}<br>Par défaut{NO_BREAK}: {megabytes(high)}")
    return Pair(name, low, high, change(low / high - 1), f"{megabytes(high)} → {megabytes(low)}", hovers)
