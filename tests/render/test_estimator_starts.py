"""The ready starts: the cases that they mean, and the results that the build writes of them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from sitegen.french import NO_BREAK
from sitegen.memory.runtime import RuntimePages
from sitegen.records.case import Case
from sitegen.render.estimator_data import table_files
from sitegen.render.estimator_starts import OPENING, STARTS, Known, Shown, case_of, starts

MEASUREMENTS: Final = Path(__file__).parents[2] / "measurements"
PAGES: Final = RuntimePages(threads=2, ways={}, layer_bytes={}, option_bytes={})
KNOWN: Final = Known(table_files(MEASUREMENTS), (), PAGES)


@pytest.fixture(scope="module")
def shown() -> dict[str, Shown]:
    """Every result, by the start's name."""
    return {start.label: start.shown for start in starts(KNOWN) if start.shown}


def test_every_start_has_an_exact_table(shown: dict[str, Shown]) -> None:
    assert list(shown) == [label for label, _ in STARTS]
    assert {one.source for one in shown.values()} == {"tracé"}


def test_without_tables_a_start_is_only_a_link() -> None:
    assert [start.shown for start in starts(None)] == [None] * len(STARTS)
    assert [start.shown for start in starts(Known({}, (), PAGES))] == [None] * len(STARTS)


def test_a_machine_without_probes_has_no_result_and_a_card_has() -> None:
    found = {start.label: start.shown for start in starts(KNOWN._replace(pages=None))}
    assert found["SmolLM2 sur un portable"] is None
    assert found["8B sur 24 Go : LoRA"] is not None


def test_the_fixed_lines_of_smollm2_are_those_of_its_parameters(shown: dict[str, Shown]) -> None:
    # 134 515 008 parameters of 4 bytes: 538 MB of weights, as much of gradients, twice as much of Adam's two moments.
    lines = {part.key: part.size for part in shown["SmolLM2 sur un portable"].parts}
    assert lines["weights"] == f"538{NO_BREAK}Mo"
    assert lines["gradients"] == f"538{NO_BREAK}Mo"
    assert lines["optimizer_state"] == f"1\u202f076{NO_BREAK}Mo"


def test_the_weights_of_an_8b_with_its_adapter(shown: dict[str, Shown]) -> None:
    # 8 030 261 248 x 2 bytes, and 32 x 16 x (4096 + 4096 + 4096 + 1024) adapter parameters of 4 bytes: 16.088 GB.
    lines = {part.key: part.size for part in shown["8B sur 24 Go : LoRA"].parts}
    assert lines["weights"] == f"16,09{NO_BREAK}Go"


def test_one_phase_peaks_and_has_the_figure_of_the_whole(shown: dict[str, Shown]) -> None:
    for one in shown.values():
        assert [row.size for row in one.phases if row.peaks] == [one.value]


def test_bars_are_made_of_pieces_side_by_side(shown: dict[str, Shown]) -> None:
    for one in shown.values():
        end = 0.0
        for piece in one.gauge.pieces:
            assert float(piece.x.rstrip("%")) == pytest.approx(end, abs=0.02)
            end = float(piece.x.rstrip("%")) + float(piece.width.rstrip("%"))
        assert end <= 100


def test_an_option_that_does_not_count_keeps_the_value_that_changes_nothing() -> None:
    mixed = {"mode": "inference", "method": "full", "numbers": "mixed", "optimizer": "sgd", "device": "cuda"}
    case = case_of(mixed)
    assert (case.dtype, case.mixed_precision, case.optimizer) == ("float32", "none", Case().optimizer)
    trained = case_of(mixed | {"mode": "training"})
    assert (trained.dtype, trained.mixed_precision, trained.optimizer) == ("float32", "bf16", "sgd")


def test_the_page_opens_on_the_8b_that_fits_24_go(shown: dict[str, Shown]) -> None:
    label, _ = STARTS[OPENING]
    assert (label, shown[label].verdict) == ("8B sur 24 Go : QLoRA", "fits")
