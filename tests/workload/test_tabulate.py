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


@pytest.mark.parametrize("reason", BEYOND_TABLES)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_no_table_speaks_of_stays_within_its_bound(reason: str, seed: int) -> None:
    known, options = _tables("llama"), BEYOND_TABLES[reason]
    key = replace(FULL, gradient_checkpointing=options.get("gradient_checkpointing", False))
    example = _realistic(random_example(key, 6, seed))
    peak = max(bill.peak_bytes for bill in step_bills(known[key], example.dimensions, example.case))
    traced = max(_peaks(replace(example.case, **options), example.config).values())
    low, high = bounds.bounded(peak, (reason,))
    assert low <= traced <= high


def _realistic(example: Example) -> Example:
    """The example with sequences of a length that people train with."""
    case = replace(example.case, sequence_length=1024)
    return example._replace(case=case, dimensions=example.dimensions | {"s": 1024})
