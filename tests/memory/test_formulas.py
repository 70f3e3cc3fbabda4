"""The mixed-precision rule against hand computations: 7 × 16 = 112, 112 + 20 = 132."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitegen.errors import UsageError
from sitegen.memory import formulas
from sitegen.memory.formulas import TrainingBill, training_vram


def test_seven_billion_parameters_in_mixed_precision() -> None:
    assert training_vram(7, 16, 0) == TrainingBill(model=112, activations=0, total=112)
    assert training_vram(7, 16, 20) == TrainingBill(model=112, activations=20, total=132)


@pytest.mark.parametrize(
    ("preset", "expected"),
    [
        (formulas.MIXED_ADAM, 16),  # 2 + 2 + 4 + 4 + 4
        (formulas.ADAM_8BIT, 12),  # 2 + 4 + 4 + 1 + 1
        (formulas.ADAM_8BIT_16BIT_GRADIENTS, 10),  # 2 + 2 + 4 + 1 + 1
        (formulas.SGD_MOMENTUM, 8),  # 2 + 2 + 4
        (formulas.PURE_16BIT_ADAM, 8),  # 2 + 2 + 2 + 2
    ],
)
def test_a_preset_is_the_sum_of_its_shares(preset: formulas.Preset, expected: float) -> None:
    assert preset.bytes_per_parameter == expected


def test_presets_have_names_of_their_own_and_sources() -> None:
    assert len({preset.key for preset in formulas.PRESETS}) == len(formulas.PRESETS)
    assert all(preset.source for preset in formulas.PRESETS)


@pytest.mark.parametrize(("n", "b", "a"), [(0, 16, 0), (-1, 16, 0), (7, 0, 0), (7, -2, 0), (7, 16, -1)])
def test_values_out_of_range_are_refused(n: float, b: float, a: float) -> None:
    with pytest.raises(UsageError):
        training_vram(n, b, a)


@given(st.floats(0.001, 1e6), st.floats(0.5, 64), st.floats(0, 1e6))
def test_the_total_is_never_below_either_part(n: float, b: float, a: float) -> None:
    bill = training_vram(n, b, a)
    assert bill.total >= max(bill.model, bill.activations)
