"""What the calculator's page is given comes from the formulas, and every name has its French."""

from __future__ import annotations

import json
from pathlib import Path

from sitegen.memory import formulas
from sitegen.render.calculators import training_vram


def test_the_worked_example_is_112_and_132() -> None:
    example = training_vram().example
    assert example.model.replace("\u00a0", " ") == "7 × 16 = 112 Go"
    assert example.activations.replace("\u00a0", " ") == "20 Go"
    assert example.total.replace("\u00a0", " ") == "132 Go"


def test_every_preset_is_offered_with_its_shares() -> None:
    calculator = training_vram()
    assert [choice.key for choice in calculator.presets] == [preset.key for preset in formulas.PRESETS]
    for given, preset in zip(calculator.data["presets"], formulas.PRESETS, strict=True):
        assert given["bytes"] == sum(share["bytes"] for share in given["shares"]) == preset.bytes_per_parameter


def test_the_default_is_mixed_precision() -> None:
    calculator = training_vram()
    assert calculator.default_preset == "mixed-adam"
    assert calculator.data["defaults"] == {"n": "7", "b": "16", "a": "0", "preset": "mixed-adam"}


def test_the_data_are_json() -> None:
    data = training_vram().data
    assert json.loads(json.dumps(data)) == data


def test_the_formulas_are_laid_out_with_their_words(built: Path) -> None:
    page = (built / "calculateurs" / "vram-entrainement" / "index.html").read_text("utf-8")
    assert [equation in page for equation in training_vram().equations] == [True, True]
    assert 'alttext="modèle et états = paramètres, en milliards × octets par paramètre"' in page
    assert page.count("<math ") == 4  # where the calculator cannot run, and in the text
