"""The calculator « VRAM d'entraînement »: what it understands, refuses and keeps. V = N × B + A, by hand."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.browser

NARROW = "\u202f"
NO_BREAK = "\u00a0"
DEFAULTS = {"n": "7", "b": "16", "a": "0"}
REFUSED = (
    *("1,2,3", "", "   ", "0x10", "1e3", "1e999", "-1", "\u22121", "+1", "Infinity", "NaN", "sept"),
    *("1 23", "1 2345", "12 34", "1 234 56", "1.234,5", "1,", ",5", "1..5", "1_000", "१", "9" * 400),
)


def value(page: Page) -> Locator:
    return page.locator("[data-part=value]")


def field(page: Page, name: str) -> Locator:
    return page.locator(f"[name={name}]")


def error(page: Page, name: str) -> Locator:
    identifier = (field(page, name).get_attribute("aria-describedby") or "").split()[-1]
    return page.locator(f"#{identifier}")


def test_the_defaults_give_112(calculator: Page) -> None:
    expect(value(calculator)).to_have_text(f"112{NO_BREAK}Go")
    expect(calculator.locator("[data-part=formula]")).to_contain_text("7 × 16 + 0")


def test_twenty_of_activations_give_132(calculator: Page) -> None:
    field(calculator, "a").fill("20")
    expect(value(calculator)).to_have_text(f"132{NO_BREAK}Go")
    expect(calculator.locator("[data-part=formula]")).to_contain_text("7 × 16 + 20")
    expect(calculator.locator("[data-part=lines] tr")).to_have_count(8)  # 5 components, M, A, V


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("1,5", "24"),
        ("1.5", "24"),
        (f"1{NARROW}234,5", f"19{NARROW}752"),
        (f"1{NO_BREAK}234,5", f"19{NARROW}752"),
        ("1\u2009234,5", f"19{NARROW}752"),
        ("1 234,5", f"19{NARROW}752"),
        ("1 234.5", f"19{NARROW}752"),
        (" 7 ", "112"),
        ("0,135", "2,16"),
        ("007", "112"),
    ],
)
def test_numbers_are_understood_as_french_people_write_them(calculator: Page, typed: str, expected: str) -> None:
    field(calculator, "n").fill(typed)
    expect(value(calculator)).to_have_text(f"{expected}{NO_BREAK}Go")
    assert field(calculator, "n").get_attribute("aria-invalid") is None
    expect(error(calculator, "n")).to_be_empty()


@pytest.mark.parametrize("name", ["n", "b", "a"])
def test_anything_else_is_refused_beside_its_field_and_the_last_result_stays(calculator: Page, name: str) -> None:
    stale = calculator.locator("[data-part=stale]")
    shown = value(calculator).text_content() or ""
    for typed in REFUSED:
        field(calculator, name).fill(typed)
        expect(field(calculator, name), typed).to_have_attribute("aria-invalid", "true")
        expect(error(calculator, name)).not_to_be_empty()
        expect(error(calculator, name)).to_be_visible()
        expect(value(calculator)).to_have_text(shown)
        expect(stale).to_be_visible()
        field(calculator, name).fill(DEFAULTS[name])
        assert field(calculator, name).get_attribute("aria-invalid") is None
        expect(error(calculator, name)).to_be_hidden()
        expect(stale).to_be_hidden()


@pytest.mark.parametrize("name", ["n", "b"])
def test_zero_is_refused_where_it_means_nothing(calculator: Page, name: str) -> None:
    field(calculator, name).fill("0")
    expect(field(calculator, name)).to_have_attribute("aria-invalid", "true")


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("Adam en précision mixte", "112"),
        ("Adam 8 bits, gradients en 32 bits", "84"),
        ("Adam 8 bits, gradients en 16 bits", "70"),
        ("SGD avec moment", "56"),
        ("Adam tout en 16 bits", "56"),
    ],
)
def test_each_preset_fills_the_bytes_a_parameter(calculator: Page, label: str, expected: str) -> None:
    calculator.get_by_role("radio", name=label).check()
    expect(value(calculator)).to_have_text(f"{expected}{NO_BREAK}Go")


def test_typing_bytes_leaves_the_presets(calculator: Page) -> None:
    field(calculator, "b").fill("18")
    expect(calculator.get_by_role("radio", name="Autre valeur")).to_be_checked()
    expect(value(calculator)).to_have_text(f"126{NO_BREAK}Go")


def test_the_result_is_announced_once_after_a_pause(calculator: Page) -> None:
    status = calculator.locator(".calculator [role=status]")
    calculator.evaluate(
        "() => { window.said = []; new MutationObserver(() => said.push(document.querySelector"
        "('.calculator [role=status]').textContent)).observe(document.querySelector('.calculator [role=status]'),"
        " {childList: true, characterData: true, subtree: true}); }"
    )
    field(calculator, "a").press_sequentially("20", delay=50)  # 0 is there: 020 and 200 are read on the way
    field(calculator, "a").fill("20")
    expect(value(calculator)).to_have_text(f"132{NO_BREAK}Go")
    assert status.text_content() == ""
    expect(status).to_have_text(f"VRAM d’entraînement{NO_BREAK}: 132{NO_BREAK}Go.")
    assert calculator.evaluate("said.length") == 1


@pytest.mark.parametrize(
    ("name", "typed", "expected"),
    [
        ("n", "sept", "Paramètres, N : Ce n’est pas un nombre : écrivez par exemple 7 ou 1,5."),
        ("b", "\u22123", "Octets par paramètre, B : Ce nombre doit être plus grand que zéro."),
        ("a", "-3", "Mémoire des activations, A : Ce nombre doit être zéro ou plus."),
    ],
)
def test_an_error_is_announced_with_the_name_of_its_field(
    calculator: Page, name: str, typed: str, expected: str
) -> None:
    field(calculator, name).fill(typed)
    said = f"{expected} Dernier résultat valable : 112{NO_BREAK}Go.".replace(" :", f"{NO_BREAK}:")
    expect(calculator.locator(".calculator [role=status]")).to_have_text(said)


def test_the_result_is_a_region_of_its_own(calculator: Page) -> None:
    expect(calculator.get_by_role("region", name="VRAM d’entraînement, V")).to_contain_text(f"112{NO_BREAK}Go")


def test_a_half_typed_number_is_not_called_wrong_at_once(calculator: Page) -> None:
    field(calculator, "n").fill("1,")
    assert field(calculator, "n").get_attribute("aria-invalid") is None
    expect(field(calculator, "n")).to_have_attribute("aria-invalid", "true")


@pytest.mark.usefixtures("watch")
def test_a_link_keeps_the_state(page: Page, origin: str) -> None:
    address = origin + "calculateurs/vram-entrainement/index.html"
    page.goto(address)
    field(page, "n").fill("1,5")
    page.get_by_role("radio", name="Adam tout en 16 bits").check()
    field(page, "a").fill("2,5")
    expect(value(page)).to_have_text(f"14,5{NO_BREAK}Go")
    link = page.url
    page.goto(origin + "index.html")
    page.goto(link)
    expect(value(page)).to_have_text(f"14,5{NO_BREAK}Go")
    expect(field(page, "n")).to_have_value("1,5")
    expect(page.get_by_role("radio", name="Adam tout en 16 bits")).to_be_checked()


@pytest.mark.usefixtures("watch")
def test_a_link_without_a_model_invites_to_give_one(page: Page, server: str) -> None:
    page.goto(server + "calculateurs/vram-entrainement/index.html#n=&b=16&a=0")
    expect(value(page)).to_contain_text("Indiquez le nombre de paramètres")
    expect(page.locator("[data-part=results]")).to_be_hidden()
    field(page, "n").fill("7")
    expect(value(page)).to_have_text(f"112{NO_BREAK}Go")


@pytest.mark.usefixtures("watch")
def test_a_hostile_link_shows_text_and_an_error(page: Page, server: str) -> None:
    page.goto(server + "calculateurs/vram-entrainement/index.html#n=%3Cimg%20src%3Dx%3E&b=16&a=0")
    expect(field(page, "n")).to_have_value("<img src=x>")
    expect(field(page, "n")).to_have_attribute("aria-invalid", "true")
    assert page.locator(".calculator img").count() == 0


def test_the_formula_keeps_every_decimal_that_was_typed(calculator: Page) -> None:
    formula = calculator.locator("[data-part=formula]")
    field(calculator, "n").fill("1,2345")  # 1,2345 × 16 = 19,752
    expect(formula).to_contain_text(f"1,2345 × 16 + 0 ≈ 19,75{NO_BREAK}Go")
    field(calculator, "n").fill("0,1")
    field(calculator, "b").fill("3")  # 0.30000000000000004 in binary
    expect(formula).to_contain_text(f"0,1 × 3 + 0 = 0,3{NO_BREAK}Go")


def test_the_details_add_up(calculator: Page) -> None:
    cells = calculator.locator("[data-part=lines] tr td:last-child").all_text_contents()
    *components, model, activations, total = (float(cell.replace(",", ".")) for cell in cells)
    assert sum(components) == model == 112
    assert (activations, total) == (0, 112)
