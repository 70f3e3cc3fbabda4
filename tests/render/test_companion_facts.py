"""What the companion articles say: arithmetic against published numbers, and records against their own figures."""

from __future__ import annotations

import pytest

from sitegen.records.case import Case
from sitegen.records.model import Record
from sitegen.render.claims import CLAIMS
from sitegen.render.evidence import Evidence, MissingFigureError
from sitegen.render.facts import stated
from sitegen.render.further_facts import FURTHER_FACTS, QLORA, mistral
from sitegen.render.series import Series, under
from tests.factories import (
    BFLOAT16,
    CHECKPOINTING,
    INFERENCE_1,
    LORA,
    TRAINING,
    TRAINING_4_LONG,
    record,
    reference_suite,
)

FURTHER = {name for name in CLAIMS if set(CLAIMS[name].facts) & set(FURTHER_FACTS)}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("large_parameters", "8,03\u00a0milliards"),  # 8 030 261 248, as published with the weights
        ("large_bfloat16", "16,06\u00a0Go"),  # x 2
        ("large_pure", "64,24\u00a0Go"),  # x 8
        ("large_mixed", "128,48\u00a0Go"),  # x 16
        ("large_kv_token", "131\u00a0Ko"),  # 2 x 32 layers x 8 heads x 128 x 2 bytes = 131 072
        ("large_kv", "1\u202f074\u00a0Mo"),  # 8192 of them
        ("large_logits", "4,20\u00a0Go"),  # 8192 x 128 256 x 4
        ("nf4_bits", "4,5\u00a0bits"),  # 4 + 32 / 64
        ("nf4_double_bits", "4,13\u00a0bits"),  # 4 + 8 / 64 + 32 / (64 x 256)
        ("large_nf4", "6,03\u00a0Go"),  # 6 979 321 856 x 4.5 / 8 + 1 050 939 392 x 2
        ("large_nf4_double", "5,70\u00a0Go"),  # 6 979 321 856 x 4.126953125 / 8 + the same
        ("large_prepared", "7,80\u00a0Go"),  # the second term x 2
        ("large_checkpoints", "4,29\u00a0Go"),  # 4 x 4096 x 32 layers x 4096 x 2
        ("large_prepared_checkpoints", "8,59\u00a0Go"),
        ("lora_16_parameters", "921\u202f600"),  # 16 x 30 x (576 + 576 + 576 + 192)
        ("lora_16_bytes", "15\u00a0Mo"),  # x 16
        ("small_kept", "113\u00a0Mo"),  # (49 152 + 61 norms) x 576 x 4
        ("small_packed", "55\u00a0Mo"),  # 30 x 3 538 944 x 4.127 / 8
        ("oom_elsewhere", "5,98\u00a0Gio"),  # 7.92 - 1.67 - (156.00 + 124.28) / 1024
        ("device_ratio_median", "1,17\u00a0fois"),  # of 101 published runs
        # Of the factory's Mio: 3400, 5876, 3986, 5880 and their 2052 Mio of states
        ("half_batch_change", "−32\u00a0%"),  # 3986 / 5876
        ("half_length_change", "−32\u00a0%"),  # 3986 / 5880
        ("checkpointing_gain", "2,60\u00a0Go"),  # (5876 - 3400) x 1.048576
        ("checkpointing_activations_share", "35\u00a0%"),  # (3400 - 2052.5) / (5876 - 2052.5)
        ("bfloat16_states_share", "50\u00a0%"),
        ("bfloat16_weights", "269\u00a0Mo"),  # 134 515 008 x 2
        ("lora_states", "545\u00a0Mo"),  # 538 060 032 of frozen weights and 460 800 x 16 of adapter
        ("resume_bytes", "3,23\u00a0Go"),  # 2 x (538 + 1 076) Mo
        ("resume_over_weights", "6\u00a0fois"),
        ("training_1_fixed_activations", "543\u00a0Mo"),  # 2570 Mio less 4 x 538 060 032
        ("batch_16", "10,13\u00a0Go"),  # (5876 + 2 x (5876 - 3986)) Mio
        ("largest_batch", "10"),  # 8000 - 359 Mo of baseline, less 6161, hold 1480 / 495 more: two
    ],
)
def test_what_a_companion_fact_says(name: str, expected: str, series: Series) -> None:
    assert stated(name, series).text == expected


