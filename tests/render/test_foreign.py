"""The English words that records bring into French texts say their language."""

from __future__ import annotations

import pytest

from sitegen.render.foreign import marked

NO_BREAK = "\u00a0"


def spans(text: str) -> list[str]:
    return [piece.partition("</span>")[0] for piece in str(marked(text)).split('<span lang="en">')[1:]]


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("Entraînement, lot de 8, 256 jetons, bfloat16", ["bfloat16"]),
        ("LoRA de rang 8 sur q_proj et v_proj", ["q_proj", "v_proj"]),
        (f"Intel Xeon, 2{NO_BREAK}cœurs, 24{NO_BREAK}Gio", ["Intel Xeon"]),
        ("Relevé sur Intel(R) Xeon(R) Processor (2 cœurs)", ["Intel(R) Xeon(R) Processor"]),
        ("AMD EPYC 7B13, 16 cœurs", ["AMD EPYC 7B13"]),
        ("Apple M2", ["Apple M2"]),
        ("décrit par un JSON Schema", ["JSON Schema"]),
        ("Poids, gradients, applet et float", []),
    ],
)
def test_english_is_found(text: str, english: list[str]) -> None:
    assert spans(text) == english


def test_the_rest_is_escaped() -> None:
    assert marked("a < b & bfloat16") == 'a &lt; b &amp; <span lang="en">bfloat16</span>'
