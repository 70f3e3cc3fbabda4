"""What a built site must satisfy before it replaces the former one, and what a page's source must not contain."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import Final
from urllib.parse import unquote, urlsplit

from sitegen.render.assets import Assets
from sitegen.render.pages import Source

MAX_PAGE_BYTES: Final = 100_000
"""Compressed, everything that the first load of a page fetches."""

_TAG: Final = re.compile(r"<([a-zA-Z][a-zA-Z0-9-]*)((?:\s+[^\s=>\"'/]+(?:=\"[^\"]*\"|='[^']*')?)*)\s*/?>")
_ATTRIBUTE: Final = re.compile(r"([^\s=>\"'/]+)\s*=\s*\"([^\"]*)\"")
_NOT_PROSE: Final = re.compile(r"```.*?```|`[^`\n]*`|\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}|\]\([^)]*\)", re.DOTALL)
_UNIT: Final = (
    "%|pour cent|×|fois|milliards?|millions?|o|Ko|Mo|Go|To|Kio|Mio|Gio|octets?"
    "|ns|µs|ms|s|secondes?|min|minutes?|h|heures?"
)
_SPELLED: Final = "deux|trois|quatre|cinq|six|sept|huit|neuf|dix|onze|douze|quinze|seize|vingt|trente|cent|mille"
_SPELLED_UNIT: Final = "fois|pour cent|octets|[KMG]i?o|milliards|millions"
_BARE_FIGURES: Final = (
    re.compile(rf"\d[\d\s.,\u00a0\u202f]*(?:{_UNIT})(?![\w-])"),
    re.compile(rf"\b(?:{_SPELLED})[\s\u00a0\u202f-]+(?:{_SPELLED_UNIT})\b", re.IGNORECASE),
)


@dataclass(frozen=True)
class _Document:
    """What links and ids a page has."""

    ids: frozenset[str]
    links: tuple[str, ...]
    problems: tuple[str, ...]


def bare_figures(source: Source) -> list[str]:
    """Numbers with a unit typed into prose: a fact must give them. Code and calls do not count."""
    text = _NOT_PROSE.sub(lambda found: "\n" * found[0].count("\n") or "\ue000", source.text)
    return [
        f"content/{source.name}, line {source.first_line + text.count(chr(10), 0, found.start())}: "
        f"« {' '.join(found[0].split())} » is typed into the prose; name a fact instead"
        for pattern in _BARE_FIGURES
        for found in pattern.finditer(text)
    ]


def site_problems(site: Path, assets: Assets) -> list[str]:
    """Broken links and anchors, ids used twice, pictures without text, pages too heavy; empty when all is well."""
    pages = {path.relative_to(site).as_posix(): path.read_text("utf-8") for path in sorted(site.rglob("*.html"))}
    documents = {name: _document(html) for name, html in pages.items()}
    files = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
    problems = [f"{name}: {problem}" for name, document in documents.items() for problem in document.problems]
    problems += [problem for name in documents for problem in _broken_links(name, documents, files)]
    return problems + _heavy(site, pages, assets)


def _document(html: str) -> _Document:
    """Scan one page."""
    ids: Counter[str] = Counter()
    links, problems = [], []
    for tag in _TAG.finditer(html):
        attributes = {name.lower(): unescape(value) for name, value in _ATTRIBUTE.findall(tag[2])}
        if "id" in attributes:
            ids[attributes["id"]] += 1
        links += [attributes[name] for name in ("href", "src") if name in attributes]
        if tag[1] == "img" and "alt" not in attributes:
            problems.append(f"the picture {attributes.get('src')} has no alt text")
    problems += [f"the id {name} is used {count} times" for name, count in ids.items() if count > 1]
    return _Document(frozenset(ids), tuple(links), tuple(problems))


def _broken_links(name: str, documents: dict[str, _Document], files: set[str]) -> list[str]:
    """Links of one page that lead to no file of the site, or to no anchor there; other sites are not asked.

    A fragment with an equals sign is a state that a script reads, not an anchor.
    """
    problems = []
    for link in dict.fromkeys(documents[name].links):
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = normpath(join(dirname(name), unquote(parts.path))) if parts.path else name
        if target not in files:
            problems.append(f"{name}: the link {link} leads nowhere")
        elif (
            parts.fragment
            and "=" not in parts.fragment
            and target in documents
            and unquote(parts.fragment) not in documents[target].ids
        ):
            problems.append(f"{name}: the link {link} names an anchor that {target} does not have")
    return problems


def _heavy(site: Path, pages: dict[str, str], assets: Assets) -> list[str]:
    """Pages whose first load is above the limit."""
    shared = _together(site, (*assets.styles, *assets.scripts, assets.theme))
    own = (*assets.estimator.styles, *assets.estimator.scripts, *assets.calculator.scripts)
    weights = {
        name: shared + _together(site, [each for each in own if f'{each}"' in html]) + _weight(html.encode())
        for name, html in pages.items()
    }
    return [
        f"{name}: {weight} bytes compressed at first load, above {MAX_PAGE_BYTES}"
        for name, weight in weights.items()
        if weight >= MAX_PAGE_BYTES
    ]


def _together(site: Path, names: Iterable[str]) -> int:
    """Compressed size in bytes of files of the site."""
    return sum(_weight((site / name).read_bytes()) for name in names)


def _weight(content: bytes) -> int:
    """Compressed size in bytes, as a server would send it."""
    return len(zlib.compress(content, 6))
