import os
from pathlib import Path

import pytest

from sitegen.render.assets import Assets
from sitegen.render.checks import MAX_PAGE_BYTES, bare_figures, site_problems
from sitegen.render.pages import FrontMatter, Source

NO_ASSETS = Assets((), (), "theme.js", "plotly.js")


def source(text: str) -> Source:
    return Source("page.md", FrontMatter(title="t", description="d", order=1), text, first_line=6)


@pytest.mark.parametrize(
    "text",
    [
        "Il faut 8 Go.",
        "Il faut 6,86\u00a0Go.",
        "Soit 1 196 Mo.",
        "Soit 37 %.",
        "Soit 5,1 × plus.",
        "Soit 5,1 fois plus.",
        "En 9 s.",
        "Un modèle de 7 milliards.",
        "Soit quatre fois les poids.",
        "Il en faut seize octets.",
        "[8 Go](ailleurs.html)",
    ],
)
def test_a_figure_typed_into_prose_is_refused(text: str) -> None:
    (problem,) = bare_figures(source(f"Titre\n\n{text}\n"))
    assert "content/page.md, line 8" in problem


@pytest.mark.parametrize(
    "text",
    [
        'Il faut {{ fact("training_8_peak") }}.',
        "Un lot de 8, des nombres de 16 bits, 256 jetons.",
        "`4 × P × O`",
        "```sh\nprogramme --limite 8 Go\n```",
        "De 1 à 8 exemples.",
        "[la page](mesures-8-Go/index.html)",
        "Une étape, puis deux. Dix s'y essaient.",
    ],
)
def test_what_is_no_figure_passes(text: str) -> None:
    assert bare_figures(source(text)) == []


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "theme.js").write_text("", "utf-8")
    (tmp_path / "mesures").mkdir()
    (tmp_path / "mesures" / "index.html").write_text('<h2 id="la">x</h2>', "utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("html", "problem"),
    [
        ('<a href="absente.html">x</a>', "index.html: the link absente.html leads nowhere"),
        ('<a href="mesures/">x</a>', "index.html: the link mesures/ leads nowhere"),
        ('<a href="../dehors.html">x</a>', "index.html: the link ../dehors.html leads nowhere"),
        ('<a href="mesures/index.html#ici">x</a>', "an anchor that mesures/index.html does not have"),
        ('<a href="#ici">x</a>', "an anchor that index.html does not have"),
        ('<script src="absent.js"></script>', "absent.js leads nowhere"),
        ('<p id="a">x</p><p id="a">y</p>', "the id a is used 2 times"),
        ('<img src="theme.js">', "the picture theme.js has no alt text"),
    ],
)
def test_what_is_not_sound_is_named(site: Path, html: str, problem: str) -> None:
    (site / "index.html").write_text(html, "utf-8")
    (found,) = site_problems(site, NO_ASSETS)
    assert problem in found


def test_what_is_sound_passes(site: Path) -> None:
    (site / "index.html").write_text(
        '<p id="haut">x</p><a href="mesures/index.html#la">x</a><a href="#haut">y</a>'
        '<a href="https://example.org/">z</a><img alt="" src="theme.js"><code>href=&quot;rien&quot;</code>',
        "utf-8",
    )
    assert site_problems(site, NO_ASSETS) == []


def test_a_page_too_heavy_is_named(site: Path) -> None:
    (site / "theme.js").write_bytes(os.urandom(MAX_PAGE_BYTES))
    (found,) = site_problems(site, NO_ASSETS)
    assert "mesures/index.html" in found
    assert str(MAX_PAGE_BYTES) in found
