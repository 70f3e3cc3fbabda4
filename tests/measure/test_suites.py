"""The suites: cases that can run, on models that exist, and no probe among what estimates are held to."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace

import sitegen
from sitegen.measure.suites import (
    HEAP,
    REFERENCE,
    RUNTIME,
    RUNTIME_MODELS,
    SUITES,
    VALIDATION,
    VALIDATION_MODELS,
)
from sitegen.records.case import Case

_CONFIGURATIONS: Final = Path(sitegen.__file__).parent / "workload" / "configurations"


def _config(model: str) -> dict[str, object]:
    config: dict[str, object] = json.loads((_CONFIGURATIONS / f"{model}.json").read_text(encoding="utf-8"))
    return config


@pytest.mark.parametrize("suite", SUITES)
def test_every_case_can_run_and_stands_once(suite: str) -> None:
    cases = SUITES[suite]
    assert [case.checked() for case in cases] == list(cases)
    assert max(Counter(case.id for case in cases).values()) == 1


@pytest.mark.parametrize("suite", SUITES)
def test_every_model_ships_with_the_program(suite: str) -> None:
    assert {case.model for case in SUITES[suite] if not (_CONFIGURATIONS / f"{case.model}.json").is_file()} == set()


def test_no_case_that_an_estimate_is_held_to_runs_on_a_probe_model() -> None:
    assert {case.model for case in RUNTIME} == set(RUNTIME_MODELS)
    assert not {case.model for case in (*REFERENCE, *VALIDATION)} & set(RUNTIME_MODELS)
    probed = [_config(model) for model in RUNTIME_MODELS]
    assert all(_config(model) not in probed for model in VALIDATION_MODELS)


def test_the_validation_is_as_varied_as_it_claims() -> None:
    # At least 24 cases and five other architectures, among them tied and untied, grouped-query and multi-head
    # attention, a vocabulary of 262 144 words, and a window shorter than the sequences.
    assert len(set(VALIDATION) - set(REFERENCE)) >= 24
    configs = {model: _config(model) for model in VALIDATION_MODELS}
    assert len({config["model_type"] for config in configs.values()}) >= 5
    assert {config["tie_word_embeddings"] for config in configs.values() if "tie_word_embeddings" in config} == {
        True,
        False,
    }
    shared = {
        c["num_key_value_heads"] == c["num_attention_heads"] for c in configs.values() if "num_key_value_heads" in c
    }
    assert shared == {True, False}
    assert max(int(str(config.get("vocab_size"))) for config in configs.values()) == 262_144
    longest = max(case.sequence_length for case in VALIDATION if case.model == "synthetic-mistral")
    assert int(str(configs["synthetic-mistral"]["sliding_window"])) < longest


def test_the_validation_changes_every_option_that_moves_memory() -> None:
    unmoved = ("revision", "new_tokens", "steps", "seed", "threads", "device", "timeout", "modules_to_save")
    default = Case().options()
    moved = {name for case in VALIDATION for name, value in case.options().items() if value != default[name]}
    assert moved == set(default) - set(unmoved)


def test_each_row_of_the_heap_has_its_row_under_the_fixed_threshold() -> None:
    assert {case.allocator for case in HEAP} == {"default"}
    assert {replace(case, allocator="fixed") for case in HEAP} <= set(VALIDATION)
