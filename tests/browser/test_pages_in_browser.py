"""Every page in a real browser: silent, self-contained, light, whole without a script, by keyboard, on paper."""

from __future__ import annotations

import gzip
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.estimator_form import ESTIMATOR

pytestmark = pytest.mark.browser

MOST_BYTES = 100_000
MOST_ESTIMATOR_BYTES = 160_000
"""With the script that estimates and the tables of one family."""


def test_every_page_is_silent_and_asks_for_nothing_outside(
    page: Page, watch: Any, origin: str, addresses: list[str]
) -> None:
    for address in addresses:
        page.goto(origin + address)
        page.wait_for_function("document.readyState === 'complete'")
        assert page.locator("h1").count() == 1, address
    assert watch.messages == []
    assert watch.outside(origin) == []


def test_first_load_is_light_and_without_plotly(
    page: Page, watch: Any, server: str, site: Path, addresses: list[str]
) -> None:
    for address in addresses:
        watch.clear()
        page.goto(server + address)
        files = [urlsplit(url).path.lstrip("/") for url in watch.requests if url.startswith(server)]
        assert not [name for name in files if "plotly" in name], address
        weight = sum(len(gzip.compress((site / name).read_bytes())) for name in files)
        most = MOST_ESTIMATOR_BYTES if address == ESTIMATOR else MOST_BYTES
        assert weight < most, f"{address}: {weight} bytes"


def test_no_page_scrolls_sideways_at_320_pixels(page: Page, server: str, addresses: list[str]) -> None:
    page.set_viewport_size({"width": 320, "height": 800})
    wide = {}
    for address in addresses:
        page.goto(server + address)
        width = page.evaluate("document.scrollingElement.scrollWidth")
        if width > 320:
            wide[address] = width
    assert wide == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation(browser: Browser, server: str, addresses: list[str], scheme: Any) -> None:
    context = browser.new_context(color_scheme=scheme, reduced_motion="reduce")
    page = context.new_page()
    found = {}
    for address in addresses:
        page.goto(server + address)
        violations = Axe().run(page).response["violations"]
        if violations:
            found[address] = [(each["id"], each["nodes"][0]["target"]) for each in violations]
    context.close()
    assert found == {}


def test_axe_finds_no_violation_in_live_charts_and_errors(page: Page, server: str) -> None:
    page.goto(server + "mesurer-soi-meme/index.html")
    for button in page.locator("[data-explore]").all():
        button.click()
        expect(button).to_have_text("Revenir à l’image")
    assert Axe().run(page).response["violations"] == []
    page.goto(server + "calculateurs/vram-entrainement/index.html")
    page.locator("[name=b]").fill("1,2,3")
    page.locator("[name=n]").fill("")
    expect(page.locator("[name=b]")).to_have_attribute("aria-invalid", "true")
    assert Axe().run(page).response["violations"] == []


