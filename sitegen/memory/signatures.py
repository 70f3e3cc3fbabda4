"""Read a formula off two numbers: which product of dimensions is 71 808 in one model and 237 120 in another?

Two models of one family are given dimensions whose ratios are powers of different primes, so that no two products of
dimensions have the same ratio. What a tensor's size is a product of can then be read off its sizes in both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from fractions import Fraction
from itertools import combinations_with_replacement
from math import prod
from typing import Final

from sitegen.errors import ModelError
from sitegen.memory.polynomials import Dimensions, Polynomial, product, value

_DEGREE: Final = 6
_PARTS: Final = 1 << 17  # a coefficient with a larger numerator is a coincidence, not a count

Pair = tuple[int, int]
Shape = tuple[int, ...]


class Signature:
    """Two sets of dimensions of one family, told apart by every product of their symbols.

    Args:
        first, second: the dimensions of the two models.
        without: symbols that follow from the others, and so appear in no product.
        sums: sums of dimensions that tensors of this family have, beside products; they may use all symbols.

    Raises:
        ModelError: two products of dimensions have the same ratio.
    """

    def __init__(
        self,
        first: Dimensions,
        second: Dimensions,
        without: Collection[str] = (),
        sums: Iterable[Polynomial] = (),
    ) -> None:
        self.dimensions = first, second
        self._products: dict[Fraction, str] = {}
        symbols = sorted(symbol for symbol in first if first[symbol] != second[symbol] and symbol not in without)
        for degree in range(1, _DEGREE + 1):
            for letters in combinations_with_replacement(symbols, degree):
                self._enter("".join(letters))
        self._sums = {(value(one, first), value(one, second)): one for one in sums}

    def storage(self, shapes: tuple[Shape, Shape], sizes_bytes: Pair, item_bytes: int) -> Polynomial:
        """The bytes of a storage, from the shapes of the tensor that it was first seen under and its sizes.

        Args:
            shapes: in both models, of as many axes.
            sizes_bytes: of the storage, in both.
            item_bytes: of one element.

        Raises:
            ModelError: its size is nothing that can be read.
        """
        elements = prod(shapes[0]), prod(shapes[1])
        if elements == (sizes_bytes[0] // item_bytes, sizes_bytes[1] // item_bytes):
            axes = list(zip(*shapes, strict=True))
            found = self._formula(elements) or self._with_odd_axis(axes) or self._with_sum(elements)
            if found is not None:
                return product({"": item_bytes}, found)
        return self._whole(sizes_bytes)

    def _with_odd_axis(self, axes: list[Pair]) -> Polynomial | None:
        """The formula of a shape of which one axis is a known sum, or a length give or take one."""
        for index, axis in enumerate(axes):
            odd = self._sums.get(axis) or self._one_off(axis)
            others = axes[:index] + axes[index + 1 :]
            rest = self._formula((prod(one for one, _ in others), prod(other for _, other in others)))
            if odd is not None and rest is not None:
                return product(odd, rest)
        return None

    def _one_off(self, axis: Pair) -> Polynomial | None:
        """The formula of a sequence length give or take one: labels are shifted, a sink is one more key."""
        for offset in (1, -1):
            found = self._formula((axis[0] - offset, axis[1] - offset))
            if found == {"s": 1}:
                return {"s": 1, "": offset}
        return None

    def _whole(self, sizes: Pair) -> Polynomial:
        """The formula of the bytes of a storage of which a tensor shows a part."""
        found = self._formula(sizes) or self._with_sum(sizes)
        if found is None:
            raise ModelError(f"A storage of {sizes[0]} and {sizes[1]} bytes has no formula.", "Trace it whole.")
        return found

    def _enter(self, monomial: str) -> None:
        """Note a product under its ratio."""
        first, second = (value({monomial: 1}, dimensions) for dimensions in self.dimensions)
        known = self._products.setdefault(Fraction(first, second), monomial)
        if len(known) == len(monomial) and known != monomial:
            raise ModelError(f"{known} and {monomial} cannot be told apart.", "Give the family other dimensions.")

    def _formula(self, sizes: Pair) -> Polynomial | None:
        """A constant, a known sum, or a product with its coefficient; a quotient is one that is rounded up."""
        if sizes[0] == sizes[1]:
            return {"": sizes[0]}
        if sizes in self._sums:
            return self._sums[sizes]
        return self._times(sizes, (1, 1), {"": 1})

    def _with_sum(self, sizes: Pair) -> Polynomial | None:
        """A known sum times a product."""
        found = (self._times(sizes, pair, polynomial) for pair, polynomial in self._sums.items())
        return next((one for one in found if one is not None), None)

    def _times(self, sizes: Pair, pair: Pair, polynomial: Polynomial) -> Polynomial | None:
        """The polynomial, which has the values of the pair, times a product with its coefficient."""
        monomial = self._products.get(Fraction(sizes[0] * pair[1], sizes[1] * pair[0])) if all(sizes) else None
        if monomial is None:
            return None
        coefficient = Fraction(sizes[0], pair[0] * value({monomial: 1}, self.dimensions[0]))
        whole = product(polynomial, {monomial: coefficient.numerator})
        if coefficient.denominator == 1:
            return whole
        if max(coefficient.numerator, coefficient.denominator) > _PARTS:
            return None
        terms = "+".join(f"{factor if factor > 1 else ''}{symbols}" for symbols, factor in sorted(whole.items()))
        return {f"{{{terms}/{coefficient.denominator}}}": 1}
