"""The script that readers download: alone, in French, and in agreement with what sitegen measures."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sitegen.measure.runner import run_sample
from sitegen.measure.weights import prepare, source_of
from sitegen.records.case import DEFAULT_MODEL, Case
from sitegen.records.summary import summarise

SCRIPT = Path(__file__).parents[2] / "content" / "fichiers" / "mesurer_soi_meme.py"
LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 512,
    "tie_word_embeddings": True,
}


def silent(*_arguments: object) -> None:
    """No progress."""


def run_script(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)


def measured(*options: str) -> dict[str, Any]:
    done = run_script(*options, "--json")
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model in a folder, as a reader may have one."""
    folder = tmp_path_factory.mktemp("tiny")
    config = folder / "given.json"
    config.write_text(json.dumps(LLAMA), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SITEGEN_CACHE", str(folder / "cache"))
        return prepare(source_of(DEFAULT_MODEL, None, config), "float32", silent).folder


def test_it_needs_nothing_but_the_three_libraries() -> None:
    imports = [node for node in ast.walk(ast.parse(SCRIPT.read_text("utf-8"))) if isinstance(node, ast.Import)]
    origins = [node for node in ast.walk(ast.parse(SCRIPT.read_text("utf-8"))) if isinstance(node, ast.ImportFrom)]
    names = {alias.name for node in imports for alias in node.names} | {str(node.module) for node in origins}
    others = {name.partition(".")[0] for name in names} - sys.stdlib_module_names
    assert others == {"torch", "transformers", "peft"}


def test_it_is_short_enough_to_be_read() -> None:
    assert len(SCRIPT.read_text("utf-8").splitlines()) < 200


def test_its_help_is_french_and_complete() -> None:
    done = run_script("--help")
    assert (done.returncode, done.stderr) == (0, "")
    for option in ("modele", "mode", "lot", "longueur", "points-de-controle", "type", "lora", "etapes", "seuil-fixe"):
        assert f"--{option}" in done.stdout
    assert "WSL" in done.stdout
    assert "8 Go" in done.stdout
    assert "show this help" not in done.stdout
    # French typography: a no-break space before a colon, a thin one before a semicolon.
    assert not re.search(r" [:;!?](?:\s|$)", done.stdout)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--lot", "0"), "il faut au moins 1 exemple"),
        (("--longueur", "1"), "2 jetons"),
        (("--mode", "inference", "--lora"), "ne valent que pour --mode entrainement"),
    ],
)
def test_an_impossible_option_is_refused_in_french(options: tuple[str, ...], message: str) -> None:
    done = run_script(*options)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_lora_run_trains_the_adapter_alone(tiny: Path) -> None:
    result = measured("--modele", str(tiny), "--lot", "1", "--longueur", "16", "--lora", "--points-de-controle")
    # By hand: rank 8 × (inputs + outputs) of q_proj (64 → 64) and v_proj (64 → 2 heads of 16), two layers.
    assert result["trainable_parameters"] == 2 * 8 * ((64 + 64) + (64 + 32))
    # 512·64 embeddings, two layers of 2·64² + 2·64·32 attention, 3·64·128 MLP and 2·64 norms, 64 final norm.
    assert result["parameters"] == 512 * 64 + 2 * (2 * 64**2 + 2 * 64 * 32 + 3 * 64 * 128 + 2 * 64) + 64


def test_its_words_are_its_figures(tiny: Path) -> None:
    done = run_script("--modele", str(tiny), "--lot", "2", "--longueur", "16", "--etapes", "3", "--type", "bfloat16")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "Paramètres\u00a0: 106\u202f816, entraînés\u00a0: 106\u202f816"
    assert [line.partition("\u00a0:")[0] for line in lines] == [
        "Paramètres",
        "Mémoire de départ",
        "Chargement",
        "Étape 1",
        "Étape 2",
        "Étape 3",
    ]


CASES = {
    "training": (("--mode", "entrainement", "--lot", "1"), Case(allocator="fixed")),
    "inference": (("--mode", "inference", "--lot", "8"), Case(mode="inference", batch_size=8, allocator="fixed")),
}


@pytest.mark.model
@pytest.mark.parametrize("name", CASES)
def test_it_agrees_with_sitegen_net_and_gross(name: str) -> None:
    options, case = CASES[name]
    folder = prepare(source_of(DEFAULT_MODEL), "float32", silent).folder
    summary = summarise(case, (run_sample(case, folder, silent),))
    script = measured("--modele", str(folder), "--seuil-fixe", *options)
    assert summary.status == "ok"
    assert summary.peak_bytes is not None
    assert summary.baseline_bytes is not None
    assert script["peak_bytes"] == pytest.approx(summary.peak_bytes, rel=0.02)
    assert script["gross_peak_bytes"] == pytest.approx(summary.peak_bytes + summary.baseline_bytes, rel=0.02)
    assert script["step_peak_bytes"] == pytest.approx(list(summary.step_peak_bytes), rel=0.02)
    assert script["parameters"] == summary.parameters == 134_515_008
