"""What the prose rests on: each fact and each claim with its value, the pages that state it, the records behind it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from sitegen.project import Project
from sitegen.records.store import load_all
from sitegen.render.build import former_facts, series_of
from sitegen.render.checks import bare_figures
from sitegen.render.claims import CLAIMS, Claim
from sitegen.render.composer import Composer, Problems
from sitegen.render.facts import FACTS, Stated
from sitegen.render.glossary import Glossary
from sitegen.render.layout import environment
from sitegen.render.pages import load_sources


@dataclass(frozen=True)
class AuditedFact:
    """A fact: `text` is empty and `value` unknown where no record gives it; what is no number has no `value`."""

    name: str
    text: str
    value: float | None
    kind: str
    source: str
    pages: tuple[str, ...]
    records: tuple[str, ...]


@dataclass(frozen=True)
class AuditedClaim:
    """A claim: `holds` is unknown where one of its facts is."""

    name: str
    condition: str
    holds: bool | None
    facts: dict[str, str]
    pages: tuple[str, ...]
    records: tuple[str, ...]


@dataclass(frozen=True)
class Audit:
    """Everything that pages may state, and what is wrong with what they do state."""

    facts: tuple[AuditedFact, ...]
    claims: tuple[AuditedClaim, ...]
    problems: Problems


def audit(project: Project) -> Audit:
    """Compute every fact and claim, and compose every page to see who states them; nothing is written.

    Raises:
        ContentError: there is no record, or a page cannot be read.
        RecordError: a record cannot be trusted.
    """
    records, sources = load_all(project.measurements), load_sources(project.content)
    series, former = series_of(project, records), former_facts(project.site)
    composer = Composer(project, series, records, environment(), former, Glossary(sources))
    for source in sources:
        composer.problems.misused += bare_figures(source)
        composer.render(source)
    return Audit(
        tuple(_fact(name, composer) for name in FACTS),
        tuple(_claim(name, claim, composer) for name, claim in CLAIMS.items()),
        composer.problems,
    )


def as_json(audited: Audit) -> str:
    """Facts, claims and problems as one JSON object."""
    return json.dumps(asdict(audited), ensure_ascii=False, indent=2)


def as_text(audited: Audit) -> str:
    """One line a fact and a claim, in columns parted by tabs."""
    facts = [
        ("fact", fact.name, fact.text or "unknown", fact.kind, _listed(fact.pages), _listed(fact.records))
        for fact in audited.facts
    ]
    claims = [
        ("claim", claim.name, _verdict(claim), claim.condition, _listed(claim.pages), _listed(claim.records))
        for claim in audited.claims
    ]
    return "\n".join("\t".join(line) for line in (*facts, *claims))


def _fact(name: str, composer: Composer) -> AuditedFact:
    """One fact, whether the records give it or not."""
    found, pages = composer.fact(name), tuple(composer.uses["fact"].get(name, ()))
    if not isinstance(found, Stated):
        return AuditedFact(name, "", None, FACTS[name].kind, found.what, pages, ())
    return AuditedFact(name, found.text, _number(found.value), found.kind, found.title, pages, found.records)


def _claim(name: str, claim: Claim, composer: Composer) -> AuditedClaim:
    """One claim on the facts as they are."""
    found = {each: composer.fact(each) for each in claim.facts}
    stated = [fact for fact in found.values() if isinstance(fact, Stated)]
    complete = len(stated) == len(found)
    values: list[Any] = [getattr(found[each], "value", None) for each in claim.facts]
    return AuditedClaim(
        name,
        claim.condition,
        claim.holds(*values) if complete else None,
        {fact.name: fact.text for fact in stated},
        tuple(composer.uses["claim"].get(name, ())),
        tuple(dict.fromkeys(record for fact in stated for record in fact.records)),
    )


def _number(value: object) -> float | None:
    """A value that is a number."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _verdict(claim: AuditedClaim) -> str:
    """Whether it holds, in a word."""
    return {True: "holds", False: "FALSE", None: "unknown"}[claim.holds]


def _listed(names: tuple[str, ...]) -> str:
    """Names on one line; a dash for none."""
    return ", ".join(names) or "-"
