"""What lived at an operation, by component: arithmetic on what `LiveBytes` has recorded."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from itertools import pairwise
from typing import Final, NamedTuple

from sitegen.records.trace import LiveComponents, PhaseTrace, StepTrace
from sitegen.workload.live import LiveBytes, Storage

_BACKWARD: Final = "backward"


class Span(NamedTuple):
    """One run of one phase: its operations are ``start`` to ``end - 1``."""

    step: int
    name: str
    start: int
    end: int


def steps_of(live: LiveBytes, spans: list[Span], vocabulary: int) -> tuple[StepTrace, ...]:
    """The steps that the spans are parts of, each phase with its peak.

    Args:
        live: what was recorded.
        spans: the phases, in the order in which they ran.
        vocabulary: number of token ids, the last dimension of logits.
    """
    roles = Roles(live, spans, vocabulary)
    steps: dict[int, list[PhaseTrace]] = defaultdict(list)
    for span in spans:
        steps[span.step].append(_phase(live, span, roles))
    return tuple(StepTrace(phases=tuple(phases)) for phases in steps.values())


def _phase(live: LiveBytes, span: Span, roles: Roles) -> PhaseTrace:
    """One run of one phase."""
    live_bytes = tuple(live.live_bytes[span.start : span.end])
    peak_bytes = max(live_bytes)
    peak = live_bytes.index(peak_bytes)
    return PhaseTrace(
        name=span.name,
        operations=tuple(live.operations[span.start : span.end]),
        live_bytes=live_bytes,
        peak_bytes=peak_bytes,
        peak_operation=peak,
        components=_components(live, span.start + peak, roles),
    )


def _components(live: LiveBytes, operation: int, roles: Roles) -> LiveComponents:
    """Bytes that live when the operation has just returned, by component."""
    totals: dict[str, int] = defaultdict(int)
    for storage in live.storages:
        if storage.born <= operation and _lives_until(storage, operation + 1):
            totals[roles.of(storage)] += storage.size_bytes
    return LiveComponents(**totals)


def _lives_until(storage: Storage, operation: int) -> bool:
    """Whether the storage was still there when `operation` operations had returned."""
    return storage.died is None or storage.died >= operation


class Roles:
    """What each storage is for; where nobody said, its shape and the time of its death tell."""

    def __init__(self, live: LiveBytes, spans: list[Span], vocabulary: int) -> None:
        self._vocabulary = vocabulary
        self._spans = spans
        self._starts = [span.start for span in spans]
        self._forwards = {span for span, following in pairwise(spans) if following.name == _BACKWARD}
        self._recording = live.recording
        self._silent = [i for i, recording in enumerate(live.recording) if not recording]

    def of(self, storage: Storage) -> str:
        """The component's name, a field of `LiveComponents`."""
        if storage.role is not None:
            return storage.role
        if storage.last_dimension == self._vocabulary:
            return "logits_and_loss"
        return "saved_activations" if self._is_saved(storage) else "temporaries"

    def _is_saved(self, storage: Storage) -> bool:
        """Whether it outlives the forward, or the recomputation during the backward, in which it was born."""
        span = self._span_of(storage)
        if span in self._forwards:
            return _lives_until(storage, span.end + 1)
        if span is None or span.name != _BACKWARD or not self._recording[storage.born]:
            return False
        index = bisect_right(self._silent, storage.born)
        return index < len(self._silent) and _lives_until(storage, self._silent[index] + 1)

    def _span_of(self, storage: Storage) -> Span | None:
        """The phase in which it was born; ``None`` between phases, where the batch is drawn."""
        index = bisect_right(self._starts, storage.born) - 1
        return self._spans[index] if index >= 0 and storage.born < self._spans[index].end else None
