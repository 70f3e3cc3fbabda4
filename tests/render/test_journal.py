"""The dated changes of the method: read, shown, announced, and refused when they are not valid."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from sitegen.errors import ContentError
from sitegen.render.journal import Change, load, table
from sitegen.render.syndication import feed
from tests.factories import TRAINING, record

TWO = """
[[change]]
date = 2026-01-02
title = "Un"
text = "Premier."

[[change]]
date = 2026-05-06
title = "Deux"
text = "Second & dernier."
"""


def test_the_newest_comes_first(tmp_path: Path) -> None:
    (tmp_path / "journal.toml").write_text(TWO, "utf-8")
    found = load(tmp_path)
    assert found == (Change(date(2026, 5, 6), "Deux", "Second & dernier."), Change(date(2026, 1, 2), "Un", "Premier."))
    assert [row.header.text for row in table(found).rows] == ["6\u00a0mai\u00a02026", "2\u00a0janvier\u00a02026"]


def test_a_project_without_journal_says_so(tmp_path: Path) -> None:
    assert load(tmp_path) == ()
    assert table(()).note == "Aucun changement pour l’instant."


@pytest.mark.parametrize("text", ["[[change]]\n", "[[change]]\ndate = 'hier'\ntitle = ''\ntext = ''\n", "=", "x = 1\n"])
def test_a_journal_that_is_not_valid_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "journal.toml").write_text(text, "utf-8")
    with pytest.raises(ContentError, match=r"content/journal\.toml is not valid"):
        load(tmp_path)


def test_the_feed_mixes_records_and_changes_by_date(tmp_path: Path) -> None:
    (tmp_path / "journal.toml").write_text(TWO, "utf-8")
    one = record(TRAINING[1], measured_at="2026-03-02T08:30:00Z")
    text = feed("Site", [one], load(tmp_path), "https://example.org", "fr-FR")
    dates = [line.split("<updated>")[1][:10] for line in text.splitlines() if "<updated>" in line]
    assert dates == ["2026-05-06", "2026-05-06", "2026-03-02", "2026-01-02"]  # the feed's own, then the entries
    assert "<summary>Second &amp; dernier.</summary>" in text
    assert "<id>https://example.org/donnees/#journal-deux</id>" in text
