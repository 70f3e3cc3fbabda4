"""The index of the search: each page by its sections, each record by its name, as a script that is loaded on demand.

A classic script, because a page that is read from a disk may load nothing else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from html import unescape
from typing import Any, Final

from sitegen.french import FrenchLocale, typography
from sitegen.records.model import Record
from sitegen.render.labels import label, processor, pytorch
from sitegen.render.markdown import Rendered
from sitegen.render.pages import Source
from sitegen.render.tables import address

NAME: Final = "SitegenIndex"
"""The global that the script sets: a list of pages, each an address, a title and its sections."""
_LEFT_OUT: Final = re.compile(r"<(table|svg|script|style|math|form|button|summary)\b.*?</\1>", re.DOTALL)
_HEADING: Final = re.compile(r'<(h2|h3|dt)\b[^>]*?\sid="([^"]+)"[^>]*>(.*?)</\1>', re.DOTALL)
_TAG: Final = re.compile(r"<[^>]+>")


def script(pages: Iterable[tuple[Source, Rendered]], records: Iterable[Record], locale: FrenchLocale) -> str:
    """The whole index; its texts are written for `locale`, as the pages are."""
    entries = [_page(source, rendered, locale) for source, rendered in pages]
    entries += [_record(record, locale) for record in records]
    return f"window.{NAME} = {json.dumps(entries, ensure_ascii=False, separators=(',', ':'))};\n"


def _page(source: Source, rendered: Rendered, locale: FrenchLocale) -> list[Any]:
    """One page: its address, its title, its sections."""
    sections = [("", "", source.front.description), *_sections(str(rendered.body))]
    return [
        source.url_path,
        typography(source.front.title, locale),
        [[anchor, *(typography(text, locale) for text in texts)] for anchor, *texts in sections if any(texts)],
    ]


def _record(record: Record, locale: FrenchLocale) -> list[Any]:
    """One record: its address, its name, where it was measured."""
    place = f"Relevé sur {processor(record.machine)}, {pytorch(record.environment)}. {record.case_id}"
    return [address(record), typography(label(record.case), locale), [["", "", typography(place, locale)]]]


def _sections(body: str) -> Iterator[tuple[str, str, str]]:
    """The anchor, the title and the text of each section; tables, pictures and controls are left out."""
    parts = _HEADING.split(_LEFT_OUT.sub(" ", body))
    yield "", "", _words(parts[0])
    for anchor, title, text in zip(parts[2::4], parts[3::4], parts[4::4], strict=True):
        yield anchor, _words(title), _words(text)


def _words(html: str) -> str:
    """The text alone, on one line."""
    return " ".join(unescape(_TAG.sub("", html.replace("</p>", " ").replace("</li>", " "))).split())
