"""What the prose says of the estimates: figures of the committed rows, and nothing where there are none."""

from __future__ import annotations

import statistics

import pytest

from sitegen.memory.validation import Compared
from sitegen.render.claims import CLAIMS
from sitegen.render.evidence import MissingFigureError
from sitegen.render.facts import stated
from sitegen.render.series import Series
from sitegen.render.validation_facts import PAGE, VALIDATION_FACTS

ESTIMATES = {name for name in CLAIMS if set(CLAIMS[name].facts) & set(VALIDATION_FACTS)}
FREE = {"bound_share", "bound_size", "bound_samples", "rules"}
"""What needs no row: bounds that are held to, and how many rules there are."""


def under(series: Series, allocator: str) -> list[Compared]:
    return [row for row in series.compared if row.record.case.allocator == allocator]


@pytest.mark.parametrize("name", sorted(VALIDATION_FACTS))
def test_the_committed_rows_give_every_fact_and_it_leads_to_them(name: str, committed: Series) -> None:
    fact = stated(name, committed)
    assert fact.text
    assert fact.href.startswith(f"{PAGE}#")
    assert fact.title


@pytest.mark.parametrize("name", sorted(set(VALIDATION_FACTS) - FREE))
def test_without_traces_a_fact_is_missing_and_says_what_to_do(name: str, series: Series) -> None:
    with pytest.raises(MissingFigureError) as caught:
        stated(name, series)
    assert "trace" in str(caught.value)
    assert caught.value.remedy


@pytest.mark.parametrize("name", sorted(ESTIMATES))
def test_every_claim_holds_for_the_committed_rows(name: str, committed: Series) -> None:
    claim = CLAIMS[name]
    assert claim.holds(*(stated(fact, committed).value for fact in claim.facts))


def test_the_figures_are_those_of_all_the_rows_of_their_table(committed: Series) -> None:
    fixed = under(committed, "fixed")
    ratios = [row.estimated_bytes / row.measured_bytes - 1 for row in fixed]
    assert stated("validation_rows", committed).value == len(fixed)
    assert stated("validation_median", committed).value == statistics.median(map(abs, ratios))
    assert abs(stated("validation_worst", committed).value) == max(map(abs, ratios))
    near = [row for row in fixed if abs(row.difference_bytes) <= max(0.01 * row.measured_bytes, 12e6)]
    assert stated("validation_within", committed).value == len(near)


def test_the_heap_counts_its_samples_one_by_one(committed: Series) -> None:
    rows = under(committed, "default")
    assert stated("heap_samples", committed).value == sum(len(row.record.samples) for row in rows)
    often = [row.width for row in rows if len(row.record.samples) >= 3]
    assert stated("heap_repeated", committed).value == len(often)
    assert stated("heap_repeated_width", committed).value == statistics.median(often)


def test_published_runs_are_counted_as_the_public_table_has_them(committed: Series) -> None:
    # 40 + 47 + 14 runs of one GPU, 24 of them with GPTQ; 25 with the loss of transformers, 19 of Liger, 33 of Unsloth.
    values = {name: stated(name, committed).value for name in VALIDATION_FACTS if name.startswith("published")}
    assert (values["published_runs"], values["published_untraced"], values["published_estimated"]) == (101, 24, 77)
    groups = ("published_rows", "published_liger_rows", "published_unsloth_rows")
    assert [values[name] for name in groups] == [25, 19, 33]


def test_a_tiny_error_does_not_pass_for_none(committed: Series) -> None:
    assert stated("published_liger_median", committed).text == "moins de 0,01\u00a0%"
    assert stated("bound_size", committed).text == "12\u00a0Mo"
    assert stated("bound_share", committed).text == "1\u00a0%"


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("estimates_are_near", {"validation_median": 0.0031}),
        ("estimates_are_near", {"validation_within_share": 0.94}),
        ("intervals_hold_the_heap", {"heap_covered_share": 0.94}),
        ("published_runs_are_near", {"published_median": 0.011}),
        ("published_runs_are_near", {"published_worst": 0.051}),
        ("published_runs_are_near", {"published_lowest": -0.031}),
        ("fused_kernels_are_modelled", {"published_liger_median": 0.051}),
        ("fused_kernels_are_modelled", {"published_unsloth_median": 0.051}),
        ("fused_kernels_are_modelled", {"published_fused_worst": -0.051}),
        ("only_published_models_are_large", {"validation_largest": 1.1e9}),
        ("no_rule_comes_near", {"rules_best": 0.0}),
        ("no_rule_comes_near", {"published_rules_best": 0.0}),
    ],
)
def test_a_claim_fails_where_its_sentence_would_be_false(
    name: str, changed: dict[str, float], committed: Series
) -> None:
    claim = CLAIMS[name]
    assert not claim.holds(*(changed.get(fact, stated(fact, committed).value) for fact in claim.facts))
