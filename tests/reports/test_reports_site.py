"""Reports about published sites (kind 8): what sites of this kind got wrong, tried on ours.

Each test has the number of its report; the values are those of the report, or follow from it by the arithmetic beside.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import Any

import html5lib
import pytest
from msgspec.structs import replace
from playwright.sync_api import Page
from plotly.offline import get_plotlyjs_version

from sitegen.errors import RecordError
from sitegen.french import number
from sitegen.project import Project, Settings
from sitegen.records.case import Case
from sitegen.records.model import Record
from sitegen.records.store import load_all
from sitegen.render.build import render
from sitegen.render.drawing import Line, Part, stacked
from sitegen.render.interactive import specification
from sitegen.render.series import grouped
from tests.factories import OTHER_ENVIRONMENT, TRAINING, record, reference_suite, write_records

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "sitegen" / "render" / "static" / "js"


def site_of(root: Path, records: list[Record]) -> Path:
    shutil.copytree(ROOT / "content", root / "content")
    write_records(records, root / "measurements")
    return render(Project(root, Settings())).site


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of the reference suite and of one case that failed."""
    failed = record(Case(batch_size=64), status="out_of_memory", reason="killed")
    return site_of(tmp_path_factory.mktemp("reports"), [*reference_suite(), failed])


def pages(site: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(site.rglob("*.html")):
        yield path.relative_to(site).as_posix(), path.read_text("utf-8")


def specifications(site: Path) -> Iterator[str]:
    for _, text in pages(site):
        yield from re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.DOTALL)


def test_k8_01_one_library_however_many_charts(built: Path, tmp_path: Path) -> None:
    more = [record(Case(batch_size=16 + each), net_mib=(7000, 9000)) for each in range(19)]
    larger = site_of(tmp_path / "larger", [*reference_suite(), *more])
    sizes = []
    for site in (built, larger):
        (library,) = site.rglob("plotly*.js")
        assert library.stat().st_size > 1_000_000
        sizes.append(sum(path.stat().st_size for path in site.rglob("*") if path.suffix in {".html", ".js", ".css"}))
    assert (sizes[1] - sizes[0]) / (len(more) - 1) < 100_000  # the smaller site has one record of its own


def test_k8_02_nothing_is_asked_outside_and_each_chart_is_a_picture_and_a_table(built: Path) -> None:
    for name, text in pages(built):
        assert not re.findall(r'<(?:script|img|iframe|source)\b[^>]*\bsrc="(?:https?:)?//', text), name
        assert not re.findall(r'<link\b[^>]*rel="(?:stylesheet|preload|icon)"[^>]*href="(?:https?:)?//', text), name
        figures = re.findall(r"<figure\b[^>]*data-chart.*?</figure>", text, re.DOTALL)
        assert all("<svg" in figure and "<table" in figure for figure in figures), name
    for path in STATIC.glob("*.js"):
        assert not re.search(r"\bfetch\(|XMLHttpRequest|import\(", path.read_text("utf-8")), path.name


def test_k8_03_no_script_in_a_page_and_none_made_of_text(built: Path) -> None:
    for name, text in pages(built):
        scripts = re.findall(r"<script\b([^>]*)>", text)
        assert all("src=" in each or 'type="application/json"' in each for each in scripts), name
        assert not re.search(r"<[^>]*\son[a-z]+=\"", re.sub(r"<script\b.*?</script>", "", text, flags=re.DOTALL)), name
    for path in STATIC.glob("*.js"):
        assert not re.search(r"\beval\(|new Function\b|\bFunction\(|setTimeout\(['\"]", path.read_text("utf-8")), (
            path.name
        )


def test_k8_04_the_library_is_the_one_of_the_package_and_arrays_are_lists(built: Path) -> None:
    (library,) = built.rglob("plotly*.js")
    assert f"v{get_plotlyjs_version()}" in library.read_text("utf-8")[:400], version("plotly")
    for text in specifications(built):
        assert '"bdata"' not in text
    for _, text in pages(built):
        assert "plotly-latest" not in text


