"""What lives at every operation of a run, by component: what a deeper model's peak is foretold from."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from typing import Final

from sitegen.memory.depth import Profile, Row
from sitegen.records.trace import LiveComponents
from sitegen.workload.live import Storage
from sitegen.workload.timeline import Roles
from sitegen.workload.trace import Recording

COMPONENTS: Final = LiveComponents.__struct_fields__
"""The order of a row."""

HEAP_BELOW_BYTES: Final = 131_072 - 104
"""Tensors that glibc serves from its heap although its mmap threshold is fixed at 128 KiB.

PyTorch asks for blocks aligned to 64 bytes; for these, glibc asks itself for the alignment, a smallest chunk (32 bytes)
and a header (8) more.
"""

_PASSES: Final = ("forward", "backward")


def profiles(recording: Recording, granularity_bytes: int = 1) -> tuple[Profile, ...]:
    """Each phase, in the order in which they ran.

    Args:
        recording: of a run.
        granularity_bytes: what an allocator rounds each storage up to.
    """
    rows = _rows(recording, granularity_bytes)
    operations = recording.live.operations
    return tuple(
        Profile(span.step, span.name, tuple(operations[span.start : span.end]), tuple(rows[span.start : span.end]))
        for span in recording.spans
    )


def passing_heap_bytes(recording: Recording) -> int:
    """The most that small tensors of the last step's forward and backward hold at once, beyond what was there before.

    They lie in glibc's heap, which before glibc 2.38 does not use an aligned block that was freed for the next one of
    its size (bug 14581 of glibc): what a pass has freed may still be resident in the following ones.
    """
    last = [span for span in recording.spans if span.step == recording.spans[-1].step]
    passes = [span for span in last if span.name in _PASSES]
    if not passes:
        return 0
    small = [storage for storage in recording.live.storages if storage.size_bytes < HEAP_BELOW_BYTES]
    live = _live(small, len(recording.live.operations), 1)[passes[0].start : passes[-1].end]
    return max(live) - live[0]


def _rows(recording: Recording, granularity_bytes: int) -> list[Row]:
    """The live bytes of each component at each operation of the whole run."""
    roles = Roles(recording.live, recording.spans, recording.vocabulary)
    by_role: dict[str, list[Storage]] = {name: [] for name in COMPONENTS}
    for storage in recording.live.storages:
        by_role[roles.of(storage)].append(storage)
    count = len(recording.live.operations)
    return list(zip(*(_live(by_role[name], count, granularity_bytes) for name in COMPONENTS), strict=True))


def _live(storages: Iterable[Storage], count: int, granularity_bytes: int) -> list[int]:
    """The bytes of those that live when each of `count` operations has just returned."""
    changes = [0] * (count + 1)
    for storage in storages:
        size_bytes = -(-storage.size_bytes // granularity_bytes) * granularity_bytes
        changes[min(storage.born, count)] += size_bytes
        changes[count if storage.died is None else min(storage.died, count)] -= size_bytes
    return list(accumulate(changes[:count]))
