"""An estimate as a person reads it in a terminal."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table

from sitegen.memory.advice import Advice
from sitegen.memory.estimate import Estimate
from sitegen.memory.intervals import Interval
from sitegen.units import MB_BYTES, readable

_WIDTH = 110


def estimate_report(estimate: Estimate, advice: Sequence[Advice]) -> str:
    """The peak and its interval, the phases, the components, the verdicts, and what to change first."""
    parts: list[RenderableType] = [*_head(estimate), _phases(estimate), _components(estimate)]
    if estimate.verdicts:
        parts.append(_verdicts(estimate))
    if advice:
        parts.append(_advice(advice))
    parts += _foot(estimate)
    console = Console(file=io.StringIO(), width=_WIDTH, color_system=None, markup=False, highlight=False)
    for part in parts:
        console.print(part)
    text: str = console.file.getvalue()  # type: ignore[attr-defined]  # the StringIO given above
    return "\n".join(line.rstrip() for line in text.splitlines())


def _head(estimate: Estimate) -> Iterable[str]:
    """The figures that one looks for."""
    yield f"{estimate.model}: {estimate.parameters:,} parameters, {estimate.trainable_parameters:,} trainable"
    yield f"Peak: {readable(estimate.peak_bytes)}, in the {estimate.phase} of step {estimate.step}"
    if estimate.cuda is None:
        for name, interval in estimate.allocators.items():
            yield f"  allocator {name}: {_between(interval)}"
    else:
        lines = estimate.cuda
        yield f"  allocated: {readable(lines.allocated_bytes)} ({_between(lines.allocated_interval_bytes)})"
        yield f"  reserved:  {_between(lines.reserved_interval_bytes)}"
        yield f"  device:    {_between(lines.device_interval_bytes)}, most often near " + readable(
            lines.device_median_bytes
        )
    yield f"Loading: up to {readable(estimate.load_peak_bytes)}"


def _phases(estimate: Estimate) -> Table:
    """The peak of each phase of each step."""
    table = _table("Phase", "Step", "Peak")
    for phase in estimate.phases:
        mark = " <- peak" if (phase.step, phase.name) == (estimate.step, estimate.phase) else ""
        table.add_row(phase.name, str(phase.step), readable(phase.peak_bytes) + mark)
    return table


def _components(estimate: Estimate) -> Table:
    """What the peak is made of, the largest first."""
    table = _table("At the peak", "Size", "Share")
    for name, size_bytes in sorted(estimate.components.items(), key=lambda item: -item[1]):
        if size_bytes >= MB_BYTES:
            table.add_row(name.replace("_", " "), readable(size_bytes), f"{size_bytes / estimate.peak_bytes:.0%}")
    return table


def _verdicts(estimate: Estimate) -> Table:
    """Whether it fits."""
    table = _table("Card", "Memory", "Verdict", "Needs")
    for one in estimate.verdicts:
        table.add_row(one.card, readable(one.total_bytes), one.verdict, _between(one.needed_bytes))
    return table


def _advice(advice: Sequence[Advice]) -> Table:
    """What to change first."""
    table = _table("Change", "Gain", "Peak then", "Price")
    for one in advice:
        table.add_row(one.change, readable(one.gain_bytes), readable(one.peak_bytes), one.price)
    return table


def _foot(estimate: Estimate) -> Iterable[str]:
    """Where the figures come from."""
    versions = ", ".join(f"{name} {version}" for name, version in estimate.stack.items())
    depth = ", ".join(str(count) for count in estimate.traced_layers)
    traced = f" (layers traced: {depth})" if depth else ""
    yield f"Source: {estimate.source} with {versions}{traced}."
    yield from estimate.notes


def _table(*headers: str) -> Table:
    """A plain table."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for header in headers:
        table.add_column(header, justify="right" if header in ("Step", "Size", "Share", "Gain", "Memory") else "left")
    return table


def _between(interval: Interval) -> str:
    """An interval."""
    return f"{readable(interval[0])} to {readable(interval[1])}"
