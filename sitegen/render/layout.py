"""Laying pages out: the templates, what they are given, and the files that come out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from sitegen.errors import ContentError
from sitegen.french import NO_BREAK, date, listed
from sitegen.project import Project, Settings
from sitegen.records.model import Record
from sitegen.render import charts, estimator, journal, preview
from sitegen.render.assets import Assets
from sitegen.render.estimator_starts import Known
from sitegen.render.evidence import MissingFigureError
from sitegen.render.foreign import marked
from sitegen.render.labels import STATUS_NAMES, cores, label, processor, pytorch
from sitegen.render.markdown import Rendered, slug
from sitegen.render.pages import Link, Page, Source, canonical, menu, navigation, page_of, root_of, site_map
from sitegen.render.record_tables import record_tables
from sitegen.render.series import Series
from sitegen.render.series_tables import by_allocator, everything
from sitegen.render.syndication import FEED_PATH, SITEMAP_PATH, feed, sitemap
from sitegen.render.tables import Table, address, rebased
from sitegen.render.typeset import typeset

TEMPLATES: Final = Path(__file__).parent / "templates"
LICENCES: Final = {
    "CC BY 4.0": "https://creativecommons.org/licenses/by/4.0/deed.fr",
    "CC BY-SA 4.0": "https://creativecommons.org/licenses/by-sa/4.0/deed.fr",
    "CC0 1.0": "https://creativecommons.org/publicdomain/zero/1.0/deed.fr",
}
"""Where licences are to be read, by their usual names; the author may name any other."""
_RECORDS_TEMPLATE: Final = "measurements.html"


@dataclass(frozen=True)
class Site:
    """What every template knows of the site."""

    name: str
    locale: str
    navigation: tuple[Link, ...]
    menu: tuple[Link, ...]
    map: dict[str, list[Link]]
    settings: Settings
    data_date: str | None
    preview: str | None
    licences: Mapping[str, str]


@dataclass(frozen=True)
class Entry:
    """An entry of a page's table of contents, with those under it."""

    id: str
    title: str
    children: tuple[Entry, ...] = ()


@dataclass(frozen=True)
class Group:
    """The records of one machine and environment, on the page that shows them all."""

    id: str
    title: str
    description: str
    charts: tuple[charts.Chart, ...]
    tables: tuple[Table, ...]

    @property
    def entry(self) -> Entry:
        """The group, its charts and its tables in the table of contents."""
        return Entry(self.id, self.title, (*_chart_entries(self.charts), *_table_entries(self.tables)))


