"""Which model: found by search, read from a config.json, known by its size alone; what is refused, and how."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import FilePayload, Page, expect

from sitegen.memory.bounds import BOUNDS
from sitegen.memory.catalogue import model
from tests.estimator_form import ESTIMATOR, LLAMA, NO_BREAK, choose, error, field, part, pasted, peak

pytestmark = pytest.mark.browser


def test_a_model_is_found_by_keyboard(estimator: Page) -> None:
    box = field(estimator, "model")
    box.focus()
    box.press_sequentially("qwen3 32")
    expect(estimator.get_by_role("listbox").get_by_role("option")).to_have_count(1)
    box.press("Enter")
    expect(box).to_have_value("Qwen3 32B")
    expect(part(estimator, "recap")).to_contain_text("Qwen3 32B")
    box.fill("gemma")
    box.press("ArrowDown")
    first = estimator.get_by_role("listbox").get_by_role("option").first
    expect(first).to_have_attribute("aria-selected", "true")
    assert box.get_attribute("aria-activedescendant") == first.get_attribute("id")
    box.press("Escape")
    expect(box).to_have_attribute("aria-expanded", "false")


def test_an_unknown_model_is_an_error_and_the_result_stays(estimator: Page) -> None:
    before = peak(estimator)
    field(estimator, "model").fill("modèle inconnu")
    expect(error(estimator, "model")).to_contain_text("Aucun modèle de ce nom")
    expect(field(estimator, "model")).to_have_attribute("aria-invalid", "true")
    expect(part(estimator, "stale")).to_be_visible()
    assert peak(estimator) == before


GEMMA = dict(model("gemma-3-4b").config)
CONTRADICTION = {
    "model_type": "gemma3",
    "tie_word_embeddings": False,
    "text_config": {**GEMMA, "tie_word_embeddings": True},
}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "n’est pas du JSON"),
        ("pas du json", "n’est pas du JSON"),
        ("[" * 100_000, "n’est pas du JSON"),
        ('{"hidden_size": NaN}', "n’est pas du JSON"),
        ("[1]", "n’est pas un objet"),
        ("null", "n’est pas un objet"),
        ("{}", "Il manque « model_type »"),
        (json.dumps({**LLAMA, "model_type": None}), "Il manque « model_type »"),
        (json.dumps({**LLAMA, "hidden_size": None}), "Il manque « hidden_size »"),
        (json.dumps({key: v for key, v in LLAMA.items() if key != "vocab_size"}), "Il manque « vocab_size »"),
        (json.dumps({**LLAMA, "num_hidden_layers": 10**9}), "La valeur de « num_hidden_layers » ne convient pas"),
        (json.dumps({**LLAMA, "num_hidden_layers": 10**6}), "aucun modèle n’a tant de couches"),
        (json.dumps({**LLAMA, "hidden_size": "large"}), "La valeur de « hidden_size » ne convient pas"),
        (json.dumps({**LLAMA, "hidden_size": True}), "La valeur de « hidden_size » ne convient pas"),
        (json.dumps({**LLAMA, "vocab_size": -1}), "La valeur de « vocab_size » ne convient pas"),
        (json.dumps({**LLAMA, "num_key_value_heads": 7}), "La valeur de « num_key_value_heads » ne convient pas"),
        (json.dumps({"model_type": "vit", "image_size": 224}), "modèle de vision"),
        (json.dumps({"model_type": "siglip", "vision_config": {"hidden_size": 768}}), "modèle de vision"),
        (json.dumps({**LLAMA, "model_type": "mamba"}), "« mamba » n’est pas de celles"),
        (json.dumps({**LLAMA, "model_type": "toString"}), "« toString » n’est pas de celles"),
        (json.dumps(CONTRADICTION), "« tie_word_embeddings » n’a pas la même valeur"),
        (
            json.dumps({**LLAMA, "torch_dtype": "float16", "dtype": "bfloat16"}),
            "« torch_dtype » et « dtype » diffèrent",
        ),
        (json.dumps({**LLAMA, "quantization_config": {"quant_method": "awq"}}), "déjà quantifiés"),
    ],
)
def test_a_bad_configuration_is_refused_in_french_and_the_result_stays(
    estimator: Page, watch: Any, text: str, said: str
) -> None:
    before = peak(estimator)
    pasted(estimator, text)
    expect(error(estimator, "config")).to_contain_text(said.replace("« ", f"«{NO_BREAK}").replace(" »", f"{NO_BREAK}»"))
    expect(field(estimator, "config")).to_have_attribute("aria-invalid", "true")
    assert peak(estimator) == before
    expect(part(estimator, "stale")).to_be_visible()
    pasted(estimator, json.dumps(LLAMA))
    expect(error(estimator, "config")).to_be_hidden()
    expect(part(estimator, "stale")).to_be_hidden()
    assert watch.messages == []


@pytest.mark.parametrize(("tied", "head"), [(True, True), (False, False)])
def test_a_flag_that_the_tensors_contradict_is_refused(estimator: Page, tied: bool, head: bool) -> None:
    names = ["model.embed_tokens.weight", *(["lm_head.weight"] if head else [])]
    before = peak(estimator)
    choose(estimator, "source", "config")
    config = _file("config.json", {**LLAMA, "tie_word_embeddings": tied})
    index = _file("model.safetensors.index.json", {"weight_map": dict.fromkeys(names, "model.safetensors")})
    estimator.locator("[data-pick=config]").set_input_files([index, config])
    expect(error(estimator, "config")).to_contain_text("tie_word_embeddings")
    expect(error(estimator, "config")).to_contain_text("lm_head.weight")
    assert peak(estimator) == before
    agreeing = _file("config.json", {**LLAMA, "tie_word_embeddings": not tied})
    estimator.locator("[data-pick=config]").set_input_files([agreeing, index])
    expect(error(estimator, "config")).to_be_hidden()
    expect(part(estimator, "stale")).to_be_hidden()


def _file(name: str, content: object) -> FilePayload:
    return FilePayload(name=name, mimeType="application/json", buffer=json.dumps(content).encode())


def test_the_language_model_inside_a_larger_one_is_taken_and_said(estimator: Page) -> None:
    pasted(estimator, json.dumps({"model_type": "gemma3", "vision_config": {}, "text_config": GEMMA}))
    expect(part(estimator, "notes")).to_contain_text("text_config")
    expect(part(estimator, "facts")).to_contain_text("gemma3_text")
    expect(part(estimator, "stale")).to_be_hidden()


# The longest that the page's thread was busy, in milliseconds, while 50 MB were offered to it.
BUSY = """async () => {
  const seen = [0];
  const note = (list) => list.getEntries().forEach(({ duration }) => seen.push(duration));
  new PerformanceObserver(note).observe({ entryTypes: ['longtask'] });
  window.busy = () => Math.max(...seen);
}"""
PASTE = """() => {
  const data = new DataTransfer();
  data.setData('text', 'x'.repeat(50_000_000));
  const event = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true });
  const start = performance.now();
  document.querySelector('[name=config]').dispatchEvent(event);
  return performance.now() - start;
}"""


def test_fifty_megabytes_are_refused_at_once_and_freeze_nothing(estimator: Page, tmp_path: Path) -> None:
    before = peak(estimator)
    large = tmp_path / "config.json"
    large.write_bytes(b'{"a": "' + b"x" * 50_000_000 + b'"}')
    choose(estimator, "source", "config")
    estimator.wait_for_timeout(500)  # what follows the choice of a source is over
    estimator.evaluate(BUSY)
    estimator.locator("[data-pick=config]").set_input_files(large)
    expect(error(estimator, "config")).to_contain_text("Est-ce le bon fichier")
    assert estimator.evaluate("busy()") <= 100  # ms
    field(estimator, "config").fill("{")
    expect(error(estimator, "config")).to_contain_text("JSON")
    assert estimator.evaluate(PASTE) <= 100  # ms, the reading of the clipboard included
    expect(error(estimator, "config")).to_contain_text("Est-ce le bon fichier")
    assert field(estimator, "config").input_value() == "{"
    assert peak(estimator) == before


def test_gemma_2_with_sdpa_names_eager(estimator: Page) -> None:
    field(estimator, "model").fill("Gemma 2 9B")
    expect(error(estimator, "attention")).to_contain_text("eager")
    expect(part(estimator, "stale")).to_be_visible()
    field(estimator, "attention").select_option("eager")
    expect(error(estimator, "attention")).to_be_hidden()
    expect(part(estimator, "recap")).to_contain_text("Gemma 2 9B")


def test_parameters_alone_give_the_fixed_bill_and_promise_nothing(estimator: Page) -> None:
    choose(estimator, "source", "parameters")
    field(estimator, "parameters").fill("1,5")
    expect(part(estimator, "source")).to_have_text("calculé")
    expect(part(estimator, "value")).to_contain_text("≥")
    expect(part(estimator, "verdict")).to_contain_text("les activations ne sont pas comptées")
    assert "tient" not in (part(estimator, "cards").locator(".fits").all_text_contents() or [""])
    expect(part(estimator, "cards").locator(".fits")).to_have_count(0)


def test_every_reason_of_a_bound_has_its_sentence(estimator: Page) -> None:
    sentences = {reason: estimator.evaluate("code => EstimatorPage.reason(code)", reason) for reason in BOUNDS}
    assert {reason for reason, sentence in sentences.items() if f"({reason})" in sentence} == set()


def test_a_link_to_a_case_that_is_refused_says_so_and_shows_no_figure(page: Page, server: str) -> None:
    page.goto(server + ESTIMATOR + "#model=gemma-2-9b&method=lora&attention=sdpa&card=l4")
    expect(error(page, "attention")).to_contain_text("eager")
    expect(part(page, "value")).to_contain_text("à corriger")
    expect(part(page, "source")).to_be_hidden()
    field(page, "attention").select_option("eager")
    expect(part(page, "recap")).to_contain_text("Gemma 2 9B")
    expect(part(page, "source")).to_be_visible()
