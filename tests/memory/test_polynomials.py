"""Sparse polynomials: arithmetic, and which of many can be the greatest."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitegen.memory.polynomials import FLOORS, Polynomial, combination, product, times, undominated, value

AT = {"L": 30, "b": 8, "s": 256, "h": 576, "i": 1536, "V": 49152, "d": 64}


def test_a_monomial_is_the_product_of_its_symbols() -> None:
    assert value({"bhs": 4}, AT) == 4 * 8 * 256 * 576
    assert value({"": 7}, AT) == 7


def test_a_quotient_is_rounded_up_and_multiplies() -> None:
    # 576 x 1536 weights in blocks of 16384: 54; 577 would make 55.
    assert value({"{hi/16384}": 4, "L{h/100}": 1}, AT) == 4 * 54 + 30 * 6
    assert value({"{hi/16384}": 1}, AT | {"h": 577}) == 55


def test_a_quotient_of_a_sum_is_rounded_up_once() -> None:
    # 576 x 576 + 2 x 64 x 576 = 405 504 weights: 6 336 blocks of 64 exactly, 25 of 16 384 (24.75).
    assert value({"{2dh+hh/64}": 1, "{2dh+hh/16384}": 4}, AT) == 6336 + 4 * 25


def test_fractions_must_add_up_to_whole_bytes() -> None:
    assert value({"h": Fraction(1, 2)}, AT) == 288
    with pytest.raises(ValueError, match="no whole number"):
        value({"h": Fraction(1, 5)}, AT)


def test_products_sort_their_symbols_and_keep_quotients_whole() -> None:
    assert times("hs", "b") == "bhs"
    assert times("{hi/64}", "L") == "L{hi/64}"
    assert product({"H": 1, "K": 2}, {"d": 4}) == {"Hd": 4, "Kd": 8}
    assert product({"s": 1, "": 1}, {"s": 1, "": -1}) == {"ss": 1, "": -1}


def test_a_combination_drops_what_cancels() -> None:
    assert combination(((2, {"h": 1, "": 3}), (-1, {"h": 2}))) == {"": 6}


def test_a_polynomial_that_another_exceeds_everywhere_is_dropped() -> None:
    small: Polynomial = {"bhs": 4}
    large: Polynomial = {"bhs": 4, "bis": 4}
    assert undominated([small, large, dict(large)]) == [1]


def test_two_that_cross_are_both_kept() -> None:
    assert undominated([{"bVs": 12}, {"hV": 4, "bhs": 4}]) == [0, 1]


def test_a_floor_proves_what_coefficients_alone_do_not() -> None:
    # s >= 8 in every model: 4 s h is nowhere under 32 h, though 4 s h - 32 h has a negative coefficient.
    assert FLOORS["s"] == 8
    assert undominated([{"hs": 4}, {"h": 32}]) == [0]
    assert undominated([{"hs": 4}, {"h": 33}]) == [0, 1]


_POLYNOMIALS = st.lists(
    st.dictionaries(st.sampled_from(["", "h", "hs", "bhs", "bis", "Vh", "hi"]), st.integers(1, 9), min_size=1),
    min_size=1,
    max_size=6,
)


@given(_POLYNOMIALS, st.integers(1, 64), st.integers(8, 512), st.integers(32, 4096), st.integers(32, 4096))
def test_the_kept_ones_have_the_same_maximum(
    polynomials: list[Polynomial], batch: int, length: int, hidden: int, inner: int
) -> None:
    at = {"b": batch, "s": length, "h": hidden, "i": inner, "V": 128}
    kept = undominated(polynomials)
    assert max(value(polynomials[i], at) for i in kept) == max(value(one, at) for one in polynomials)
