"""The page « Estimé et mesuré » and the estimator's own error, with traces and without."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import cast

import pytest

from sitegen.project import Project, Settings
from sitegen.render.composer import Composer
from sitegen.render.layout import environment
from sitegen.render.pages import load_sources
from sitegen.render.series import Series
from sitegen.render.validation_tables import misses
from tests.render.conftest import CONTENT, ROOT

PAGE = "estime-et-mesure.md"


def composed(name: str, series: Series) -> str:
    """The HTML of a page; nothing of it may be missing, false or misused."""
    source = next(source for source in load_sources(CONTENT) if source.name == name)
    composer = Composer(Project(ROOT, Settings()), series, list(series.records), environment(), {})
    body = composer.render(source).body
    composer.problems.check()
    return str(body)


@pytest.fixture(scope="module")
def body(committed: Series) -> str:
    return composed(PAGE, committed)


def rows_of(table: str, body: str) -> list[str]:
    """The rows of a table's body, without the lines above its groups."""
    (found,) = re.findall(rf'<table id="{table}".*?</table>', body, re.DOTALL)
    rows: list[str] = re.findall(r"<tr>.*?</tr>", found.partition("</thead>")[2], re.DOTALL)
    return rows


def test_every_row_of_either_allocator_has_its_line(body: str, committed: Series) -> None:
    for table, allocator in (("estime-lignes", "fixed"), ("estime-systeme", "default")):
        rows = [row.record for row in committed.compared if row.record.case.allocator == allocator]
        lines = rows_of(table, body)
        assert len(lines) == len(rows)
        assert {f"../mesures/{record.key}.html" for record in rows} == set(
            re.findall(r'href="([^"]+)"', "".join(lines))
        )


def test_every_miss_is_listed_and_nothing_else(body: str, committed: Series) -> None:
    missed = {f"../mesures/{row.record.key}.html" for row in committed.compared if row.is_missed}
    listed = rows_of("estime-hors-bornes", body) if missed else []
    assert set(re.findall(r'href="([^"]+)"', "".join(listed))) == missed


def test_a_row_off_by_half_is_listed_with_its_gap(committed: Series) -> None:
    row = next(row for row in committed.compared if row.record.case.allocator == "fixed")
    off = row._replace(estimated_bytes=round(1.5 * row.measured_bytes))
    table = misses(cast("Series", SimpleNamespace(compared=(row, off))))
    (line,) = table.rows
    assert line.cells[-1].text == "+50,00"


def test_every_published_run_has_its_line_with_a_figure_or_a_reason(body: str, committed: Series) -> None:
    lines = rows_of("estime-publies-lignes", body)
    assert len(lines) == len(committed.published) == 101
    assert sum("noyaux GPTQ" in line for line in lines) == 24
    assert all("https://github.com/foundation-model-stack/" in line for line in lines)


def test_no_figure_is_a_negative_zero_and_every_minus_is_one(body: str) -> None:
    cells = re.findall(r"<td[^>]*>(?:<a[^>]*>)?([^<]*)", body)
    assert not [cell for cell in cells if re.fullmatch(r"[\u2212+-]0(,0+)?", cell)]
    assert not [cell for cell in cells if re.match(r"-\d", cell)]


@pytest.mark.parametrize("table", ["estime-lignes", "estime-publies-lignes", "estime-publies", "estime-regles-ecarts"])
def test_a_column_has_one_number_of_decimals(table: str, body: str) -> None:
    rows = [re.findall(r"<td[^>]*>(?:<a[^>]*>)?([^<]*)", row) for row in rows_of(table, body)]
    for column in zip(*rows, strict=True):
        figures = [cell for cell in column if re.fullmatch(r"[\u2212+]?[\d\u202f]+(,\d+)?", cell)]
        assert len({len(figure.partition(",")[2]) for figure in figures}) <= 1, column


def test_each_rule_has_its_source_its_domain_and_its_errors(body: str) -> None:
    described, errors = rows_of("estime-regles", body), rows_of("estime-regles-ecarts", body)
    assert all('href="https://' in row for row in described)
    assert len(errors) == len(described) + 1  # and this site


def test_every_fact_of_the_page_leads_to_a_place_on_it(body: str) -> None:
    ids = set(re.findall(r'\sid="([^"]+)"', body))
    links = re.findall(r'<a class="fact \w+" href="\.\./estime-et-mesure/index\.html#([^"]+)"', body)
    assert len(links) > 20
    assert set(links) <= ids


def test_without_traces_the_page_says_so_and_claims_nothing(series: Series) -> None:
    text = composed(PAGE, series)
    assert "Aucune trace pour ces relevés" in text
    assert "Aucun essai publié dans ce projet" in text
    assert set(re.findall(r'<a class="fact (\w+)"', text)) == {"arithmetic"}  # the bounds, and nothing measured
    assert "<figure" not in text
    assert "écart médian entre" not in text


def test_the_estimators_page_states_its_own_error_where_it_is_known(committed: Series, series: Series) -> None:
    known, unknown = composed("estimateur.md", committed), composed("estimateur.md", series)
    assert "écart médian" in known
    assert "écart médian" not in unknown
    for text in (known, unknown):
        assert 'href="../estime-et-mesure/index.html"' in text
