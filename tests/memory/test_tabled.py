"""A bill from tables: published counts, the measured tables' own peak, and nothing where no table is exact."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace

from sitegen.memory.catalogue import model
from sitegen.memory.families import FAMILIES
from sitegen.memory.tabled import bill_of, has_small_tensors, key_of
from sitegen.records import tables
from sitegen.records.case import Case
from sitegen.records.table import Table, TableKey

MEASUREMENTS: Final = Path(__file__).parents[2] / "measurements"
CASE: Final = Case(dtype="bfloat16", batch_size=4, sequence_length=1024)
LAYER: Final = 2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336  # the seven matrices of a layer of Llama 3 8B


@cache
def _tables() -> dict[TableKey, Table]:
    """The committed tables of the llama family."""
    found: dict[TableKey, Table] = {}
    for path in tables.files(MEASUREMENTS):
        if path.name.startswith("llama-"):
            found |= tables.unpacked(tables.load(path))
    return found


def test_counts_are_those_of_the_published_model() -> None:
    bill = bill_of(CASE, model("llama-3.1-8b").config, _tables())
    assert bill is not None
    assert bill.parameters == bill.trainable_parameters == 8_030_261_248
    assert bill.source == "polynomial"
    assert bill.weights_bytes == 2 * 8_030_261_248 + 2 * 64 * 4  # rotary frequencies, kept twice in float32


def test_an_adapter_trains_its_own_parameters_and_four_bits_stand_for_the_layers() -> None:
    targets = FAMILIES["llama"].targets["all-linear"]
    case = replace(CASE, method="qlora", lora_targets=targets, lora_rank=16, double_quant=True)
    case = replace(case, gradient_checkpointing=True)
    bill = bill_of(case, model("llama-3.1-8b").config, _tables())
    assert bill is not None
    sides = 2 * (4096 + 4096) + 2 * (4096 + 1024) + 3 * (4096 + 14336)
    assert bill.trainable_parameters == 32 * 16 * sides
    assert bill.quantised_parameters == 32 * LAYER


@pytest.mark.parametrize(
    "changed",
    [
        {"padding": True},
        {"loss": "chunked"},
        {"attention": "eager"},
        {"optimizer": "adafactor"},
        {"dtype": "float16"},
        {"mixed_precision": "bf16", "dtype": "float32"},
        {"method": "lora", "lora_targets": ("q_proj",)},
        {"mode": "inference", "method": "lora"},
    ],
)
def test_no_table_answers_for_what_it_does_not_describe(changed: dict[str, Any]) -> None:
    assert bill_of(replace(CASE, **changed), model("llama-3.1-8b").config, _tables()) is None


def test_a_sequence_that_fills_the_window_has_its_mask() -> None:
    """transformers leaves sdpa's mask out for shorter sequences only: `kv_length < local_attention_size`."""
    family = FAMILIES["mistral"]
    filled = {length: key_of(replace(CASE, sequence_length=length), family, "untied-gqa", 512) for length in (511, 512)}
    assert [key.beyond_window for key in filled.values() if key] == [False, True]


def test_a_model_smaller_than_any_that_peaks_are_kept_for_is_left_to_a_trace() -> None:
    assert bill_of(replace(CASE, sequence_length=7), model("llama-3.1-8b").config, _tables()) is None


def test_a_configuration_that_no_table_knows_is_left_to_a_trace() -> None:
    config = model("llama-3.1-8b").config
    assert bill_of(CASE, config | {"attention_bias": True}, _tables()) is None
    assert bill_of(CASE, config | {"model_type": "bert"}, _tables()) is None
    assert bill_of(CASE, config | {"num_hidden_layers": 1}, _tables()) is None


@pytest.mark.parametrize(("length", "small"), [(63, True), (64, False)])
def test_keys_below_128_kib_are_small(length: int, small: bool) -> None:
    # Llama 3.1 8B: 8 key heads of 128, 2 bytes: 2048 bytes a token, 64 of which are 131 072.
    case = Case(dtype="bfloat16", sequence_length=length)
    assert has_small_tensors(case, model("llama-3.1-8b").config) is small


def test_nothing_is_small_outside_training_nor_known_of_a_refused_configuration() -> None:
    assert not has_small_tensors(Case(mode="inference", sequence_length=1), model("llama-3.1-8b").config)
    assert not has_small_tensors(Case(sequence_length=1), {"model_type": "bert"})
