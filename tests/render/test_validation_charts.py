"""The charts of the errors: a dot a case, at its place, in the picture and in its interactive form."""

from __future__ import annotations

import json
import math

import pytest

from sitegen.memory.peers import PEERS
from sitegen.render import validation_charts
from sitegen.render.drawing import WHOLE
from sitegen.render.evidence import MissingFigureError
from sitegen.render.series import Series
from sitegen.render.validation_charts import VALIDATION_CHARTS

CHARTS = pytest.mark.parametrize("name", sorted(VALIDATION_CHARTS))


def place(picture_text: str, series: Series, name: str) -> int:
    """Where a graduation is."""
    return next(tick.value for tick in VALIDATION_CHARTS[name](series).picture.ticks if tick.text == picture_text)


@CHARTS
def test_a_chart_is_whole(name: str, committed: Series) -> None:
    chart = VALIDATION_CHARTS[name](committed)
    assert chart.title
    assert chart.caption
    for row in chart.table.rows:
        assert row.header.text in chart.description
        assert all(cell.text in chart.description for cell in row.cells)
    assert all(dot.hover for dot in chart.picture.dots)
    assert all(0 <= dot.value <= chart.picture.domain for dot in chart.picture.dots)


@CHARTS
def test_the_interactive_chart_has_the_dots_of_the_picture(name: str, committed: Series) -> None:
    chart = VALIDATION_CHARTS[name](committed)
    spec = chart.plotly
    assert json.loads(json.dumps(spec, allow_nan=False)) == spec
    drawn = [(x, y) for trace in spec["data"] for x, y in zip(trace["x"], trace["y"], strict=True)]
    # written to the kilobyte: a millionth of the width
    assert sorted(drawn) == sorted((round(dot.value / WHOLE, 6), dot.y) for dot in chart.picture.dots)
    axis = spec["layout"]["xaxis"]
    assert axis["ticktext"] == [tick.text for tick in chart.picture.ticks]
    assert axis["ticksuffix"] == ""
    assert spec["layout"]["yaxis"]["range"] == [chart.picture.floor, 0]


@CHARTS
def test_without_traces_there_is_no_chart(name: str, series: Series) -> None:
    with pytest.raises(MissingFigureError, match="trace"):
        VALIDATION_CHARTS[name](series)


def test_every_case_that_is_compared_has_its_dot(committed: Series) -> None:
    dots = validation_charts.own_errors(committed).picture.dots
    fixed = [row for row in committed.compared if row.record.case.allocator == "fixed"]
    published = [row for row in committed.published if row.error is not None]
    assert sum(not dot.is_hollow for dot in dots) == len(fixed)
    assert sum(dot.is_hollow for dot in dots) == len(published)


def test_an_error_lies_where_the_graduations_say(committed: Series) -> None:
    ticks = VALIDATION_CHARTS["own_errors"](committed).picture.ticks
    zero, last = ticks[len(ticks) // 2].value, ticks[-1]
    share = float(last.text.removesuffix("\u00a0%").replace(",", ".")) / 100
    dots = validation_charts.own_errors(committed).picture.dots
    worst = max((row for row in committed.compared if row.record.case.allocator == "fixed"), key=lambda r: abs(r.error))
    assert any(dot.value == pytest.approx(zero + worst.error / share * (last.value - zero), abs=2) for dot in dots)


def test_each_graduation_of_the_rules_is_four_times_the_one_before(committed: Series) -> None:
    picture = validation_charts.rules(committed).picture
    gaps = {right.value - left.value for left, right in zip(picture.ticks, picture.ticks[1:], strict=False)}
    assert max(gaps) - min(gaps) <= 1
    (rule,) = {rule.value for rule in picture.rules}
    assert rule == place("×\u00a01", committed, "rules")
    row = next(row for row in committed.published if row.error is not None)
    said = row.peers[PEERS[0].name] or row.peers["16 octets par paramètre"]
    assert said is not None
    expected = rule + math.log(said / row.run.measured_bytes, 4) * max(gaps)
    assert any(dot.value == pytest.approx(expected, abs=10) for dot in picture.dots)


def test_a_rule_says_its_median_at_the_end_of_its_row(committed: Series) -> None:
    chart = validation_charts.rules(committed)
    labels = [text.text for text in chart.picture.texts if text.role == "label"]
    assert labels == [row.header.text for row in chart.table.rows]
    values = [text.text for text in chart.picture.texts if text.role == "value"]
    assert len(values) == len(labels)
