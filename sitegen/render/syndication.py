"""What the site offers to machines once it has an address: its map, and a feed of its records and of its method."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final
from xml.sax.saxutils import escape

from sitegen.french import FrenchLocale, typography
from sitegen.records.model import Record
from sitegen.render.journal import ANCHOR, Change
from sitegen.render.labels import STATUS_NAMES, label
from sitegen.render.markdown import slug
from sitegen.render.pages import canonical
from sitegen.render.tables import address

SITEMAP_PATH: Final = "sitemap.xml"
FEED_PATH: Final = "releves.xml"
_HEAD: Final = '<?xml version="1.0" encoding="UTF-8"?>\n'


def sitemap(url_paths: Iterable[str], site_url: str) -> str:
    """The map of these pages."""
    lines = [f"  <url><loc>{escape(canonical(url_path, site_url) or '')}</loc></url>" for url_path in url_paths]
    return "\n".join([f'{_HEAD}<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">', *lines, "</urlset>", ""])


def feed(name: str, records: Iterable[Record], changes: Iterable[Change], site_url: str, locale: FrenchLocale) -> str:
    """An Atom feed of the records and of the method's changes, the newest first; dated by them and not by the clock."""
    entries = [*(_entry(record, site_url, locale) for record in records), *_changes(changes, site_url, locale)]
    newest = sorted(entries, reverse=True)
    root = site_url.rstrip("/") + "/"
    head = [
        f'{_HEAD}<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="{locale}">',
        f"  <title>{escape(typography(name, locale))}</title>",
        f"  <id>{escape(root)}</id>",
        f'  <link href="{escape(root)}"/>',
        f'  <link rel="self" href="{escape(root + FEED_PATH)}"/>',
        f"  <updated>{newest[0][0]}</updated>",
        f"  <author><name>{escape(typography(name, locale))}</name></author>",
    ]
    return "\n".join([*head, *(text for *_, text in newest), "</feed>", ""])


def _entry(record: Record, site_url: str, locale: FrenchLocale) -> tuple[str, str, str]:
    """One record: its date, its key, its entry."""
    link = escape(canonical(address(record), site_url) or "")
    title = escape(typography(f"{label(record.case)} : {STATUS_NAMES[record.status]}", locale))
    day = max(sample.measured_at for sample in record.samples)
    text = f'  <entry><title>{title}</title><id>{link}</id><link href="{link}"/><updated>{day}</updated></entry>'
    return day, record.key, text


def _changes(changes: Iterable[Change], site_url: str, locale: FrenchLocale) -> Iterator[tuple[str, str, str]]:
    """The changes of the method, each at the table that says them."""
    table = escape(canonical("donnees/index.html", site_url) or "")
    for change in changes:
        day = f"{change.date.isoformat()}T00:00:00Z"
        title, words = (escape(typography(text, locale)) for text in (f"Méthode : {change.title}", change.text))
        identifier = f"{table}#{ANCHOR}-{slug(change.title)}"
        text = (
            f'  <entry><title>{title}</title><id>{identifier}</id><link href="{table}#{ANCHOR}"/>'
            f"<updated>{day}</updated><summary>{words}</summary></entry>"
        )
        yield day, identifier, text
