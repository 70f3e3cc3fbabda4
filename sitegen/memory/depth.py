"""The peak of a deep model from shallow traces of it, an operation at a time, and exactly.

A model repeats one layer, or one period of layers. Make it one period deeper and each phase runs the same operations
plus some; the sequences are aligned, and what lives at an operation grows by a number of bytes that depends on whether
the new operations come after it or before. So two traces give every operation of any depth: those of both, and the
new ones as often as there are more periods. A third trace, deeper than both, must be what the two others foretell,
operation by operation and component by component; else nothing is foretold.

The tokens of a generation repeat likewise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import add, sub
from typing import NamedTuple

Row = tuple[int, ...]
"""Live bytes at one operation, by component, always in the same order."""


class Profile(NamedTuple):
    """One run of one phase: what lives, by component, when each operation has just returned."""

    step: int
    name: str
    operations: tuple[str, ...]
    rows: tuple[Row, ...]

    def peak(self) -> Row:
        """The components at the first operation at which most lives."""
        return max(self.rows, key=sum)


class IrregularDepthError(Exception):
    """The traces do not foretell one another: only a trace of the whole model is exact."""


class _Part(NamedTuple):
    """A run of operations: aligned ones (``each`` is what one more period adds to each row), or new ones.

    New operations come once a period: `before` is what a period adds to those of the periods before it, `after` what it
    adds to those of the periods after it.
    """

    operations: tuple[str, ...]
    rows: tuple[Row, ...]
    each: tuple[Row, ...] = ()
    before: Row = ()
    after: Row = ()


class Growth:
    """What each further period does to one phase, found from two depths that are one period apart.

    Raises:
        IrregularDepthError: the operations of the shallow one are not those of the deep one, in their order.
    """

    def __init__(self, shallow: Profile, deep: Profile) -> None:
        if (shallow.step, shallow.name) != (deep.step, deep.name):
            raise IrregularDepthError
        self._shallow, self._deep = shallow, deep
        self._parts = tuple(self._cut(_gaps(shallow.operations, deep.operations)))

    def profile(self, periods: int) -> Profile:
        """The whole phase when the shallow one has got `periods` more."""
        operations: list[str] = []
        rows: list[Row] = []
        for part in self._parts:
            for repeat in range(1 if part.each else periods):
                operations += part.operations
                rows += _grown(part, periods) if part.each else _repeated(part, repeat, periods)
        return self._shallow._replace(operations=tuple(operations), rows=tuple(rows))

    def peak(self, periods: int) -> Row:
        """The components at the peak of that phase: a new operation is highest in the first period or in the last."""
        candidates: list[Row] = []
        for part in self._parts:
            if part.each:
                candidates += _grown(part, periods)
            else:
                candidates += (row for end in {0, periods - 1} for row in _repeated(part, end, periods))
        return max(candidates, key=sum)

    def lines(self) -> Iterator[tuple[Row, Row]]:
        """The rows that can be the peak of a phase with at least one more period: each as it starts, and what it gains.

        With p more periods the row is ``start + p · gain``.
        """
        for part in self._parts:
            if part.each:
                yield from zip(part.rows, part.each, strict=True)
            for row in () if part.each else part.rows:
                yield _difference(row, part.before), part.before
                yield _difference(row, part.after), part.after

    def _cut(self, gaps: Sequence[_Gap]) -> Iterator[_Part]:
        """The aligned runs and the new ones, in their order."""
        low, shift = 0, 0
        for gap in gaps:
            at = self._place(gap, low, shift)
            before, after = self._step_at(at - 1, shift), self._step_at(at, shift + gap.length)
            yield self._aligned(low, at, shift)
            new = slice(at + shift, at + shift + gap.length)
            yield _Part(self._deep.operations[new], self._deep.rows[new], before=before, after=after)
            low, shift = at, shift + gap.length
        yield self._aligned(low, len(self._shallow.rows), shift)

    def _aligned(self, low: int, high: int, shift: int) -> _Part:
        """The operations `low` to ``high - 1`` of the shallow phase."""
        each = tuple(self._step_at(index, shift) for index in range(low, high))
        return _Part(self._shallow.operations[low:high], self._shallow.rows[low:high], each=each)

    def _place(self, gap: _Gap, low: int, shift: int) -> int:
        """Where to put the new operations: their names leave a choice, the bytes on both sides decide.

        Before the right place an operation of the loop gains what one before the new ones does, behind it what one
        after them does.
        """
        first = max(gap.first + 1, low + 1)
        last = max(gap.last - 1, first)
        gain_before = self._step_at(first - 1, shift)
        latest = next((at for at in range(first, last) if self._step_at(at, shift) != gain_before), last)
        gain_after = self._step_at(last, shift + gap.length)
        back = range(last, first - 1, -1)
        earliest = next((at + 1 for at in back if self._step_at(at, shift + gap.length) != gain_after), first)
        if earliest > latest:
            raise IrregularDepthError
        return (earliest + latest) // 2

    def _step_at(self, index: int, shift: int) -> Row:
        """What an operation of the shallow phase gains with one more period."""
        if not 0 <= index < len(self._shallow.rows):
            raise IrregularDepthError
        return _difference(self._deep.rows[index + shift], self._shallow.rows[index])


class _Gap(NamedTuple):
    """New operations: `length` of them, before one of the operations `first` to `last` of the shallow phase."""

    first: int
    last: int
    length: int


def _gaps(shallow: Sequence[str], deep: Sequence[str]) -> list[_Gap]:
    """Where the deep sequence has operations that the shallow one lacks: a loop that runs once more."""
    gaps: list[_Gap] = []
    at, shift = 0, 0
    while (missing := len(deep) - len(shallow) - shift) > 0:
        end = at + _common(shallow, deep, at, at + shift)
        length = _inserted(shallow, deep, end, shift, missing)
        first = end
        while first > at and shallow[first - 1] == deep[first - 1 + shift + length]:
            first -= 1
        gaps.append(_Gap(first, end, length))
        at, shift = end, shift + length
    if missing < 0 or tuple(shallow[at:]) != tuple(deep[at + shift :]):
        raise IrregularDepthError
    return gaps


def _inserted(shallow: Sequence[str], deep: Sequence[str], end: int, shift: int, missing: int) -> int:
    """How many operations are new where the two part, at `end` of the shallow one.

    They repeat what precedes them, and leave the longest agreement behind them.
    """
    here = end + shift

    def merit(length: int) -> tuple[bool, int, bool, int]:
        repeats = length <= here and deep[here - length : here] == deep[here : here + length]
        return repeats, _common(shallow, deep, end, here + length), length == missing, -length

    return max(range(1, missing + 1), key=merit)


def _common(shallow: Sequence[str], deep: Sequence[str], low: int, high: int) -> int:
    """How many operations the two have in common from `low` in one and `high` in the other."""
    longest = min(len(shallow) - low, len(deep) - high)
    return next((count for count in range(longest) if shallow[low + count] != deep[high + count]), longest)


def _grown(part: _Part, periods: int) -> list[Row]:
    """The rows of aligned operations with `periods` more periods."""
    return [_moved(row, periods, gain) for row, gain in zip(part.rows, part.each, strict=True)]


def _repeated(part: _Part, repeat: int, periods: int) -> list[Row]:
    """The rows of new operations in the period `repeat` (from 0) of `periods` more."""
    offset = _moved(_moved((0,) * len(part.before), repeat, part.after), periods - 1 - repeat, part.before)
    return [tuple(map(add, row, offset)) for row in part.rows]


def _moved(row: Row, times: int, step: Row) -> Row:
    """``row + times · step``."""
    return tuple(value + times * gain for value, gain in zip(row, step, strict=True))


def _difference(later: Row, earlier: Row) -> Row:
    """``later − earlier``."""
    return tuple(map(sub, later, earlier))


def growths(
    shallow: Sequence[Profile], deep: Sequence[Profile], deeper: Sequence[Profile], *, periods: int = 2
) -> tuple[Growth, ...]:
    """The growth of every phase, proved on a third depth, so many periods deeper than the shallow one.

    Raises:
        IrregularDepthError: it is not the one that the two others foretell.
    """
    if not len(shallow) == len(deep) == len(deeper):
        raise IrregularDepthError
    found = tuple(Growth(one, other) for one, other in zip(shallow, deep, strict=True))
    if any(growth.profile(periods) != profile for growth, profile in zip(found, deeper, strict=True)):
        raise IrregularDepthError
    return found


def period_of(kinds: Sequence[object]) -> int:
    """The smallest number of layers after which the kinds of layers repeat; all of them when they do not."""
    return next(
        period
        for period in range(1, len(kinds) + 1)
        if all(one == other for one, other in zip(kinds, kinds[period:], strict=False))
    )


def depths(kinds: Sequence[object], distinct: bool = True) -> Iterator[tuple[int, int, int]]:
    """Three depths: the first two a period apart, the third some more. The cheapest ones come first.

    The shallowest has at least two layers, a first and a last, and one layer of each kind. Layers of several kinds may
    yet be alike to the byte, so a period of one layer is tried first, and held to a model that has each kind once more.
    Where it is not the truth, the three end as the whole does.

    Args:
        kinds: of the layers of the whole model, in their order.
        distinct: the kinds are known not to be alike.
    """
    period = period_of(kinds)
    least = max(2, 1 + max(list(kinds).index(kind) for kind in set(kinds)))
    smallest = least + (len(kinds) - least) % period
    alike = () if distinct or period == 1 else ((least, least + 1, least + period),)
    first = (smallest, smallest + period, smallest + 2 * period)
    more = (first[1], first[2], first[2] + period)  # one more trace, when the first depth was too special
    yield from (three for three in (*alike, first) if sum(three) < len(kinds))
    if sum(first) < len(kinds):
        yield more
