"""What passes in the heap, from storages written by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from sitegen.workload.live import Storage
from sitegen.workload.profiles import HEAP_BELOW_BYTES, passing_heap_bytes
from sitegen.workload.timeline import Span


def _storage(size_bytes: int, born: int, died: int | None) -> Storage:
    """A storage with a life."""
    storage = Storage(size_bytes, born, (size_bytes,), 1)
    storage.died = died
    return storage


def _recording(spans: list[Span], *storages: Storage) -> Any:  # what a recording offers, without a model
    """A run of ten operations."""
    return SimpleNamespace(live=SimpleNamespace(storages=storages, operations=["op"] * 10), spans=spans)


STEPS = [
    Span(1, "forward", 0, 3),
    Span(2, "forward", 3, 6),
    Span(2, "backward", 6, 9),
    Span(2, "optimizer_step", 9, 10),
]


def test_the_small_tensors_of_the_last_steps_passes_count_at_their_most() -> None:
    staying, first_step = _storage(1000, 0, None), _storage(900, 1, 2)
    together = _storage(100, 4, 8), _storage(20, 7, 8)
    alone = _storage(110, 8, 9)
    assert passing_heap_bytes(_recording(STEPS, staying, first_step, *together, alone)) == 120


def test_tensors_that_glibc_maps_on_their_own_do_not_count() -> None:
    assert passing_heap_bytes(_recording(STEPS, _storage(HEAP_BELOW_BYTES, 4, 8))) == 0
    assert passing_heap_bytes(_recording(STEPS, _storage(HEAP_BELOW_BYTES - 1, 4, 8))) == HEAP_BELOW_BYTES - 1


def test_what_the_optimizer_makes_is_no_pass() -> None:
    assert passing_heap_bytes(_recording(STEPS, _storage(100, 9, None))) == 0
    assert passing_heap_bytes(_recording([Span(1, "decode", 0, 10)], _storage(100, 4, 8))) == 0
