"""CONTRIBUTING shows by example, and its examples are tried: one page, one fact, one claim, one chart, nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from sitegen.project import Project
from sitegen.render import charts, claims, facts, registry
from sitegen.render.audit import audit
from sitegen.render.build import render
from tests.factories import CHECKPOINTING, record, reference_suite, write_records

MakeProject = Callable[..., Project]

TEXT = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text("utf-8")


def example(heading: str) -> str:
    """The first block of code after a heading."""
    found = re.search(r"```\w+\n(.*?)```", TEXT.partition(f"\n## {heading}")[2], re.DOTALL)
    assert found, heading
    return found[1]


@pytest.fixture
def followed(make_project: MakeProject, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project that did what CONTRIBUTING says, each line in the module that it names."""
    for module, table, heading in ((facts, facts.FACTS, "A new fact"), (claims, claims.CLAIMS, "A new claim")):
        (line,) = eval(f"{{{example(heading)}}}", vars(module)).items()  # noqa: S307  # our own document
        monkeypatch.setitem(table, *line)
    names = dict(vars(charts))
    exec(example("A new chart"), names)  # noqa: S102  # our own document
    monkeypatch.setitem(registry.CHARTS, "length_or_batch", names["length_or_batch"])
    project = make_project(reference_suite())
    (project.content / "ma-page.md").write_text(example("A new page"), "utf-8")
    return project


def test_the_page_is_there_and_everywhere_it_should_be(followed: Project) -> None:
    render(followed)
    page = (followed.site / "ma-page" / "index.html").read_text("utf-8")
    # the factory's net peaks: 4232 Mio over 1141
    assert re.search(r'<a class="fact measured" href="\.\./mesures/[^"]+" title="Calculé[^"]+">3,7\u00a0fois</a>', page)
    assert 'id="graphique-longueur"' in page
    assert "data-chart" in page
    home = (followed.site / "index.html").read_text("utf-8")
    assert 'href="ma-page/index.html">Ma page</a>' in home
    (index,) = (followed.site / "assets").glob("search-index.*.js")
    assert '"ma-page/index.html","Ma page"' in index.read_text("utf-8")


def test_check_lists_what_it_states(followed: Project) -> None:
    audited = audit(followed)
    fact = next(each for each in audited.facts if each.name == "checkpointing_over_inference")
    claim = next(each for each in audited.claims if each.name == "checkpointing_is_no_inference")
    assert (fact.pages, len(fact.records)) == (("ma-page.md",), 2)
    assert (claim.pages, claim.holds) == (("ma-page.md",), True)


def test_its_sentence_is_held_to_the_records(followed: Project) -> None:
    write_records([record(CHECKPOINTING, net_mib=(800, 900))], followed.measurements)
    false = audit(followed).problems.false
    assert any(line.startswith("content/ma-page.md: checkpointing_is_no_inference") for line in false)
