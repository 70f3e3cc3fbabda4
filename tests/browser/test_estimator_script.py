"""The stand-alone script of the page « Estimateur »: Python for every case, and it runs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from itertools import product
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

TINY = {
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "vocab_size": 512,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "tie_word_embeddings": True,
    "max_position_embeddings": 256,
}
CPU = {"config": json.dumps(TINY), "device": "cpu", "batch_size": "2", "sequence_length": "32", "card": "ram-8"}
RUNS = {
    "full": {"method": "full", "numbers": "float32", "gradient_accumulation": "2", "zero_grad": "keep"},
    "lora": {"method": "lora", "numbers": "mixed", "gradient_checkpointing": "true", "padding": "true"},
    "qlora": {"method": "qlora", "numbers": "bfloat16", "loss": "chunked", "gradient_checkpointing": "true"},
    "adafactor": {"method": "full", "numbers": "bfloat16", "optimizer": "adafactor", "attention": "eager"},
    "inference": {"mode": "inference", "method": "full", "logits": "last", "allocator": "fixed"},
    "generation": {"mode": "generation", "method": "lora", "new_tokens": "5"},
}


def script(page: Page, state: dict[str, str]) -> str:
    """The script of a case; its title says the case, so that the former one is not read."""
    page.evaluate("() => { document.querySelector('[data-part=script]').textContent = ''; }")
    page.evaluate("state => { location.hash = state; }", urlencode(state))
    expect(page.locator("[data-part=script]")).not_to_be_empty()
    return page.locator("[data-part=script]").text_content() or ""


def test_every_case_has_a_script_without_holes(estimator: Page) -> None:
    axes = product(
        ("training", "inference", "generation"), ("full", "lora", "qlora"), ("cuda", "cpu"), ("adamw", "adamw-8bit")
    )
    for mode, method, device, optimizer in axes:
        written = script(
            estimator, {**CPU, "mode": mode, "method": method, "device": device, "optimizer": optimizer, "card": ""}
        )
        compile(written, "essai.py", "exec")
        assert "{{" not in written
        assert not re.search(r"^#@|undefined", written, re.MULTILINE)
        assert ("torch.cuda" in written) == (device == "cuda")


@pytest.mark.parametrize("name", RUNS)
def test_the_script_runs(estimator: Page, tmp_path: Path, name: str) -> None:
    path = tmp_path / "essai.py"
    path.write_text(script(estimator, {**CPU, **RUNS[name]}), "utf-8")
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, check=False, timeout=200, env=environment
    )
    assert done.returncode == 0, done.stderr[-2000:]
    peaks = [int(found) for found in re.findall(r"pic net (\d+) Mo", done.stdout)]
    assert len(peaks) == (2 if "mode" not in RUNS[name] else 1)
    assert all(peak > 0 for peak in peaks)
