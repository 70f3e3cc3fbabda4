"""An estimate in a terminal: every figure that matters, in words."""

from __future__ import annotations

import re

from msgspec.structs import replace

from sitegen.measure.estimate_report import estimate_report
from sitegen.memory.advice import Advice
from sitegen.memory.catalogue import card
from sitegen.memory.cuda import as_run_on_cuda
from sitegen.memory.estimate import Setting, estimated
from sitegen.records.case import Case
from tests.factory_bills import Pages, bill

SETTING = Setting(runtime=Pages(), cards=[card("rtx-4090")], stack={"torch": "2.13.0"}, notes=("A note.",))
ADVICE = Advice(
    change="--gradient-checkpointing",
    price="recomputes the layers",
    gain_bytes=2_500_000_000,
    peak_bytes=7_500_000_000,
    interval_bytes=(7_000_000_000, 8_000_000_000),
)


def _words(text: str) -> str:
    """The text without what only aligns it."""
    return re.sub(r"[ ]+", " ", text)


def test_the_report_has_the_peak_its_interval_phases_components_verdict_and_what_to_change() -> None:
    text = _words(estimate_report(estimated(bill(), Case(allocator="fixed"), SETTING), [ADVICE]))
    assert "Peak: 10.04 GB, in the backward of step 2" in text
    assert "allocator fixed: 9.94 GB to 10.14 GB" in text  # one per cent on either side of 10.04
    assert "backward 2 10.04 GB <- peak" in text
    assert "temporaries 9.00 GB 90%" in text
    assert "GeForce RTX 4090" in text
    assert "fits" in text
    assert "--gradient-checkpointing 2.50 GB 7.50 GB recomputes the layers" in text
    assert "Source: traced with torch 2.13.0" in text
    assert text.endswith("A note.")


def test_a_report_for_a_card_has_three_lines() -> None:
    case = as_run_on_cuda(Case())
    text = estimate_report(estimated(bill(), case, replace(SETTING, device="cuda")), [])
    for line in ("allocated: ", "reserved:  ", "device:    "):
        assert line in text
    assert "allocator" not in text
    assert "Change" not in text
