"""What to change first: changes that can be made, sorted by what they gain."""

from __future__ import annotations

from msgspec.structs import replace

from sitegen.memory.advice import Change, changes, ranked
from sitegen.memory.estimate import Estimate, Setting, estimated
from sitegen.records.case import Case
from sitegen.units import GB_BYTES
from tests.factory_bills import Pages, bill

BOTH = ("qlora", "adamw-8bit")


def _options(case: Case, *absent: str) -> set[str]:
    return {change.options for change in changes(case, absent)}


def test_full_training_may_checkpoint_train_an_adapter_round_shrink_or_change_its_optimizer() -> None:
    found = _options(Case(batch_size=8))
    for options in (
        "--gradient-checkpointing",
        "--method lora",
        "--method qlora",
        "--dtype bfloat16",
        "--batch-size 4 --gradient-accumulation 2",
        "--sequence-length 128",
        "--optimizer sgd",
        "--optimizer adamw-8bit",
        "--loss chunked",
        "--zero-grad free",
        "--allocator fixed",
    ):
        assert options in found


def test_what_is_done_already_is_not_offered() -> None:
    done = Case(
        method="qlora",
        dtype="bfloat16",
        gradient_checkpointing=True,
        loss="chunked",
        zero_grad="free",
        optimizer="sgd",
        allocator="fixed",
        double_quant=True,
        lora_rank=1,
        sequence_length=16,
    )
    assert _options(done) == {"--optimizer adamw-8bit", "--optimizer adafactor"}


def test_what_is_not_installed_is_not_offered() -> None:
    assert not {"--method qlora", "--optimizer adamw-8bit"} & _options(Case(), *BOTH)


def test_every_change_is_a_sound_case_and_another_one() -> None:
    cases = (
        Case(batch_size=8, foreach=True, padding=True, attention="eager"),
        Case(mixed_precision="bf16"),
        Case(method="lora", modules_to_save=("lm_head",)),
        Case(mode="inference", batch_size=3),
        Case(mode="generation", new_tokens=64),
    )
    for case in cases:
        for change in changes(case):
            assert change.case.checked() != case
            assert change.price


def test_inference_may_compute_the_last_logits_only() -> None:
    found = _options(Case(mode="inference", batch_size=8))
    assert {"--logits last", "--batch-size 4", "--dtype bfloat16"} <= found
    assert "--gradient-checkpointing" not in found


def _estimate(peak_gb: float, case: Case) -> Estimate:
    return estimated(bill(round(peak_gb * GB_BYTES)), case, Setting(runtime=Pages()))


def test_the_largest_gain_comes_first_and_what_gains_nothing_is_left_out() -> None:
    now = Case(allocator="fixed")
    case = replace(now, batch_size=2)
    gains = {"little": 9.0, "most": 3.0, "nothing": 10.0, "too little": 9.95, "loss": 12.0}
    changed = {Change(name, "price", case): _estimate(peak, case) for name, peak in gains.items()}
    found = ranked(_estimate(10, now), changed)
    assert [(one.change, one.gain_bytes) for one in found] == [("most", 7 * GB_BYTES), ("little", GB_BYTES)]


def test_an_allocator_gains_at_the_top_of_the_interval() -> None:
    now, fixed = _estimate(10, Case()), _estimate(10, Case(allocator="fixed"))
    (found,) = ranked(now, {Change("--allocator fixed", "price", fixed.case): fixed})
    assert found.gain_bytes == now.interval_bytes[1] - fixed.interval_bytes[1] > 0
