"""The interactive charts: on demand only, in the picture's place, in the theme's colours, and never in the way."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.browser

PAGES = ("index.html", "mesures/index.html", "mesurer-soi-meme/index.html")


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
    expect(text).to_have_text("Entraînement, 4\u00a0×\u00a0512État de l’optimiseur\u00a0: 1\u202f076\u00a0Mo")


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
    expect(figure.locator("[role=status]")).to_be_empty()


@pytest.mark.usefixtures("watch")
def test_a_chart_is_saved_as_an_image(page: Page, server: str) -> None:
    page.goto(server + "index.html")
    figure = page.locator("[data-chart]").first
    explore(figure)
    with page.expect_download() as download:
        figure.get_by_role("button", name="Enregistrer l’image").click()
    assert download.value.path().read_bytes().startswith(b"\x89PNG")
