"""What the calculators' pages are given comes from the formulas, and every name has its French."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sitegen.memory import formulas
from sitegen.render.calculator import Checks, Chooser, Field, letter
from sitegen.render.calculator_training import training_vram
from sitegen.render.calculators import CALCULATORS
from sitegen.render.facts import stated
from sitegen.render.series import Series


def plain(text: str) -> str:
    return text.replace("\u00a0", " ").replace("\u202f", " ")


def test_the_worked_example_of_training_is_112_and_132() -> None:
    example = plain(training_vram().example)
    assert "7 × 16 = 112 Go" in example
    assert example.endswith("et avec 20 Go d’activations, 132 Go.")


def test_every_preset_is_offered_with_its_shares() -> None:
    data = training_vram().data
    assert list(data["choosers"]["preset"]) == [preset.key for preset in formulas.PRESETS]
    for preset in formulas.PRESETS:
        shares = data["shares"][preset.key]
        assert data["choosers"]["preset"][preset.key] == {"b": preset.bytes_per_parameter}
        assert sum(share["bytes"] for share in shares) == preset.bytes_per_parameter


def test_the_default_is_mixed_precision() -> None:
    assert training_vram().data["defaults"] == {"n": "7", "b": "16", "a": "0", "preset": "mixed-adam"}


@pytest.mark.parametrize("name", CALCULATORS)
def test_each_calculator_is_whole(name: str) -> None:
    calculator = CALCULATORS[name]()
    data = calculator.data
    assert json.loads(json.dumps(data)) == data
    parts = [part for group in calculator.groups for part in group.parts]
    names = [part.name for part in parts]
    assert len(set(names)) == len(names)
    fields = {part.name for part in parts if isinstance(part, Field)}
    for part in parts:
        if isinstance(part, Chooser):
            assert part.default in {choice.key for choice in part.choices}
            assert all(set(choice.values) <= fields for choice in part.choices)
            written = data["choosers"][part.name][part.default]
            assert {key: data["defaults"][key] for key in written} == {k: f"{v:.12g}" for k, v in written.items()}
        elif isinstance(part, Checks):
            assert set(part.default) <= set(part.labels)


def test_the_formulas_are_laid_out_with_their_words(built: Path) -> None:
    page = (built / "calculateurs" / "vram-entrainement" / "index.html").read_text("utf-8")
    assert [equation in page for equation in training_vram().equations] == [True, True]
    assert 'alttext="modèle et états = paramètres, en milliards × octets par paramètre"' in page
    assert page.count("<math ") == 4  # where the calculator cannot run, and in the text


def test_only_pages_with_a_calculator_load_its_scripts(built: Path) -> None:
    loading = {
        path.relative_to(built).as_posix()
        for path in built.rglob("*.html")
        if "assets/calculator-lora." in path.read_text("utf-8")
    }
    folders = ("vram-entrainement", "vram-inference", "parametres-lora")
    assert loading == {f"calculateurs/{folder}/index.html" for folder in folders}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # 8 030 261 248 parameters × 2 bytes; 2 × 32 layers × 8 heads × 128 × 2 bytes = 131 072 a token
        ("kv_example_weights", "16,06 Go"),
        ("kv_example_token", "131 Ko"),
        ("kv_example_cache", "8,59 Go"),  # × 8 × 8192
        ("kv_example_total", "24,65 Go"),
        ("kv_example_ungrouped", "34,36 Go"),  # 32 heads and not 8
        ("kv_window_cache", "0,54 Go"),  # 4096 × 131 072
        ("kv_window_unbounded", "4,29 Go"),  # 32 768 × 131 072
        # rank 16 × 32 layers × ((4096 + 4096) + (4096 + 1024)), then the seven: peft prints 41 943 040 for this model
        ("lora_example_parameters", "6 815 744"),
        ("lora_example_seven", "41 943 040"),
        ("lora_example_file", "27 Mo"),
        ("lora_example_kept", "109 Mo"),
    ],
)
def test_the_examples_are_what_the_rules_give(name: str, expected: str, series: Series) -> None:
    assert plain(stated(name, series).text) == expected


def test_an_index_of_a_letter_is_one() -> None:
    assert letter("L_c") == "<var>L<sub>c</sub></var>"
    assert letter("<") == "<var>&lt;</var>"
