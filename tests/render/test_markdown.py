from typing import Any

import pytest
from markupsafe import Markup

from sitegen.errors import ContentError
from sitegen.render.markdown import Marks, Rendered, expand, slug, to_html
from sitegen.render.pages import FrontMatter, Source


def rendered(text: str, **html: str) -> Rendered:
    """The page, in which ``{{ call("x") }}`` puts in the HTML named x."""
    marks = Marks()
    functions: dict[str, Any] = {
        "call": lambda name: marks.hide(html[name]),
        "claim": lambda _, caller: Markup(caller()),  # noqa: S704  # as the composer does
    }
    return to_html(expand(source(text), functions), marks)


def source(text: str) -> Source:
    return Source("page.md", FrontMatter(title="t", description="d", order=1), text, first_line=6)


def test_headings_get_an_address_and_the_second_level_makes_the_contents() -> None:
    page = rendered("## Où va la *mémoire* ?\n\n### Œuvre & co\n\nTexte\n")
    assert '<h2 id="ou-va-la-memoire">' in page.body
    assert '<h3 id="oeuvre-co">' in page.body
    assert [(each.id, each.title) for each in page.toc] == [("ou-va-la-memoire", "Où va la mémoire ?")]


def test_content_writes_no_html() -> None:
    assert rendered("<script>alert(1)</script>\n").body == "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>\n"


def test_a_term_says_its_language_and_nothing_else() -> None:
    body = rendered("[gradient checkpointing]{lang=en onclick=x}\n").body
    assert '<span lang="en">gradient checkpointing</span>' in body
    assert "onclick" not in body


def test_code_is_english_unless_it_says_otherwise() -> None:
    assert rendered("`sdpa`\n").body == '<p><code lang="en">sdpa</code></p>\n'
    assert rendered("`P × O`{lang=fr}\n").body == '<p><code lang="fr">P × O</code></p>\n'
    assert '<pre tabindex="0"><code lang="en" class="language-sh">' in rendered("```sh\nls\n```\n").body


def test_a_fact_stays_in_its_sentence_and_a_block_replaces_its_paragraph() -> None:
    html = {"fact": '<a class="fact" href="x">8</a>', "table": "<table></table>"}
    body = rendered('Soit {{ call("fact") }}.\n\n{{ call("fact") }}\n\n{{ call("table") }}\n', **html).body
    assert body == f"<p>Soit {html['fact']}.</p>\n<p>{html['fact']}</p>\n<table></table>\n"


def test_a_fact_in_a_heading_is_text_in_the_contents() -> None:
    page = rendered('## Le {{ call("fact") }}\n', fact='<a class="fact" href="x">8 &amp; 9</a>')
    assert page.toc[0].title == "Le 8 & 9"
    assert '<h2 id="le">' in page.body


def test_a_claim_wraps_markdown() -> None:
    assert rendered('- {% claim "x" %}**Oui.** Non{% endclaim %}\n').body == (
        "<ul>\n<li><strong>Oui.</strong> Non</li>\n</ul>\n"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\n\n{{ fait('x') }}\n", r"page.md, about line 8: 'fait' is undefined"),
        ("{% claim 'x' %}sans fin\n", "page.md, about line 6"),
        ("{{ call( }}", "page.md, about line 6"),
    ],
)
def test_a_wrong_call_says_where(text: str, message: str) -> None:
    with pytest.raises(ContentError, match=message):
        rendered(text)


def test_slug() -> None:
    assert slug("L’état de l'optimiseur : « 2 »") == "l-etat-de-l-optimiseur-2"
