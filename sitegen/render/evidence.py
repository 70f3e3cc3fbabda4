"""Reading a series for the prose: every figure asked for must exist, and the records that gave it are remembered."""

from __future__ import annotations

from typing import Literal

from sitegen.errors import ContentError
from sitegen.memory.published import Comparison
from sitegen.memory.validation import Compared
from sitegen.records.case import Allocator, Case, option_name
from sitegen.records.model import Record
from sitegen.render.labels import STATUS_NAMES
from sitegen.render.series import Series

Component = Literal["weights", "gradients", "optimizer_state"]


class MissingFigureError(ContentError):
    """A figure that no successful record holds: the page that needs it cannot be rendered."""


class Evidence:
    """Look-ups in one series that cannot fail silently; `used` keeps the records that answered, in order."""

    def __init__(self, series: Series) -> None:
        self._series = series
        self.used: list[Record] = []

    def record(self, case: Case) -> Record:
        """The successful record of a case; raises `MissingFigureError` with the command that measures it."""
        record = self._series.get(case)
        if record is None or record.status != "ok":
            state = "is not measured" if record is None else f"ended as {record.status} ({STATUS_NAMES[record.status]})"
            raise MissingFigureError(
                f"the case {case.id} {state} in {self._series.name}", f"Measure it: {command(case)}"
            )
        if record not in self.used:
            self.used.append(record)
        return record

    def peak(self, case: Case) -> int:
        """Net peak in bytes."""
        return self._known(case, "peak_bytes", self.record(case).summary.peak_bytes)

    def load_peak(self, case: Case) -> int:
        """Net peak of loading in bytes."""
        return self._known(case, "load_peak_bytes", self.record(case).summary.load_peak_bytes)

    def baseline(self, case: Case) -> int:
        """What Python and the libraries hold before any model, in bytes."""
        return self._known(case, "baseline_bytes", self.record(case).summary.baseline_bytes)

    def step(self, case: Case, number: int) -> int:
        """Net peak of one step in bytes; the first is number 1."""
        peaks = self.record(case).summary.step_peak_bytes
        return self._known(case, f"step_peak_bytes[{number - 1}]", peaks[number - 1] if number <= len(peaks) else None)

    def phase(self, case: Case, name: str) -> int:
        """Net peak of one phase of the last step in bytes."""
        return self._known(case, f"phase_peak_bytes.{name}", self.record(case).summary.phase_peak_bytes.get(name))

    def component(self, case: Case, name: Component) -> int:
        """Live bytes of one component after the last step."""
        components = self.record(case).summary.component_bytes
        return self._known(case, f"component_bytes.{name}", None if components is None else getattr(components, name))

    def activations(self, case: Case) -> int:
        """What the peak holds beside weights, gradients and optimizer state, in bytes."""
        states = sum(self.component(case, name) for name in ("weights", "gradients", "optimizer_state"))
        return self.peak(case) - states

    def states(self, case: Case) -> int:
        """Weights, gradients and optimizer state in bytes."""
        return self.peak(case) - self.activations(case)

    def change(self, case: Case, reference: Case) -> float:
        """Relative change of the peak."""
        return self.peak(case) / self.peak(reference) - 1

    def parameters(self, case: Case) -> int:
        """How many parameters the model has."""
        return self._known(case, "parameters", self.record(case).summary.parameters)

    def trainable(self, case: Case) -> int:
        """How many parameters receive gradients."""
        return self._known(case, "trainable_parameters", self.record(case).summary.trainable_parameters)

    def compared(self, allocator: Allocator) -> tuple[Compared, ...]:
        """The records under an allocator that have an estimate beside them: at least one."""
        rows = tuple(row for row in self._series.compared if row.record.case.allocator == allocator)
        if not rows:
            what = f"no case under the {allocator} allocator has both a record and a trace in {self._series.name}"
            raise MissingFigureError(what, "Trace them: sitegen trace")
        return rows

    def published(self) -> tuple[Comparison, ...]:
        """The runs that others published: at least one of them with an estimate."""
        if not any(row.estimated_bytes is not None for row in self._series.published):
            raise MissingFigureError(
                "no published run has a trace", "Restore measurements/published from version control."
            )
        return self._series.published

    def step_duration(self, case: Case) -> int:
        """Duration of the last step in nanoseconds."""
        durations = self.record(case).summary.step_duration_ns
        return self._known(case, "step_duration_ns", durations[-1] if durations else None)

    def duration(self, case: Case) -> int:
        """Duration of the whole process in nanoseconds, imports and loading included."""
        return self.record(case).samples[-1].duration_ns

    def _known(self, case: Case, field: str, value: int | None) -> int:
        """The value, or `MissingFigureError` where the record does not know it."""
        if value is None:
            raise MissingFigureError(
                f"the record of {case.id} does not know {field}", f"Measure it: {command(case)} --force"
            )
        return value


def command(case: Case) -> str:
    """The command line that measures a case."""
    words = ["sitegen measure", "--mode", case.mode]
    for field, value in case.changed().items():
        if field == "mode":
            continue
        if isinstance(value, bool):
            words.append(option_name(field))
        else:
            words += [option_name(field), ",".join(value) if isinstance(value, tuple) else str(value)]
    return " ".join(words)
