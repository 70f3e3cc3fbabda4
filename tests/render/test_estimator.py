"""What the page « Estimateur » is given: the catalogue, every option of a case, and starts that name what exists."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import parse_qs

import msgspec
import pytest

from sitegen.memory.catalogue import KINDS, card, cards, model, models
from sitegen.memory.families import FAMILIES
from sitegen.records.case import Case
from sitegen.records.trace import LiveComponents
from sitegen.render.assets import publish
from sitegen.render.estimator import estimator
from sitegen.render.estimator_options import OPTIONS
from sitegen.render.estimator_tables import fixed_examples, option_names
from sitegen.render.estimator_words import COMPONENT_NAMES
from sitegen.render.series import Series

NOT_CHOSEN = {"model", "revision", "reentrant", "modules_to_save", "steps", "seed", "threads", "timeout"}
"""Options of a case that say which model, or move no byte that the page estimates."""
AS_ONE = {"dtype": "numbers", "mixed_precision": "numbers"}


def test_every_option_of_a_case_is_offered() -> None:
    offered = {option.name for option in OPTIONS}
    assert {AS_ONE.get(name, name) for name in Case.__struct_fields__ if name not in NOT_CHOSEN} == offered


def test_every_choice_is_one_that_a_case_takes() -> None:
    for option in OPTIONS:
        values = {choice.value for choice in option.choices}
        assert not values or option.default in values
        for value in values if option.name not in ("numbers", "device") else ():
            assert getattr(msgspec.convert({option.name: value}, Case), option.name) == value


def test_every_option_depends_on_options_that_exist() -> None:
    values = {option.name: {choice.value for choice in option.choices} for option in OPTIONS}
    for option in OPTIONS:
        for name, allowed in option.when:
            assert set(allowed) <= values[name]


def test_the_whole_catalogue_is_there() -> None:
    data = estimator().data
    assert [each["key"] for each in data["models"]] == [each.key for each in models()]
    assert {each["key"]: each["bytes"] for each in data["cards"]} == {each.key: each.total_bytes for each in cards()}
    assert [kind for kind, _ in data["kinds"]] == list(KINDS)
    assert set(data["targets"]) == set(FAMILIES)
    assert json.loads(json.dumps(data))["models"][0]["config"] == models()[0].config


def test_every_component_of_a_trace_has_a_name() -> None:
    assert [*LiveComponents.__struct_fields__, "runtime"] == list(COMPONENT_NAMES)


def test_starts_name_what_exists() -> None:
    options = {option.name: option for option in OPTIONS}
    for start in estimator().starts:
        state = {name: values[0] for name, values in parse_qs(start.state).items()}
        assert model(state.pop("model")).config["model_type"] in FAMILIES
        kind = card(state.pop("card")).kind
        assert (kind in ("ram", "apple")) == (state["device"] == "cpu")
        for name, value in state.items():
            if options[name].choices:
                assert value in {choice.value for choice in options[name].choices}


def test_the_examples_are_arithmetic(series: Series) -> None:
    rows = {row.header.text: [cell.text for cell in row.cells] for row in fixed_examples(series).rows}
    # Llama-3.1-8B: 8 030 261 248 parameters; 2, 8 and 16 bytes each.
    assert rows["Llama 3.1 8B"] == ["8,030", "16,1", "64,2", "128,5"]


def test_the_names_of_the_batch_size(series: Series) -> None:
    rows = {row.header.text: [cell.text for cell in row.cells] for row in option_names(series).rows}
    assert rows["Taille de lot"] == ["--batch-size", "per_device_train_batch_size", "—", "—"]
    assert rows["Modules ciblés"] == ["--lora-targets", "—", "target_modules", "—"]


def test_its_scripts_are_loaded_by_its_page_alone(built: Path) -> None:
    for path in built.rglob("*.html"):
        loads = "assets/estimator-page." in path.read_text("utf-8")
        assert loads == (path == built / "estimateur" / "index.html")


def test_tables_are_published_under_their_hash(tmp_path: Path) -> None:
    published = publish(tmp_path, {"llama": "Sitegen.tables.llama = {};"})
    address = published.estimator.tables["llama"]
    assert (tmp_path / address).read_text("utf-8") == "Sitegen.tables.llama = {};"
    assert address.startswith("assets/table-llama.")


@pytest.mark.parametrize("condition", ["mode=training", "method=qlora", "device=cuda", "loss=chunked"])
def test_the_blocks_of_the_script_are_closed(condition: str) -> None:
    lines = estimator().data["script"].splitlines()
    assert any(condition in line for line in lines if line.startswith("#@ "))
    depth = 0
    for line in lines:
        depth += line.startswith("#@ ") - (line == "#@end")
        assert 0 <= depth <= 2
    assert depth == 0
