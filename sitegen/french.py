"""How French readers write numbers, sizes, durations and dates, and the spaces that must not break.

Everything is written in the fr-FR manner; `typography` turns a finished text into that of the site's locale. The two
differ only by spaces: fr-CA writes none before ; ! ? and U+00A0 in thousands, where fr-FR writes U+202F.
"""

from __future__ import annotations

import re
from datetime import date as calendar_date
from functools import cache, lru_cache
from typing import Final, Literal

from babel import Locale
from babel.dates import format_date
from babel.numbers import format_decimal

from sitegen.units import GB_BYTES, MB_BYTES, MIB_BYTES, NS_PER_S

FrenchLocale = Literal["fr-FR", "fr-CA"]

NO_BREAK: Final = "\u00a0"
NARROW: Final = "\u202f"
MINUS: Final = "\u2212"
UNKNOWN: Final = "inconnu"

_MINUTE_S: Final = 60
_KB_BYTES: Final = 1000

_UNITS: Final = "%|o|Ko|Mo|Go|To|Kio|Mio|Gio|octets?|ns|µs|ms|s|min|h|×|fois|bits?|jetons?|cœurs?|milliards?|millions?"
_RULES: Final = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"(?<=\w)'(?=\w|$)", "’"),
        (r"«[ \u00a0\u202f]*", f"«{NO_BREAK}"),
        (r"[ \u00a0\u202f]*»", f"{NO_BREAK}»"),
        (r"[ \u00a0\u202f]+([;!?])", rf"{NARROW}\1"),
        (r"(?<=[\w)»])([;!?])(?=\s|$)", rf"{NARROW}\1"),
        (r"[ \u00a0\u202f]+:(?=\s|$)", f"{NO_BREAK}:"),
        (r"(?<=[\w)»]):(?=\s|$)", f"{NO_BREAK}:"),
        (rf"(?<=\d) (?=(?:{_UNITS})(?!\w))", NO_BREAK),
    )
)
_ISO_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT(\d\d):(\d\d)")


@cache
def _fr() -> Locale:
    """Babel's French, loaded once and only when something is formatted."""
    return Locale("fr")


@lru_cache(maxsize=1 << 14)  # a page's pictures, tables and texts write the same numbers
def number(value: float, decimals: int = 0) -> str:
    """A number with exactly `decimals` decimals: ``1 234,50``; a true minus sign, and none before a zero."""
    pattern = "#,##0" + ("." + "0" * decimals if decimals else "")
    text = str(format_decimal(value, format=pattern, locale=_fr())).replace("-", MINUS)
    return text if any(digit in text for digit in "123456789") else text.removeprefix(MINUS)


def size(size_bytes: int | None) -> str:
    """A decimal size: ``1 196 Mo``, and from 2 Go on ``6,86 Go``."""
    if size_bytes is None:
        return UNKNOWN
    if abs(size_bytes) >= 2 * GB_BYTES:
        return _with_unit(number(size_bytes / GB_BYTES, 2), "Go")
    return megabytes(size_bytes) if abs(size_bytes) >= MB_BYTES else _small(size_bytes)


def megabytes(size_bytes: int | None) -> str:
    """A size in whole Mo (10^6 bytes), for columns that are compared."""
    return UNKNOWN if size_bytes is None else _with_unit(number(size_bytes / MB_BYTES), "Mo")


def gigabytes(size_bytes: float) -> str:
    """A size in Go with no decimal that says nothing: ``112 Go``, ``1,5 Go``."""
    value = round(size_bytes / GB_BYTES, 2)
    return _with_unit(number(value, _useful_decimals(value)), "Go")


def mebibytes(size_bytes: int) -> str:
    """A size in whole Mio (2^20 bytes), only for what others published in that unit."""
    return _with_unit(number(size_bytes / MIB_BYTES), "Mio")


def percent(ratio_value: float, decimals: int = 0) -> str:
    """A share, 0.37 → ``37 %``."""
    return _with_unit(number(100 * ratio_value, decimals), "%")


