"""The companion articles with the committed records, which alone draw their waterfalls, in a real browser."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from sitegen.project import find_project
from sitegen.render.build import render
from tests.browser.conftest import CONTENT
from tests.browser.test_live_charts import CROSSED

pytestmark = pytest.mark.browser

ARTICLES = ("correctifs", "calcul-de-la-memoire", "quantification", "avant-d-accuser-la-memoire", "exercices")


@pytest.fixture(scope="module")
def committed_site(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of the site of this project's own records."""
    root = tmp_path_factory.mktemp("committed")
    for name in ("content", "measurements"):
        shutil.copytree(CONTENT.parent / name, root / name)
    site: Path = render(find_project(root)).site
    return site.as_uri()


@pytest.mark.parametrize("width", [320, 375, 768, 1280])
def test_waterfalls_and_formulas_fit_the_page(page: Page, committed_site: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    for name in ARTICLES:
        page.goto(f"{committed_site}/{name}/index.html")
        assert page.evaluate("document.scrollingElement.scrollWidth") <= width, name
        assert page.evaluate(CROSSED) == [], name


def test_both_waterfalls_are_drawn_and_can_be_explored(page: Page, committed_site: str) -> None:
    page.goto(f"{committed_site}/correctifs/index.html")
    for identifier in ("graphique-cascade", "graphique-cascade-publiee"):
        figure = page.locator(f"#{identifier}")
        assert figure.locator("rect.bar[fill='url(#p-saved)']").count() >= 3
        figure.locator("[data-explore]").click()
        expect(figure.locator("[data-explore]")).to_have_text("Revenir à l’image")
        assert figure.locator(".barlayer .point path").count() == figure.locator("rect.bar").count()
    assert Axe().run(page).response["violations"] == []
