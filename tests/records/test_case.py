"""A case's identity and what it refuses."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from sitegen.errors import UsageError
from sitegen.records.case import Case, option_name


def test_the_identity_ignores_the_time_limit_and_nothing_else() -> None:
    assert Case().id == Case(timeout=5).id
    others = [
        Case(mode="inference"),
        Case(method="lora"),
        Case(dtype="bfloat16"),
        Case(optimizer="sgd"),
        Case(foreach=True),
        Case(batch_size=2),
        Case(sequence_length=512),
        Case(gradient_checkpointing=True),
        Case(gradient_accumulation=8),
        Case(attention="eager"),
        Case(loss="chunked"),
        Case(zero_grad="free"),
        Case(padding=True),
        Case(steps=3),
        Case(seed=1),
        Case(threads=1),
        Case(allocator="fixed"),
        Case(model="folder-0123456789ab"),
        Case(revision="a" * 40),
    ]
    assert len({case.id for case in [Case(), *others]}) == len(others) + 1


def test_an_option_left_at_its_default_is_no_part_of_the_identity() -> None:
    # A later option, added with the default that describes today's behaviour, must leave every file name as it is.
    assert Case(batch_size=8).changed() == {"batch_size": 8}


@given(st.text(max_size=80))
def test_a_case_id_is_a_safe_file_name_whatever_the_model_is_called(model: str) -> None:
    assert re.fullmatch(r"[a-z0-9-]+", Case(model=model).id)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"batch_size": 0}, "--batch-size is 0"),
        ({"batch_size": -3}, "--batch-size is -3"),
        ({"sequence_length": 0}, "--sequence-length is 0"),
        ({"sequence_length": 1}, "--sequence-length is 1"),
        ({"steps": 0}, "--steps is 0"),
        ({"threads": 0}, "--threads is 0"),
        ({"timeout": 0}, "--timeout is 0"),
        ({"gradient_accumulation": 0}, "--gradient-accumulation is 0"),
        ({"method": "lora", "lora_rank": 0}, "--lora-rank is 0"),
        ({"method": "lora", "lora_targets": ()}, "--lora-targets is empty"),
        ({"timeout": 10**14}, "--timeout is 1"),
        ({"seed": -1}, "--seed is -1"),
        ({"seed": 2**63}, "--seed is 9"),
        ({"threads": 100_000}, "--threads is 100000"),
        ({"method": "lora", "modules_to_save": ("/home/x",)}, "--modules-to-save has '/home/x'"),
        ({"method": "lora", "lora_targets": ("q_proj", "q_proj")}, "--lora-targets has 'the same name twice'"),
        ({"reentrant": True}, "--reentrant needs"),
        ({"mixed_precision": "bf16", "dtype": "bfloat16"}, "--mixed-precision bf16"),
        ({"optimizer": "adafactor", "foreach": True}, "--foreach"),
        # An option that nothing reads must not be recorded as if it had acted.
        ({"mode": "inference", "gradient_checkpointing": True}, "--gradient-checkpointing has no effect"),
        ({"mode": "inference", "optimizer": "sgd"}, "--optimizer has no effect"),
        ({"mode": "training", "logits": "last"}, "--logits has no effect"),
        ({"mode": "training", "new_tokens": 3}, "--new-tokens has no effect"),
        ({"lora_rank": 16}, "--lora-rank has no effect"),
        ({"method": "lora", "double_quant": True}, "--double-quant has no effect"),
        ({"mode": "baseline", "batch_size": 8}, "--batch-size has no effect"),
    ],
)
def test_an_impossible_case_is_refused_by_the_option_s_own_name(options: dict[str, Any], named: str) -> None:
    with pytest.raises(UsageError, match=re.escape(named)):
        replace(Case(), **options).checked()


def test_every_field_is_an_option_under_its_own_name() -> None:
    assert option_name("gradient_checkpointing") == "--gradient-checkpointing"
    from sitegen.cli import measure  # noqa: PLC0415 - the command line is only read here

    on_the_command_line = {option for parameter in measure.params for option in parameter.opts}
    assert {option_name(field) for field in Case.__struct_fields__} <= on_the_command_line
