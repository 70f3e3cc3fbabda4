import json
from pathlib import Path

import pytest
from msgspec.structs import replace

import sitegen
from sitegen.records.case import Case
from sitegen.records.model import Record
from sitegen.render import worked
from sitegen.render.claims import CLAIMS
from sitegen.render.evidence import MissingFigureError, command
from sitegen.render.facts import FACTS, stated
from sitegen.render.further_facts import FURTHER_FACTS
from sitegen.render.series import LORA_8, TRAINING_8, Series, under
from sitegen.render.validation_facts import VALIDATION_FACTS
from sitegen.units import MIB_BYTES
from tests.factories import INFERENCE_8, LORA, TRAINING, record, reference_suite

ELSEWHERE = set(VALIDATION_FACTS) | set(FURTHER_FACTS)
"""What the reference suite alone does not give: `test_validation_facts` and `test_companion_facts` have it."""
OWN = {name for name in CLAIMS if not set(CLAIMS[name].facts) & ELSEWHERE}
"""The claims that the reference suite alone decides."""


@pytest.mark.parametrize("name", sorted(set(FACTS) - ELSEWHERE))
def test_a_whole_suite_gives_every_fact(name: str, series: Series) -> None:
    fact = stated(name, series)
    assert fact.text
    assert fact.href
    assert (fact.kind in ("quoted", "arithmetic")) != fact.href.startswith("mesures/test-processor")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("parameters", "134\u202f515\u202f008"),  # of SmolLM2-135M-Instruct
        ("weights", "538\u00a0Mo"),  # 4 bytes each
        ("gradients", "538\u00a0Mo"),
        ("optimizer_state", "1\u202f076\u00a0Mo"),  # two moments
        ("states", "2,15\u00a0Go"),  # four times the weights: 2 152 Mo
        ("states_over_weights", "4\u00a0fois"),
        ("lora_trainable", "460\u202f800"),
        ("lora_share", "0,34\u00a0%"),  # 460 800 / 134 515 008
        ("training_8_step_gap", "1\u202f615\u00a0Mo"),  # the factory's 5876 - 4336 Mio
        ("published_training_8_mebibytes", "6\u202f484\u00a0Mio"),  # as published
        ("published_training_8", "6\u202f799\u00a0Mo"),  # x 1.048576
        ("published_inference_8", "1\u202f331\u00a0Mo"),
        ("example_weights", "14\u00a0Go"),  # 7 billion x 2 bytes
        ("example_pure", "56\u00a0Go"),  # x 8
        ("example_mixed", "112\u00a0Go"),  # x 16
        ("example_total", "132\u00a0Go"),  # + 20 of activations
        ("example_adapter_total", "34\u00a0Go"),  # 14 + 20
        ("logits_8", "403\u00a0Mo"),  # 8 x 256 x 49 152 x 4 bytes
        ("published_weights", "538\u00a0Mo"),  # as published
        ("published_mixed_units", "12\u00a0fois"),  # 6 484 Mio over 538 Mo, as if they were one unit
        ("published_training_over_weights", "12,6\u00a0fois"),  # 6 799 / 538
        ("published_training_gap", "1\u00a0%"),  # the factory's 6541 Mio against 6484
        ("lora_64_share", "14,5\u00a0%"),  # 64 x 30 x (2 x 1152 + 2 x 768 + 3 x 2112) / 134 515 008
        ("l4_capacity", "24,2\u00a0Go"),  # 23 034 Mio
        ("rtx4090_capacity", "25,8\u00a0Go"),  # 24 564 Mio
        ("bfloat16_states_a_parameter", "8\u00a0octets"),  # 2 + 2 + 4
        ("example_bytes", "495\u00a0Mo"),  # the factory's (5876 - 3986) / 4 Mio
        ("examples_8", "3,96\u00a0Go"),  # 8 times as much
        ("allocator_slower", "+15\u00a0%"),  # the factory's
        ("baseline", "359\u00a0Mo"),  # the factory's
        ("runs", "un seul essai"),
        ("machine", "Test"),  # of « Test(R) Processor »
        ("cores", "2\u00a0cœurs"),
        ("torch", "PyTorch\u00a02.13.0"),
        ("transformers", "Transformers\u00a05.24.0"),
    ],
)
def test_what_a_fact_says(name: str, expected: str, series: Series) -> None:
    assert stated(name, series).text == expected


def test_a_fact_follows_its_record() -> None:
    fact = stated("training_8_peak", Series([record(TRAINING[8], net_mib=(1000, 2000))]))
    assert fact.value == 2000 * MIB_BYTES
    assert fact.href.endswith(f"/{TRAINING_8.id}.html")


def test_a_ratio_names_both_records(series: Series) -> None:
    title = stated("training_over_inference_8", series).title
    assert "Calculé à partir de relevés" in title
    assert "Entraînement, lot de 8" in title
    assert "Inférence, lot de 8" in title


def test_what_is_worked_out_of_one_record_does_not_pass_for_measured(series: Series) -> None:
    assert stated("training_8_over_weights", series).title.startswith("Calculé à partir d’un relevé : Entraînement")
    assert stated("training_8_peak", series).title.startswith("Mesuré : Entraînement")


def test_a_nominal_value_leads_to_its_origin_and_not_to_the_rule(series: Series) -> None:
    for name in ("small_card", "large_card", "small_machine", "logits_8", "vocabulary", "l4_capacity"):
        assert stated(name, series).href == "donnees/index.html#constantes"
    assert stated("example_total", series).href.endswith("#la-formule")


