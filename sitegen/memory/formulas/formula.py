"""A formula written once: its Python body gives values; the same body, given symbols, gives all that is printed."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar, cast

from sitegen.errors import UsageError
from sitegen.memory.formulas.arithmetic import Value
from sitegen.memory.formulas.symbols import SYMBOLS, Symbol

Number = TypeVar("Number", int, float)
Body = Callable[..., Value]

FORMULAS: Final[dict[str, Formula[int] | Formula[float]]] = {}
"""Every formula by its name, in the order in which they are written."""


@dataclass(frozen=True)
class Formula(Generic[Number]):
    """One formula.

    Args:
        name: that of its function, in Python as in JavaScript.
        result: what it gives.
        source: where it comes from.
        body: plain arithmetic over the names of `sitegen.memory.formulas.symbols`.
    """

    name: str
    result: Symbol
    source: str
    body: Body

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names that it takes, in order."""
        return tuple(inspect.signature(self.body).parameters)

    @property
    def legend(self) -> tuple[Symbol, ...]:
        """What each input is, for a reader."""
        return tuple(SYMBOLS[name] for name in self.inputs)

    def __call__(self, *values: float, **named: float) -> Number:
        """The value: an exact whole number where the inputs are whole, and none is divided.

        Raises:
            UsageError: a value is negative or not finite.
        """
        for value in (*values, *named.values()):
            if not (math.isfinite(value) and value >= 0):
                raise UsageError(f"{self.name} is given {value}; no quantity here is negative or infinite.")
        return cast("Number", self.body(*values, **named))


def counted(letter: str, words: str, unit: str, source: str) -> Callable[[Body], Formula[int]]:
    """Register a formula whose value is whole when its inputs are."""

    def register(body: Body) -> Formula[int]:
        return _registered(Formula[int](body.__name__, Symbol(letter, words, unit), source, body))

    return register


def computed(letter: str, words: str, unit: str, source: str) -> Callable[[Body], Formula[float]]:
    """Register a formula that divides, or whose inputs are not whole."""

    def register(body: Body) -> Formula[float]:
        return _registered(Formula[float](body.__name__, Symbol(letter, words, unit), source, body))

    return register


def _registered(formula: Formula[Number]) -> Formula[Number]:
    """The formula, once it is in the list."""
    FORMULAS[formula.name] = formula
    return formula
