import pytest

from sitegen.render.claims import CLAIMS
from sitegen.render.evidence import MissingFigureError, command
from sitegen.render.facts import FACTS, stated
from sitegen.render.series import LORA_8, TRAINING_8, Series, under
from sitegen.units import MIB_BYTES
from tests.factories import LORA, TRAINING, record, reference_suite


@pytest.mark.parametrize("name", sorted(FACTS))
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


@pytest.mark.parametrize("name", sorted(CLAIMS))
def test_every_claim_holds_for_the_suite(name: str, series: Series) -> None:
    claim = CLAIMS[name]
    assert claim.holds(*(stated(fact, series).value for fact in claim.facts))


@pytest.mark.parametrize("name", sorted(CLAIMS))
def test_every_claim_names_facts_that_exist(name: str) -> None:
    assert set(CLAIMS[name].facts) <= set(FACTS)


def test_a_claim_fails_with_its_facts() -> None:
    lower = Series([record(LORA, net_mib=(9000, 9000)) if each.case == LORA else each for each in reference_suite()])
    claim = CLAIMS["lora_saves"]
    assert not claim.holds(*(stated(fact, lower).value for fact in claim.facts))
