"""Sparse polynomials in a model's dimensions, and which of many can be the greatest.

A monomial is written as the letters of its symbols, sorted: ``"bhs"`` is batch size × hidden size × sequence length,
``""`` the constant. A part in braces is a quotient rounded up: ``"{Hdh/64}"`` counts blocks of 64 weights,
``"{3hh/64}"`` those of three matrices together, ``"{hh+2Kdh/64}"`` those of matrices of several widths. Symbols
are those of `sitegen.memory.families`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from math import prod
from typing import Final

Coefficient = int | Fraction
Polynomial = dict[str, Coefficient]
Dimensions = Mapping[str, int]

_FACTOR: Final = re.compile(r"\{([\dA-Za-z+]*)/(\d+)\}|[A-Za-z]")
_TERM: Final = re.compile(r"(\d*)([A-Za-z]*)")

FLOORS: Final[Dimensions] = {
    "L": 4,
    "s": 8,
    "h": 32,
    "i": 32,
    "m": 16,
    "V": 128,
    "d": 8,
    "R": 2,
    "P": 8,
    "k": 2,
}
"""Below these no table goes (one expert a token makes other operations run); every other symbol is at least 1."""


@cache
def times(first: str, second: str) -> str:
    """The product of two monomials."""
    return "".join(sorted((*_factors(first), *_factors(second))))


def product(first: Polynomial, second: Polynomial) -> Polynomial:
    """The product of two polynomials."""
    result: defaultdict[str, Coefficient] = defaultdict(int)
    for (one, a), (other, b) in ((x, y) for x in first.items() for y in second.items()):
        result[times(one, other)] += a * b
    return _tidy(result)


def combination(parts: Iterable[tuple[Coefficient, Polynomial]]) -> Polynomial:
    """The sum of polynomials, each times a number."""
    result: defaultdict[str, Coefficient] = defaultdict(int)
    for factor, polynomial in parts:
        for monomial, coefficient in polynomial.items():
            result[monomial] += factor * coefficient
    return _tidy(result)


def value(polynomial: Polynomial, dimensions: Dimensions) -> int:
    """Bytes at the given dimensions.

    Raises:
        KeyError: a symbol of the polynomial has no value.
        ValueError: the polynomial takes no whole value there, which no count of bytes does.
    """
    exact = sum(coefficient * _at(monomial, dimensions) for monomial, coefficient in polynomial.items())
    if exact != int(exact):
        raise ValueError(f"{exact} is no whole number of bytes")
    return int(exact)


def undominated(polynomials: Sequence[Polynomial], floors: Dimensions = FLOORS) -> list[int]:
    """Indices of those that no other is proved to exceed everywhere above the floors, equal ones once.

    A difference of polynomials is nowhere negative if, written in the distances from the floors, no coefficient is.
    """
    everywhere = defaultdict(lambda: 1, floors)
    large = defaultdict(lambda: 3, {symbol: 5 * floor for symbol, floor in floors.items()})
    order = sorted(range(len(polynomials)), key=lambda i: (-_estimate(polynomials[i], large), i))
    kept: list[int] = []
    for i in order:
        if not any(_never_under(polynomials[other], polynomials[i], everywhere) for other in kept):
            kept.append(i)
    return sorted(kept)


@cache
def _factors(monomial: str) -> tuple[str, ...]:
    """The symbols and quotients that a monomial is the product of."""
    return tuple(match.group() for match in _FACTOR.finditer(monomial))


def _tidy(terms: Mapping[str, Coefficient]) -> Polynomial:
    """Without zeros, whole fractions as integers."""
    return {
        monomial: int(coefficient) if coefficient == int(coefficient) else coefficient
        for monomial, coefficient in terms.items()
        if coefficient
    }


def _at(monomial: str, dimensions: Dimensions) -> int:
    """The value of a monomial."""
    return prod(_factor_at(factor, dimensions) for factor in _factors(monomial))


def _factor_at(factor: str, dimensions: Dimensions) -> int:
    """The value of a symbol, or of a quotient rounded up."""
    match = _FACTOR.fullmatch(factor)
    if match is None or match[2] is None:
        return dimensions[factor]
    return -(-sum(_term_at(term, dimensions) for term in match[1].split("+")) // int(match[2]))


def _term_at(term: str, dimensions: Dimensions) -> int:
    """The value of a term of a quotient."""
    match = _TERM.fullmatch(term)
    if match is None:
        raise KeyError(term)
    return int(match[1] or 1) * prod(dimensions[symbol] for symbol in match[2])


def _estimate(polynomial: Polynomial, dimensions: Dimensions) -> float:
    """A rough value, good enough to sort by."""
    return float(sum(coefficient * _at(monomial, dimensions) for monomial, coefficient in polynomial.items()))


def _never_under(one: Polynomial, other: Polynomial, floors: Dimensions) -> bool:
    """Whether `one` is proved to be nowhere under `other`."""
    difference = dict(one)
    for monomial, coefficient in other.items():
        difference[monomial] = difference.get(monomial, 0) - coefficient
    if min(difference.values()) >= 0:
        return True
    if max(difference.values()) <= 0 or not _could_be(difference):
        return False
    return all(coefficient >= 0 for coefficient in _from_floors(difference, floors).values())


def _could_be(difference: Polynomial) -> bool:
    """Whether a difference may be nowhere negative: a negative term needs a positive one with all of its symbols."""
    positive = [set(monomial) for monomial, coefficient in difference.items() if coefficient > 0]
    negative = (set(monomial) for monomial, coefficient in difference.items() if coefficient < 0)
    return all(any(one <= other for other in positive) for one in negative)


def _from_floors(polynomial: Polynomial, floors: Dimensions) -> Polynomial:
    """The polynomial in the distances of its symbols from their floors (a quotient is at least 1)."""
    result: defaultdict[str, Coefficient] = defaultdict(int)
    for monomial, coefficient in polynomial.items():
        for part, weight in _shifted(monomial, tuple(sorted(floors.items()))).items():
            result[part] += coefficient * weight
    return _tidy(result)


@cache
def _shifted(monomial: str, floors: tuple[tuple[str, int], ...]) -> Polynomial:
    """A monomial in the distances from the floors."""
    known = dict(floors)
    result: Polynomial = {"": 1}
    for factor in _factors(monomial):
        result = product(result, {factor: 1, "": known.get(factor, 1)})
    return result
