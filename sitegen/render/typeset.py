"""French typography over a finished page: its texts and the attributes that are read; never code, nor English."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape, unescape
from typing import Final

from sitegen.french import FrenchLocale, localised, typography

_PIECES: Final = re.compile(r"(<!--.*?-->|<[^>\"']*(?:\"[^\"]*\"[^>\"']*|'[^']*'[^>\"']*)*>)", re.DOTALL)
_NAME: Final = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9-]*)")
_ENGLISH: Final = re.compile(r'\slang="en')
_READ_ATTRIBUTE: Final = re.compile(r'(\s(?:title|alt|aria-label|content|placeholder)=")([^"]*)(")')
_KEPT: Final = frozenset({"code", "pre", "kbd", "samp", "script", "style", "textarea", "math"})
_VOID: Final = frozenset({"br", "hr", "img", "input", "link", "meta", "wbr", "source", "col"})


def typeset(html: str, locale: FrenchLocale) -> str:
    """The page with its French texts as `locale` writes them; a chart's specification follows the locale too."""
    kept: list[str] = []
    pieces = _PIECES.split(html)
    for index, piece in enumerate(pieces):
        if index % 2:
            pieces[index] = _tag(piece, locale)
            _follow(piece, kept)
        elif not kept:
            pieces[index] = _text(piece, locale)
        elif kept[0] == "script":
            pieces[index] = localised(piece.replace("\\u202f", "\u202f"), locale)
    return "".join(pieces)


def _text(html: str, locale: FrenchLocale) -> str:
    """One text between two tags."""
    return html if not html or html.isspace() else escape(typography(unescape(html), locale), quote=False)


@lru_cache(maxsize=1 << 14)  # most tags of a site come many times
def _tag(tag: str, locale: FrenchLocale) -> str:
    """One tag, whose titles and labels are texts; the policy of a ``http-equiv`` is not."""
    if "http-equiv" in tag or _ENGLISH.search(tag):
        return tag
    return _READ_ATTRIBUTE.sub(lambda found: found[1] + _attribute(found[2], locale) + found[3], tag)


def _attribute(value: str, locale: FrenchLocale) -> str:
    """One attribute's text; an address is left alone."""
    return value if "://" in value else escape(typography(unescape(value), locale))


def _follow(tag: str, kept: list[str]) -> None:
    """Note that an element whose text must stay as it is opens or closes; within it, only its own name counts."""
    closes, name, keeps = _role(tag)
    if not name or (kept and name != kept[0]):
        return
    if closes:
        del kept[-1:]
    elif kept or keeps:
        kept.append(name)


@lru_cache(maxsize=1 << 14)
def _role(tag: str) -> tuple[bool, str, bool]:
    """Whether a tag closes, the name of its element (none for what holds no text), whether its text must stay."""
    found = _NAME.match(tag)
    if found is None or tag.endswith("/>") or found[2].lower() in _VOID:
        return False, "", False
    name = found[2].lower()
    return bool(found[1]), name, name in _KEPT or bool(_ENGLISH.search(tag))
