import pytest

from sitegen.render.typeset import typeset


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>Oui ; non</p>", "<p>Oui\u202f; non</p>"),
        ("<p>a &lt; b ; c</p>", "<p>a &lt; b\u202f; c</p>"),
        ("<p>a &amp; l'un</p>", "<p>a &amp; l’un</p>"),
        ("<code>a ; b 'c'</code>", "<code>a ; b 'c'</code>"),
        (
            "<pre><code>x <b>y</b> ; l'z</code></pre><p>a ;</p>",
            "<pre><code>x <b>y</b> ; l'z</code></pre><p>a\u202f;</p>",
        ),
        ('<p><span lang="en">what? don\'t</span> ?</p>', '<p><span lang="en">what? don\'t</span>\u202f?</p>'),
        ('<a title="Mesuré : oui">x</a>', '<a title="Mesuré\u00a0: oui">x</a>'),
        ('<a href="a:b;c?d=e">x</a>', '<a href="a:b;c?d=e">x</a>'),
        ("<style>a { b: c; }</style>", "<style>a { b: c; }</style>"),
    ],
)
def test_texts_are_set_and_code_is_not(html: str, expected: str) -> None:
    assert typeset(html, "fr-FR") == expected


def test_a_policy_is_not_french() -> None:
    policy = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'self'; img-src 'self' blob: data:\">"
    assert typeset(policy, "fr-FR") == policy


def test_a_chart_follows_the_locale() -> None:
    script = '<script type="application/json">{"text": "1\u202f234\u00a0Mo", "separators": ",\\u202f"}</script>'
    assert "\u202f" not in typeset(script, "fr-CA")
    assert "\\u202f" not in typeset(script, "fr-CA")


def test_an_attribute_cannot_be_broken_out_of() -> None:
    assert typeset('<a title="&quot;&gt;&lt;b&gt; ;">x</a>', "fr-FR") == ('<a title="&quot;&gt;&lt;b&gt;\u202f;">x</a>')
