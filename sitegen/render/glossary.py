"""The glossary: each term of its page gets an address, and its first mention on every other page leads there by itself.

The page is a definition list. A term's line may give several forms, parted by commas, and a gloss in parentheses, which
is no part of it: ``Lot, taille de lot ([batch]{lang=en})``. A plural in s or x is understood. A capital at the start of
a sentence hides what a word means (« Attention : … »): the next mention is then the one that is linked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from markdown_it.token import Token

from sitegen.render.markdown import parsed, slug
from sitegen.render.pages import Source

SLUG: Final = "glossaire"
"""Where the page is."""
_CALL: Final = re.compile(r"\{[{%#].*?[}%#]\}", re.DOTALL)
_LINKED: Final = ("paragraph_open",)


@dataclass(frozen=True)
class Term:
    """One entry: its id on the page, its forms, and its definition as plain text, empty where it holds a figure."""

    id: str
    forms: tuple[str, ...]
    definition: str


class Glossary:
    """The terms of a site; none where it has no glossary.

    Args:
        sources: every page, the glossary's among them or not.
    """

    def __init__(self, sources: Iterable[Source]) -> None:
        page = next((source for source in sources if source.front.slug == SLUG), None)
        self.terms = tuple(_terms(page)) if page else ()
        self._by_form = {form.lower(): term for term in self.terms for form in term.forms}
        self._by_mention: dict[str, Term] = {}
        longest_first = sorted(self._by_form, key=len, reverse=True)
        self._any = re.compile(rf"(?<![\w-])({'|'.join(map(_pattern, longest_first))})(?![\w-])", re.IGNORECASE)

    def dress(self, tokens: list[Token], source: Source, root: str) -> None:
        """Give the terms of the glossary's own page their ids; on any other, link the first mention of each."""
        if source.front.slug == SLUG:
            _identify(tokens)
        elif self.terms:
            self._link(tokens, f"{root}{SLUG}/index.html")

    def _link(self, tokens: list[Token], href: str) -> None:
        """Link first mentions in paragraphs; headings, terms of lists, links and code are left alone."""
        met: set[str] = set()
        for opening, inline in pairwise(tokens):
            if opening.type in _LINKED and inline.children:
                inline.children = list(self._linked(inline.children, href, met))

    def _linked(self, children: list[Token], href: str, met: set[str]) -> Iterator[Token]:
        """The parts of one paragraph."""
        inside, said = 0, ""
        for child in children:
            inside += {"link_open": 1, "link_close": -1}.get(child.type, 0)
            if child.type == "text" and not inside:
                yield from self._split(child.content, said, href, met)
            else:
                yield child
            said += child.content

    def _split(self, text: str, said: str, href: str, met: set[str]) -> Iterator[Token]:
        """A text around the terms that are met in it for the first time; `said` comes before it in the paragraph."""
        start = 0
        for found in self._any.finditer(text):
            term = self._term(found[1])
            if term.id in met or (found[1][0].isupper() and _opens(said + text[: found.start()])):
                continue
            met.add(term.id)
            yield _text(text[start : found.start()])
            yield from _anchor(found[1], f"{href}#{term.id}", term.definition)
            start = found.end()
        yield _text(text[start:])

    def _term(self, mention: str) -> Term:
        """What a mention is of."""
        if mention not in self._by_mention:
            plain = mention.lower().replace("’", "'")
            form = next(form for form in self._by_form if re.fullmatch(_pattern(form), plain))
            self._by_mention[mention] = self._by_form[form]
        return self._by_mention[mention]


def _opens(before: str) -> bool:
    """Whether what follows `before` in a paragraph begins a sentence."""
    before = before.rstrip(" \n«\u00a0")
    return not before or before.endswith((".", "!", "?", "…"))


def _terms(page: Source) -> Iterator[Term]:
    """The entries of the page, read off its Markdown."""
    tokens = parsed(_CALL.sub("\ue000", page.text))
    forms: tuple[str, ...] = ()
    for opening, inline in pairwise(tokens):
        if opening.type == "dt_open":
            forms = _forms(inline)
        elif opening.type == "paragraph_open" and forms and inline.level > 1:
            definition = _words(inline)
            yield Term(slug(forms[0]), forms, "" if "\ue000" in definition else definition)
            forms = ()


def _identify(tokens: list[Token]) -> None:
    """Give each term its id."""
    for opening, inline in pairwise(tokens):
        if opening.type == "dt_open":
            opening.attrs["id"] = slug(_forms(inline)[0])


def _forms(inline: Token) -> tuple[str, ...]:
    """The forms of a term, without its gloss."""
    return tuple(form.strip() for form in _words(inline).partition("(")[0].split(","))


def _words(inline: Token) -> str:
    """The text of an inline token."""
    return "".join(child.content for child in inline.children or () if child.type in ("text", "code_inline"))


def _pattern(form: str) -> str:
    """A form, each of its words in the singular or the plural; an apostrophe is straight or curved."""
    return r"\s+".join(re.escape(word).replace("'", "['’]") + "[sx]?" for word in form.split())


def _anchor(text: str, href: str, definition: str) -> Iterator[Token]:
    """A link to the glossary, its definition in its title."""
    attributes: dict[str, str | int | float] = {"href": href, "class": "term"}
    if definition:
        attributes["title"] = definition
    yield Token("link_open", "a", 1, attrs=attributes)
    yield _text(text)
    yield Token("link_close", "a", -1)


def _text(content: str) -> Token:
    """A text."""
    return Token("text", "", 0, content=content)
