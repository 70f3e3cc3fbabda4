"""The page « Estimateur », with its own core and the committed tables: what it shows, follows and keeps."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import FilePayload, Page, expect

from sitegen.memory.catalogue import card, cards
from sitegen.records.case import Case
from sitegen.records.store import encode
from tests import factories
from tests.estimator_form import ESTIMATOR, LLAMA, NO_BREAK, SMALL, choose, error, field, go, part, pasted, peak

pytestmark = pytest.mark.browser


def test_it_opens_with_a_result(estimator: Page) -> None:
    expect(part(estimator, "value")).to_have_text(re.compile(rf"^\d+,\d\d{NO_BREAK}Go$"))
    expect(part(estimator, "facts")).to_contain_text("8\u202f030\u202f261\u202f248")
    expect(part(estimator, "verdict")).to_contain_text("GeForce RTX 4090")
    expect(part(estimator, "why")).to_contain_text("Le pic survient")
    expect(estimator.locator(".estimate")).to_have_count(1)  # the other starts' are for readers without a script


def test_the_components_add_up_to_the_peak(estimator: Page) -> None:
    go(estimator, SMALL)
    expect(part(estimator, "recap")).to_contain_text("SmolLM2")
    sizes = part(estimator, "components").locator("tr:visible td:nth-child(2)").all_text_contents()
    assert sum(_bytes(text) for text in sizes) == pytest.approx(_bytes(peak(estimator)), rel=0.01)


def _bytes(text: str) -> float:
    number, unit = text.replace("\u202f", "").replace(",", ".").split(NO_BREAK)
    return float(number) * {"Ko": 1e3, "Mo": 1e6, "Go": 1e9}[unit]


def test_the_largest_phase_is_the_peak(estimator: Page) -> None:
    highest = part(estimator, "phases").locator("tr.peaks")
    expect(highest).to_have_count(1)
    assert highest.locator("td").last.text_content() == peak(estimator)


@pytest.mark.parametrize("typed", ["", "0", "1,5", "-1", "quatre", "1e3", "99 999 999"])
def test_a_count_that_is_none_is_refused(estimator: Page, typed: str) -> None:
    before = peak(estimator)
    field(estimator, "batch_size").fill(typed)
    expect(field(estimator, "batch_size")).to_have_attribute("aria-invalid", "true")
    expect(error(estimator, "batch_size")).not_to_be_empty()
    assert peak(estimator) == before


def test_counts_are_understood_as_french_people_write_them(estimator: Page) -> None:
    field(estimator, "sequence_length").fill("4\u202f096")
    expect(part(estimator, "recap")).to_contain_text("4\u202f096 jetons")


def test_a_batch_larger_than_memory_does_not_fit(estimator: Page) -> None:
    field(estimator, "batch_size").fill("4096")
    expect(part(estimator, "verdict")).to_contain_text("ne tient pas")
    expect(part(estimator, "cards-lead")).to_contain_text("Cela ne tient sur aucune")


def test_the_verdict_follows_the_memory_in_use(estimator: Page) -> None:
    expect(part(estimator, "verdict").locator(".told")).to_have_class("told fits")
    field(estimator, "used").fill("20,5")
    expect(part(estimator, "verdict").locator(".told")).to_have_class("told over")
    field(estimator, "used").fill("99")
    expect(error(estimator, "used")).to_contain_text("plus que la capacité")


def test_every_card_of_the_device_is_judged(estimator: Page) -> None:
    gpus = [each for each in cards() if each.kind not in ("ram", "apple")]
    expect(part(estimator, "cards").locator("tr")).to_have_count(len(gpus))
    choose(estimator, "kind", "workstation")
    workstations = [each for each in gpus if each.kind == "workstation"]
    expect(part(estimator, "cards").locator("tr")).to_have_count(len(workstations))
    choose(estimator, "device", "cpu")
    expect(part(estimator, "cards").locator("tr")).to_have_count(len(cards()) - len(gpus))


def test_a_capacity_of_ones_own(estimator: Page) -> None:
    field(estimator, "card").select_option("autre")
    field(estimator, "capacity").fill("1,5")
    expect(part(estimator, "verdict")).to_contain_text("ne tient pas")
    expect(part(estimator, "verdict")).to_contain_text(f"1{chr(0x202F)}500{NO_BREAK}Mo")


def test_changes_are_sorted_and_can_be_tried(estimator: Page) -> None:
    field(estimator, "batch_size").fill("32")
    rows = part(estimator, "changes").locator("tr")
    expect(rows.filter(has_text="Lot de 16, accumulation doublée")).to_have_count(1)
    gains = [float(text.strip("\u2212").replace(",", ".")) for text in rows.locator(".gain").all_text_contents()]
    assert gains == sorted(gains, reverse=True)
    rows.filter(has_text="Lot de 16, accumulation doublée").get_by_role("button").click()
    expect(field(estimator, "batch_size")).to_have_value("16")
    expect(field(estimator, "gradient_accumulation")).to_have_value("2")


def test_a_change_is_tried_by_keyboard_alone(estimator: Page) -> None:
    field(estimator, "model").focus()
    keys = estimator.keyboard
    keys.type("smollm2 135")
    keys.press("ArrowDown")
    keys.press("Enter")
    expect(part(estimator, "recap")).to_contain_text("SmolLM2 135M")
    for _ in range(2):  # the use, then the method
        keys.press("Tab")
    keys.press("ArrowLeft")
    expect(part(estimator, "recap")).to_contain_text("LoRA")
    expect(part(estimator, "recap")).not_to_contain_text("QLoRA")
    field(estimator, "sequence_length").focus()
    keys.press("Control+A")
    keys.type("4096")
    expect(part(estimator, "recap")).to_contain_text("4\u202f096")
    button = part(estimator, "changes").get_by_role("button").first
    button.focus()
    before = peak(estimator)
    keys.press("Enter")
    expect(part(estimator, "value")).not_to_have_text(before)
    expect(part(estimator, "panel")).to_be_focused()
    keys.press("Shift+Tab")
    assert estimator.evaluate("document.activeElement.closest('form') !== null")


def test_the_largest_batch_is_the_largest(estimator: Page) -> None:
    largest = int((part(estimator, "limits").locator("dd").first.text_content() or "0").split(NO_BREAK)[0])
    for batch, fits in ((largest, True), (largest + 1, False)):
        field(estimator, "batch_size").fill(str(batch))
        expect(part(estimator, "verdict").locator(".told.fits")).to_have_count(int(fits))


def test_an_option_that_does_not_count_is_hidden(estimator: Page) -> None:
    for mode, hidden in (("inference", "optimizer"), ("training", "logits"), ("generation", "loss")):
        choose(estimator, "mode", mode)
        expect(field(estimator, hidden)).to_be_hidden()
    choose(estimator, "method", "full")
    expect(field(estimator, "lora_rank")).to_be_hidden()


def test_a_link_keeps_the_state(page: Page, origin: str) -> None:
    page.goto(origin + ESTIMATOR)
    field(page, "model").fill("Mistral 7B v0.3")
    field(page, "batch_size").fill("3")
    field(page, "optimizer").select_option("adafactor")
    field(page, "gradient_checkpointing").uncheck()
    field(page, "card").select_option("a100-80")
    field(page, "used").fill("1,5")
    page.wait_for_url(re.compile(r"used=1%2C5|used=1,5"))
    shown, link = peak(page), page.url
    page.goto(origin + "index.html")
    page.goto(link)
    expect(part(page, "value")).to_have_text(shown)
    expect(field(page, "model")).to_have_value("Mistral 7B v0.3")
    expect(field(page, "used")).to_have_value("1,5")
    expect(field(page, "gradient_checkpointing")).not_to_be_checked()
    expect(part(page, "verdict")).to_contain_text("A100 80 Go")


def test_a_link_keeps_a_pasted_configuration(page: Page, server: str) -> None:
    page.goto(server + ESTIMATOR)
    pasted(page, json.dumps({**LLAMA, "num_hidden_layers": 7, "architectures": ["LlamaForCausalLM"]}))
    page.wait_for_url(re.compile("config="))
    expect(part(page, "facts")).to_contain_text("7")  # the result is that of the pasted model
    shown, link = peak(page), page.url
    page.goto(server + "index.html")
    page.goto(link)
    expect(part(page, "value")).to_have_text(shown)
    expect(part(page, "facts")).to_contain_text("7")


def test_a_hostile_link_is_only_text(page: Page, watch: Any, server: str) -> None:
    page.goto(server + ESTIMATOR + "#model=%3Cimg%20src%3Dx%3E&batch_size=%3Cb%3E&device=toaster&card=x")
    expect(field(page, "model")).to_have_value("<img src=x>")
    expect(field(page, "batch_size")).to_have_attribute("aria-invalid", "true")
    assert page.locator(".estimator img").count() == 0
    assert watch.messages == []


def test_a_start_sets_the_whole_form(estimator: Page) -> None:
    estimator.get_by_role("link", name="8B en génération").click()
    expect(part(estimator, "recap")).to_contain_text("génération")
    expect(field(estimator, "new_tokens")).to_have_value("512")
    expect(part(estimator, "components")).to_contain_text("Cache KV")


def test_the_result_is_announced_once_after_a_pause(estimator: Page) -> None:
    status = part(estimator, "status")
    estimator.evaluate(
        "() => { window.said = []; const status = document.querySelector('.estimator [role=status]');"
        "new MutationObserver(() => said.push(status.textContent)).observe(status, {childList: true}); }"
    )
    field(estimator, "sequence_length").press_sequentially("00", delay=40)
    assert status.text_content() == ""
    expect(status).to_contain_text(f"Pic estimé{NO_BREAK}:")
    assert estimator.evaluate("said.length") == 1


def test_the_command_says_the_case(estimator: Page) -> None:
    go(estimator, SMALL)
    command = part(estimator, "command")
    expect(command).to_contain_text("sitegen measure --model HuggingFaceTB/SmolLM2-135M")
    expect(command).to_contain_text("--batch-size 8")
    expect(command).to_contain_text("--card ram-8")
    expect(part(estimator, "settings")).to_contain_text("per_device_train_batch_size=8")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation(estimator: Page, scheme: Any) -> None:
    estimator.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    expect(part(estimator, "consequences")).to_be_visible()
    measured = encode(factories.record(Case(batch_size=8, allocator="fixed")))
    estimator.locator("[data-pick=record]").set_input_files(
        FilePayload(name="essai.json", mimeType="application/json", buffer=measured)
    )
    expect(part(estimator, "records")).to_be_visible()
    pasted(estimator, "{")
    field(estimator, "batch_size").fill("0")
    expect(error(estimator, "config")).to_be_visible()
    assert _violations(estimator) == []
    field(estimator, "batch_size").fill("1")
    choose(estimator, "source", "catalogue")
    field(estimator, "model").click()
    expect(estimator.get_by_role("listbox")).to_be_visible()
    assert _violations(estimator) == []


def _violations(page: Page) -> list[Any]:
    found = Axe().run(page).response["violations"]
    return [(each["id"], [node["target"] for node in each["nodes"]]) for each in found]


def test_it_fits_320_pixels_in_every_state(estimator: Page) -> None:
    estimator.set_viewport_size({"width": 320, "height": 700})
    for state in (SMALL, "model=mixtral-8x7b&method=qlora", "parameters=70&method=full"):
        go(estimator, state)
        expect(part(estimator, "consequences")).to_be_visible()
        assert estimator.evaluate("document.scrollingElement.scrollWidth") <= 320


def test_paper_has_the_result_and_the_options(estimator: Page) -> None:
    estimator.emulate_media(media="print")
    expect(part(estimator, "recap")).to_be_visible()
    expect(part(estimator, "value")).to_be_visible()
    expect(part(estimator, "components")).to_be_visible()
    expect(part(estimator, "printed")).to_contain_text("Modules ciblés")
    expect(part(estimator, "printed")).to_contain_text(f"Longueur de séquence{NO_BREAK}: 2\u202f048{NO_BREAK}jetons")
    expect(part(estimator, "command")).to_be_visible()
    expect(part(estimator, "script")).to_be_hidden()
    expect(field(estimator, "batch_size")).to_be_hidden()


def test_a_card_holds_what_its_driver_reports(estimator: Page) -> None:
    shown = estimator.locator("[name=card] option[value=l4]").text_content() or ""
    assert f"{card('l4').total_bytes / 1e9:.2f}".replace(".", ",") in shown  # 23 034 MiB are 24.15 GB
