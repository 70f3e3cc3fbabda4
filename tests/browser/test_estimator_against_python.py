"""The page, whole, with the committed tables and records: its every estimate is the one that Python makes."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import msgspec
import pytest
from msgspec.structs import replace
from playwright.sync_api import Page

from sitegen.memory.catalogue import CatalogueModel, models
from sitegen.memory.estimate import Estimate, Setting, estimated
from sitegen.memory.families import FAMILIES
from sitegen.memory.intervals import rows_of
from sitegen.memory.measured import measured_pages
from sitegen.memory.runtime import shape_of
from sitegen.memory.tabled import bill_of, has_small_tensors
from sitegen.project import find_project
from sitegen.records import tables
from sitegen.records.bills import merged
from sitegen.records.case import Case
from sitegen.records.model import Record
from sitegen.records.store import load_all
from sitegen.records.table import Table, TableKey
from sitegen.render.estimator_options import OPTIONS
from sitegen.render.series import chosen

pytestmark = pytest.mark.browser

MEASUREMENTS: Final = Path(__file__).parents[2] / "measurements"
CASES: Final = 160
"""Cases drawn over the catalogue; some have no exact table, which the page must say."""

# What the panel is given to show, since the form was last set from the address: wrapped before the page starts.
WATCH: Final = """document.addEventListener('DOMContentLoaded', () => {
  const panelOf = EstimatorPage.panel;
  EstimatorPage.panel = (...given) => {
    const panel = panelOf(...given);
    const show = panel.show;
    panel.show = (result, ...rest) => { window.shown = result; return show(result, ...rest); };
    return panel;
  };
  const restored = EstimatorPage.restored;
  EstimatorPage.restored = (...given) => { const found = restored(...given); window.shown = null; return found; };
})"""
SHOWN: Final = """async (state) => {
  const changed = new Promise((resolve) => addEventListener('hashchange', resolve, { once: true }));
  location.hash = state;
  await changed;
  for (const start = performance.now(); !window.shown; ) {
    if (performance.now() - start > 20000) throw new Error(`nothing is shown of ${state}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const value = document.querySelector('[data-part=value]').textContent;
  return { ...window.shown, value, written: EstimatorPage.size(window.shown.peak_bytes) };
}"""


@pytest.fixture(scope="module")
def records() -> list[Record]:
    return load_all(MEASUREMENTS)


@pytest.fixture(scope="module")
def setting(records: list[Record]) -> Setting:
    """What the site knows of the process: the probes of the environment that its prose speaks of."""
    series = chosen(records, find_project(MEASUREMENTS).settings.environment)
    pages = measured_pages(series.records, merged(MEASUREMENTS))
    assert pages is not None
    return Setting(runtime=pages)


@pytest.fixture(scope="module")
def known() -> dict[TableKey, Table]:
    return {key: one for path in tables.files(MEASUREMENTS) for key, one in tables.unpacked(tables.load(path)).items()}


@pytest.fixture
def estimator(page: Page, watch: Any, published_server: str) -> Page:
    """The page as it is published, with every table there from the start."""
    page.add_init_script(WATCH)
    page.goto(published_server + "estimateur/index.html")
    assert watch.messages == []
    for address in page.evaluate("Object.values(JSON.parse(document.querySelector('.estimator-tables').textContent))"):
        page.add_script_tag(url=f"../{address}")
    return page


def test_every_estimate_of_the_page_is_pythons_to_the_byte(
    estimator: Page, setting: Setting, known: dict[TableKey, Table], records: list[Record]
) -> None:
    exact = 0
    for model, case, device in _drawn():
        shown = estimator.evaluate(SHOWN, _state(model, case, device))
        on_heap = device == "cpu" and has_small_tensors(case, model.config)
        bill = None if on_heap else bill_of(case, model.config, known)
        assert (shown["source"] == "polynomial") == (bill is not None), (model.key, case)
        if bill is not None:
            at = replace(
                setting,
                device=device,
                shape=shape_of(model.config, bill.quantised_parameters),
                rows=rows_of(records, case.allocator),
            )
            assert _of_page(shown) == _of_python(estimated(bill, case, at)), (model.key, case)
            assert shown["value"] == shown["written"]
            exact += 1
    assert exact > CASES / 4


def _of_page(shown: dict[str, Any]) -> dict[str, Any]:
    """What the page found, under Python's names."""
    taken = {name: shown[name] for name in ("peak_bytes", "load_peak_bytes", "interval_bytes", "phases", "components")}
    return taken | {"phase": shown["phase"]["name"], "step": shown["phase"]["step"], "cuda": shown.get("cuda")}


def _of_python(found: Estimate) -> dict[str, Any]:
    """The same of Python's estimate."""
    taken = msgspec.to_builtins(found)
    names = ("peak_bytes", "load_peak_bytes", "interval_bytes", "phases", "components", "phase", "step")
    lines = ("allocated_interval_bytes", "reserved_interval_bytes", "device_interval_bytes")
    cuda = {name: list(taken["cuda"][name]) for name in lines} if taken["cuda"] else None
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode({name: taken[name] for name in names}))
    return plain | {"cuda": cuda}


def _state(model: CatalogueModel, case: Case, device: str) -> str:
    """The address of a case, as the page writes it."""
    given = msgspec.to_builtins(case) | {"model": model.key, "device": device, "numbers": case.dtype}
    names = ["model", *(option.name for option in OPTIONS)]
    return urlencode({name: _text(given[name]) for name in names})


def _text(value: object) -> str:
    """A value as an address has it."""
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _drawn() -> list[tuple[CatalogueModel, Case, Any]]:
    """Cases over all models, methods and options that tables may speak of; the same ones at each run."""
    draw = random.Random("cases of the page")  # noqa: S311 - no secret depends on it
    return [_case(draw) for _ in range(CASES)]


def _case(draw: random.Random) -> tuple[CatalogueModel, Case, Any]:
    """One case; options that its mode has no use for keep their defaults, as they do on the page."""
    model = draw.choice([one for one in models() if one.config["model_type"] in FAMILIES])
    family = FAMILIES[model.config["model_type"]]
    device = draw.choice(("cpu", "cuda"))
    case = Case(
        mode=draw.choice(("training", "training", "training", "inference", "generation")),
        dtype=draw.choice(("float32", "bfloat16")),
        batch_size=draw.choice((1, 2, 3, 8)),
        sequence_length=draw.choice((64, 500, 2048, 8192)),
        attention=family.attention[0],
        allocator=draw.choice(("fixed", "default", "jemalloc")) if device == "cpu" else "default",
        lora_rank=draw.choice((1, 8, 64)),
        lora_targets=family.targets[draw.choice(list(family.targets))],
    )
    if case.mode == "inference":
        return model, replace(case, logits=draw.choice(("all", "last"))), device
    if case.mode == "generation":
        return model, replace(case, new_tokens=draw.choice((2, 32, 500))), device
    return model, _training(draw, case), device


def _training(draw: random.Random, case: Case) -> Case:
    """The case with options of a training."""
    method = draw.choice(("full", "lora", "qlora"))
    return replace(
        case,
        method=method,
        double_quant=method == "qlora" and draw.random() < 0.5,
        optimizer=draw.choice(("adamw", "adamw", "sgd", "sgd-momentum")),
        foreach=draw.random() < 0.5,
        gradient_checkpointing=draw.random() < 0.5,
        gradient_accumulation=draw.choice((1, 4)),
        zero_grad=draw.choice(("keep", "free")),
    )
