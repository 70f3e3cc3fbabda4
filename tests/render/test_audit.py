"""`sitegen check`: each fact and claim, where it is stated, and what is behind it."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from sitegen.errors import ContentError
from sitegen.project import Project
from sitegen.render.audit import Audit, AuditedClaim, AuditedFact, as_json, as_text, audit
from sitegen.render.claims import CLAIMS
from sitegen.render.facts import FACTS
from tests.factories import ENVIRONMENT, LORA, MACHINE, TRAINING, record, reference_suite

MakeProject = Callable[..., Project]


def fact(audited: Audit, name: str) -> AuditedFact:
    return next(each for each in audited.facts if each.name == name)


def claim(audited: Audit, name: str) -> AuditedClaim:
    return next(each for each in audited.claims if each.name == name)


@pytest.fixture
def audited(make_project: MakeProject) -> Audit:
    return audit(make_project(reference_suite()))


def test_every_fact_and_claim_is_listed(audited: Audit) -> None:
    assert [each.name for each in audited.facts] == list(FACTS)
    assert [each.name for each in audited.claims] == list(CLAIMS)
    audited.problems.check()


def test_a_measured_fact_has_its_value_its_pages_and_its_record(audited: Audit) -> None:
    found = fact(audited, "training_8_peak")
    assert found.value == 6541 * 2**20  # the factory's net peak of that case
    assert found.text == "6,86\u00a0Go"
    assert "accueil.md" in found.pages
    assert found.records == (f"{MACHINE.slug}/{ENVIRONMENT.id}/{TRAINING[8].id}",)


def test_a_ratio_has_both_records_and_a_rule_none(audited: Audit) -> None:
    assert len(fact(audited, "training_over_inference_8").records) == 2
    assert fact(audited, "example_total").records == ()
    assert fact(audited, "example_total").source.startswith("Calcul")


def test_a_claim_has_its_facts_and_their_records(audited: Audit) -> None:
    found = claim(audited, "lora_saves")
    assert found.holds is True
    assert found.facts["lora_8_peak"] == "5,03\u00a0Go"  # 4800 Mio
    assert len(found.records) == 4
    assert "accueil.md" in found.pages


def test_a_false_claim_is_listed_and_fails(make_project: MakeProject) -> None:
    others = [each for each in reference_suite() if each.case != LORA]
    audited = audit(make_project([*others, record(LORA, net_mib=(9000, 9000))]))
    assert claim(audited, "lora_saves").holds is False
    assert "claim\tlora_saves\tFALSE" in as_text(audited)
    with pytest.raises(ContentError, match="lora_saves"):
        audited.problems.check()


def test_what_no_record_gives_is_unknown_and_fails(make_project: MakeProject) -> None:
    audited = audit(make_project([each for each in reference_suite() if each.case != LORA]))
    assert fact(audited, "lora_8_peak").value is None
    assert claim(audited, "lora_saves").holds is None
    with pytest.raises(ContentError, match="training-lora"):
        audited.problems.check()


def test_the_json_is_the_same_as_the_lines(audited: Audit) -> None:
    read = json.loads(as_json(audited))
    assert len(read["facts"]) + len(read["claims"]) == len(as_text(audited).splitlines())
    assert read["claims"][0]["holds"] is True
    assert read["problems"] == {"missing": {}, "false": [], "misused": []}
