"""The peaks of a record, phase by phase through its steps, under French names."""

from __future__ import annotations

from dataclasses import dataclass

from sitegen.french import NO_BREAK
from sitegen.records.model import PHASES, Record, Sample
from sitegen.render.labels import PHASE_NAMES
from sitegen.render.record_tables import summarised


@dataclass(frozen=True, slots=True)
class PhasePeak:
    """One phase: its net peak in bytes (``None`` when unknown) and how long it lasted."""

    name: str
    net_bytes: int | None
    duration_ns: int | None


def phase_peaks(record: Record) -> list[PhasePeak]:
    """Loading, then each phase of each step, of the process that the summary speaks of."""
    sample = summarised(record)
    loading = PhasePeak(PHASE_NAMES["load"], _net(sample, sample.load_peak_bytes), sample.load_duration_ns)
    steps = [
        PhasePeak(_phase_name(name, number), _net(sample, phase.peak_rss_bytes), phase.duration_ns)
        for number, step in enumerate(sample.steps, start=1)
        for name in PHASES[record.case.mode]
        if (phase := step.phases.get(name)) is not None
    ]
    return [loading, *steps]


def _phase_name(phase: str, step: int) -> str:
    """E.g. « Étape 2 : passe avant »."""
    return f"Étape {step}{NO_BREAK}: {PHASE_NAMES[phase].lower()}"


def _net(sample: Sample, gross_bytes: int | None) -> int | None:
    """Without the baseline; unknown when either is."""
    if gross_bytes is None or sample.baseline_bytes is None:
        return None
    return gross_bytes - sample.baseline_bytes
