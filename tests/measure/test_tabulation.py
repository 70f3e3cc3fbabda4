"""Which tables there are to be, and what a stack is."""

from __future__ import annotations

from itertools import product

from sitegen.measure.tabulation import stack, wanted
from sitegen.memory.families import FAMILIES


def test_every_method_number_format_and_checkpointing_has_a_table_for_one_and_for_more_sequences() -> None:
    keys = wanted(FAMILIES["llama"], "tied-gqa")
    training = {
        (key.method, key.dtype, key.gradient_checkpointing, key.one_sequence) for key in keys if key.mode == "training"
    }
    switch = (False, True)
    assert training == set(product(("full", "lora", "qlora"), ("float32", "bfloat16"), switch, switch))
    assert len(keys) == len(set(keys))


def test_a_family_without_sdpa_is_traced_with_eager_and_a_window_makes_tables_of_its_own() -> None:
    assert {key.attention for key in wanted(FAMILIES["gemma2"], "tied-gqa")} == {"eager"}
    assert {key.beyond_window for key in wanted(FAMILIES["mistral"], "untied-gqa")} == {False, True}
    assert {key.beyond_window for key in wanted(FAMILIES["llama"], "tied-gqa")} == {False}


def test_what_is_asked_for_most_is_traced_first() -> None:
    first = wanted(FAMILIES["llama"], "tied-gqa")[:24]
    assert {(key.method, key.targets, key.double_quant) for key in first} == {
        ("full", "", False),
        ("lora", "all-linear", False),
        ("qlora", "all-linear", True),
    }


def test_a_stack_names_no_machine() -> None:
    known = stack()
    assert set(known) == {"torch", "transformers", "peft", "bitsandbytes", "tracer"}
    assert "+" not in known["torch"]  # the build's platform says nothing of what is traced
