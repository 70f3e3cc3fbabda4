"""Tables against traces, to the byte: other dimensions, other depths, and what is composed from them."""

from __future__ import annotations

import os
import random
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace

from sitegen.errors import ModelError
from sitegen.memory import bounds
from sitegen.memory.composition import step_bills
from sitegen.memory.examples import Example, random_example
from sitegen.memory.families import FAMILIES
from sitegen.records import tables
from sitegen.records.case import Case
from sitegen.records.table import Coefficients, Peak, Table, TableKey
from sitegen.workload.tabulate import check, tabulated
from sitegen.workload.trace import recorded

MEASUREMENTS: Final = Path(__file__).parents[2] / "measurements"
POINTS: Final = int(os.environ.get("SITEGEN_POINTS", "10"))
"""Random points a family; 60 in the longer run."""

FULL: Final = TableKey(family="llama", variant="untied-gqa", mode="training")
CHECKPOINTED_LORA: Final = TableKey(
    family="llama",
    variant="untied-gqa",
    mode="training",
    method="lora",
    targets="all-linear",
    dtype="bfloat16",
    gradient_checkpointing=True,
)

COMPOSED: Final[dict[str, dict[str, Any]]] = {
    "freed gradients": {"zero_grad": "free"},
    "accumulation": {"gradient_accumulation": 3},
    "accumulation, freed": {"gradient_accumulation": 2, "zero_grad": "free"},
    "multi-tensor AdamW": {"foreach": True},
    "SGD": {"optimizer": "sgd"},
    "multi-tensor momentum": {"optimizer": "sgd-momentum", "foreach": True},
    "momentum, accumulation, freed": {"optimizer": "sgd-momentum", "zero_grad": "free", "gradient_accumulation": 2},
    "one step": {"steps": 1},
}

BEYOND_TABLES: Final[dict[str, dict[str, Any]]] = {
    "padding": {"padding": True},
    "chunked-loss": {"loss": "chunked"},
    "mixed-precision": {"mixed_precision": "bf16"},
    "reentrant": {"gradient_checkpointing": True, "reentrant": True},
    "optimizer": {"optimizer": "adamw-8bit"},
    "attention": {"attention": "eager"},
}


FAMILY_REASONS: Final = [
    (name, reason)
    for row, (name, family) in enumerate(FAMILIES.items())
    for column, reason in enumerate(BEYOND_TABLES)
    if (name == "llama" or (row + column) % 3 == 0) and (reason != "attention" or "sdpa" in family.attention)
]
"""Every option with llama; with each other family, two of them in turn."""


@cache
def _tables(family: str) -> dict[TableKey, Table]:
    """The committed tables of a family."""
    found: dict[TableKey, Table] = {}
    for path in tables.files(MEASUREMENTS):
        stored = tables.load(path)
        if stored.family == family:
            found |= tables.unpacked(stored)
    return found


