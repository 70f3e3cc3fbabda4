"""The glossary: its terms have addresses, and other pages lead there at the first mention."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from sitegen.project import Project
from sitegen.render.build import render
from sitegen.render.glossary import Glossary
from sitegen.render.markdown import Marks, to_html
from sitegen.render.pages import FrontMatter, Source
from tests.factories import reference_suite

MakeProject = Callable[..., Project]

ENTRIES = """Pic
: La plus haute valeur de la mémoire pendant l'essai.

Cache KV
: Les clés et les valeurs des jetons déjà lus.

Lot, taille de lot ([batch]{lang=en})
: Les exemples traités ensemble.

Départ
: {{ fact("baseline") }} ici.
"""


def page(text: str, slug: str = "page") -> Source:
    return Source(f"{slug}.md", FrontMatter(title="t", description="d", order=1, slug=slug), text, first_line=6)


GLOSSARY = Glossary([page(ENTRIES, "glossaire")])


def body(text: str, slug: str = "page") -> str:
    source = page(text, slug)
    return str(to_html(text, Marks(), lambda tokens: GLOSSARY.dress(tokens, source, "../")).body)


def linked(text: str) -> list[tuple[str, str]]:
    return re.findall(r'<a href="\.\./glossaire/index\.html#([^"]+)" class="term"[^>]*>([^<]+)</a>', body(text))


def test_terms_have_their_forms_and_their_definitions() -> None:
    found = [(term.id, term.forms, term.definition) for term in GLOSSARY.terms]
    assert found == [
        ("pic", ("Pic",), "La plus haute valeur de la mémoire pendant l'essai."),
        ("cache-kv", ("Cache KV",), "Les clés et les valeurs des jetons déjà lus."),
        ("lot", ("Lot", "taille de lot"), "Les exemples traités ensemble."),
        ("depart", ("Départ",), ""),  # it holds a figure, which a title would not lead to
    ]


def test_the_page_gives_each_term_its_address() -> None:
    assert re.findall(r'<dt id="([^"]+)">', body(ENTRIES, "glossaire")) == ["pic", "cache-kv", "lot", "depart"]
    assert 'class="term"' not in body("Le pic.", "glossaire")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Le pic, puis le pic.", [("pic", "pic")]),
        ("Des pics.\n\nUn Pic.", [("pic", "pics")]),
        ("Un Pic, puis un pic.", [("pic", "Pic")]),
        ("Pic ! Le pic vient après.", [("pic", "pic")]),
        ("Rien. Pic : le mot ouvre la phrase.", []),
        ("**Ceci.** Pic, puis pic.", [("pic", "pic")]),
        ("Les caches KV.", [("cache-kv", "caches KV")]),
        ("La taille de lot et le lot.", [("lot", "taille de lot")]),
        ("Un pic et un lot.", [("pic", "pic"), ("lot", "lot")]),
        ("Un picot, un sous-pic, un pic-vert.", []),
        ("## Le pic\n\nRien.", []),
        ("[le pic](x.html) et `pic`", []),
        ("[le pic](x.html), un pic", [("pic", "pic")]),
        ("- un pic", [("pic", "pic")]),
    ],
)
def test_the_first_mention_and_only_it_is_linked(text: str, expected: list[tuple[str, str]]) -> None:
    assert linked(text) == expected


def test_the_definition_is_a_title() -> None:
    assert 'title="Les exemples traités ensemble."' in body("Un lot.")
    assert 'class="term">départ</a>' in body("Le départ.")


def test_a_site_links_its_terms_and_one_without_glossary_links_none(make_project: MakeProject) -> None:
    project = make_project(reference_suite())
    (project.content / "glossaire.md").unlink(missing_ok=True)
    render(project)
    assert 'class="term"' not in (project.site / "index.html").read_text("utf-8")
    front = '+++\ntitle = "Glossaire"\ndescription = "d"\nslug = "glossaire"\norder = 900\nsection = "site"\n+++\n\n'
    (project.content / "glossaire.md").write_text(front + ENTRIES, "utf-8")
    render(project)
    home = (project.site / "index.html").read_text("utf-8")
    assert home.count('href="glossaire/index.html#pic" class="term"') == 1
