"""``sitegen estimate`` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from tests.test_cli import TINY, sitegen

KEYS: Final = {
    "peak_bytes",
    "load_peak_bytes",
    "interval_bytes",
    "phase",
    "phases",
    "components",
    "stack",
    "source",
    "verdicts",
}
SHORT: Final = ("--sequence-length", "16")


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(TINY), encoding="utf-8")
    return path


def _estimate(tmp_path: Path, *arguments: str) -> dict[str, Any]:
    done = sitegen("estimate", *arguments, "--json", cwd=tmp_path, SITEGEN_CACHE=str(tmp_path / "cache"))
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_json_has_every_figure_and_they_agree(config: Path, tmp_path: Path) -> None:
    found = _estimate(tmp_path, "--config", str(config), *SHORT, "--allocator", "fixed")
    assert found.keys() >= KEYS
    assert found["peak_bytes"] == max(phase["peak_bytes"] for phase in found["phases"])
    assert found["peak_bytes"] == sum(found["components"].values())
    low, high = found["interval_bytes"]
    assert low < found["peak_bytes"] < high
    assert found["source"] == "traced"
    assert found["verdicts"][0]["card"] == "this machine"


def test_on_cuda_three_figures_and_the_card_is_judged(config: Path, tmp_path: Path) -> None:
    found = _estimate(tmp_path, "--config", str(config), *SHORT, "--device", "cuda", "--card", "RTX 4090")
    assert found["case"]["foreach"] is True
    cuda = found["cuda"]
    assert found["peak_bytes"] == cuda["allocated_bytes"]
    assert cuda["allocated_bytes"] <= cuda["reserved_interval_bytes"][1] <= cuda["device_interval_bytes"][1]
    (verdict,) = found["verdicts"]
    assert (verdict["card"], verdict["verdict"]) == ("GeForce RTX 4090", "fits")


def test_the_text_says_what_to_change_first(config: Path, tmp_path: Path) -> None:
    arguments = ("estimate", "--config", str(config), "--mode", "inference", "--batch-size", "64")
    done = sitegen(*arguments, cwd=tmp_path, SITEGEN_CACHE=str(tmp_path / "cache"))
    assert done.returncode == 0, done.stderr
    assert "Peak: " in done.stdout
    assert "--batch-size 32" in done.stdout
    assert "--dtype bfloat16" in done.stdout


@pytest.mark.parametrize(
    ("change", "arguments", "code", "says"),
    [
        ({}, ["--mode", "baseline"], 2, "nothing to trace"),
        ({}, ["--batch-size", "0"], 2, "--batch-size is 0"),
        ({}, ["--card", "rtx-9999"], 2, "no card 'rtx-9999'"),
        ({}, ["--model", "llama-3-8b"], 2, "both name a model"),
        ({}, ["--method", "lora", "--lora-targets", "c_attn"], 2, "Name some of its matrices: down_proj"),
        ({"hidden_size": None}, [], 10, "has no hidden_size"),
        ({"num_hidden_layers": 10**9}, [], 10, "no model has over"),
        ({"torch_dtype": "float16", "dtype": "bfloat16"}, [], 10, "two dtypes"),
        ({"model_type": "gemma2", "head_dim": 16}, [], 4, "--attention eager"),
        ({"model_type": "nonesuch"}, [], 10, "does not know model_type 'nonesuch'"),
    ],
)
def test_what_cannot_be_estimated_is_said_with_its_exit_code(
    change: dict[str, Any], arguments: list[str], code: int, says: str, config: Path, tmp_path: Path
) -> None:
    config.write_text(json.dumps(TINY | change), encoding="utf-8")
    done = sitegen("estimate", "--config", str(config), *arguments, cwd=tmp_path, SITEGEN_CACHE=str(tmp_path / "cache"))
    assert (done.returncode, done.stdout) == (code, "")
    assert says in done.stderr
    assert "Traceback" not in done.stderr