def _peaks(case: Case, config: dict[str, Any]) -> dict[tuple[int, str], int]:
    """The traced peak of each phase of each step."""
    steps = enumerate(recorded(case, config).steps(), start=1)
    return {(number, name): peak for number, step in steps for name, peak in step.peak_bytes().items()}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_table_gives_every_phases_peak_to_the_byte(family: str) -> None:
    known = _tables(family)
    assert known, f"no table of {family} is committed"
    draw = random.Random(f"points {family}")  # noqa: S311 - no secret depends on it
    keys = sorted(known, key=repr)
    for point in range(POINTS):
        key = draw.choice(keys)
        table = known[key]
        layers = table.depths.smallest + table.depths.period * draw.randint(0, 6 // table.depths.period)
        check(table, random_example(key, layers, 1000 + point))


def test_a_table_that_is_off_by_a_byte_is_refused() -> None:
    table = next(table for key, table in _tables("llama").items() if key.mode == "inference")
    more: list[dict[str, Coefficients]] = [{**peak.components, "kv_cache": {"": 1}} for peak in table.phases["forward"]]
    wrong = replace(table, phases={"forward": tuple(Peak(components=components) for components in more)})
    with pytest.raises(ModelError, match="bytes, not"):
        check(wrong, random_example(table.key, 4, 0))


def test_a_table_made_now_is_the_committed_one() -> None:
    key = TableKey(family="llama", variant="untied-gqa", mode="inference", logits="last")
    assert tabulated(key) == _tables("llama")[key]


@pytest.mark.parametrize("key", [FULL, CHECKPOINTED_LORA], ids=["full", "lora"])
@pytest.mark.parametrize("name", COMPOSED)
def test_what_is_composed_is_traced_alike(name: str, key: TableKey) -> None:
    example = random_example(key, 5, 77)
    case = replace(example.case, **COMPOSED[name])
    bills = step_bills(_tables("llama")[key], example.dimensions, case)
    assert {(bill.step, bill.name): bill.peak_bytes for bill in bills} == _peaks(case, example.config)


def test_a_generation_of_any_length_follows_from_that_of_two_tokens() -> None:
    key = TableKey(family="llama", variant="untied-gqa", mode="generation", dtype="bfloat16")
    example = random_example(key, 4, 5)
    case = replace(example.case, new_tokens=9)
    bills = step_bills(_tables("llama")[key], example.dimensions, case)
    assert {(bill.step, bill.name): bill.peak_bytes for bill in bills} == _peaks(case, example.config)


def test_a_later_forward_of_a_model_that_the_first_one_changes_has_its_own_entry() -> None:
    """bitsandbytes casts the biases, which k-bit preparation leaves in float32, to 16 bits in the first forward."""
    key = TableKey(family="gpt_neox", variant="untied-gelu", mode="training", method="qlora", targets="all-linear")
    key = replace(key, dtype="bfloat16", double_quant=True, gradient_checkpointing=True)
    table = _tables("gpt_neox")[key]
    assert "forward_again" in table.phases
    example = random_example(key, 5, 11)
    case = replace(example.case, gradient_accumulation=2, zero_grad="free")
    bills = step_bills(table, example.dimensions, case)
    assert {(bill.step, bill.name): bill.peak_bytes for bill in bills} == _peaks(case, example.config)


def test_a_sequence_that_fills_the_window_is_beyond_it() -> None:
    table = _tables("mistral")[replace(FULL, family="mistral")]
    example = random_example(table.key, 4, 3)
    length = example.case.sequence_length
    check(table, example._replace(config=example.config | {"sliding_window": length + 1}))
    with pytest.raises(ModelError, match="bytes, not"):
        check(table, example._replace(config=example.config | {"sliding_window": length}))


@pytest.mark.parametrize(("family", "reason"), FAMILY_REASONS)
def test_what_no_table_speaks_of_stays_within_its_bound(family: str, reason: str) -> None:
    options = BEYOND_TABLES[reason]
    table = _plain_table(family, options.get("gradient_checkpointing", False))
    example = _realistic(random_example(table.key, table.depths.smallest + 2 * table.depths.period, 1))
    peak = max(bill.peak_bytes for bill in step_bills(table, example.dimensions, example.case))
    traced = max(_peaks(replace(example.case, **options), example.config).values())
    low, high = bounds.bounded(peak, (reason,))
    assert low <= traced <= high


def _plain_table(family: str, checkpointing: bool) -> Table:
    """The float32 table of training whole models of a family, several sequences at once."""
    known = _tables(family)
    key = TableKey(family=family, variant=FAMILIES[family].variants[0], mode="training")
    return known[replace(key, attention=FAMILIES[family].attention[0], gradient_checkpointing=checkpointing)]


def _realistic(example: Example) -> Example:
    """The example with sequences of a length that people train with."""
    case = replace(example.case, sequence_length=1024)
    return example._replace(case=case, dimensions=example.dimensions | {"s": 1024})
