"""The calculators « VRAM d'inférence » and « Paramètres LoRA »: the arithmetic is by hand, beside each case."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

pytestmark = pytest.mark.browser

NARROW, NO_BREAK = "\u202f", "\u00a0"
INFERENCE = "calculateurs/vram-inference/index.html"
LORA = "calculateurs/parametres-lora/index.html"


@pytest.fixture
def inference(page: Page, watch: Any, origin: str) -> Page:
    page.goto(origin + INFERENCE)
    assert watch.messages == []
    return page


@pytest.fixture
def lora(page: Page, watch: Any, origin: str) -> Page:
    page.goto(origin + LORA)
    assert watch.messages == []
    return page


def test_the_example_of_inference_is_the_page_s(inference: Page) -> None:
    # 8.03 × 2 = 16.06; 2 × 8 × 8192 × 32 × 8 × 128 × 2 = 8.59 Go
    expect(inference.locator("[data-part=value]")).to_have_text(f"24,65{NO_BREAK}Go")
    expect(inference.locator("[data-part=formula]")).to_contain_text("V = W + C = 16,06 + 8,59")


def test_a_model_fills_its_dimensions_and_its_window(inference: Page) -> None:
    inference.get_by_label("Modèle du catalogue").select_option(label="Mistral 7B v0.1")
    expect(inference.locator("[name=lw]")).to_have_value("32")
    expect(inference.locator("[name=w]")).to_have_value("4096")
    inference.locator("[name=b]").fill("1")
    inference.locator("[name=s]").fill("32768")
    # 7.242 × 2 = 14.484; 32 layers of 4096 tokens and not 32 768: 0.537
    expect(inference.locator("[data-part=value]")).to_have_text(f"15,02{NO_BREAK}Go")
    inference.locator("[name=l]").fill("32")
    inference.locator("[name=lw]").fill("0")
    expect(inference.get_by_label("Modèle du catalogue")).to_have_value("free")
    expect(inference.locator("[data-part=value]")).to_have_text(f"18,78{NO_BREAK}Go")  # + 4.295


@pytest.mark.parametrize("typed", ["1,234", "1.234"])
def test_a_comma_and_a_dot_are_both_decimal(inference: Page, typed: str) -> None:
    inference.locator("[name=n]").fill(typed)
    # 1.234 × 2 = 2.468, and the cache of 8.59
    expect(inference.locator("[data-part=value]")).to_have_text(f"11,06{NO_BREAK}Go")


@pytest.mark.parametrize("typed", ["1,234", "1.234"])
def test_a_count_refuses_decimals_rather_than_read_a_thousand(inference: Page, typed: str) -> None:
    inference.locator("[name=s]").fill(typed)
    expect(inference.locator("[name=s]")).to_have_attribute("aria-invalid", "true")
    expect(inference.locator("#calculateur-s-erreur")).to_contain_text("doit être entier")
    expect(inference.locator("[data-part=value]")).to_have_text(f"24,65{NO_BREAK}Go")
    expect(inference.locator("[data-part=stale]")).to_be_visible()


def test_fields_that_contradict_one_another_are_named(inference: Page) -> None:
    inference.locator("[name=lw]").fill("8")
    expect(inference.locator("#calculateur-w-erreur")).to_contain_text("Indiquez la fenêtre")
    inference.locator("[name=w]").fill("1024")
    expect(inference.locator("#calculateur-w-erreur")).to_be_empty()
    inference.locator("[name=lw]").fill("0")
    inference.locator("[name=l]").fill("0")
    expect(inference.locator("[data-part=status]")).to_contain_text("Indiquez au moins une couche")


def test_the_format_of_the_weights_fills_their_bytes(inference: Page) -> None:
    inference.get_by_role("radio", name="4 bits (NF4)").check()
    expect(inference.locator("[name=o]")).to_have_value("0,5625")  # 4 bits and 32 for 64 weights
    # 8.03 × 0.5625 = 4.517, and 8.59
    expect(inference.locator("[data-part=value]")).to_have_text(f"13,11{NO_BREAK}Go")


def test_the_example_of_lora_is_the_page_s(lora: Page) -> None:
    # 16 × 32 × (8192 + 5120)
    expect(lora.locator("[data-part=value]")).to_have_text(f"6{NARROW}815{NARROW}744")
    # × 4 bytes, then × 4 of those
    expect(lora.locator("[data-part=formula]")).to_contain_text(f"27,26{NO_BREAK}Mo")
    expect(lora.locator("[data-part=formula]")).to_contain_text(f"109,05{NO_BREAK}Mo")


def test_targets_add_their_matrices(lora: Page) -> None:
    lora.get_by_label("Modèle du catalogue").select_option(label="SmolLM2 135M")
    lora.locator("[name=r]").fill("8")
    expect(lora.locator("[data-part=value]")).to_have_text(f"460{NARROW}800")  # as the reference experiment states
    for name in ("k_proj", "o_proj", "gate_proj", "up_proj", "down_proj"):
        lora.get_by_role("checkbox", name=name).check()
    expect(lora.locator("[data-part=lines] tr")).to_have_count(8)
    # 8 × 30 × (1152 + 768 + 768 + 1152 + 3 × 2112)
    expect(lora.locator("[data-part=value]")).to_have_text(f"2{NARROW}442{NARROW}240")


def test_no_target_is_an_error_of_the_list_and_is_announced(lora: Page) -> None:
    for name in ("q_proj", "v_proj"):
        lora.get_by_role("checkbox", name=name).uncheck()
    expect(lora.locator("#calculateur-targets-erreur")).to_have_text("Cochez au moins une matrice.")
    expect(lora.get_by_role("checkbox", name="q_proj")).to_have_attribute("aria-invalid", "true")
    expect(lora.locator("[data-part=status]")).to_contain_text(
        f"Matrices ciblées{NO_BREAK}: Cochez au moins une matrice. Dernier résultat valable"
    )


def test_a_link_keeps_targets_and_model(page: Page, server: str) -> None:
    page.goto(server + LORA)
    page.get_by_label("Modèle du catalogue").select_option(label="Qwen3 8B")
    page.get_by_role("checkbox", name="k_proj").check()
    shown = page.locator("[data-part=value]").text_content() or ""
    link = page.url
    page.goto(server + "index.html")
    page.goto(link)
    expect(page.locator("[data-part=value]")).to_have_text(shown)
    expect(page.get_by_label("Modèle du catalogue")).to_have_value("qwen3-8b")
    expect(page.get_by_role("checkbox", name="k_proj")).to_be_checked()


@pytest.mark.parametrize("address", [INFERENCE, LORA])
@pytest.mark.usefixtures("watch")
def test_the_keyboard_alone_is_enough_and_axe_is_content(page: Page, server: str, address: str) -> None:
    page.goto(server + address)
    field = page.locator(".calculator input[type=text]").first
    field.focus()
    page.keyboard.press("Control+a")
    page.keyboard.type("12")
    expect(field).to_be_focused()
    expect(page.locator("[data-part=status]")).not_to_be_empty()
    page.keyboard.press("Control+a")
    page.keyboard.type("douze")
    expect(field).to_have_attribute("aria-invalid", "true")
    assert Axe().run(page).response["violations"] == []


@pytest.mark.parametrize("address", [INFERENCE, LORA])
def test_nothing_is_cut_at_320_pixels(page: Page, server: str, address: str) -> None:
    page.set_viewport_size({"width": 320, "height": 800})
    page.goto(server + address)
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 320
    panel = page.locator("[data-part=panel]")
    assert panel.evaluate("panel => panel.scrollWidth <= panel.clientWidth")


@pytest.mark.parametrize(
    ("address", "example"), [(INFERENCE, "24,65\u00a0Go"), (LORA, "6\u202f815\u202f744 paramètres")]
)
def test_without_a_script_the_worked_example_stands_there(
    browser: Browser, server: str, address: str, example: str
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(server + address)
    expect(page.locator(".calculator form")).to_be_hidden()
    expect(page.locator(".calculator-fallback")).to_contain_text(example)
    context.close()


@pytest.mark.parametrize("width", [375, 1280])
@pytest.mark.parametrize("address", [INFERENCE, LORA, "calculateurs/vram-entrainement/index.html"])
def test_nothing_moves_when_the_script_comes(page: Page, server: str, address: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 4})
    page.add_init_script(
        "window.shifted = 0;"
        "new PerformanceObserver((list) => list.getEntries().forEach((e) => { shifted += e.value; }))"
        ".observe({type: 'layout-shift', buffered: true});"
    )
    page.goto(server + address)
    expect(page.locator("[data-part=results]")).to_be_visible()
    page.wait_for_timeout(300)
    assert page.evaluate("shifted") < 0.05
