"""The interactive charts: on demand only, in the picture's place, in the theme's colours, and never in the way."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.browser

PAGES = ("index.html", "mesures/index.html", "mesurer-soi-meme/index.html")


# The texts of pictures that a rule crosses, that leave their picture, or that lie over another.
CROSSED = """Array.from(document.querySelectorAll('svg.chart-picture')).flatMap(picture => {
  const frame = picture.getBoundingClientRect();
  const rules = Array.from(picture.querySelectorAll('.rule'), rule => rule.getBoundingClientRect());
  const seen = Array.from(picture.querySelectorAll('text'), text => ({ text, box: text.getBoundingClientRect() }));
  const meets = (a, b) => a.left < b.right && b.left < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom;
  const wrong = ({ text, box }) => rules.some(rule => meets(rule, box)) || box.left < frame.left - 1
    || box.right > frame.right + 1 || seen.some(other => other.text !== text && meets(other.box, box));
  return seen.filter(wrong).map(({ text }) => `${picture.closest('figure').id}: ${text.textContent}`);
})"""


def explore(figure: Locator) -> None:
    figure.locator("[data-explore]").click()
    expect(figure.locator("[data-explore]")).to_have_text("Revenir à l’image")


def box(located: Locator) -> dict[str, float]:
    found = located.bounding_box()
    assert found is not None
    return {"x": found["x"], "y": found["y"], "width": found["width"], "height": found["height"]}


def centres(stage: Locator, bars: Locator) -> list[tuple[float, float]]:
    """The middles of bars in their stage, row by row: outlines are drawn inside or outside, middles do not move."""
    frame = box(stage)
    boxes = [box(bar) for bar in bars.all()]
    middles = [(b["y"] + b["height"] / 2 - frame["y"], b["x"] + b["width"] / 2 - frame["x"]) for b in boxes]
    return sorted(middles, key=lambda middle: (round(middle[0] / 10), middle[1]))


@pytest.mark.parametrize("address", PAGES)
def test_each_chart_is_drawn_in_the_place_of_its_picture(page: Page, watch: Any, origin: str, address: str) -> None:
    page.goto(origin + address)
    figures = page.locator("[data-chart]").all()
    assert figures
    for figure in figures:
        before = box(figure.locator(".chart-stage"))
        bars = figure.locator("svg.chart-picture rect.bar").count()
        explore(figure)
        drawn, stage = box(figure.locator("svg.main-svg").first), box(figure.locator(".chart-stage"))
        assert stage["height"] == pytest.approx(before["height"], abs=1)
        assert drawn["width"] == pytest.approx(stage["width"], abs=2)
        assert drawn["height"] == pytest.approx(stage["height"], abs=2)
        assert figure.locator(".barlayer .point").count() == bars
    assert watch.messages == []
    assert watch.outside(origin) == []


@pytest.mark.usefixtures("watch")
def test_a_bar_falls_where_the_picture_has_it(page: Page, server: str) -> None:
    page.goto(server + "index.html")
    figure = page.locator("[data-chart]").first
    stage = figure.locator(".chart-stage")
    still = centres(stage, figure.locator("rect.bar"))
    explore(figure)
    drawn = centres(stage, figure.locator(".barlayer .point path:first-child"))
    assert len(drawn) == len(still) > 8
    for expected, actual in zip(still, drawn, strict=True):
        assert actual == pytest.approx(expected, abs=1.5)


@pytest.mark.usefixtures("watch")
def test_hovering_says_the_value_in_french(page: Page, server: str) -> None:
    page.goto(server + "index.html")
    figure = page.locator("[data-chart]").first
    explore(figure)
    last = box(figure.locator(".barlayer .point").last)
    page.mouse.move(last["x"] + last["width"] / 2, last["y"] + last["height"] / 2)
    text = figure.locator(".hoverlayer text").first
    # Adam's two moments of 134 515 008 parameters: 8 bytes each, 1 076 Mo.
    expect(text).to_have_text("Entraînement, 8\u00a0×\u00a0256État de l’optimiseur\u00a0: 1\u202f076\u00a0Mo")


@pytest.mark.usefixtures("watch")
def test_the_colours_follow_the_theme(page: Page, server: str) -> None:
    page.emulate_media(color_scheme="light")
    page.goto(server + "index.html")
    figure = page.locator("[data-chart]").first
    explore(figure)
    fill = "path => getComputedStyle(path).fill"
    bar = figure.locator(".barlayer .point path").first
    light = bar.evaluate(fill)
    assert light == figure.locator(".chart-stage").evaluate(
        "stage => { stage.style.color = 'var(--weights)'; return getComputedStyle(stage).color; }"
    )
    page.emulate_media(color_scheme="dark")
    expect(bar).not_to_have_css("fill", light)


@pytest.mark.usefixtures("watch")
def test_the_picture_comes_back(page: Page, server: str) -> None:
    page.goto(server + "index.html")
    figure = page.locator("[data-chart]").first
    explore(figure)
    expect(figure.locator(".chart-picture")).not_to_be_visible()
    figure.locator("[data-explore]").click()
    expect(figure.locator(".chart-picture")).to_be_visible()
    expect(figure.locator("svg.main-svg")).to_have_count(0)
    expect(figure.locator("button:visible")).to_have_count(1)


@pytest.mark.usefixtures("watch")
def test_a_click_on_the_picture_explores_it(page: Page, server: str) -> None:
    page.goto(server + "index.html")
    figure = page.locator("[data-chart]").first
    figure.locator(".chart-picture").click()
    expect(figure.locator("svg.main-svg").first).to_be_visible()


@pytest.mark.usefixtures("watch")
def test_paper_gets_the_picture_of_a_live_chart(page: Page, server: str) -> None:
    page.goto(server + "index.html")
    figure = page.locator("[data-chart]").first
    explore(figure)
    page.emulate_media(media="print")
    expect(figure.locator(".chart-picture")).to_be_visible()
    expect(figure.locator(".chart-plot")).to_be_hidden()


@pytest.mark.usefixtures("watch")
def test_a_chart_follows_the_width_of_the_page(page: Page, server: str) -> None:
    page.goto(server + "index.html")
    figure = page.locator("[data-chart]").first
    explore(figure)
    page.set_viewport_size({"width": 400, "height": 800})
    expect(figure.locator("svg.main-svg").first).to_have_css("width", "368px")  # 400 less two gutters of 16
    assert page.evaluate("document.scrollingElement.scrollWidth") == 400


@pytest.mark.usefixtures("watch")
def test_a_chart_that_cannot_load_says_so_and_keeps_its_picture(page: Page, server: str) -> None:
    page.route("**/plotly*", lambda route: route.abort())
    page.goto(server + "index.html")
    figure = page.locator("[data-chart]").first
    figure.locator("[data-explore]").click()
    expect(figure.locator("[role=status]")).to_contain_text("n’a pas pu être chargé")
    expect(figure.locator(".chart-picture")).to_be_visible()
    page.unroute("**/plotly*")
    explore(figure)
    expect(figure.locator("[role=status]")).to_have_text("Graphique interactif affiché.")
    expect(figure.locator("[role=status]")).to_have_class("chart-status visually-hidden")


@pytest.mark.usefixtures("watch")
def test_by_keyboard_the_focus_stays_on_the_button_and_the_change_is_said(page: Page, server: str) -> None:
    page.goto(server + "index.html")
    figure = page.locator("[data-chart]").first
    button, status = figure.locator("[data-explore]"), figure.locator("[role=status]")
    button.focus()
    page.keyboard.press("Enter")
    expect(status).to_have_text("Graphique interactif affiché.")
    expect(button).to_be_focused()
    page.keyboard.press("Enter")
    expect(status).to_have_text("Image rétablie.")
    expect(button).to_be_focused()


@pytest.mark.usefixtures("watch")
def test_a_second_press_while_the_chart_loads_does_nothing(page: Page, server: str) -> None:
    page.goto(server + "index.html")
    figure = page.locator("[data-chart]").first
    figure.locator("[data-explore]").evaluate("button => { button.click(); button.click(); }")
    expect(figure.locator("[data-explore]")).to_have_text("Revenir à l’image")
    expect(figure.get_by_role("button")).to_have_count(3)


@pytest.mark.usefixtures("watch")
def test_a_live_chart_is_one_described_group(page: Page, server: str) -> None:
    page.goto(server + "index.html")
    figure = page.locator("[data-chart]").first
    explore(figure)
    title = figure.locator(".chart-title").text_content()
    expect(figure.get_by_role("group", name=title)).to_have_count(1)
    for drawing in figure.locator(".chart-plot svg").all():
        expect(drawing).to_have_attribute("aria-hidden", "true")
    for button in figure.get_by_role("button").all():
        expect(button).to_have_accessible_description(title or "")


@pytest.mark.usefixtures("watch")
def test_a_detail_keeps_the_weight_and_the_gap_that_the_picture_gives_it(page: Page, server: str) -> None:
    page.goto(server + "mesurer-soi-meme/index.html")
    figure = page.locator("[data-chart]", has=page.locator("svg.chart-picture .label .detail")).first
    still = figure.locator("svg.chart-picture .label", has=page.locator(".detail")).first
    width, words = still.evaluate("text => [text.getBoundingClientRect().width, text.textContent]")
    colour = still.locator(".detail").evaluate("detail => getComputedStyle(detail).fill")
    explore(figure)
    live = figure.locator(".annotation-text", has_text=words).first
    detail = live.locator("tspan").last
    expect(detail).to_have_css("font-weight", "400")
    expect(detail).to_have_css("fill", colour)
    assert live.evaluate("text => text.getBoundingClientRect().width") == pytest.approx(width, abs=6)


@pytest.mark.parametrize("width", [320, 375, 768, 1280])
def test_no_text_of_a_picture_is_crossed_or_cut(page: Page, server: str, addresses: list[str], width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    for address in addresses:
        page.goto(server + address)
        assert page.evaluate(CROSSED) == [], address


@pytest.mark.usefixtures("watch")
def test_a_chart_is_saved_as_an_image(page: Page, server: str) -> None:
    page.goto(server + "index.html")
    figure = page.locator("[data-chart]").first
    explore(figure)
    with page.expect_download() as download:
        figure.get_by_role("button", name="Enregistrer l’image").click()
    assert download.value.path().read_bytes().startswith(b"\x89PNG")
