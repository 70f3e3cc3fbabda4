"""The index of the search: what it holds, section by section."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from markupsafe import Markup

from sitegen.render.markdown import Rendered
from sitegen.render.pages import FrontMatter, Source
from sitegen.render.search import NAME, script
from tests.factories import TRAINING, record, reference_suite

BODY = """<p>Avant&nbsp;: un <a href="x">pic</a>.</p>
<table><tr><td>jamais</td></tr></table>
<h2 id="la-suite">La <em>suite</em></h2>
<p>Un lot.</p><p>Deux lots &amp; plus.</p><script>caché</script>
<dl><dt id="jeton">Jeton</dt><dd>Une part de mot.</dd></dl>
"""


def index_of(text: str) -> list[Any]:
    prefix = f"window.{NAME} = "
    assert text.startswith(prefix)
    assert text.endswith(";\n")
    found: list[Any] = json.loads(text.removeprefix(prefix).removesuffix(";\n"))
    return found


def page(body: str = BODY) -> tuple[Source, Rendered]:
    front = FrontMatter(title="Où ?", description="Ce qu'on y lit.", order=1, slug="ou")
    return Source("ou.md", front, "", 1), Rendered(Markup(body), ())  # noqa: S704  # the test's own


def test_a_page_is_cut_at_its_headings_and_its_terms() -> None:
    ((href, title, sections),) = index_of(script([page()], [], "fr-FR"))
    assert (href, title) == ("ou/index.html", "Où\u202f?")
    assert sections == [
        ["", "", "Ce qu’on y lit."],
        ["", "", "Avant\u00a0: un pic."],
        ["la-suite", "La suite", "Un lot. Deux lots & plus."],
        ["jeton", "Jeton", "Une part de mot."],
    ]


def test_a_record_is_found_by_its_name_and_its_id() -> None:
    ((href, title, sections),) = index_of(script([], [record(TRAINING[8])], "fr-FR"))
    assert href.startswith("mesures/")
    assert title.startswith("Entraînement")
    assert TRAINING[8].id in sections[0][2]


def test_texts_follow_the_locale() -> None:
    ((_, title, _),) = index_of(script([page()], [], "fr-CA"))
    assert title == "Où?"


def test_the_site_has_its_index_once_and_every_page_names_it(built: Path) -> None:
    (path,) = (built / "assets").glob("search-index.*.js")
    entries = index_of(path.read_text("utf-8"))
    assert len(entries) > len(reference_suite())
    for href, _, sections in entries:
        text = (built / href).read_text("utf-8")
        assert f"assets/{path.name}" in text
        assert f'src="{path.name}' not in text
        for anchor, _, _ in sections:
            assert not anchor or f'id="{anchor}"' in text
