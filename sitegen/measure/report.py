"""A record as a person reads it in a terminal."""

from __future__ import annotations

from sitegen.measure.display import outcome
from sitegen.records.model import Record
from sitegen.records.summary import spread
from sitegen.units import NS_PER_S, readable


def record_report(record: Record) -> str:
    """The case, its outcome, its peaks by step and phase, its components and the spread of its samples."""
    summary = record.summary
    lines = [record.case_id, f"  {outcome(record)}", f"  loading: {readable(summary.load_peak_bytes)}"]
    for number, (peak, spent) in enumerate(zip(summary.step_peak_bytes, summary.step_duration_ns, strict=True), 1):
        lines.append(f"  step {number}: {readable(peak)}, {spent / NS_PER_S:.1f} s")
    lines += [f"  {name} (last step): {readable(peak)}" for name, peak in summary.phase_peak_bytes.items()]
    if summary.component_bytes is not None:
        parts = summary.component_bytes
        lines.append(
            f"  live tensors: weights {readable(parts.weights)}, gradients {readable(parts.gradients)}, "
            f"optimizer state {readable(parts.optimizer_state)}"
        )
    between = spread(record.samples)
    if between is not None and summary.peak_range_bytes is not None:
        low, high = summary.peak_range_bytes
        lines.append(f"  {summary.samples} samples: {readable(low)} to {readable(high)}, spread {between:.2%}")
    return "\n".join(lines)
