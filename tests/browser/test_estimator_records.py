"""A measured record that the reader drops on the page: judged, its seal checked, the estimate's error on it shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from playwright.sync_api import FilePayload, Page, expect

from sitegen.records.case import Case
from sitegen.records.model import Record
from sitegen.records.store import decode, encode, load_all, seal
from tests import factories
from tests.estimator_form import ESTIMATOR, error, part

pytestmark = pytest.mark.browser

MEASUREMENTS = Path(__file__).parents[2] / "measurements"
FIXED = factories.record(Case(batch_size=8, allocator="fixed"))


def drop(page: Page, name: str, content: bytes) -> None:
    file = FilePayload(name=name, mimeType="application/json", buffer=content)
    page.locator("[data-pick=record]").set_input_files(file)


def test_a_record_is_compared_with_its_estimate(page: Page, watch: Any, origin: str) -> None:
    page.goto(origin + ESTIMATOR)
    drop(page, "essai.json", encode(FIXED))
    row = part(page, "record-rows").locator("tr")
    expect(row).to_contain_text(f"{(FIXED.summary.peak_bytes or 0) / 1e6:_.0f}".replace("_", "\u202f"))
    expect(row).to_contain_text("SmolLM2 135M")
    expect(row).to_contain_text("%")
    expect(error(page, "record")).to_be_hidden()
    assert "non vérifié" not in (row.text_content() or "")
    assert watch.messages == []


def test_every_published_record_has_its_seal(estimator: Page) -> None:
    texts = [encode(record).decode() for record in load_all(MEASUREMENTS)]
    assert estimator.evaluate("texts => Promise.all(texts.map(EstimatorPage.isSealed))", texts) == [True] * len(texts)


def test_a_seal_is_that_of_the_content_and_not_of_its_layout(estimator: Page) -> None:
    accented = seal(replace(FIXED, reason='é « œ » \U0001f600 \t" \\ \x7f'))
    compact = json.dumps(json.loads(encode(accented)))
    assert decode(compact.encode(), "compact") == accented
    judged = "text => EstimatorPage.isSealed(text)"
    assert estimator.evaluate(judged, compact) is True
    assert estimator.evaluate(judged, compact.replace("é", "e").replace("\\u00e9", "e")) is False
    assert estimator.evaluate(judged, compact.replace('"batch_size": 8', '"batch_size": 8.0')) is False


def altered(record: Record) -> bytes:
    """Its peak made smaller, and its seal left as it was."""
    return encode(replace(record, summary=replace(record.summary, peak_bytes=1)))


def resealed(**changes: Any) -> bytes:
    """A record whose summary says other things, sealed."""
    return encode(seal(replace(FIXED, summary=replace(FIXED.summary, **changes))))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "ce n’est pas du JSON"),
        (b"{}", "ce n’est pas un relevé"),
        (encode(replace(FIXED, schema_version=99)), "version de schéma"),
        (encode(factories.record(Case(batch_size=64), status="out_of_memory", reason="killed")), "n’a pas abouti"),
        (encode(factories.record(Case(mode="baseline"))), "manque"),
        (resealed(peak_bytes=None), "manque"),
        (resealed(parameters=12_345), "n’est pas au catalogue"),
        (altered(FIXED), "son sceau ne correspond pas à son contenu"),
        (b'{"a": "' + b"x" * 6_000_000 + b'"}', "trop grand"),
    ],
)
def test_what_is_no_sound_record_is_refused_and_the_former_row_stays(
    estimator: Page, content: bytes, said: str
) -> None:
    drop(estimator, "essai.json", encode(FIXED))
    expect(part(estimator, "record-rows").locator("tr")).to_have_count(1)
    drop(estimator, "faux.json", content)
    expect(error(estimator, "record")).to_contain_text(said)
    expect(error(estimator, "record")).to_contain_text("faux.json")
    expect(part(estimator, "record-rows").locator("tr")).to_have_count(1)
