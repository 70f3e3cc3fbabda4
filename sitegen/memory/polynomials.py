"""From a few traces, the live bytes of any batch size and sequence length: exact polynomials, and the few that matter.

The operations of a case do not change with its batch size b and its sequence length s, and what lives at each of them
is a polynomial of degree 1 in b and 2 in s (the square is that of attention). Six traces solve it, further ones prove
it to the byte. Of the thousands of operations only a few can be the peak; the others are dropped, by proof as well.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product
from typing import Final, NamedTuple

import msgspec

from sitegen.errors import ModelError
from sitegen.records.trace import Trace

_TRACE_IT: Final = "Trace this very case instead."


class Polynomial(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, order=True):
    """``fixed + b·batch + s·length + s²·length_squared + b·s·token + b·s²·pair``, all in bytes."""

    fixed: int
    batch: int
    length: int
    length_squared: int
    token: int
    pair: int

    def at(self, batch_size: int, sequence_length: int) -> int:
        """Bytes at one batch size and one sequence length."""
        once = self.fixed + sequence_length * (self.length + sequence_length * self.length_squared)
        each = self.batch + sequence_length * (self.token + sequence_length * self.pair)
        return once + batch_size * each


class PhaseEnvelope(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The peak of one phase of one step: the greatest of the polynomials."""

    name: str
    polynomials: tuple[Polynomial, ...]

    def peak_bytes(self, batch_size: int, sequence_length: int) -> int:
        """The peak at one batch size and one sequence length."""
        return max(polynomial.at(batch_size, sequence_length) for polynomial in self.polynomials)