def test_without_javascript_the_document_is_whole(browser: Browser, origin: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(origin + "index.html")
    assert len(page.locator(".prose").inner_text()) > 3000
    for picture in page.locator("svg.chart-picture").all():
        expect(picture).to_be_visible()
    assert page.locator("svg.chart-picture rect.bar").count() > 8
    for table in page.locator(".prose > .table-region > table").all():
        expect(table).to_be_visible()
    assert page.locator("button:visible").count() == 0
    page.goto(origin + "calculateurs/vram-entrainement/index.html")
    expect(page.locator(".calculator form")).to_be_hidden()
    # 7 × 16 = 112 and 112 + 20 = 132, by hand.
    expect(page.locator(".calculator-fallback")).to_contain_text("112\u00a0Go")
    expect(page.locator(".calculator-fallback")).to_contain_text("132\u00a0Go")
    context.close()


def test_the_keyboard_goes_through_a_page_and_is_seen(page: Page, server: str) -> None:
    page.goto(server + "index.html")
    page.keyboard.press("Tab")
    expect(page.locator(".skip-link")).to_be_focused()
    expect(page.locator(".skip-link")).to_be_in_viewport()
    for _ in range(25):
        page.keyboard.press("Tab")
        style, width = page.evaluate(
            "(() => { const s = getComputedStyle(document.activeElement); return [s.outlineStyle, s.outlineWidth]; })()"
        )
        assert (style, width) == ("solid", "3px")


def test_the_skip_link_leads_to_the_content(page: Page, server: str) -> None:
    page.goto(server + "index.html")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()


@pytest.mark.usefixtures("watch")
def test_the_theme_is_chosen_and_remembered(page: Page, origin: str) -> None:
    page.emulate_media(color_scheme="light")
    page.goto(origin + "index.html")
    light = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    toggle = page.locator("[data-theme-toggle]")
    toggle.click()
    expect(toggle).to_have_text("Thème\u00a0: clair")
    toggle.click()
    expect(toggle).to_have_text("Thème\u00a0: sombre")
    dark = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert dark != light
    page.goto(origin + "mesures/index.html")
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == dark
    expect(page.locator("[data-theme-toggle]")).to_have_text("Thème\u00a0: sombre")


def test_paper_gets_the_document_alone_in_the_light(page: Page, server: str) -> None:
    page.goto(server + "index.html")
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"
    expect(page.locator(".site-header")).to_be_hidden()
    expect(page.locator(".chart-tools").first).to_be_hidden()
    expect(page.locator("svg.chart-picture").first).to_be_visible()
    assert page.pdf(format="A4").startswith(b"%PDF-")


def test_the_first_screen_of_the_home_page_answers(page: Page, server: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(server + "index.html")
    figure = page.locator("[data-chart]").first
    for seen in (
        page.locator(".lead"),
        page.get_by_role("link", name="Calculer pour mon modèle"),
        figure.locator("h3"),
    ):
        expect(seen).to_be_in_viewport(ratio=1)
    for bar in figure.locator("rect.bar").all():
        expect(bar).to_be_in_viewport(ratio=0.99)
    page.set_viewport_size({"width": 375, "height": 700})
    for seen in (page.locator(".lead"), page.get_by_role("link", name="Mesurer le mien"), figure.locator("h3")):
        expect(seen).to_be_in_viewport(ratio=1)
    expect(figure.locator("rect.bar").first).to_be_in_viewport()
    expect(page.locator(".toc a").first).to_be_hidden()


def test_the_contents_are_open_where_they_have_a_column(page: Page, server: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(server + "mesures/index.html")
    expect(page.locator(".toc a").first).to_be_visible()
    page.set_viewport_size({"width": 800, "height": 800})
    expect(page.locator(".toc a").first).to_be_hidden()
    page.locator(".toc summary").click()
    expect(page.locator(".toc a").first).to_be_visible()


def test_headings_follow_one_another_and_the_contents_name_them(page: Page, server: str, addresses: list[str]) -> None:
    for address in addresses:
        page.goto(server + address)
        levels = page.evaluate("Array.from(document.querySelectorAll('h1,h2,h3,h4'), h => Number(h.tagName[1]))")
        assert levels[0] == 1, address
        assert all(below <= above + 1 for above, below in pairwise(levels)), address
        for figure in page.locator("[data-chart]").all():
            expect(figure.get_by_role("heading")).to_have_count(1)
        if not address.startswith("mesures/"):
            continue
        places = page.evaluate("Array.from(document.querySelectorAll('.toc a'), a => a.hash.slice(1))")
        parts = page.evaluate(
            "Array.from(document.querySelectorAll('[data-chart], table:has(caption :is(h2, h3))'), part => part.id)"
        )
        assert len(parts) > 3, address
        assert set(parts) <= set(places), address


@pytest.mark.parametrize("width", [320, 1280])
def test_a_region_is_a_tab_stop_only_where_it_scrolls(
    page: Page, server: str, addresses: list[str], width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    wrong = """Array.from(document.querySelectorAll('.table-region'), region =>
      [region.textContent.trim().slice(0, 40),
       region.scrollWidth > region.clientWidth || region.scrollHeight > region.clientHeight, region.tabIndex === 0])
      .filter(([, scrolls, stops]) => scrolls !== stops)"""
    for address in addresses:
        page.goto(server + address)
        page.evaluate("document.querySelectorAll('details').forEach(details => { details.open = true; })")
        for _ in range(20):  # a size is observed when the browser has time for it; the policy forbids it to poll
            if not page.evaluate(wrong):
                break
            page.wait_for_timeout(100)
        assert page.evaluate(wrong) == [], address


def test_links_of_words_in_a_table_have_names_of_their_own(page: Page, server: str, addresses: list[str]) -> None:
    for address in addresses:
        page.goto(server + address)
        names = page.evaluate(
            "Array.from(document.querySelectorAll('td:not(.numeric) a'), a => a.getAttribute('aria-label'))"
        )
        assert len(set(names)) == len(names), address
        assert None not in names, address


def test_the_names_of_rows_and_a_shadow_stay_in_sight_in_a_wide_table(page: Page, server: str) -> None:
    page.set_viewport_size({"width": 320, "height": 800})
    page.goto(server + "index.html")
    region = page.locator(".table-region:has(#facture)")
    header = region.locator("tbody th").first
    region.evaluate("region => { region.scrollLeft = 10000; }")
    left = region.evaluate("region => region.getBoundingClientRect().left")
    assert header.evaluate("cell => cell.getBoundingClientRect().left") == pytest.approx(left, abs=1)
    assert "local" in region.evaluate("region => getComputedStyle(region).backgroundAttachment")


def test_the_arrow_of_a_heading_is_beside_its_last_word(page: Page, server: str) -> None:
    page.goto(server + "mesures/index.html")
    for width in (320, 768, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        heights = page.evaluate(
            "Array.from(document.querySelectorAll('.unbroken'), word => word.getClientRects().length)"
        )
        assert len(heights) > 10
        assert set(heights) == {1}


def test_a_measurement_table_sorts_by_the_raw_value(page: Page, server: str) -> None:
    page.goto(server + "mesures/index.html")
    table = page.locator("table[data-sortable]").first
    heading = table.locator("thead th", has_text="Pic").first
    column = heading.evaluate("cell => cell.cellIndex")
    heading.locator("button").click()
    expect(heading).to_have_attribute("aria-sort", "ascending")
    read = f"table => Array.from(table.tBodies[0].rows, row => row.cells[{column}].dataset.sort)"
    ascending = [float(value) for value in table.evaluate(read) if value is not None]
    assert ascending == sorted(ascending)
    assert len(ascending) > 10
    heading.locator("button").click()
    expect(heading).to_have_attribute("aria-sort", "descending")
    values = table.evaluate(read)
    known = [float(value) for value in values if value is not None]
    assert known == ascending[::-1]
    # A run without a figure comes last in either order.
    assert values[len(known) :] == [None] * (len(values) - len(known))


def test_code_can_be_copied(browser: Browser, server: str) -> None:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(server + "mesurer-soi-meme/index.html")
    block = page.locator(".code-block").last
    expect(block.get_by_role("button")).to_have_accessible_name("Copier le script")
    block.locator("button").click()
    expect(block.locator("button")).to_have_text("Copié")
    expect(block.locator("[role=status]")).to_have_text("Copié")
    expect(page.get_by_role("button", name="Copier la commande")).to_have_count(2)
    assert page.evaluate("navigator.clipboard.readText()") == block.locator("code").text_content()
    context.close()
