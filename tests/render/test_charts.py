"""Charts say what the records say: in the picture, in the interactive form, in the table and in the text."""

from __future__ import annotations

import json
from typing import Any

import plotly.graph_objects as go
import pytest
from msgspec.structs import replace

from sitegen.records.model import Record
from sitegen.render import charts
from sitegen.render.charts import CHARTS, Chart
from sitegen.render.evidence import MissingFigureError
from sitegen.render.series import LORA_8, TRAINING_2, TRAINING_8, Series, under
from tests import factories

NARROW = "\u202f"
NO_BREAK = "\u00a0"
# 134 515 008 parameters of 4 bytes; gradients as much, Adam twice as much.
WEIGHTS = 538_060_032
STATES = 4 * WEIGHTS


def sums(chart: Chart) -> dict[int, int]:
    """The size of each row of bars, by its height in the picture."""
    found: dict[int, int] = {}
    for bar in chart.picture.bars:
        found[bar.top] = found.get(bar.top, 0) + bar.size
    return found


def peak(series: Series, case: Any) -> int:
    record = series.ok(case)
    assert record is not None
    assert record.summary.peak_bytes is not None
    return record.summary.peak_bytes


def without(case: Any) -> Series:
    return Series(record for record in factories.reference_suite() if record.case != case)


def strings(value: Any) -> list[str]:
    """Every text of a JSON value."""
    if isinstance(value, str):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for item in items for text in strings(item)]


def test_components_add_up_to_the_peak(series: Series) -> None:
    chart = charts.by_component(series)
    assert peak(series, TRAINING_8) in sums(chart).values()
    sizes = {bar.component: bar.size for bar in chart.picture.bars if bar.start < STATES}
    assert sizes["weights"] == sizes["gradients"] == WEIGHTS
    assert sizes["optimizer_state"] == 2 * WEIGHTS


def test_the_names_of_the_components_are_under_the_row_that_the_text_speaks_of(series: Series) -> None:
    picture = charts.by_component(series).picture
    label = next(text for text in picture.texts if text.text == f"Entraînement, 8{NO_BREAK}×{NO_BREAK}256")
    named = next(text for text in picture.texts if text.text.startswith("Activations"))
    between = [text for text in picture.texts if text.role == "label" and label.y < text.y < named.y]
    assert named.y > label.y
    assert between == []
    rest = f"{round((peak(series, TRAINING_8) - STATES) / 1e6):,}".replace(",", NARROW)
    assert named.detail == f"{rest}{NO_BREAK}Mo"


def test_a_detail_is_styled_as_in_the_picture(series: Series) -> None:
    texts = [each["text"] for each in charts.batch_doubling(series).plotly["layout"]["annotations"]]
    assert f'Poids <span style="font-weight:400;color:var(--muted)">538{NO_BREAK}Mo</span>' in texts
    assert "Lot de 1" in texts


def test_the_floor_of_the_doubling_is_four_times_the_weights(series: Series) -> None:
    chart = charts.batch_doubling(series)
    assert {rule.value for rule in chart.picture.rules} == {STATES}
    names = [text for text in chart.picture.texts if text.role == "label"]
    assert [text.text for text in names] == ["Lot de 1", "Lot de 2", "Lot de 4", "Lot de 8"]
    growth = peak(series, under(TRAINING_2, "fixed")) - peak(series, under(factories.TRAINING[1], "fixed"))
    assert names[1].detail == f"+{round(growth / 1e6)}{NO_BREAK}Mo"


def test_phases_follow_their_order_and_show_step_one(series: Series) -> None:
    chart = charts.by_phase(series)
    names = [row.header.text.replace(NO_BREAK, " ") for row in chart.table.rows]
    assert names == [
        "Chargement du modèle",
        *(f"Étape {step} : {phase}" for step in (1, 2) for phase in ("passe avant", "passe arrière", "mise à jour")),
    ]
    record = series.ok(under(TRAINING_8, "fixed"))
    assert record is not None
    assert {rule.value for rule in chart.picture.rules} == {record.summary.step_peak_bytes[0]}
    assert [bar.size for bar in chart.picture.bars if bar.component == "peak"] == [record.summary.peak_bytes]


def test_fixes_say_how_far_they_are_from_the_full_run(series: Series) -> None:
    chart = charts.fixes(series)
    values = {text.y: text.text for text in chart.picture.texts if text.role == "value"}
    expected = round(100 * (peak(series, LORA_8) / peak(series, TRAINING_8) - 1))
    assert f"−{-expected}{NO_BREAK}%" in values.values()


def test_allocators_put_both_peaks_of_every_training_case_on_one_row(series: Series) -> None:
    chart = charts.allocators(series)
    spans = {(span.start, span.end) for span in chart.picture.spans}
    assert (peak(series, under(TRAINING_8, "fixed")), peak(series, TRAINING_8)) in spans
    assert len(spans) == 8  # four batches, 4 × 512, three fixes


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_is_whole(series: Series, name: str) -> None:
    chart = CHARTS[name](series)
    assert chart.id == chart.id.lower()
    assert chart.title
    assert chart.caption
    for row in chart.table.rows:
        assert row.header.text in chart.description
        for cell in row.cells:
            assert cell.text in chart.description
    assert all(bar.hover for bar in chart.picture.bars)


