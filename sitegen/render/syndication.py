"""What the site offers to machines once it has an address: its map, and a feed of its records."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from xml.sax.saxutils import escape

from sitegen.french import FrenchLocale, typography
from sitegen.records.model import Record
from sitegen.render.labels import STATUS_NAMES, label
from sitegen.render.pages import canonical
from sitegen.render.tables import address

SITEMAP_PATH: Final = "sitemap.xml"
FEED_PATH: Final = "releves.xml"
_HEAD: Final = '<?xml version="1.0" encoding="UTF-8"?>\n'


def sitemap(url_paths: Iterable[str], site_url: str) -> str:
    """The map of these pages."""
    lines = [f"  <url><loc>{escape(canonical(url_path, site_url) or '')}</loc></url>" for url_path in url_paths]
    return "\n".join([f'{_HEAD}<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">', *lines, "</urlset>", ""])


def feed(name: str, records: Iterable[Record], site_url: str, locale: FrenchLocale) -> str:
    """An Atom feed of the records, the newest first; it is dated by them and not by the clock."""
    newest = sorted(records, key=lambda record: (_date(record), record.key), reverse=True)
    root = site_url.rstrip("/") + "/"
    head = [
        f'{_HEAD}<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="{locale}">',
        f"  <title>{escape(typography(name, locale))}</title>",
        f"  <id>{escape(root)}</id>",
        f'  <link href="{escape(root)}"/>',
        f'  <link rel="self" href="{escape(root + FEED_PATH)}"/>',
        f"  <updated>{_date(newest[0])}</updated>",
        f"  <author><name>{escape(typography(name, locale))}</name></author>",
    ]
    return "\n".join([*head, *(_entry(record, site_url, locale) for record in newest), "</feed>", ""])


def _entry(record: Record, site_url: str, locale: FrenchLocale) -> str:
    """One record."""
    link = escape(canonical(address(record), site_url) or "")
    title = escape(typography(f"{label(record.case)} : {STATUS_NAMES[record.status]}", locale))
    return (
        f'  <entry><title>{title}</title><id>{link}</id><link href="{link}"/><updated>{_date(record)}</updated></entry>'
    )


def _date(record: Record) -> str:
    """When the record was last measured, ISO."""
    return max(sample.measured_at for sample in record.samples)
