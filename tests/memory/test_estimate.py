"""From a bill to an estimate: sums, intervals and verdicts, by hand."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from sitegen.memory.catalogue import Card, card
from sitegen.memory.cuda import CONTEXT_BYTES, CUBLAS_BYTES, CUBLAS_HOPPER_BYTES, as_run_on_cuda
from sitegen.memory.estimate import (
    BASELINE_BYTES,
    LOADING_BYTES,
    UNKNOWN_SHAPE,
    Estimate,
    Setting,
    TypicalPages,
    estimated,
)
from sitegen.memory.intervals import Ratios
from sitegen.memory.runtime import Shape
from sitegen.memory.verdicts import verdict
from sitegen.records.case import Case
from sitegen.units import GB_BYTES, GIB_BYTES
from tests.factory_bills import PAGES_BYTES, Pages, bill

SETTING = Setting(runtime=Pages())
FIXED = Case(allocator="fixed")


def test_the_peak_is_the_highest_phase_and_the_runtimes_pages_and_its_components_add_up() -> None:
    found = estimated(bill(), FIXED, SETTING)
    assert found.peak_bytes == 10 * GB_BYTES + PAGES_BYTES
    assert (found.phase, found.step) == ("backward", 2)
    assert found.components == {"weights": GB_BYTES, "temporaries": 9 * GB_BYTES, "runtime": PAGES_BYTES}
    assert all(sum(phase.components.values()) == phase.peak_bytes for phase in found.phases)
    assert found.source == "traced"


def test_what_the_models_shape_tells_of_the_process_is_added() -> None:
    """An untied frozen table of 2000 x 64 float32 is mapped: of its rows only the 1000 drawn are read."""
    shape = Shape(hidden_size=64, vocabulary_size=2000, layers=2, tied=False)
    case = Case(mode="inference", allocator="fixed", batch_size=1, sequence_length=16)
    setting = replace(SETTING, runtime=TypicalPages(threads=2))
    with_shape = estimated(bill(), case, replace(setting, shape=shape))
    assert estimated(bill(), case, setting).peak_bytes - with_shape.peak_bytes == 1000 * 64 * 4


def test_the_default_allocator_has_its_interval_beside_the_fixed_one() -> None:
    peak_bytes = 10 * GB_BYTES + PAGES_BYTES
    rows = [Ratios("here", Case(), (1.1, 1.15)), Ratios("here", Case(batch_size=2), (1.3, 1.3))]
    found = estimated(bill(), Case(), replace(SETTING, rows=rows))
    assert found.allocators["fixed"] == (round(0.99 * peak_bytes), round(1.01 * peak_bytes))
    assert found.interval_bytes == found.allocators["default"]
    low, high = found.interval_bytes  # once, and 1.3 + 0.05 times, the fixed interval
    assert low == pytest.approx(0.99 * peak_bytes)
    assert high == pytest.approx(1.01 * 1.35 * peak_bytes)


def test_loading_4_bit_weights_may_keep_the_file_that_they_come_from() -> None:
    case = Case(method="qlora", dtype="bfloat16")
    quantised = replace(bill(), quantised_parameters=1_000_000)
    assert estimated(bill(), Case(), SETTING).load_peak_bytes == GB_BYTES + LOADING_BYTES
    infers = replace(case, mode="inference")
    assert estimated(quantised, infers, SETTING).load_peak_bytes == GB_BYTES + LOADING_BYTES + 2_000_000
    # Before training, what stays in 16 bits is copied into float32: all 250 million originals are read.
    assert estimated(quantised, case, SETTING).load_peak_bytes == GB_BYTES + LOADING_BYTES + 500_000_000


def _card(total_bytes: int, like: str = "rtx-4090") -> Card:
    return replace(card(like), total_bytes=total_bytes)


@pytest.mark.parametrize(("total", "answer"), [(12, "fits"), (11.999, "tight"), (10, "tight"), (9.999, "does not fit")])
def test_only_a_whole_interval_fits(total: float, answer: str) -> None:
    needed = 10 * GB_BYTES, 12 * GB_BYTES
    assert verdict(_card(round(total * GB_BYTES)), needed).verdict == answer


def test_a_machines_memory_holds_the_baseline_too() -> None:
    found = estimated(bill(), FIXED, replace(SETTING, cards=[_card(16 * GIB_BYTES, "ram-16")]))
    low, high = found.interval_bytes
    assert found.verdicts[0].needed_bytes == (low + BASELINE_BYTES, high + BASELINE_BYTES)


def test_on_a_cuda_card_a_bill_of_cpu_steps_takes_the_published_ratios() -> None:
    """101 published runs: the driver counted 1.01 to 1.64 times what PyTorch had allocated."""
    found = estimated(bill(), FIXED, replace(SETTING, cards=[_card(24 * GB_BYTES)]))
    assert found.verdicts[0].needed_bytes == (10_100_000_000, 16_400_000_000)


def _on_cuda(peak_bytes: int) -> Estimate:
    return estimated(bill(peak_bytes), as_run_on_cuda(Case()), replace(SETTING, device="cuda", cards=[_card(1)]))


def test_cuda_has_three_lines_and_no_pages_of_a_cpu_process() -> None:
    found = _on_cuda(10 * GB_BYTES)
    assert found.cuda is not None
    allocated = 10 * GB_BYTES + 2 * CUBLAS_BYTES  # the backward has a thread, so a cuBLAS handle, of its own
    highest = 10 * GB_BYTES + 2 * CUBLAS_HOPPER_BYTES
    assert found.peak_bytes == found.cuda.allocated_bytes == allocated
    assert found.interval_bytes == (round(allocated / 1.05), round(highest / 0.97))
    assert found.cuda.reserved_interval_bytes == (allocated, round(1.64 * highest))
    assert found.cuda.device_interval_bytes == (round(1.01 * allocated), round(1.64 * highest))
    assert found.verdicts[0].needed_bytes == found.cuda.device_interval_bytes
    assert found.allocators == {}


def test_a_small_model_pays_the_context_whole() -> None:
    lines = _on_cuda(GB_BYTES).cuda
    assert lines is not None
    assert lines.device_interval_bytes[1] == GB_BYTES + 2 * CUBLAS_HOPPER_BYTES + CONTEXT_BYTES


def test_pytorch_steps_over_all_tensors_at_once_on_a_card() -> None:
    assert as_run_on_cuda(Case()).foreach
    assert as_run_on_cuda(Case(optimizer="sgd")).foreach
    for case in (Case(optimizer="adafactor"), Case(optimizer="adamw-8bit"), Case(mode="inference")):
        assert as_run_on_cuda(case) == case.checked()


def test_typical_pages_follow_the_mode() -> None:
    pages = TypicalPages(threads=1)
    generation, inference, training = (
        pages.bytes_for(Case(mode=mode), UNKNOWN_SHAPE, "forward") for mode in ("generation", "inference", "training")
    )
    assert generation < inference < training


def test_the_pages_of_each_phase_decide_which_one_peaks() -> None:
    class Late(Pages):
        def bytes_for(self, case: Case, shape: Shape, phase: str) -> int:
            return super().bytes_for(case, shape, phase) + (20 * GB_BYTES if phase == "forward" else 0)

    found = estimated(bill(), FIXED, replace(SETTING, runtime=Late()))
    assert (found.phase, found.step) == ("forward", 1)
