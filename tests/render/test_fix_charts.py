"""The waterfalls: each row falls from the one above, and the picture, the table and the text say so alike."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from sitegen.render.drawing import Line, Part
from sitegen.render.evidence import MissingFigureError
from sitegen.render.fix_charts import FIX_CHARTS, fix_path, published_path, waterfall
from sitegen.render.further_facts import LORA_64, QLORA, SHORT_CHECKPOINTED
from sitegen.render.series import Series, under
from tests.factories import TRAINING, record, reference_suite

CHARTS = pytest.mark.parametrize("name", sorted(FIX_CHARTS))
# Net Mio of two steps: LoRA asks here for more than the row above, which no fix promises not to.
PATH = {SHORT_CHECKPOINTED: 1700.0, LORA_64: 1800.0, QLORA: 900.0}


@pytest.fixture
def measured() -> Series:
    """A reference suite with the other runs of the path."""
    return Series([*reference_suite(), *(record(case, net_mib=(peak, peak)) for case, peak in PATH.items())])


def row(name: str, size: int) -> Line:
    return Line(name, (Part("phase", size, "Pic", ""),), "")


def test_what_a_row_takes_ends_where_the_row_above_ended() -> None:
    rows = waterfall([row("a", 100), row("b", 70), row("c", 80), row("d", 20)])
    assert [[part.size for part in each.parts] for each in rows] == [[100], [70, 30], [80, 0], [20, 60]]
    # 70 / 100, 80 / 70, 20 / 80
    assert [each.figure_detail for each in rows] == ["", "−30\u00a0%", "+14\u00a0%", "−75\u00a0%"]


def test_the_path_starts_at_the_system_s_allocator_and_is_cut_where_it_rises(measured: Series) -> None:
    picture = fix_path(measured).picture
    saved = [bar for bar in picture.bars if bar.component == "saved"]
    # The factory's batch 4: 4420 Mio, then 3986 under the fixed threshold.
    assert [round(bar.size / 2**20) for bar in saved] == [4420 - 3986, 3986 - 1700, 1800 - 900]
    ends = sorted(bar.start + bar.size for bar in saved)
    assert round(ends[-1] / 2**20) == 4420


def test_the_path_names_its_parts_once(measured: Series) -> None:
    names = [text.text for text in fix_path(measured).picture.texts if text.role == "callout"]
    assert sorted(names) == sorted(
        [
            "Poids",
            "Gradients",
            "État de l’optimiseur",
            "Activations, tampons et tas",
            "Retiré",
        ]
    )


@pytest.mark.parametrize("missing", [under(TRAINING[4], "fixed"), QLORA])
def test_a_path_with_a_gap_is_not_drawn(missing: object, measured: Series) -> None:
    with pytest.raises(MissingFigureError):
        fix_path(Series(each for each in measured.records if each.case != missing))


@CHARTS
def test_a_chart_is_whole(name: str, committed: Series) -> None:
    chart = FIX_CHARTS[name](committed)
    assert chart.title
    assert chart.caption
    for each in chart.table.rows:
        assert each.header.text in chart.description
        assert all(cell.text in chart.description for cell in each.cells)
    assert all(bar.hover for bar in chart.picture.bars)
    assert json.loads(json.dumps(chart.plotly, allow_nan=False)) == chart.plotly


@CHARTS
def test_the_interactive_chart_has_the_bars_of_the_picture(name: str, committed: Series) -> None:
    chart = FIX_CHARTS[name](committed)
    drawn = sorted(
        (x, base) for trace in chart.plotly["data"] for x, base in zip(trace["x"], trace["base"], strict=True)
    )
    assert drawn == sorted((round(bar.size / 1e9, 6), round(bar.start / 1e9, 6)) for bar in chart.picture.bars)


def test_the_published_path_is_quoted_and_held_to_a_card(committed: Series) -> None:
    chart = published_path(committed)
    sizes = [cell.sort_value for each in chart.table.rows for cell in each.cells[:1]]
    assert sizes[:3] == [72_434_837_504, 26_704_571_904, 20_669_338_112]  # fms-acceleration's table
    assert all(upper > lower for upper, lower in pairwise(size or 0 for size in sizes))
    assert {cell.kind for each in chart.table.rows for cell in each.cells[:1]} == {"quoted"}
    assert {rule.value for rule in chart.picture.rules} == {23_034 * 2**20}  # what an L4's driver reports


def test_without_published_runs_there_is_no_published_path(series: Series) -> None:
    with pytest.raises(MissingFigureError):
        published_path(series)