@pytest.mark.parametrize("name", CHARTS)
def test_a_specification_is_plain_json_in_french(series: Series, name: str) -> None:
    spec = CHARTS[name](series).plotly
    assert json.loads(json.dumps(spec, allow_nan=False)) == spec
    assert "bdata" not in json.dumps(spec)
    assert spec["layout"]["separators"] == f",{NARROW}"
    assert spec["config"]["showSendToCloud"] is False
    assert "template" not in spec["layout"]
    texts = strings(spec)
    assert not [text for text in texts if "http" in text]
    colours = [text for text in texts if text.startswith(("#", "rgb"))]
    assert set(colours) <= {"rgba(0,0,0,0)"}


@pytest.mark.parametrize("name", CHARTS)
def test_a_specification_is_one_that_plotly_accepts_as_it_is(series: Series, name: str) -> None:
    spec = CHARTS[name](series).plotly
    accepted = go.Figure(data=spec["data"], layout=spec["layout"]).to_plotly_json()
    assert accepted["data"] == spec["data"]
    assert {key: one for key, one in accepted["layout"].items() if key != "template"} == spec["layout"]


@pytest.mark.parametrize("name", CHARTS)
def test_the_interactive_chart_has_the_geometry_of_the_picture(series: Series, name: str) -> None:
    chart = CHARTS[name](series)
    layout, picture = chart.plotly["layout"], chart.picture
    assert layout["yaxis"]["range"] == [picture.floor, 0]
    assert layout["margin"]["b"] == picture.height - picture.floor
    assert layout["xaxis"]["range"] == [0, pytest.approx(picture.domain / 1e9, abs=1e-6)]
    drawn = [
        (round(base * 1e9), round(x * 1e9), y - width / 2)
        for trace in chart.plotly["data"]
        if trace["type"] == "bar"
        for base, x, y, width in zip(trace["base"], trace["x"], trace["y"], trace["width"], strict=True)
    ]
    expected = [(bar.start, bar.size, bar.top) for bar in picture.bars]
    assert sorted(drawn) == [pytest.approx(each, abs=1000) for each in sorted(expected)]  # written to the kilobyte
    assert len(layout.get("annotations", ())) == len(picture.texts)


def test_a_run_that_failed_keeps_its_row_and_has_no_bar() -> None:
    failed = factories.record(under(TRAINING_2, "fixed"), status="out_of_memory", reason="killed")
    chart = charts.batch_doubling(Series([*without(failed.case).records, failed]))
    assert len(sums(chart)) == 3
    assert "mémoire insuffisante" in [text.text for text in chart.picture.texts]
    row = next(row for row in chart.table.rows if row.header.text == "Lot de 2")
    assert {cell.text for cell in row.cells} == {"mémoire insuffisante"}
    assert "0" not in {cell.text for cell in row.cells}


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_without_its_case_says_which_one_to_measure(name: str) -> None:
    records = [record for record in factories.reference_suite() if record.case.batch_size != 8]
    with pytest.raises(MissingFigureError, match="batch-size 8"):
        raise_with_remedy(name, Series(records))


def raise_with_remedy(name: str, series: Series) -> None:
    """Put the remedy in what is matched."""
    try:
        CHARTS[name](series)
    except MissingFigureError as error:
        raise MissingFigureError(f"{error.what} {error.remedy}") from error


def test_a_peak_that_cannot_be_divided_is_drawn_whole(series: Series) -> None:
    record = series.ok(TRAINING_8)
    assert record is not None
    summary = replace(record.summary, component_bytes=None)
    others = [each for each in series.records if each is not record]
    chart = charts.by_component(Series([*others, replace(record, summary=summary)]))
    assert [bar.size for bar in chart.picture.bars if bar.component == "phase"] == [record.summary.peak_bytes]
    row = next(row for row in chart.table.rows if row.header.text == f"Entraînement, 8{NO_BREAK}×{NO_BREAK}256")
    assert [cell.text for cell in row.cells[:4]] == ["non réparti"] * 4


def test_identifiers_take_the_prefix(series: Series) -> None:
    for draw in CHARTS.values():
        chart = draw(series, "serie")
        assert chart.id.startswith("serie-")
        assert chart.table.id.startswith("serie-")


def test_records_without_steps_have_no_chart() -> None:
    assert charts.of_record(factories.record(factories.BASELINE)) is None
    assert charts.of_record(factories.record(TRAINING_8, status="timeout", reason="900 s")) is None


def test_an_inference_record_has_one_step_and_nothing_to_compare() -> None:
    record: Record = factories.record(factories.INFERENCE_8)
    chart = charts.of_record(record)
    assert chart is not None
    assert chart.picture.rules == ()
    assert len(chart.picture.bars) == 2
