"""What lives at each operation, as polynomials: two recordings of one family, told apart by a `Signature`.

Both models run the same operations and make the same storages in the same order; each storage's size in both gives its
formula, and what lives at an operation is a sum of such formulas.
"""

from __future__ import annotations

from collections import defaultdict
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


class SymbolicPhase(NamedTuple):
    """One run of one phase: what lives when each operation has just returned."""

    step: int
    name: str
    operations: tuple[str, ...]
    states: tuple[Terms, ...]


def phases(first: Recording, second: Recording, signature: Signature) -> list[SymbolicPhase]:
    """The phases of two recordings, in symbols.

    Args:
        first: of the model that has the signature's first dimensions.
        second: of the one that has its second.
        signature: tells what a size is a product of.

    Raises:
        ModelError: the two did not do the same, or a size has no formula.
    """
    _alike(first, second)
    born, died = _changes(first, second, signature)
    states = _running(len(first.live.operations), born, died)
    return [
        SymbolicPhase(
            span.step,
            span.name,
            tuple(first.live.operations[span.start : span.end]),
            tuple(states[span.start : span.end]),
        )
        for span in first.spans
    ]


def _alike(first: Recording, second: Recording) -> None:
    """Refuse two recordings that are not of the same operations and storages."""
    same = first.live.operations == second.live.operations and first.spans == second.spans
    pairs = zip(first.live.storages, second.live.storages, strict=False)
    if (
        not same
        or len(first.live.storages) != len(second.live.storages)
        or any((one.born, one.died) != (other.born, other.died) for one, other in pairs)
    ):
        raise ModelError("The operations of this family change with its dimensions.", "Trace each model of it.")


def _changes(
    first: Recording, second: Recording, signature: Signature
) -> tuple[dict[int, list[tuple[str, Polynomial]]], dict[int, list[tuple[str, Polynomial]]]]:
    """The storages by the operation that they are born at, and by the one that they are gone at."""
    roles = Roles(first.live, first.spans, first.vocabulary)
    born: dict[int, list[tuple[str, Polynomial]]] = defaultdict(list)
    died: dict[int, list[tuple[str, Polynomial]]] = defaultdict(list)
    for one, other in zip(first.live.storages, second.live.storages, strict=True):
        entry = roles.of(one), _formula(one, other, signature)
        born[one.born].append(entry)
        if one.died is not None:
            died[one.died].append(entry)
    return born, died


def _formula(one: Storage, other: Storage, signature: Signature) -> Polynomial:
    """The bytes of a storage."""
    return signature.storage((one.shape, other.shape), (one.size_bytes, other.size_bytes), one.item_bytes)


def _running(
    operations: int,
    born: dict[int, list[tuple[str, Polynomial]]],
    died: dict[int, list[tuple[str, Polynomial]]],
) -> list[Terms]:
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