class Box(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Batch sizes and sequence lengths, the bounds included."""

    smallest_batch: int
    largest_batch: int
    shortest: int
    longest: int


class Fitted(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a regime of a case takes anywhere in a box.

    A regime is a sequence of operations: `operations_sha256` names it, and a case whose trace has another one (a batch
    of one sequence expands nothing; a window may be longer than the sequence) is not described by these polynomials.
    `steps` holds, for each step, its phases in the order in which they ran.
    """

    operations_sha256: str
    box: Box
    steps: tuple[tuple[PhaseEnvelope, ...], ...]

    def peak_bytes(self, batch_size: int, sequence_length: int) -> int:
        """The peak over all phases of all steps."""
        return max(phase.peak_bytes(batch_size, sequence_length) for step in self.steps for phase in step)


SEQUENCES: Final = Box(smallest_batch=2, largest_batch=256, shortest=16, longest=16384)
ONE_SEQUENCE: Final = msgspec.structs.replace(SEQUENCES, smallest_batch=1, largest_batch=1)
BATCHES_TRACED: Final = (2, 3)
LENGTHS_TRACED: Final = (32, 48, 80)
UNSEEN: Final = ((5, 144),)


def points_to_trace(box: Box) -> tuple[tuple[int, int], ...]:
    """The (batch size, sequence length) to trace for `fit`: those that solve, then those that prove."""
    batches = BATCHES_TRACED if box.largest_batch > box.smallest_batch else (box.smallest_batch,)
    unseen = [(min(batch, box.largest_batch), length) for batch, length in UNSEEN]
    return (*product(batches, LENGTHS_TRACED), *unseen)


def regime(trace: Trace) -> str:
    """SHA-256 of the names of all the operations, in their order, with the phases that they are parts of."""
    digest = hashlib.sha256()
    for phase in (phase for step in trace.steps for phase in step.phases):
        digest.update("\n".join((phase.name, *phase.operations, "")).encode())
    return digest.hexdigest()


def fit(traces: Sequence[Trace], box: Box) -> Fitted:
    """The polynomials that can be the peak somewhere in the box.

    Args:
        traces: one for each of `points_to_trace`, in any order, of cases that differ in nothing else.
        box: where the polynomials will be used; with one batch size, b stays out of them.

    Raises:
        ModelError: the traces are not of one regime, or the bytes of an operation are no such polynomial.
    """
    regimes = {regime(trace) for trace in traces}
    if len(regimes) != 1:
        raise ModelError(
            f"The operations of this model change with its batch size or sequence length ({len(regimes)} sequences).",
            _TRACE_IT,
        )
    points = [(trace.case.batch_size, trace.case.sequence_length) for trace in traces]
    steps = [
        tuple(
            PhaseEnvelope(
                name=phases[0].name,
                polynomials=envelope(_solve_all(points, [phase.live_bytes for phase in phases]), box),
            )
            for phases in zip(*(step.phases for step in same_step), strict=True)
        )
        for same_step in zip(*(trace.steps for trace in traces), strict=True)
    ]
    return Fitted(operations_sha256=regimes.pop(), box=box, steps=tuple(steps))


def solve(values: dict[tuple[int, int], int]) -> Polynomial:
    """The polynomial that takes these values (bytes) at these (batch size, sequence length).

    Three lengths solve it when all have one batch size, which then counts as no variable; else two batch sizes with the
    same three lengths. Every other value is a proof.

    Raises:
        ModelError: too few values, or no polynomial of this form with whole coefficients takes them.
    """
    batches = sorted({batch for batch, _ in values})[:2]
    lengths = sorted({length for _, length in values if all((batch, length) in values for batch in batches)})[:3]
    if len(lengths) < len(_SQUARES):
        raise ModelError("Too few traces to solve the polynomial.", "Trace at least three lengths a batch size.")
    rows = [_quadratic([(length, Fraction(values[batch, length])) for length in lengths]) for batch in batches]
    slopes = [Fraction(0)] * 3
    if len(batches) > 1:
        slopes = [(after - before) / (batches[1] - batches[0]) for before, after in zip(*rows, strict=True)]
    once = [value - batches[0] * slope for value, slope in zip(rows[0], slopes, strict=True)]
    return _proved(once, slopes, values)


def envelope(polynomials: Iterable[Polynomial], box: Box) -> tuple[Polynomial, ...]:
    """Those that are the greatest somewhere in the box, greatest fixed part last.

    The box is cut until, in each part, all that is not beaten by one other polynomial is known to be needed.
    """
    pool = set(polynomials)
    found = {_greatest(pool, batch, length) for batch, length in product(*_grid(box))}
    contenders = [one for one in pool - found if not any(_beats(other, one, box) for other in found)]
    _search([*found, *contenders], box, found)
    return tuple(sorted(found))


class _Square(NamedTuple):
    """Three values of a polynomial of degree 2 on an interval (its Bernstein coefficients bound it)."""

    at_start: int
    control: int
    at_end: int


_SQUARES: Final = _Square._fields


def _solve_all(points: list[tuple[int, int]], columns: list[tuple[int, ...]]) -> set[Polynomial]:
    """The polynomials of a phase's operations, each once; `columns` holds the live bytes of each point's trace."""
    return {solve(dict(zip(points, row, strict=True))) for row in set(zip(*columns, strict=True))}


def _quadratic(values: list[tuple[int, Fraction]]) -> list[Fraction]:
    """Coefficients, constant first, of the parabola through three points (Newton's divided differences)."""
    (x0, y0), (x1, y1), (x2, y2) = values
    slope = (y1 - y0) / (x1 - x0)
    curve = ((y2 - y1) / (x2 - x1) - slope) / (x2 - x0)
    return [y0 - x0 * slope + x0 * x1 * curve, slope - (x0 + x1) * curve, curve]


def _proved(once: list[Fraction], each: list[Fraction], values: dict[tuple[int, int], int]) -> Polynomial:
    """The polynomial with these coefficients, which must be whole and give every value."""
    whole = [int(coefficient) for coefficient in (*once, *each)]
    found = Polynomial(
        fixed=whole[0], length=whole[1], length_squared=whole[2], batch=whole[3], token=whole[4], pair=whole[5]
    )
    missed = [point for point, value in values.items() if found.at(*point) != value]
    if missed or whole != [*once, *each]:
        raise ModelError(
            f"The live bytes of an operation are no polynomial of batch size and sequence length (seen at {missed}).",
            _TRACE_IT,
        )
    return found


def _greatest(pool: Iterable[Polynomial], batch: int, length: int) -> Polynomial:
    """The greatest at one point; of several, always the same."""
    return max(pool, key=lambda one: (one.at(batch, length), one))


def _grid(box: Box) -> tuple[list[int], list[int]]:
    """Bounds and powers of two between them: where the search begins."""
    return _powers(box.smallest_batch, box.largest_batch), _powers(box.shortest, box.longest)


def _powers(smallest: int, largest: int) -> list[int]:
    """`smallest`, its doubles, and `largest`."""
    doubles = [smallest << i for i in range((largest // smallest).bit_length())]
    return [*(double for double in doubles if double < largest), largest]


def _search(contenders: list[Polynomial], box: Box, found: set[Polynomial]) -> None:
    """Add to `found` what is the greatest somewhere in the box."""
    known = [one for one in contenders if one in found]
    open_ones = [one for one in contenders if one not in found and not any(_beats(other, one, box) for other in known)]
    if not open_ones:
        return
    halves = _halves(box)
    if not halves:
        found.add(_greatest((*known, *open_ones), box.smallest_batch, box.shortest))
        return
    for half in halves:
        _search([*known, *open_ones], half, found)
        known = [one for one in (*known, *open_ones) if one in found]
        open_ones = [one for one in open_ones if one not in found]


def _halves(box: Box) -> tuple[Box, ...]:
    """The box cut where it is relatively longest; nothing for a single point."""
    wide, tall = box.largest_batch - box.smallest_batch, box.longest - box.shortest
    if not wide and not tall:
        return ()
    if wide * box.shortest >= tall * box.smallest_batch:
        middle = (box.smallest_batch + box.largest_batch) // 2
        return msgspec.structs.replace(box, largest_batch=middle), msgspec.structs.replace(
            box, smallest_batch=middle + 1
        )
    middle = (box.shortest + box.longest) // 2
    return msgspec.structs.replace(box, longest=middle), msgspec.structs.replace(box, shortest=middle + 1)


def _beats(one: Polynomial, other: Polynomial, box: Box) -> bool:
    """Whether `one` is proved to be nowhere under `other` in the box."""
    return all(
        least >= 0 for batch in (box.smallest_batch, box.largest_batch) for least in _bounds(one, other, batch, box)
    )


def _bounds(one: Polynomial, other: Polynomial, batch: int, box: Box) -> _Square:
    """Twice the Bernstein coefficients, in the length, of ``one - other`` at a batch size: it is within their range.

    In the batch size the difference is linear, so its bounds at both ends bound it in between.
    """
    curve = one.length_squared - other.length_squared + batch * (one.pair - other.pair)
    slope = one.length - other.length + batch * (one.token - other.token)
    fixed = one.fixed - other.fixed + batch * (one.batch - other.batch)
    start, end = box.shortest, box.longest
    return _Square(
        2 * (fixed + start * (slope + start * curve)),
        2 * fixed + (start + end) * slope + 2 * start * end * curve,
        2 * (fixed + end * (slope + end * curve)),
    )