class Layout:
    """Writes pages into a folder.

    Args:
        project: its settings.
        series: what the prose speaks of; its date is that of the data.
        sources: every page, for the navigation.
        assets: what pages load.
        known: what the estimator's ready starts are estimated from; without it, they have no result.
    """

    def __init__(
        self, project: Project, series: Series, sources: list[Source], assets: Assets, known: Known | None = None
    ) -> None:
        self._known = known
        self._settings, self._content = project.settings, project.content
        self._sources = sources
        self.assets = assets
        self.templates = environment()
        self._site = Site(
            name=next(source.front.title for source in sources if not source.front.slug),
            locale=project.settings.locale,
            navigation=tuple(navigation(sources)),
            menu=tuple(menu(sources)),
            map=site_map(sources),
            settings=project.settings,
            data_date=date(series.measured_at) if series.measured_at else None,
            preview=canonical(preview.PATH, project.settings.url),
            licences=LICENCES,
        )

    @property
    def name(self) -> str:
        """The site's name: the title of its home page."""
        return self._site.name

    def write_page(self, folder: Path, index: int, rendered: Rendered, groups: list[Series]) -> None:
        """One Markdown page."""
        source, page = self._sources[index], page_of(self._sources, index, self._settings.url)
        context: dict[str, Any] = {
            "page": page,
            "body": rendered.body,
            "toc": [Entry(heading.id, heading.title) for heading in rendered.toc],
        }
        if source.front.template == _RECORDS_TEMPLATE:
            shown = [_group(series, page.root) for series in groups]
            context |= {"groups": shown, "toc": [*context["toc"], *(group.entry for group in shown)]}
        if source.front.template == estimator.TEMPLATE:
            context["estimator"] = estimator.estimator(self._known)
        self._write(folder, source.url_path, source.front.template, context)

    def write_record(self, folder: Path, record: Record) -> None:
        """The permanent page of one record."""
        url_path = address(record)
        root = root_of(url_path)
        chart = charts.of_record(record)
        shown = [rebased(table, root) for table in record_tables(record)]
        context = {
            "page": Page(
                title=label(record.case),
                description=_place(record),
                url_path=url_path,
                root=root,
                canonical=canonical(url_path, self._settings.url),
            ),
            "record": record,
            "label": label(record.case),
            "status": STATUS_NAMES[record.status].capitalize(),
            "reason": record.reason,
            "chart": None if chart is None else replace(chart, table=rebased(chart.table, root)),
            "tables": shown,
            "toc": [*_chart_entries(() if chart is None else (chart,)), *_table_entries(shown)],
            "json_href": f"{record.case_id}.json",
            "json_name": f"{record.case_id}.json",
        }
        self._write(folder, url_path, "record.html", context)

    def write_extras(self, folder: Path, records: list[Record]) -> None:
        """The page of a wrong address and, when the site has an address, its map and its feed."""
        url = self._settings.url
        if url is not None:
            pages = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.html"))
            (folder / SITEMAP_PATH).write_text(sitemap(pages, url), "utf-8")
            changes = journal.load(self._content)
            announced = feed(self._site.name, records, changes, url, self._settings.locale)
            (folder / FEED_PATH).write_text(announced, "utf-8")
        page = Page(
            "Page introuvable", "Il n’y a rien à cette adresse.", "404.html", f"{url.rstrip('/')}/" if url else ""
        )
        self._write(folder, "404.html", "404.html", {"page": page})

    def _write(self, folder: Path, url_path: str, template: str, context: dict[str, Any]) -> None:
        """Fill a template and write the page."""
        if template not in self.templates.list_templates():
            raise ContentError(
                f"There is no template named {template}.", "Correct template in the page's front matter."
            )
        html = self.templates.get_template(template).render(site=self._site, assets=self.assets, **context)
        path = folder / url_path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(typeset(html, self._settings.locale).strip() + "\n", "utf-8")


def environment() -> Environment:
    """The site's own templates, where nothing undefined is let through and everything is escaped."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["marked"] = marked
    return environment


def _chart_entries(shown: Iterable[charts.Chart]) -> list[Entry]:
    """Charts in a table of contents."""
    return [Entry(chart.id, chart.title) for chart in shown]


def _table_entries(tables: Iterable[Table]) -> list[Entry]:
    """Tables in a table of contents."""
    return [Entry(table.id, table.caption) for table in tables]


def _group(series: Series, root: str) -> Group:
    """The charts and tables of one series, for the page whose way back is `root`."""
    machine = series.machine
    memory = f"{machine.ram_gib}{NO_BREAK}Gio"
    title = f"{processor(machine)}, {cores(machine)}, {memory} · {pytorch(series.environment)}"
    versions = [
        f"{name}{NO_BREAK}{version}" for name, version in sorted(series.environment.packages.items()) if version
    ]
    software = f"{machine.system}, Python{NO_BREAK}{series.environment.python}, {listed(versions)}"
    identifier = slug(series.name)
    return Group(
        id=f"serie-{identifier}",
        title=title,
        description=f"{software}. {_when(series)}",
        charts=tuple(_charts(series, identifier, root)),
        tables=tuple(rebased(table, root) for table in (everything(series), by_allocator(series)) if table.rows),
    )


def _when(series: Series) -> str:
    """The date of the last record and how all were measured, in one sentence."""
    protocols = listed([str(protocol) for protocol in sorted({record.protocol for record in series.records})])
    when = f"Mesures arrêtées au {date(series.measured_at)}, " if series.measured_at else "Mesures sans date, "
    return f"{when}protocole{NO_BREAK}{protocols}."


def _charts(series: Series, prefix: str, root: str) -> Iterator[charts.Chart]:
    """Every chart that the series has records for, with identifiers of its own."""
    for draw in charts.CHARTS.values():
        with suppress(MissingFigureError):
            chart = draw(series, prefix)
            yield replace(chart, table=rebased(chart.table, root))


def _place(record: Record) -> str:
    """Where and when, in one sentence."""
    where = f"{processor(record.machine)} ({cores(record.machine)})"
    when = f", le {date(record.samples[-1].measured_at)}" if record.samples else ""
    return f"Relevé sur {where}, {pytorch(record.environment)}{when}."