@pytest.mark.parametrize("name", sorted(FURTHER_FACTS))
def test_a_further_fact_is_of_the_committed_records_and_missing_elsewhere(
    name: str, committed: Series, series: Series
) -> None:
    fact = stated(name, committed)
    assert fact.text
    assert fact.href.startswith(("mesures/", "estime-et-mesure/index.html#"))
    with pytest.raises(MissingFigureError) as caught:
        stated(name, series)
    assert caught.value.remedy


@pytest.mark.parametrize("name", sorted(FURTHER))
def test_every_further_claim_holds_for_the_committed_records(name: str, committed: Series) -> None:
    claim = CLAIMS[name]
    assert claim.holds(*(stated(fact, committed).value for fact in claim.facts))


def holds(name: str, *changed: Record) -> bool:
    """Whether a claim holds for the suite in which some records are replaced."""
    replaced = {each.case: each for each in (*reference_suite(), *changed)}
    return CLAIMS[name].holds(*(stated(fact, Series(replaced.values())).value for fact in CLAIMS[name].facts))


def fixed(case: Case, net_mib: float) -> Record:
    return record(under(case, "fixed"), net_mib=(net_mib, net_mib))


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        # Of activations that are 3823.5 Mio at batch 8 over 2052.5 of states, checkpointing would keep 90 %,
        ("checkpointing_keeps_a_part", fixed(CHECKPOINTING, 5500)),
        # 16-bit numbers 52 %, and an adapter 39 %
        ("sixteen_bits_halve_the_states_only", fixed(BFLOAT16, 3000)),
        ("lora_leaves_the_activations", fixed(LORA, 2000)),
        # half of 5876 Mio is 2938
        ("half_a_batch_saves_less_than_half", fixed(TRAINING[4], 2900)),
        # 19 % over as many tokens in shorter sequences
        ("half_a_length_saves_less_than_half", fixed(TRAINING_4_LONG, 7000)),
        # an adapter whose peak is the same under both allocators
        ("the_heap_weighs_more_with_an_adapter", record(LORA, net_mib=(3545, 3545))),
        # 3.9 times the weights, which are 513 Mio; then 1.95 times
        ("four_times_is_only_the_floor", record(TRAINING[1], net_mib=(2000, 2000))),
        ("running_takes_a_little_more_than_the_weights", record(INFERENCE_1, net_mib=(1000,))),
        # sequences twice as long for 4 % more
        ("a_long_example_costs", record(TRAINING_4_LONG, net_mib=(4600, 4600))),
        # a gain of 876 Mio where the optimizer's state is 1026
        ("checkpointing_beats_an_optimizer_without_state", fixed(CHECKPOINTING, 5000)),
    ],
)
def test_a_claim_fails_where_its_sentence_would_be_false(name: str, changed: Record) -> None:
    assert holds(name)
    assert not holds(name, changed)


def test_the_published_runs_are_those_of_the_table(committed: Series) -> None:
    # Mistral 7B, 4096 tokens, fms-acceleration's table: 72 434 837 504, 26 704 571 904 and 20 669 338 112 bytes.
    said = {name: stated(name, committed).text for name in ("mistral_full", "mistral_lora", "mistral_qlora")}
    assert said == {
        "mistral_full": "72,43\u00a0Go",
        "mistral_lora": "26,70\u00a0Go",
        "mistral_qlora": "20,67\u00a0Go",
    }
    assert stated("mistral_full", committed).kind == "quoted"


def test_a_published_run_that_is_not_there_says_so(committed: Series) -> None:
    with pytest.raises(MissingFigureError, match="full at batch 3"):
        mistral(Evidence(committed), "full", 3)


def test_a_fact_follows_its_record() -> None:
    fact = stated("qlora_peak", Series([record(TRAINING[8]), record(QLORA, net_mib=(500, 600))]))
    assert fact.text == "629\u00a0Mo"  # 600 x 1.048576
