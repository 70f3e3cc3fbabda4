"""The page before its script, and without any: what the build wrote is what the script writes, in the same place."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.estimator_form import ESTIMATOR, go, part

pytestmark = pytest.mark.browser

# What a result says: its texts, and the bars' shapes.
RESULT = """(panel) => {
  const text = (selector) => panel.querySelector(selector).textContent.replace(/\\s+/g, ' ').trim();
  const shown = (selector) => [...panel.querySelectorAll(selector)].filter((row) => !row.hidden);
  const piece = (rectangle) => ['fill', 'x', 'width'].map((name) => rectangle.getAttribute(name));
  const bars = (svg) => [...svg.querySelectorAll('rect')].map(piece).filter(([, , width]) => parseFloat(width) > 0);
  const cells = (row) => [...row.children].map((cell) => cell.textContent.trim());
  return {
    texts: ['.badge', '.recap', '.result-value', '.interval', '.verdict', '.scale-card', '.why'].map(text),
    after: panel.querySelector('.scale-card').classList.contains('after'),
    gauge: bars(panel.querySelector('.gauge')),
    marks: [...panel.querySelectorAll('.gauge line')].map((line) => line.getAttribute('x1')),
    components: shown('.components tbody tr').map(cells),
    phases: shown('.phases tbody tr').map((row) => [cells(row), row.className, bars(row.querySelector('svg'))]),
    lines: shown('.lines li').map((line) => line.textContent),
  };
}"""


@pytest.fixture
def scriptless(browser: Browser, published_server: str) -> Page:
    """The page for a reader without JavaScript."""
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(published_server + ESTIMATOR)
    return page


def test_without_a_script_every_start_has_its_whole_result(
    scriptless: Page, page: Page, watch: Any, published_server: str
) -> None:
    panels = scriptless.locator(".estimate").all()
    written = [_texts(panel.inner_text()) for panel in panels]
    assert all(panel.is_visible() for panel in panels)
    assert scriptless.locator(".estimator .inputs").is_hidden()
    assert scriptless.locator(".estimator .consequences").is_hidden()
    page.goto(published_server + ESTIMATOR)
    links = page.locator(".starts a")
    assert len(written) == links.count()
    for link in links.all():
        link.click()
        expect(part(page, "source")).to_have_text("tracé")
        expect(part(page, "panel")).to_have_attribute("aria-busy", "false")
        assert _texts(part(page, "panel").inner_text()) in written
    assert watch.messages == []


def _texts(shown: str) -> list[str]:
    """The lines of a result after its title, as they are read; what is on paper alone is not there."""
    lines = [re.sub(r"\s+", " ", line).strip() for line in shown.splitlines()]
    return [line for line in lines if line][1:]


def test_the_script_draws_the_result_that_is_already_there(page: Page, watch: Any, published_server: str) -> None:
    page.route("**/estimator-page.*", lambda route: route.fulfill(body="", content_type="text/javascript"))
    page.goto(published_server + ESTIMATOR)
    written = page.evaluate(f"({RESULT})(document.querySelector('[data-part=panel]'))")
    page.unroute("**/estimator-page.*")
    page.reload()
    expect(part(page, "consequences")).to_be_visible()
    assert page.evaluate(f"({RESULT})(document.querySelector('[data-part=panel]'))") == written
    assert watch.messages == []


@pytest.mark.parametrize("width", [320, 768, 1280])
def test_nothing_moves_when_the_script_arrives(page: Page, published_server: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.add_init_script(
        "window.shifts = [];"
        "const note = (list) => shifts.push(...list.getEntries().map(({ value }) => value));"
        "new PerformanceObserver(note).observe({ type: 'layout-shift', buffered: true });"
    )
    page.goto(published_server + ESTIMATOR)
    expect(part(page, "consequences")).to_be_visible()
    page.wait_for_timeout(300)
    assert page.evaluate("shifts.reduce((sum, value) => sum + value, 0)") <= 0.01


def test_a_model_whose_tables_are_late_leaves_the_former_result(page: Page, published_server: str) -> None:
    page.goto(published_server + ESTIMATOR)
    expect(part(page, "consequences")).to_be_visible()
    held: list[Any] = []
    page.route("**/table-*", lambda route: held.append(route))  # noqa: PLW0108 - a builtin takes no mark of playwright's
    before = part(page, "value").text_content()
    go(page, "model=mistral-7b-v0.3&method=full&card=h100-sxm")
    expect(part(page, "panel")).to_have_attribute("aria-busy", "true")
    assert part(page, "value").text_content() == before
    for route in held:
        route.continue_()
    expect(part(page, "panel")).to_have_attribute("aria-busy", "false")
    expect(part(page, "recap")).to_contain_text("Mistral 7B")
