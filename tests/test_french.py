import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitegen import french
from sitegen.french import localised, typography

# U+202F (narrow) in thousands and before ; ! ?, U+00A0 before : and inside « »: how the product wants French written.
NARROW, NO_BREAK = "\u202f", "\u00a0"


@pytest.mark.parametrize(
    ("size_bytes", "expected"),
    [
        (0, "0\u00a0o"),
        (704, "704\u00a0o"),
        (12_300, "12\u00a0Ko"),
        (538_060_032, "538\u00a0Mo"),
        (1_196_425_216, "1\u202f196\u00a0Mo"),
        (1_999_999_999, "2\u202f000\u00a0Mo"),
        (6_858_735_616, "6,86\u00a0Go"),
        (-697_303_040, "\u2212697\u00a0Mo"),
        (None, "inconnu"),
    ],
)
def test_size_is_decimal_and_never_parts_from_its_unit(size_bytes: int | None, expected: str) -> None:
    assert french.size(size_bytes) == expected


def test_mebibytes_are_only_for_what_was_published_so() -> None:
    assert french.mebibytes(1269 * 2**20) == "1\u202f269\u00a0Mio"
    assert french.megabytes(1269 * 2**20) == "1\u202f331\u00a0Mo"  # 1 269 x 1.048576 = 1 330.6


@pytest.mark.parametrize(
    ("value", "decimals", "expected"),
    [
        (1234.5, 2, "1\u202f234,50"),
        (134_515_008, 0, "134\u202f515\u202f008"),
        (-1.5, 1, "\u22121,5"),
        (0.004, 1, "0,0"),
    ],
)
def test_number(value: float, decimals: int, expected: str) -> None:
    assert french.number(value, decimals) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(112e9, "112\u00a0Go"), (1.5e9, "1,5\u00a0Go"), (34.25e9, "34,25\u00a0Go"), (0.0, "0\u00a0Go")],
)
def test_gigabytes_show_no_useless_decimal(value: float, expected: str) -> None:
    assert french.gigabytes(value) == expected


def test_ratios_and_changes() -> None:
    assert french.percent(0.0034, 2) == "0,34\u00a0%"
    assert french.change(-0.37) == "\u221237\u00a0%"
    assert french.change(0.08) == "+8\u00a0%"
    assert french.change(0.001) == "0\u00a0%"
    assert french.change(-0.001) == "0\u00a0%"


def test_a_tiny_share_does_not_pass_for_nothing() -> None:
    assert french.small_percent(0.0014) == "0,14\u00a0%"
    assert french.small_percent(-0.0163) == "1,63\u00a0%"
    assert french.small_percent(0.000004) == "moins de 0,01\u00a0%"
    assert french.small_percent(0.0) == "0,00\u00a0%"


@pytest.mark.parametrize(
    ("value", "decimals", "expected"),
    [(12, 1, "+12,0"), (-3.44, 1, "\u22123,4"), (0.04, 1, "0,0"), (-0.04, 1, "0,0"), (-1234.5, 0, "\u22121\u202f234")],
)
def test_a_difference_has_a_sign_and_a_zero_has_none(value: float, decimals: int, expected: str) -> None:
    assert french.signed(value, decimals) == expected
    assert french.ratio(5.11) == "5,1\u00a0×"
    assert french.times(12.6) == "12,6\u00a0fois"


@pytest.mark.parametrize(
    ("duration_ns", "expected"),
    [
        (350_000_000, "350\u00a0ms"),
        (9_216_000_000, "9,2\u00a0s"),
        (60_000_000_000, "1\u00a0min"),
        (95_000_000_000, "1\u00a0min\u00a035\u00a0s"),
        (None, "inconnu"),
    ],
)
def test_duration(duration_ns: int | None, expected: str) -> None:
    assert french.duration(duration_ns) == expected


def test_dates() -> None:
    assert french.date("2026-03-02T08:30:00Z") == "2\u00a0mars\u00a02026"
    assert french.date("2026-03-01") == "1er\u00a0mars\u00a02026"
    assert french.date_and_time("2026-03-02T08:05:00Z") == "2\u00a0mars\u00a02026, 8\u00a0h\u00a005 (UTC)"


def test_enumerations() -> None:
    assert french.listed(["q", "k", "v"]) == "q, k et v"
    assert french.listed(("q",)) == "q"
    assert french.listed([]) == ""


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("Tient ; à la limite !", "Tient\u202f; à la limite\u202f!"),
        ("Tient-il?", "Tient-il\u202f?"),
        ("Le pic : 8", "Le pic\u00a0: 8"),
        ("«oui»", "«\u00a0oui\u00a0»"),
        ("« oui »", "«\u00a0oui\u00a0»"),
        ("l'état", "l’état"),
        ("8 Go et 5 %", "8\u00a0Go et 5\u00a0%"),
        ("8 gouttes", "8 gouttes"),
        ("12:30", "12:30"),
        ("https://example.org/a?b", "https://example.org/a?b"),
    ],
)
def test_typography_of_france(typed: str, expected: str) -> None:
    assert typography(typed) == expected


def test_typography_of_canada_has_no_narrow_space() -> None:
    text = typography("« Tient ; 1\u202f234 Mo : 5 % ! »", "fr-CA")
    assert text == "«\u00a0Tient; 1\u00a0234\u00a0Mo\u00a0: 5\u00a0%!\u00a0»"


@given(st.text(alphabet="aé8 «»;:!?'%Go,.\u00a0\u202f"))
def test_typography_twice_is_typography_once(text: str) -> None:
    assert typography(typography(text)) == typography(text)


@given(st.text())
def test_no_locale_but_france_keeps_a_narrow_space(text: str) -> None:
    assert NARROW not in localised(text, "fr-CA")
    assert localised(text, "fr-FR") == text
