"""What lives at each operation, as polynomials: two recordings of one family, told apart by a `Signature`.

Both models run the same operations and make the same storages in the same order; each storage's size in both gives its
formula, and what lives at an operation is a sum of such formulas.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

from sitegen.errors import ModelError
from sitegen.memory.polynomials import Polynomial
from sitegen.memory.signatures import Signature
from sitegen.workload.live import Storage
from sitegen.workload.timeline import Roles
from sitegen.workload.trace import Recording

Term = tuple[str, str]
"""A component and a monomial."""

Terms = dict[Term, int]

Look = tuple[tuple[int, ...], int, int]
"""Of a storage: the shape under which it was first seen, its bytes, and those of an element."""

Changes = defaultdict[int, list[tuple[str, Polynomial]]]
"""What is born or gone at an operation: the component and the bytes of each storage."""


class SymbolicPhase(NamedTuple):
    """One run of one phase: what lives when each operation has just returned."""

    step: int
    name: str
    operations: tuple[str, ...]
    states: tuple[Terms, ...]


class Formulas:
    """What the size of a storage is a product of, by what the storage looks like in the first of two models.

    Recordings of one model with other options are made of the same tensors, so the second model is traced only for
    those that have something new. Two storages that look alike and are not are never taken for one another.
    """

    def __init__(self) -> None:
        self._known: dict[Look, Polynomial | None] = {}

    def of(
        self, first: Recording, second: Callable[[], Recording], signature: Callable[[], Signature]
    ) -> list[Polynomial]:
        """The formula of each storage of a recording.

        Args:
            first: of the model that has the signature's first dimensions.
            second: makes the recording of the one that has its second, when it is needed.
            signature: makes what tells of which dimensions a size is a product.

        Raises:
            ModelError: the two models did not do the same, or a size has no formula.
        """
        known = [self._known.get(_look(storage)) for storage in first.live.storages]
        found = [formula for formula in known if formula is not None]
        return found if len(found) == len(known) else self._read(first, second(), signature())

    def _read(self, first: Recording, second: Recording, signature: Signature) -> list[Polynomial]:
        """The formulas from both models, kept for other recordings."""
        _alike(first, second)
        found: list[Polynomial] = []
        for one, other in zip(first.live.storages, second.live.storages, strict=True):
            formula, look = _formula(one, other, signature), _look(one)
            found.append(formula)
            self._known[look] = formula if self._known.get(look, formula) == formula else None
        return found


def phases(recording: Recording, formulas: Sequence[Polynomial]) -> list[SymbolicPhase]:
    """The phases of a recording, in symbols; `formulas` are those of its storages."""
    born, died = _changes(recording, formulas)
    operations = recording.live.operations
    states = _running(len(operations), born, died)
    return [
        SymbolicPhase(
            span.step, span.name, tuple(operations[span.start : span.end]), tuple(states[span.start : span.end])
        )
        for span in recording.spans
    ]


def _look(storage: Storage) -> Look:
    """What a storage looks like."""
    return storage.shape, storage.size_bytes, storage.item_bytes


def _alike(first: Recording, second: Recording) -> None:
    """Refuse two recordings that are not of the same operations and storages."""
    same = first.live.operations == second.live.operations and first.spans == second.spans
    if not same or _lives(first) != _lives(second):
        raise ModelError("The operations of this family change with its dimensions.", "Trace each model of it.")


def _lives(recording: Recording) -> list[tuple[int, int]]:
    """When each storage is born and gone; what happens after the last operation is the garbage collector's affair."""
    end = len(recording.live.operations)
    return [
        (storage.born, end if storage.died is None else min(storage.died, end)) for storage in recording.live.storages
    ]


def _changes(recording: Recording, formulas: Sequence[Polynomial]) -> tuple[Changes, Changes]:
    """The storages by the operation that they are born at, and by the one that they are gone at."""
    roles = Roles(recording.live, recording.spans, recording.vocabulary)
    born: Changes = defaultdict(list)
    died: Changes = defaultdict(list)
    for storage, formula in zip(recording.live.storages, formulas, strict=True):
        entry = roles.of(storage), formula
        born[storage.born].append(entry)
        if storage.died is not None:
            died[storage.died].append(entry)
    return born, died


def _formula(one: Storage, other: Storage, signature: Signature) -> Polynomial:
    """The bytes of a storage."""
    return signature.storage((one.shape, other.shape), (one.size_bytes, other.size_bytes), one.item_bytes)


def _running(operations: int, born: Changes, died: Changes) -> list[Terms]:
    """What lives at each operation; one that changes nothing shares the entry of the one before."""
    now: defaultdict[Term, int] = defaultdict(int)
    states: list[Terms] = []
    for index in range(operations):
        changes = [(1, *entry) for entry in born.get(index, ())] + [(-1, *entry) for entry in died.get(index, ())]
        for sign, component, polynomial in changes:
            for monomial, coefficient in polynomial.items():
                now[component, monomial] += sign * int(coefficient)  # parts of a byte are quotients, never fractions
        if changes or not states:
            states.append({term: coefficient for term, coefficient in now.items() if coefficient})
        else:
            states.append(states[-1])
    return states
