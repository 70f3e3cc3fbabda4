"""The JavaScript of every formula gives, in a real browser, what Python gives: to the byte on whole numbers."""

from __future__ import annotations

import random
from typing import Any, Final

import pytest
from playwright.sync_api import Page

from sitegen.memory.formulas import FORMULAS, printing

pytestmark = pytest.mark.browser

POINTS: Final = 60
EXACT: Final = 2**53
WIDEST: Final = 10**12
"""Where whole numbers of a single input may go; a product of several stays under 2^53 by their number."""


@pytest.fixture
def scripted(page: Page) -> Page:
    """A blank page on which every formula is defined."""
    page.add_script_tag(content=printing.javascript(FORMULAS))
    return page


def points(name: str) -> list[tuple[int, ...]]:
    """Whole inputs whose value is under 2^53, drawn from a seed of the formula's own."""
    formula, draw = FORMULAS[name], random.Random(name)  # noqa: S311  # nothing secret
    widest = max(4, round(WIDEST ** (1 / len(formula.inputs))))
    drawn: list[tuple[int, ...]] = []
    while len(drawn) < POINTS:
        point = tuple(draw.randint(1, 2 ** draw.randint(1, widest.bit_length())) for _ in formula.inputs)
        if formula(*point) < EXACT:
            drawn.append(point)
    return drawn


@pytest.mark.parametrize("name", FORMULAS)
def test_javascript_is_python_to_the_byte(scripted: Page, name: str) -> None:
    given = points(name)
    found: list[Any] = scripted.evaluate(
        "([name, points]) => points.map((point) => window.SitegenFormulas[name](...point))", [name, given]
    )
    assert found == [FORMULAS[name](*point) for point in given]


def test_the_calculators_rule_is_the_same_on_decimals(scripted: Page) -> None:
    given = [(0.1, 3.0), (1.2345, 16.0), (7.0, 0.3)]
    found = scripted.evaluate("(points) => points.map((point) => window.SitegenFormulas.model_gb(...point))", given)
    assert found == [FORMULAS["model_gb"](*point) for point in given]


def test_the_page_of_the_calculator_loads_the_formulas(calculator: Page) -> None:
    assert calculator.evaluate("window.SitegenFormulas.total_gb(window.SitegenFormulas.model_gb(7, 16), 20)") == 132
