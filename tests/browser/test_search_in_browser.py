"""The search: on a server and from a disk, by keyboard, without accents, said politely, and absent without a script."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, expect

pytestmark = pytest.mark.browser


def field(page: Page) -> Locator:
    return page.get_by_role("searchbox", name="Rechercher dans le site")


def results(page: Page) -> Locator:
    return page.locator("[data-search-results] a")


def test_it_answers_from_a_server_and_from_a_disk(page: Page, watch: Any, origin: str) -> None:
    page.goto(origin + "donnees/index.html")
    assert not [url for url in watch.requests if "search-index" in url]
    field(page).fill("calculateur lora")
    expect(results(page).first).to_contain_text("Calculateur de paramètres LoRA")
    assert len([url for url in watch.requests if "search-index" in url]) == 1
    results(page).first.click()
    expect(page.locator("h1")).to_have_text("Calculateur de paramètres LoRA")
    assert watch.messages == []
    assert watch.outside(origin) == []


@pytest.mark.parametrize("typed", ["memoire", "MÉMOIRE", "mémoire", "mémo"])
def test_accents_and_capitals_do_not_matter(page: Page, server: str, typed: str) -> None:
    page.goto(server + "index.html")
    field(page).fill(typed)
    expect(results(page)).to_have_count(8)
    page.goto(server + "index.html")
    field(page).fill("coeurs")
    expect(results(page).first).to_be_visible()


def test_a_section_is_an_answer_of_its_own(page: Page, server: str) -> None:
    page.goto(server + "index.html")
    field(page).fill("requêtes groupées GQA change")
    expect(results(page).first).to_contain_text("Que change l’attention à requêtes groupées (GQA)")
    href = results(page).first.get_attribute("href") or ""
    assert href.endswith("calculateurs/vram-inference/index.html#que-change-l-attention-a-requetes-groupees-gqa")


def test_the_keyboard_goes_through_the_answers(page: Page, server: str) -> None:
    page.goto(server + "index.html")
    field(page).focus()
    page.keyboard.type("adaptateur")
    expect(results(page).first).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(results(page).first).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(results(page).nth(1)).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(field(page)).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("[data-search-results]")).to_be_hidden()
    expect(field(page)).to_be_focused()
    page.keyboard.type(" ")
    expect(results(page).first).to_be_visible()
    href = results(page).first.get_attribute("href") or ""
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/{href}")


def test_the_number_of_answers_is_said_once_typing_pauses(page: Page, server: str) -> None:
    page.goto(server + "index.html")
    status = page.locator("[data-search] [role=status]")
    page.evaluate(
        "() => { window.said = []; const s = document.querySelector('[data-search] [role=status]');"
        " new MutationObserver(() => said.push(s.textContent)).observe(s, {childList: true, characterData: true,"
        " subtree: true}); }"
    )
    field(page).press_sequentially("lora", delay=60)
    expect(status).to_have_text("8 résultats.")
    assert page.evaluate("said") == ["8 résultats."]
    field(page).fill("zzz")
    expect(status).to_have_text("Aucun résultat.")
    expect(page.locator("[data-search-results]")).to_have_text("Aucun résultat.")


def test_what_is_typed_is_text(page: Page, server: str) -> None:
    page.goto(server + "index.html")
    field(page).fill("<img src=x>")
    assert page.locator("[data-search-results] img").count() == 0


def test_leaving_closes_it(page: Page, server: str) -> None:
    page.goto(server + "index.html")
    field(page).fill("lora")
    expect(results(page).first).to_be_visible()
    page.locator("[data-theme-toggle]").focus()
    expect(page.locator("[data-search-results]")).to_be_hidden()


@pytest.mark.parametrize("width", [320, 768, 1280])
def test_the_answers_stay_in_the_page_and_axe_is_content(page: Page, server: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(server + "index.html")
    field(page).fill("lora")
    expect(results(page).first).to_be_visible()
    box = page.locator("[data-search-results]").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert page.evaluate("document.scrollingElement.scrollWidth") <= width
    assert Axe().run(page).response["violations"] == []


def test_the_header_is_one_line_on_a_wide_screen(page: Page, server: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(server + "index.html")
    page.evaluate(
        "() => { const list = document.querySelector('.site-nav ul'); "
        "const more = list.lastElementChild.cloneNode(true);"
        " more.firstElementChild.textContent = 'Correctifs'; if (list.children.length < 7) list.append(more); }"
    )
    parts = [page.locator(".brand"), field(page), page.locator("[data-theme-toggle]")]
    boxes = [part.bounding_box() for part in parts]
    middles = [box["y"] + box["height"] / 2 for box in boxes if box]
    assert max(middles) - min(middles) < 4


def test_it_is_absent_without_a_script_and_moves_nothing_with_one(browser: Browser, page: Page, server: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    without = context.new_page()
    without.goto(server + "index.html")
    expect(without.locator("[data-search]")).to_be_hidden()
    context.close()
    page.add_init_script(
        "window.shifted = 0;"
        "new PerformanceObserver((list) => list.getEntries().forEach((e) => { shifted += e.value; }))"
        ".observe({type: 'layout-shift', buffered: true});"
    )
    page.goto(server + "index.html")
    field(page).fill("lora")
    expect(results(page).first).to_be_visible()
    assert page.evaluate("shifted") < 0.05
