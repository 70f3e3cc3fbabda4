"""The figures that everyone reads, worked out by hand."""

from __future__ import annotations

from msgspec.structs import replace

from sitegen.records.case import Case
from sitegen.records.model import Components, Phase, Sample, Step
from sitegen.records.summary import net_peak_bytes, spread, summarise
from tests.factories import record

CASE = Case()
STEPS = (
    Step(duration_ns=10, phases={"forward": Phase(peak_rss_bytes=500, duration_ns=4)}),
    Step(
        duration_ns=9,
        phases={
            "forward": Phase(peak_rss_bytes=700, duration_ns=3),
            "backward": Phase(peak_rss_bytes=900, duration_ns=3),
            "optimizer_step": Phase(peak_rss_bytes=800, duration_ns=3),
        },
    ),
)
SAMPLE: Sample = replace(
    record(CASE).samples[0],
    baseline_bytes=100,
    load_peak_bytes=2000,
    process_peak_bytes=2000,
    steps=STEPS,
    components=Components(weights=1, gradients=2, optimizer_state=3),
)


def test_peaks_are_net_and_loading_is_apart() -> None:
    summary = summarise(CASE, (SAMPLE,))
    assert summary.peak_bytes == 900 - 100  # loading stood higher (2000), and does not count
    assert summary.load_peak_bytes == 2000 - 100
    assert summary.step_peak_bytes == (500 - 100, 900 - 100)
    assert summary.phase_peak_bytes == {"forward": 600, "backward": 800, "optimizer_step": 700}
    assert summary.step_duration_ns == (10, 9)


def test_where_phases_cannot_be_told_apart_the_whole_process_counts_and_the_rest_is_unknown() -> None:
    blind = Step(duration_ns=5, phases={"forward": Phase(peak_rss_bytes=None, duration_ns=5)})
    summary = summarise(CASE, (replace(SAMPLE, steps=(blind,)),))
    assert summary.peak_bytes == 2000 - 100
    assert summary.step_peak_bytes == (None,)
    assert summary.phase_peak_bytes == {"forward": None}


def test_of_three_samples_the_median_is_summarised_and_the_extremes_are_kept() -> None:
    def with_peak(peak: int) -> Sample:
        phase = Phase(peak_rss_bytes=peak, duration_ns=1)
        return replace(SAMPLE, steps=(Step(duration_ns=1, phases={"forward": phase}),))

    samples = (with_peak(1100), with_peak(1050), with_peak(1075))
    summary = summarise(CASE, samples)
    assert (summary.peak_bytes, summary.peak_range_bytes, summary.samples) == (975, (950, 1000), 3)
    assert spread(samples) == (1000 - 950) / 975


def test_a_failure_has_no_peak_and_is_no_zero() -> None:
    failed = replace(SAMPLE, status="out_of_memory", reason="killed")
    summary = summarise(CASE, (SAMPLE, failed))
    assert summary.status == "out_of_memory"
    assert summary.peak_bytes is None
    assert summary.step_peak_bytes == ()
    assert summary.component_bytes is None


def test_a_baseline_has_no_peak_of_its_own() -> None:
    empty = replace(SAMPLE, steps=(), load_peak_bytes=None)
    summary = summarise(Case(mode="baseline"), (empty,))
    assert net_peak_bytes(empty) is None
    assert (summary.peak_bytes, summary.baseline_bytes) == (None, 100)
