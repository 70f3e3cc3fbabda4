"""The commands that the page writes are taken by the program, and mean the case that is shown."""

from __future__ import annotations

import random
import shlex
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import click
import pytest
from msgspec.structs import replace
from playwright.sync_api import Page, expect

from sitegen.cli import cli
from sitegen.memory.catalogue import card, model
from sitegen.options import case_from
from sitegen.records.case import Case
from sitegen.render.estimator_options import OPTIONS
from sitegen.render.estimator_starts import STARTS, State, case_of
from tests.estimator_form import part

pytestmark = pytest.mark.browser

OTHERS = ("model", "revision", "config", "output", "repeat", "force", "as_json", "cards", "device")
"""Options of the commands that are no part of a case, or that `case_from` is given apart."""

# The former state's command may come until the page has taken the new one: it is struck out then, and not before.
GO: Final = """async (state) => {
  const changed = new Promise((resolve) => addEventListener('hashchange', resolve, { once: true }));
  location.hash = state;
  await changed;
  document.querySelector('[data-part=command]').textContent = '';
}"""


def drawn(count: int) -> list[State]:
    """States of the form, each option with any of its values."""
    draw = random.Random("commands")  # noqa: S311 - no secret depends on it
    states = [
        {"model": "smollm2-135m", "lora_targets": "q_proj,down_proj"}
        | {option.name: draw.choice(option.choices).value for option in OPTIONS if option.choices}
        | {option.name: draw.choice(("true", "false")) for option in OPTIONS if option.kind == "switch"}
        | {"batch_size": "3", "sequence_length": "77", "gradient_accumulation": "2", "lora_rank": "5"}
        for _ in range(count)
    ]
    return [state | {"card": "ram-16" if state["device"] == "cpu" else "l4"} for state in states]


def test_the_commands_are_taken_and_mean_the_case_shown(estimator: Page) -> None:
    for state in [*(start for _, start in STARTS), *drawn(24)]:
        device = state["device"]
        lines = commands(estimator, state)
        assert [line[1] for line in lines] == (["estimate"] if device == "cuda" else ["measure", "estimate"])
        for _, name, *arguments in lines:
            given = read_by_program(name, arguments)
            assert given["model"] == model(state["model"]).hub_id
            case = case_from(given["model"], None, {key: one for key, one in given.items() if key not in OTHERS})
            assert case == expected(state, given["model"]), state
            if name == "estimate":
                assert given["device"] == device
                assert [card(key) for key in given["cards"]] == [card(state["card"])]


def read_by_program(name: str, arguments: list[str]) -> dict[str, Any]:
    """What the program reads of a command, under the group: a command keeps the help option of its first context."""
    above = click.Context(cli, info_name="sitegen", **cli.context_settings)
    return cli.commands[name].make_context(name, list(arguments), parent=above).params


def expected(state: State, name: str) -> Case:
    """The case of a state; adapters' options do not count without one."""
    case = replace(case_of(state), model=name)
    return case if case.method != "full" else replace(case, lora_targets=Case().lora_targets)


def commands(page: Page, state: State) -> list[list[str]]:
    """The words of each command that the page writes for a state."""
    page.evaluate(GO, urlencode(state))
    expect(part(page, "command")).not_to_be_empty()
    text = part(page, "command").text_content() or ""
    return [shlex.split(line) for line in text.replace("\\\n", " ").split("\n\n")]


def test_a_pasted_configuration_is_given_as_a_file(estimator: Page, tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "config.json").write_text("{}", "utf-8")
    monkeypatch.chdir(tmp_path)
    config = '{"model_type":"llama","hidden_size":64,"intermediate_size":128,"num_hidden_layers":4,"vocab_size":512,'
    config += '"num_attention_heads":4,"num_key_value_heads":2,"tie_word_embeddings":true}'
    state = {"config": config, "method": "full", "device": "cpu", "card": "ram-8", "foreach": "false"}
    (_, name, *arguments), _ = commands(estimator, state)
    assert read_by_program(name, arguments)["config"] == Path("config.json")
    expect(part(estimator, "command-lead")).to_contain_text("config.json")