def test_k8_05_axis_and_hover_are_french() -> None:
    assert number(12345.6, 1) == "12\u202f345,6"
    part = Part("weights", 12_345_600_000, "Poids", f"{number(12345.6, 1)}\u00a0Mo")
    chart = specification(stacked([Line("Essai", (part,), "12\u202f346\u00a0Mo")], named=0))
    assert chart["layout"]["separators"] == ",\u202f"
    text = json.dumps(chart, ensure_ascii=False)
    assert "12\u202f345,6" in text
    assert "12,345.6" not in text
    assert not re.search(r"tickformat\": \"[^\"]*s\"", text)  # d3's « s » writes 12k


def test_k8_07_a_number_of_ours_can_be_typed_back(page: Page) -> None:
    for locale, expected in (("fr-FR", "1\u202f234\u202f567,5"), ("fr-CA", "1\u00a0234\u00a0567,5")):
        page.goto("about:blank")
        page.evaluate("(locale) => { document.documentElement.dataset.locale = locale; }", locale)
        page.add_script_tag(content=(STATIC / "french-numbers.js").read_text("utf-8"))
        written, read = page.evaluate(
            "() => { const text = FrenchNumbers.format(1234567.5); return [text, FrenchNumbers.parse(text)]; }"
        )
        assert written == expected
        assert read == {"kind": "number", "value": 1234567.5}
    assert page.evaluate("FrenchNumbers.parse('1,234').value") == page.evaluate("FrenchNumbers.parse('1.234').value")
    assert page.evaluate("FrenchNumbers.parse('1.234').value") == 1.234


def test_k8_08_columns_sort_by_the_raw_value(page: Page) -> None:
    values = (4230, 413, 4002, 1200000.5)
    rows = "".join(f'<tr><th>{n}</th><td data-sort="{v}">{number(v, 1)}</td></tr>' for n, v in zip(count(), values))
    page.set_content(
        "<table data-sortable><thead><tr><th scope=col>N</th><th scope=col>V</th></tr></thead>"
        f"<tbody>{rows}</tbody></table>"
    )
    page.add_script_tag(content=(STATIC / "tables.js").read_text("utf-8"))
    page.locator("thead button").last.click()
    found = page.evaluate("Array.from(document.querySelectorAll('td'), cell => Number(cell.dataset.sort))")
    assert found == [413, 4002, 4230, 1200000.5]


def test_k8_09_no_chart_is_drawn_where_it_has_no_size(built: Path) -> None:
    for name, text in pages(built):
        document: Any = html5lib.parse(text, namespaceHTMLElements=False)
        for folded in document.iter("details"):
            assert not [each for each in folded.iter() if "data-chart" in each.attrib], name


def test_k8_10_every_published_file_is_json_that_a_browser_reads(built: Path) -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    files = list(built.rglob("*.json"))
    assert len(files) > len(reference_suite())
    for path in files:
        json.loads(path.read_text("utf-8"), parse_constant=refuse)
    for text in specifications(built):
        json.loads(text, parse_constant=refuse)


def test_k8_11_what_cannot_be_read_is_named_and_what_failed_is_shown(built: Path, tmp_path: Path) -> None:
    table = (built / "mesures" / "index.html").read_text("utf-8")
    assert "mémoire insuffisante" in table
    assert table.count("aucun chiffre") >= 1
    for change in (('"schema_version": 1', '"schema_version": 99'), ('"case_id"', '"id_of_case"')):
        folder = tmp_path / change[1].strip('"')[:6]
        write_records([record(TRAINING[1])], folder)
        (path,) = folder.glob("*/*/*.json")
        path.write_text(path.read_text("utf-8").replace(*change), "utf-8")
        with pytest.raises(RecordError, match=re.escape(path.name)):
            load_all(folder)


def test_k8_12_versions_and_revisions_never_share_a_series() -> None:
    ours, other = record(TRAINING[8]), record(TRAINING[8], environment=OTHER_ENVIRONMENT)
    assert [len(series.records) for series in grouped([ours, other])] == [1, 1]
    assert TRAINING[8].id != replace(TRAINING[8], revision="main").id
