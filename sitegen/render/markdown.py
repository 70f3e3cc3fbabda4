"""One page's text → HTML: Jinja for facts, claims, charts and tables, then Markdown, then the blocks put in.

What the Jinja calls produce goes through Markdown as opaque marks, so that Markdown never sees HTML and content never
writes any.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from traceback import walk_tb
from typing import Any, Final

from jinja2 import Environment, StrictUndefined, TemplateSyntaxError, nodes
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup, escape
from mdit_py_plugins.attrs import attrs_plugin
from mdit_py_plugins.deflist import deflist_plugin

from sitegen.errors import ContentError, SitegenError
from sitegen.render.pages import Source

_OPEN, _CLOSE = "\ue000", "\ue001"
_MARK: Final = re.compile(f"{_OPEN}(\\d+){_CLOSE}")
_FACT_START: Final = "<a "
_ALONE: Final = re.compile(f"<p>{_OPEN}(\\d+){_CLOSE}</p>")


@dataclass(frozen=True)
class Heading:
    """One entry of a page's table of contents."""

    id: str
    title: str


@dataclass(frozen=True)
class Rendered:
    """A page's text: `body` is HTML, `toc` its second-level headings."""

    body: Markup
    toc: tuple[Heading, ...]


class Marks:
    """What Jinja produced and Markdown must not read."""

    def __init__(self) -> None:
        self._blocks: list[Markup] = []

    def hide(self, html: str) -> Markup:
        """A mark that stands for this HTML."""
        self._blocks.append(Markup(html))  # noqa: S704  # it comes from our own templates, which escape
        return Markup("{}{}{}").format(_OPEN, len(self._blocks) - 1, _CLOSE)

    def reveal(self, html: str) -> Markup:
        """The HTML with each mark replaced; a block that is alone in its paragraph replaces the paragraph."""
        html = _ALONE.sub(self._alone, html)
        return Markup(_MARK.sub(self._inline, html))  # noqa: S704  # Markdown escaped its part, the templates theirs

    def _inline(self, found: re.Match[str]) -> str:
        """One mark's HTML."""
        return str(self._blocks[int(found[1])])

    def _alone(self, found: re.Match[str]) -> str:
        """One mark's HTML; a fact keeps the paragraph around it."""
        html = self._inline(found)
        return f"<p>{html}</p>" if html.startswith(_FACT_START) else html


class ClaimExtension(Extension):
    """``{% claim "name" %}…{% endclaim %}``: the text is printed by the environment's ``claim`` function."""

    tags = {"claim"}  # noqa: RUF012  # Jinja declares it so

    def parse(self, parser: Parser) -> nodes.Node:
        """Turn the tag into a call of ``claim(name)`` around the text."""
        line = next(parser.stream).lineno
        name = parser.parse_expression()
        body = parser.parse_statements(("name:endclaim",), drop_needle=True)
        call = nodes.Call(nodes.Name("claim", "load"), [name], [], None, None)
        return nodes.CallBlock(call, [], [], body).set_lineno(line)


def expand(source: Source, functions: dict[str, Callable[..., Any]]) -> str:
    """The page's Markdown with its facts, claims, charts and tables as marks.

    Args:
        source: the page.
        functions: what the page may call: ``fact``, ``claim``, ``chart``…

    Raises:
        ContentError: whatever the page gets wrong, with the file and the line.
    """
    try:
        return _jinja().from_string(source.text).render(functions)
    except SitegenError:
        raise
    except Exception as error:  # a call with the wrong arguments, a division by zero: the page's fault, whatever it is
        line = source.first_line + _line(error) - 1
        raise ContentError(f"content/{source.name}, about line {line}: {error}.", "Correct the call.") from error


def _line(error: Exception) -> int:
    """Where in the template: a syntax error says it, any other shows it in its traceback."""
    if isinstance(error, TemplateSyntaxError):
        return error.lineno
    lines = [line for frame, line in walk_tb(error.__traceback__) if frame.f_code.co_filename == "<template>"]
    return lines[-1] if lines else 1


def parsed(text: str) -> list[Token]:
    """The tokens of a Markdown text."""
    return _markdown().parse(text)


def to_html(text: str, marks: Marks, dress: Callable[[list[Token]], None] | None = None) -> Rendered:
    """Markdown → HTML, with an id on each heading and the marks replaced; `dress` may change the tokens before."""
    markdown = _markdown()
    tokens = parsed(text)
    if dress is not None:
        dress(tokens)
    toc = _identify(tokens)
    body = marks.reveal(markdown.renderer.render(tokens, markdown.options, {}))
    return Rendered(body, tuple(Heading(id_, marks.reveal(title).striptags()) for id_, title in toc))


def slug(text: str) -> str:
    """Letters without accents, digits and dashes: « Où va la mémoire ? » → ``ou-va-la-memoire``."""
    plain = unicodedata.normalize("NFKD", text.lower().replace("œ", "oe").replace("æ", "ae"))
    ascii_only = "".join(letter for letter in plain if not unicodedata.combining(letter))
    return re.sub(r"[^a-z0-9]+", "-", ascii_only).strip("-")


def _identify(tokens: list[Token]) -> list[tuple[str, str]]:
    """Give each heading an id made of its words; the second-level ones with their titles, which are HTML."""
    toc = []
    for opening, inline in pairwise(tokens):
        if opening.type != "heading_open":
            continue
        title = "".join(child.content for child in inline.children or () if child.type in ("text", "code_inline"))
        opening.attrs.setdefault("id", slug(_MARK.sub("", title)))
        if opening.tag == "h2":
            toc.append((str(opening.attrs["id"]), str(escape(title))))
    return toc


@cache
def _jinja() -> Environment:
    """Pages may only name what exists, and reach nothing else: a page is text, even one that a stranger proposes."""
    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, autoescape=True, extensions=[ClaimExtension], keep_trailing_newline=True
    )
    environment.globals.clear()
    return environment


@cache
def _markdown() -> MarkdownIt:
    """CommonMark with tables, definition lists and ``[term]{lang=en}``; HTML is not let through.

    Code is English unless it says otherwise, as formulas and French options do: `` `P × O`{lang=fr} ``.
    """
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    markdown.add_render_rule("fence", _scrollable_fence)
    markdown.add_render_rule("code_inline", _english_code)
    return markdown.use(deflist_plugin).use(attrs_plugin, spans=True, allowed=("lang",))


def _scrollable_fence(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    """A block of code in the tab order: a wide one must scroll by keyboard, with JavaScript or without."""
    return renderer.fence(tokens, index, options, env).replace("<pre><code", '<pre tabindex="0"><code lang="en"', 1)


def _english_code(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    """Code within a sentence, which says its language."""
    tokens[index].attrs.setdefault("lang", "en")
    return renderer.code_inline(tokens, index, options, env)
