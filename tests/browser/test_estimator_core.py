"""The page's JavaScript gives what Python gives: dimensions, refusals, and every phase to the byte."""

from __future__ import annotations

import gzip
import random
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from playwright.sync_api import Page

from sitegen.memory.catalogue import models
from sitegen.memory.composition import step_bills
from sitegen.memory.examples import random_example
from sitegen.memory.families import FAMILIES
from sitegen.memory.reading import RefusedError, read
from sitegen.records import tables
from sitegen.records.table import StoredTables
from sitegen.render import estimator_data

ROOT: Final = Path(__file__).parents[2]
SCRIPTS: Final = ROOT / "sitegen" / "render" / "static" / "js"
CORE: Final = ("estimator-beside.js", "estimator-core.js", "estimator-reading.js")
MEASUREMENTS: Final = ROOT / "measurements"
MOST_BYTES: Final = 60_000
POINTS: Final = 60
"""Random points a family."""

READ: Final = """config => {
  try { const { family, variant, dimensions, notes, unsupported } = Sitegen.dimensions(config);
        return { family, variant, dimensions, notes, unsupported }; }
  catch (error) { return { code: error.code, field: error.field }; }
}"""
ESTIMATE: Final = """([config, options]) => {
  const model = Sitegen.dimensions(config);
  const { source, phases } = Sitegen.estimate(model, options, Sitegen.tables[model.family]);
  const bytes = ({ step, name, peak_bytes, components }) => [`${step} ${name}`, peak_bytes - components.runtime];
  return [source, Object.fromEntries(phases.map(bytes))];
}"""

CONFIGS: Final[list[object]] = [
    *(model.config for model in models()),
    [],
    {},
    {"model_type": "bert"},
    {"model_type": "toString"},
    {"model_type": "llama", "hidden_size": 8, "num_hidden_layers": 10**9},
    {"model_type": "llama", "hidden_size": 1.5},
    {"model_type": "clip", "vision_config": {}},
    {"model_type": "gemma3", "text_config": models()[0].config, "dtype": "float32"},
    models()[0].config | {"num_key_value_heads": 7, "attention_bias": True},
    models()[0].config | {"attention_bias": True, "dtype": "float32", "torch_dtype": "bfloat16"},
]


@pytest.fixture
def core(page: Page) -> Page:
    """A page with the core, its data and every table."""
    page.add_script_tag(content=estimator_data.data_script([], None))
    for name in CORE:
        page.add_script_tag(path=SCRIPTS / name)
    for text in estimator_data.table_scripts(MEASUREMENTS).values():
        page.add_script_tag(content=text)
    return page


@pytest.mark.browser
def test_configurations_are_read_alike(core: Page) -> None:
    for config in CONFIGS:
        assert core.evaluate(READ, config) == _read(config)


def _read(config: object) -> dict[str, Any]:
    """What Python reads, in the page's form."""
    try:
        found: dict[str, Any] = msgspec.to_builtins(read(config))
    except RefusedError as refused:
        return {"code": refused.code, "field": refused.field}
    return found | {"notes": list(found["notes"]), "unsupported": list(found["unsupported"])}


@pytest.mark.browser
@pytest.mark.parametrize("family", FAMILIES)
def test_phases_are_the_same_to_the_byte(core: Page, family: str) -> None:
    files: list[StoredTables] = [one for one in map(tables.load, tables.files(MEASUREMENTS)) if one.family == family]
    known = [(key, table) for one in files for key, table in tables.unpacked(one).items()]
    draw = random.Random(f"browser {family}")  # noqa: S311 - no secret depends on it
    for point in range(POINTS):
        key, table = draw.choice(known)
        example = random_example(key, table.depths.smallest + 5 * table.depths.period, point)
        options = msgspec.to_builtins(example.case) | {"device": "cuda"}  # such small tensors a heap would keep in part
        bills = step_bills(table, example.dimensions, example.case)
        expected = {f"{bill.step} {bill.name}": bill.peak_bytes for bill in bills}
        windowed = key.mode == "generation" and FAMILIES[family].window  # further tokens would leave the window
        assert core.evaluate(ESTIMATE, [example.config, options]) == ["bound" if windowed else "polynomial", expected]


def test_every_script_of_tables_weighs_at_most_60_kb_compressed() -> None:
    scripts = estimator_data.table_scripts(MEASUREMENTS)
    weights = {name: len(gzip.compress(text.encode(), 9)) for name, text in scripts.items()}
    assert {name: size for name, size in weights.items() if size > MOST_BYTES} == {}
    assert {name.split("-")[0] for name in scripts} == set(FAMILIES)
