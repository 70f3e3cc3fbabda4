"""Formulas are read off two numbers; what is no formula is refused."""

from __future__ import annotations

from typing import Final

import pytest

from sitegen.errors import ModelError
from sitegen.memory.signatures import Signature

FIRST: Final = {"b": 3, "s": 22, "h": 34, "H": 2, "d": 82}
SECOND: Final = {"b": 5, "s": 26, "h": 57, "H": 3, "d": 86}
SIGNATURE: Final = Signature(FIRST, SECOND)


def test_a_product_of_dimensions_is_recognised() -> None:
    assert SIGNATURE.storage(((3, 22, 34), (5, 26, 57)), (3 * 22 * 34 * 4, 5 * 26 * 57 * 4), 4) == {"bhs": 4}


def test_a_constant_is_one() -> None:
    assert SIGNATURE.storage(((2, 8), (2, 8)), (64, 64), 4) == {"": 64}


def test_half_of_a_product_is_a_quotient_rounded_up() -> None:
    halves = ((34 * 41, 1), (57 * 43, 1))
    assert SIGNATURE.storage(halves, (34 * 41, 57 * 43), 1) == {"{dh/2}": 1}


def test_labels_are_one_position_longer() -> None:
    assert SIGNATURE.storage(((3, 23), (5, 27)), (3 * 23 * 8, 5 * 27 * 8), 8) == {"bs": 8, "b": 8}


def test_a_sum_that_the_family_declares_is_found_in_a_shape() -> None:
    # Fused queries, keys and values: H + 2 K heads of d, (10 + 2 x 2) x 82 and (21 + 2 x 3) x 86 wide.
    heads = {"H": 10, "K": 2}, {"H": 21, "K": 3}
    with_sum = Signature(FIRST | heads[0], SECOND | heads[1], sums=({"Hd": 1, "Kd": 2},))
    width = 14 * 82, 27 * 86
    found = with_sum.storage(((width[0], 34), (width[1], 57)), (width[0] * 34 * 4, width[1] * 57 * 4), 4)
    assert found == {"Hdh": 4, "Kdh": 8}


def test_packed_weights_and_their_scales_are_quotients_of_the_sum_that_the_matrix_is() -> None:
    """Two weights a byte; a scale of 4 bytes for each 64, whose own quotient is not that of 16 weights to a byte."""
    widths = {"H": 10, "K": 2, "d": 23 * 64, "h": 17 * 64}, {"H": 21, "K": 3, "d": 29 * 64, "h": 19 * 64}
    with_sum = Signature(FIRST | widths[0], SECOND | widths[1], sums=({"Hd": 1, "Kd": 2},))
    first, second = 14 * 1472 * 17 * 64, 27 * 1856 * 19 * 64
    packed = with_sum.storage(((first // 2, 1), (second // 2, 1)), (first // 2, second // 2), 1)
    assert packed == {"{Hdh+2Kdh/2}": 1}
    scales = with_sum.storage(((first // 64,), (second // 64,)), (first // 16, second // 16), 4)
    assert scales == {"{Hdh+2Kdh/64}": 4}


def test_a_storage_of_which_a_tensor_shows_a_part_has_a_formula_too() -> None:
    assert SIGNATURE.storage(((22,), (26,)), (3 * 22 * 34 * 2, 5 * 26 * 57 * 2), 2) == {"bhs": 2}


def test_a_size_that_is_no_product_is_refused() -> None:
    with pytest.raises(ModelError, match="no formula"):
        SIGNATURE.storage(((101,), (103,)), (101 * 4, 103 * 4), 4)


def test_dimensions_that_cannot_be_told_apart_are_refused() -> None:
    with pytest.raises(ModelError, match="cannot be told apart"):
        Signature({"b": 2, "h": 4}, {"b": 3, "h": 6})
