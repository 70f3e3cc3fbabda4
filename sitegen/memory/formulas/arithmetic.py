"""The two operations that Python's operators lack, on numbers as on sympy's symbols.

A formula's body is ordinary arithmetic, so that one text serves both: whole numbers go in and exact whole numbers come
out; symbols go in and an expression comes out. sympy is imported only in the second case.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

Value: TypeAlias = Any
"""An ``int``, a ``float``, or a sympy expression: what a body of a formula takes and gives."""

GREATEST: Final = "max"
LEAST: Final = "min"


def ceil_div(value: Value, divisor: int) -> Value:
    """The smallest whole number that is not under ``value / divisor``: how many blocks of `divisor` hold `value`."""
    if isinstance(value, int):
        return -(-value // divisor)
    from sympy import ceiling  # noqa: PLC0415 - only symbols need sympy, and its import takes 0.3 s

    return ceiling(value / divisor)


def greatest(*values: Value) -> Value:
    """The greatest of several."""
    return max(values) if _known(values) else _named(GREATEST, values)


def least(*values: Value) -> Value:
    """The least of several."""
    return min(values) if _known(values) else _named(LEAST, values)


def _known(values: tuple[Value, ...]) -> bool:
    """Whether all are numbers of Python."""
    return all(isinstance(value, int | float) for value in values)


def _named(name: str, values: tuple[Value, ...]) -> Value:
    """A function left unevaluated: sympy's own ``Max`` forgets the order in which its arguments were written."""
    from sympy import Function  # noqa: PLC0415 - see above

    return Function(name)(*values)
