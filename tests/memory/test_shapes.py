"""The dimensions that first-order rules ask for, against the published configurations."""

from __future__ import annotations

import pytest

from sitegen.memory.catalogue import models
from sitegen.memory.formulas import PROJECTIONS, lora_matrix_parameters, lora_seven_parameters
from sitegen.memory.shapes import shape, shapes


@pytest.mark.parametrize(
    ("key", "full", "windowed", "window"),
    [
        ("llama-3.1-8b", 32, 0, 0),
        ("mistral-7b-v0.1", 0, 32, 4096),  # sliding_window of every layer
        ("mistral-7b-v0.3", 32, 0, 0),  # sliding_window: null
        ("gemma-2-9b", 21, 21, 4096),  # one layer of two
        ("gemma-3-27b", 10, 52, 1024),  # the sixth of each six: 62 layers
        ("gpt-oss-20b", 12, 12, 128),
    ],
)
def test_layers_are_told_apart_by_what_they_attend_to(key: str, full: int, windowed: int, window: int) -> None:
    found = shape(key)
    assert (found.full_layers, found.window_layers, found.window) == (full, windowed, window)


def test_every_model_of_the_catalogue_has_a_shape() -> None:
    assert [each.key for each in shapes()] == [model.key for model in models()]
    for each in shapes():
        assert all(value > 0 for value in each.dimensions.values()), each.key
        assert each.full_layers + each.window_layers == each.dimensions["layers"]


def test_models_whose_matrices_are_fused_or_experts_have_no_projections() -> None:
    without = {"gpt2", "pythia-1b", "phi-4", "mixtral-8x7b", "qwen3-30b-a3b", "gpt-oss-20b"}
    assert not [key for key in without if shape(key).projections]
    assert shape("gemma-3-4b").projections


def test_the_matrices_add_up_to_the_seven_projections() -> None:
    for each in shapes():
        if each.projections:
            parts = [
                lora_matrix_parameters(16, each.dimensions["layers"], *matrix.widths(each.dimensions))
                for matrix in PROJECTIONS
            ]
            assert sum(parts) == lora_seven_parameters(16, **each.dimensions), each.key
