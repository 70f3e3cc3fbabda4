"""Samples in, the figures that everyone reads out."""

from __future__ import annotations

import statistics
from collections.abc import Iterable

from sitegen.records.case import Case
from sitegen.records.model import PHASES, Sample, Status, Step, Summary


def status_of(samples: tuple[Sample, ...]) -> tuple[Status, str | None]:
    """The record's status and reason: those of the first sample that did not end well, else ok."""
    for sample in samples:
        if sample.status != "ok":
            return sample.status, sample.reason
    return "ok", None


def summarise(case: Case, samples: tuple[Sample, ...]) -> Summary:
    """The summary of a case's samples; no peak at all unless every sample ended well."""
    status, _ = status_of(samples)
    good = samples if status == "ok" else ()
    peaks = [peak for peak in (net_peak_bytes(sample) for sample in good) if peak is not None]
    chosen = _median_sample(good) or samples[0]
    shown = bool(good)
    steps = chosen.steps if shown else ()
    base = chosen.baseline_bytes
    return Summary(
        status=status,
        peak_bytes=net_peak_bytes(chosen) if shown else None,
        load_peak_bytes=_net(chosen.load_peak_bytes, base) if shown else None,
        baseline_bytes=base,
        step_peak_bytes=tuple(_net(_step_peak(step), base) for step in steps),
        phase_peak_bytes=_phase_peaks(case, steps, base),
        step_duration_ns=tuple(step.duration_ns for step in steps),
        parameters=chosen.parameters,
        trainable_parameters=chosen.trainable_parameters,
        component_bytes=chosen.components if shown else None,
        allocator=case.allocator,
        samples=len(samples),
        peak_range_bytes=(min(peaks), max(peaks)) if peaks else None,
    )


def net_peak_bytes(sample: Sample) -> int | None:
    """Highest peak of the phases, less the baseline; of the whole process where phases cannot be told apart."""
    if not sample.steps:
        return None
    steps = [_step_peak(step) for step in sample.steps]
    gross = sample.process_peak_bytes if None in steps else _highest(steps)
    return _net(gross, sample.baseline_bytes)


def _median_sample(samples: tuple[Sample, ...]) -> Sample | None:
    """The sample whose peak is the (lower) median."""
    if not samples:
        return None
    return sorted(samples, key=lambda sample: net_peak_bytes(sample) or 0)[(len(samples) - 1) // 2]


def _step_peak(step: Step) -> int | None:
    """Gross peak of a step: the maximum over its phases, unknown when one of them is."""
    peaks = [phase.peak_rss_bytes for phase in step.phases.values()]
    return None if None in peaks else _highest(peaks)


def _phase_peaks(case: Case, steps: tuple[Step, ...], baseline_bytes: int | None) -> dict[str, int | None]:
    """Net peak of each phase of the last step."""
    if not steps:
        return {}
    last = steps[-1].phases
    return {name: _net(last[name].peak_rss_bytes, baseline_bytes) for name in PHASES[case.mode] if name in last}


def _highest(peaks: Iterable[int | None]) -> int | None:
    """The maximum of what is known."""
    return max((peak for peak in peaks if peak is not None), default=None)


def _net(gross_bytes: int | None, baseline_bytes: int | None) -> int | None:
    """What stands above the baseline."""
    return None if gross_bytes is None or baseline_bytes is None else gross_bytes - baseline_bytes


def spread(samples: tuple[Sample, ...]) -> float | None:
    """Relative spread of the net peaks, (max - min) / median; ``None`` below two samples."""
    peaks = [peak for peak in map(net_peak_bytes, samples) if peak is not None]
    return (max(peaks) - min(peaks)) / statistics.median(peaks) if len(peaks) > 1 else None
