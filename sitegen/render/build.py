"""Records + content → `site/`: gather, render into a temporary folder beside it, check, swap."""

from __future__ import annotations

import contextlib
import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from sitegen.errors import ContentError, from_os_error
from sitegen.memory.measured import measured_pages
from sitegen.project import Project
from sitegen.records import published
from sitegen.records.bills import merged
from sitegen.records.model import Record
from sitegen.records.store import load_all
from sitegen.render import archive, assets, checks, data, estimator_data, preview, search
from sitegen.render.composer import LISTINGS, Composer
from sitegen.render.estimator_starts import Known
from sitegen.render.facts import FACTS, Stated
from sitegen.render.glossary import Glossary
from sitegen.render.layout import Layout
from sitegen.render.markdown import slug
from sitegen.render.pages import Source, load_sources
from sitegen.render.series import Series, chosen, grouped
from sitegen.render.staging import staging, swap


@dataclass(frozen=True)
class RenderReport:
    """What was rendered: `pages` counts Markdown pages and records' pages, `series` is what the prose speaks of."""

    site: Path
    pages: int
    records: int
    series: str

    @property
    def message(self) -> str:
        """What to tell the author."""
        return f"Rendered {self.pages} pages from {self.records} records into {self.site.name}/ (prose: {self.series})."


def render(project: Project, out: Path | None = None) -> RenderReport:
    """Render the whole site, or leave the former one as it was.

    Args:
        project: the records, the content, the settings.
        out: another folder than the project's ``site/``.

    Raises:
        ContentError: the prose needs what no record gives, says what the records contradict, or a page is not sound.
        RecordError: a record cannot be trusted.
        StorageError: the disk is full or refuses.
    """
    site = out or project.site
    records, sources = load_all(project.measurements), load_sources(project.content)
    try:
        with staging(site) as folder:
            pages = _render_into(folder, project, records, sources, former_facts(site))
            swap(folder, site)
    except OSError as error:
        raise from_os_error(error, f"writing {site.name}/") from error
    return RenderReport(site, pages, len(records), chosen(records, project.settings.environment).name)


def _render_into(
    folder: Path, project: Project, records: list[Record], sources: list[Source], former: dict[str, str]
) -> int:
    """Write and check the whole site in `folder`; the number of its pages."""
    series = series_of(project, records)
    pages = measured_pages(series.records, series.bills)
    data_of_estimates = estimator_data.data_script(records, pages)
    loaded = assets.publish(folder, estimator_data.table_scripts(project.measurements), data_of_estimates)
    known = Known(estimator_data.table_files(project.measurements), records, pages)
    layout = Layout(project, series, sources, loaded, known)
    composer = Composer(project, series, _ordered(records), layout.templates, former, Glossary(sources))
    for source in sources:
        composer.problems.misused += checks.bare_figures(source)
    bodies = [composer.render(source) for source in sources]
    composer.problems.check()
    index_of_pages = search.script(zip(sources, bodies, strict=True), records, project.settings.locale)
    layout.assets = assets.with_search(loaded, index_of_pages, folder)
    for index, body in enumerate(bodies):
        layout.write_page(folder, index, body, grouped(records))
    for record in records:
        layout.write_record(folder, record)
    layout.write_extras(folder, records)
    data.publish(folder, records, _facts(composer))
    _publish_files(project, folder)
    preview.publish(folder, layout.name, series)
    archive.publish(folder, slug(layout.name))
    _require_sound(folder, layout.assets)
    return len(sources) + len(records)


def series_of(project: Project, records: list[Record]) -> Series:
    """What the prose speaks of, with what was traced and what others published."""
    series = chosen(records, project.settings.environment)
    folder = project.measurements / published.FOLDER
    others = (
        (published.load_runs(folder), published.load_traces(folder)) if (folder / published.RUNS).exists() else None
    )
    return Series(series.records, merged(project.measurements), others)


def _ordered(records: list[Record]) -> list[Record]:
    """Every record, series after series, each in the order of the reference suite."""
    return [record for series in grouped(records) for record in series.records]


def _facts(composer: Composer) -> dict[str, str]:
    """Every fact that the records give, as the prose writes it."""
    found = {name: composer.fact(name) for name in FACTS}
    return {name: fact.text for name, fact in found.items() if isinstance(fact, Stated)}


def former_facts(site: Path) -> dict[str, str]:
    """The facts of the site as it was last built; none when there is no such site."""
    with contextlib.suppress(OSError, ValueError):
        former = json.loads((site / data.FACTS_PATH).read_text("utf-8"))
        return {str(name): str(text) for name, text in former.items()}
    return {}


def _publish_files(project: Project, folder: Path) -> None:
    """Copy what readers download."""
    source = project.content / LISTINGS
    for path in sorted(source.rglob("*")):
        if path.is_symlink():
            raise ContentError(f"content/{LISTINGS}/{path.name} is a link.", "Put the file itself there, or remove it.")
    if source.is_dir():
        shutil.copytree(source, folder / LISTINGS, ignore=shutil.ignore_patterns("__pycache__", ".*"))


def _require_sound(folder: Path, published: assets.Assets) -> None:
    """Refuse a site with a broken link, an ambiguous id or a page too heavy."""
    problems = checks.site_problems(folder, published)
    if problems:
        listed = "\n".join(f"  - {problem}" for problem in problems)
        raise ContentError(f"The site is not sound:\n{listed}", "Correct the pages. The site is left as it was.")