def test_the_constants_are_those_of_the_model() -> None:
    path = Path(sitegen.__file__).parent / "workload" / "configurations" / "smollm2-135m-instruct.json"
    config = json.loads(path.read_text("utf-8"))
    assert config["vocab_size"] == worked.VOCABULARY
    hidden, inner, keys = config["hidden_size"], config["intermediate_size"], config["num_key_value_heads"] * 64
    each = 2 * (hidden + hidden) + 2 * (hidden + keys) + 3 * (hidden + inner)
    assert worked.adapter_share(8) == 8 * config["num_hidden_layers"] * each / 134_515_008


def test_larger_cards_hold_what_the_large_one_does_not() -> None:
    assert worked.LARGE_CARD_BYTES < worked.MIXED_BYTES < min(worked.LARGER_CARDS_BYTES)


def test_a_missing_case_says_what_to_measure() -> None:
    with pytest.raises(MissingFigureError) as caught:
        stated("lora_8_fixed_peak", Series([record(TRAINING[8])]))
    assert under(LORA_8, "fixed").id in caught.value.what
    assert caught.value.remedy == (
        "Measure it: sitegen measure --mode training --method lora --batch-size 8 --allocator fixed"
    )


@pytest.mark.parametrize("status", ["failed", "out_of_memory", "invalid", "timeout", "killed", "skipped"])
def test_a_case_that_did_not_end_well_gives_no_fact(status: str) -> None:
    with pytest.raises(MissingFigureError, match=status):
        stated("lora_8_peak", Series([record(LORA, status=status)]))  # type: ignore[arg-type]


def test_the_command_spells_every_option() -> None:
    case = TRAINING_8.__class__(method="lora", lora_targets=("k_proj", "v_proj"), gradient_checkpointing=True)
    assert command(case) == (
        "sitegen measure --mode training --method lora --gradient-checkpointing --lora-targets k_proj,v_proj"
    )


@pytest.mark.parametrize("name", sorted(OWN))
def test_every_claim_holds_for_the_suite(name: str, series: Series) -> None:
    claim = CLAIMS[name]
    assert claim.holds(*(stated(fact, series).value for fact in claim.facts))


@pytest.mark.parametrize("name", sorted(CLAIMS))
def test_every_claim_names_facts_that_exist(name: str) -> None:
    assert set(CLAIMS[name].facts) <= set(FACTS)


def holds(name: str, *changed: Record) -> bool:
    """Whether a claim holds for the suite in which some records are replaced."""
    others = {record_.case: record_ for record_ in (*reference_suite(), *changed)}
    return CLAIMS[name].holds(*(stated(fact, Series(others.values())).value for fact in CLAIMS[name].facts))


def _slowed(original: Record, factor: int) -> Record:
    """The same record, its steps `factor` times longer."""
    durations = tuple(factor * spent for spent in original.summary.step_duration_ns)
    return replace(original, summary=replace(original.summary, step_duration_ns=durations))


@pytest.mark.parametrize("index", range(len(reference_suite())))
def test_no_claim_rests_on_the_duration_of_one_step(index: int) -> None:
    # A busy machine made a build fail over a few percent of time: a duration may be shown, nothing may hang on it.
    slowed = _slowed(reference_suite()[index], 10)
    assert [name for name in sorted(OWN) if not holds(name, slowed)] == []


def fixed_record(case: Case, *net_mib: float) -> Record:
    return record(under(case, "fixed"), net_mib=net_mib)


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        # an adapter that would free most of the activations: 1000 Mio, of which its frozen weights are 515
        ("lora_keeps_activations", fixed_record(LORA, 1000, 1000)),
        # a batch that doubles and adds 1.5 times what the former did: 3042 + 1.5 x (3042 - 2570) Mio
        ("growth_follows_the_batch", fixed_record(TRAINING[4], 2450, 3750)),
        # a fixed threshold that leaves the peak within the floor: 2052 Mio of states
        ("activations_are_the_largest_line", fixed_record(TRAINING[8], 3000, 4000)),
        ("activations_dominate_at_8", fixed_record(TRAINING[8], 4336, 4400)),
        # 8.2 times inference under the fixed threshold
        ("training_costs_several_inferences", fixed_record(INFERENCE_8, 715)),
        # training that is 8 % above what was published
        ("inference_makes_the_gap", record(TRAINING[8], net_mib=(4375, 7000))),
    ],
)
def test_a_claim_fails_where_its_sentence_would_be_false(name: str, changed: Record) -> None:
    assert holds(name)
    assert not holds(name, changed)


@pytest.mark.parametrize(
    ("times", "said"),
    [(1, "un seul essai"), (2, "le médian de 2 essais au plus"), (3, "le médian de 3 essais au plus")],
)
def test_a_row_of_several_runs_is_not_said_to_be_one(times: int, said: str) -> None:
    repeated = replace(record(LORA), samples=record(LORA).samples * times)
    series = Series([repeated if each.case == LORA else each for each in reference_suite()])
    assert stated("runs", series).text == said


def test_a_claim_fails_with_its_facts() -> None:
    lower = Series([record(LORA, net_mib=(9000, 9000)) if each.case == LORA else each for each in reference_suite()])
    claim = CLAIMS["lora_saves"]
    assert not claim.holds(*(stated(fact, lower).value for fact in claim.facts))
