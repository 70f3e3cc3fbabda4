"""The companion articles as a whole: every page with the committed records, its formulas, its terms, its exercises."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import html5lib
import pytest

from sitegen.memory.formulas import FORMULAS, printing
from sitegen.project import Project, Settings
from sitegen.render.composer import Composer
from sitegen.render.estimator_options import OPTIONS
from sitegen.render.formula_blocks import formula_block
from sitegen.render.layout import environment
from sitegen.render.pages import load_sources
from sitegen.render.series import Series
from tests.render.conftest import CONTENT, ROOT

ARTICLES = (
    "accessibilite",
    "avant-d-accuser-la-memoire",
    "calcul-de-la-memoire",
    "correctifs",
    "exercices",
    "glossaire",
    "mentions",
    "quantification",
    "questions-frequentes",
)
"""Their files, and their addresses."""
WORDS = (
    "accumulation, activations, adaptateur, affinage, alloué, cache KV, copie maîtresse, correctif, couche, "
    "état de l'optimiseur, étape, fragmentation, gradient, inférence, jeton, logits, longueur de séquence, lot, marge, "
    "mémoire de départ, mémoire insuffisante, mise à jour, optimiseur, partitionner, passe arrière, passe avant, "
    "perte, pic, pilote, plancher, poids, points de contrôle de gradient, précision mixte, premier moment, "
    "quantification, rang, remplissage, réservé, sauvegarde, second moment, surcoût, tampon, tas"
)
"""What the site's vocabulary must define, one word a notion."""


def text(name: str) -> str:
    return (CONTENT / f"{name}.md").read_text("utf-8")


def composed(name: str, series: Series) -> str:
    """The HTML of a page; nothing of it may be missing, false or misused."""
    source = next(source for source in load_sources(CONTENT) if source.name == f"{name}.md")
    composer = Composer(Project(ROOT, Settings()), series, list(series.records), environment(), {})
    body = composer.render(source).body
    composer.problems.check()
    return str(body)


@pytest.mark.parametrize("name", ARTICLES)
def test_a_page_is_whole_with_the_committed_records(name: str, committed: Series) -> None:
    body = composed(name, committed)
    parser = html5lib.HTMLParser(strict=False)
    parser.parse(f"<!doctype html><html lang=fr><title>{name}</title>{body}")
    assert parser.errors == []


@pytest.mark.parametrize("name", ARTICLES)
def test_a_page_stands_on_the_reference_suite_alone(name: str, built: Path) -> None:
    page = (built / name / "index.html").read_text("utf-8")
    parser = html5lib.HTMLParser(strict=False)
    parser.parse(page)
    assert parser.errors == []
    assert "non renseigné" not in page or name in ("mentions", "accessibilite")  # a setting that nobody filled in


def test_what_only_other_records_give_is_left_out_elsewhere(built: Path, committed: Series) -> None:
    page = (built / "correctifs" / "index.html").read_text("utf-8")
    assert "graphique-cascade" not in page
    assert "Mistral" not in page
    body = composed("correctifs", committed)
    assert 'id="graphique-cascade"' in body
    assert 'id="graphique-cascade-publiee"' in body


def test_each_fix_says_its_line_its_price_when_and_its_option() -> None:
    fixes = [part for part in re.split(r"^### ", text("correctifs"), flags=re.MULTILINE)[1:] if "\nLigne\n" in part]
    assert len(fixes) == 11
    for fix in fixes:
        for term in ("Ligne", "Prix", "Quand", "Option"):
            assert f"\n{term}\n: " in fix, fix.partition("\n")[0]


def test_the_options_of_fixes_have_the_names_that_libraries_give_them() -> None:
    codes = " ".join(re.findall(r"`([^`]+)`", text("correctifs")))
    fixes = {
        "gradient_checkpointing",
        "batch_size",
        "gradient_accumulation",
        "sequence_length",
        "attention",
        "numbers",
        "lora_rank",
        "lora_targets",
        "method",
        "double_quant",
        "optimizer",
        "allocator",
    }
    names = [name.name for option in OPTIONS if option.name in fixes for name in option.names]
    assert len(names) > len(fixes)
    assert [name for name in names if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", codes)] == []


def test_every_exercise_has_its_solution_and_every_solution_its_figures() -> None:
    statements, solutions = text("exercices").split("## Solutions")
    asked = re.findall(r"^### (\d+)\.", statements, flags=re.MULTILINE)
    parts = re.split(r"^### Solution (\d+)$", solutions, flags=re.MULTILINE)[1:]
    assert asked == parts[::2] == [str(number) for number in range(1, 9)]
    assert all("{{ fact(" in solution for solution in parts[1::2])
    assert re.findall(r"\[Solution (\d)\]\(#solution-(\d)\)", statements) == [(each, each) for each in asked]


def test_the_glossary_defines_each_word_once() -> None:
    lines = text("glossaire").splitlines()
    forms = [
        form.strip().lower()
        for term, definition in pairwise(lines)
        if definition.startswith(": ")
        for form in term.split(",")
    ]
    assert len(forms) == len(set(forms))
    assert [word for word in re.split(r",\s", WORDS) if word.lower() not in forms] == []


@pytest.mark.parametrize("name", sorted(FORMULAS))
def test_a_formula_explains_each_of_its_letters(name: str) -> None:
    block = str(formula_block(name))
    assert block.count("<math") == 1
    letters = ["_".join(filter(None, found)) for found in re.findall(r"<var>(\w+)(?:<sub>(\w+)</sub>)?</var>", block)]
    assert letters == [letter for letter, _ in printing.legend(name)]


def test_a_formula_that_does_not_exist_is_named(committed: Series) -> None:
    source = next(source for source in load_sources(CONTENT) if source.name == "mentions.md")
    composer = Composer(Project(ROOT, Settings()), committed, [], environment(), {})
    composer.render(type(source)(source.name, source.front, '{{ formula("none") }}', 1))
    assert composer.problems.misused == ["content/mentions.md: there is no formula named 'none'"]