def small_percent(ratio_value: float, decimals: int = 2) -> str:
    """A share that may be tiny, without its sign: ``0,14 %``, and ``moins de 0,01 %`` rather than a false zero."""
    least = 10.0 ** -(decimals + 2)
    size_ = abs(ratio_value)
    return f"moins de {percent(least, decimals)}" if 0 < size_ < least / 2 else percent(size_, decimals)


def change(ratio_value: float, decimals: int = 0) -> str:
    """A relative change with its sign: −0.37 → ``−37 %``, 0.08 → ``+8 %``."""
    return _with_unit(signed(100 * ratio_value, decimals), "%")


def signed(value: float, decimals: int = 0) -> str:
    """A difference with its sign, for columns: ``+12,0``, ``−3,4``; a zero has none."""
    text = number(value, decimals)
    return f"+{text}" if value > 0 and any(digit in text for digit in "123456789") else text


def ratio(value: float, decimals: int = 1) -> str:
    """A ratio for tables and charts: ``5,1 ×``."""
    return _with_unit(number(value, decimals), "×")


def times(value: float, decimals: int = 1) -> str:
    """A ratio for sentences: ``5,1 fois``."""
    return _with_unit(number(value, decimals), "fois")


def duration(duration_ns: int | None) -> str:
    """A duration with two meaningful parts at most: ``350 ms``, ``9,2 s``, ``4 min 30 s``."""
    if duration_ns is None:
        return UNKNOWN
    seconds = duration_ns / NS_PER_S
    if seconds < 1:
        return _with_unit(number(1000 * seconds), "ms")
    if round(seconds) < _MINUTE_S:
        return _with_unit(number(seconds, 1), "s")
    minutes, rest = divmod(round(seconds), _MINUTE_S)
    words = [_with_unit(number(minutes), "min")]
    if rest:
        words.append(_with_unit(number(rest), "s"))
    return NO_BREAK.join(words)


def date(iso: str) -> str:
    """The day of an ISO date: ``2 mars 2026``, ``1er mars 2026``."""
    day = calendar_date.fromisoformat(iso[:10])
    text = str(format_date(day, format="d MMMM y", locale=_fr()))
    return re.sub(r"^1 ", "1er ", text).replace(" ", NO_BREAK)


def date_and_time(iso: str) -> str:
    """The day and the minute of an ISO date and time in UTC: ``2 mars 2026, 8 h 30 (UTC)``."""
    found = _ISO_TIME.match(iso)
    if found is None:
        return date(iso)
    hours, minutes = found.groups()
    return f"{date(iso)}, {int(hours)}{NO_BREAK}h{NO_BREAK}{minutes} (UTC)"


def listed(words: list[str] | tuple[str, ...]) -> str:
    """An enumeration: ``a, b et c``."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} et {words[-1]}" if words else ""


@lru_cache(maxsize=1 << 14)  # pages repeat each other: headings, phases, units
def typography(text: str, locale: FrenchLocale = "fr-FR") -> str:
    """Spaces that do not break, guillemets and apostrophes of a plain text, for `locale`.

    It is idempotent, so that a text may be built from parts that went through it. Code must not be given to it.
    """
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return localised(text, locale)


def localised(text: str, locale: FrenchLocale) -> str:
    """The fr-FR spaces of a text turned into those of `locale`."""
    if locale == "fr-FR":
        return text
    return re.sub(rf"{NARROW}(?=[;!?])", "", text).replace(NARROW, NO_BREAK)


def _with_unit(value: str, unit: str) -> str:
    """A value that never parts from its unit."""
    return f"{value}{NO_BREAK}{unit}"


def _small(size_bytes: int) -> str:
    """Less than a megabyte: ``12 Ko``, ``704 o``."""
    if abs(size_bytes) < _KB_BYTES:
        return _with_unit(number(size_bytes), "o")
    return _with_unit(number(size_bytes / _KB_BYTES), "Ko")


def _useful_decimals(value: float) -> int:
    """How many of two decimals are not trailing zeros."""
    return next((decimals for decimals in (0, 1) if round(value, decimals) == value), 2)
