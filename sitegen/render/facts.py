"""The named quantities of the prose: the only way for a number about memory, time or saving to enter a page.

A new fact is one line of `FACTS`: how it is written, and how it is computed from the records of the series that the
prose speaks of. Facts of kind ``quoted`` come from others; those of kind ``arithmetic`` were not run here, and say so.
What a record gives as it is, is measured; what is worked out of it (a ratio, a difference) is said to be computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from sitegen.french import (
    change,
    date,
    duration,
    gigabytes,
    mebibytes,
    megabytes,
    number,
    percent,
    size,
    times,
)
from sitegen.memory import formulas
from sitegen.records.case import Case
from sitegen.render import published, worked
from sitegen.render.calculator_facts import CALCULATOR_FACTS
from sitegen.render.companion_facts import COMPANION_FACTS
from sitegen.render.evidence import Evidence
from sitegen.render.further_facts import FURTHER_FACTS
from sitegen.render.labels import cores, label, processor, pytorch, transformers
from sitegen.render.origins import Fact, Source, computed, constant, quoted, rule
from sitegen.render.series import (
    BASELINE,
    BFLOAT16_8,
    CHECKPOINTING_8,
    INFERENCE_1,
    INFERENCE_8,
    LORA_8,
    REFERENCE,
    TRAINING_1,
    TRAINING_2,
    TRAINING_4,
    TRAINING_4_LONG,
    TRAINING_8,
    Series,
    under,
)
from sitegen.render.tables import Kind
from sitegen.render.validation_facts import VALIDATION_FACTS


@dataclass(frozen=True)
class Stated:
    """A fact computed for one series: `href` starts at the site's root, `records` are keys of those behind it."""

    name: str
    value: Any
    text: str
    kind: Kind
    title: str
    href: str
    records: tuple[str, ...] = ()


def fixed(case: Case) -> Case:
    """The case under the fixed allocator."""
    return under(case, "fixed")


def _slower(e: Evidence, case: Case, reference: Case) -> float:
    """Relative change of the duration of a step: one step alone is noisy, and no claim may rest on it."""
    return e.step_duration(case) / e.step_duration(reference) - 1


def _growth(e: Evidence, case: Case, smaller: Case) -> int:
    """What the larger batch adds to the peak, in bytes, under the fixed allocator: the heap would blur it."""
    return e.peak(fixed(case)) - e.peak(fixed(smaller))


def _example(e: Evidence) -> int:
    """What each example adds from batch 4 to batch 8, in bytes."""
    return _growth(e, TRAINING_8, TRAINING_4) // 4


def _weights(e: Evidence) -> int:
    """Bytes of the float32 weights."""
    return e.component(TRAINING_8, "weights")


def _adapter_states(e: Evidence, case: Case) -> int:
    """Gradients and optimizer state in bytes."""
    return e.component(case, "gradients") + e.component(case, "optimizer_state")


def _published_gap(e: Evidence, case: Case) -> float:
    """How far our peak is from the published one, without its sign."""
    return abs(e.peak(case) / published.size(case) - 1)


def _samples(e: Evidence) -> int:
    """The largest number of processes behind one row of the reference suite."""
    return max(len(e.record(each).samples) for case in REFERENCE for each in (case, fixed(case)))


def _runs(samples: int) -> str:
    """What a row stands for: one run, or the one of median peak."""
    return "un seul essai" if samples == 1 else f"le médian de {samples} essais au plus"


FACTS: Final[dict[str, Fact]] = {
    # The model, the machine, the day
    "parameters": Fact(number, lambda e: e.parameters(INFERENCE_1)),
    "machine": Fact(processor, lambda e: e.record(TRAINING_8).machine),
    "cores": Fact(cores, lambda e: e.record(TRAINING_8).machine),
    "torch": Fact(pytorch, lambda e: e.record(TRAINING_8).environment),
    "transformers": Fact(transformers, lambda e: e.record(TRAINING_8).environment),
    "measured_on": Fact(date, lambda e: e.record(TRAINING_8).samples[-1].measured_at),
    "baseline": Fact(size, lambda e: e.baseline(BASELINE)),
    "training_8_baseline": Fact(size, lambda e: e.baseline(TRAINING_8)),
    "lora_baseline": Fact(size, lambda e: e.baseline(LORA_8)),
    "runs": Fact(_runs, _samples),
    # The lines of the bill
    "weights": Fact(size, _weights),
    "gradients": Fact(size, lambda e: e.component(TRAINING_8, "gradients")),
    "optimizer_state": Fact(size, lambda e: e.component(TRAINING_8, "optimizer_state")),
    "states": computed(size, lambda e: e.states(TRAINING_8)),
    "states_over_weights": computed(lambda v: times(v, 0), lambda e: e.states(TRAINING_8) / _weights(e)),
    "gradients_over_weights": computed(times, lambda e: e.component(TRAINING_8, "gradients") / _weights(e)),
    "optimizer_state_over_weights": computed(times, lambda e: e.component(TRAINING_8, "optimizer_state") / _weights(e)),
    "training_8_activations": computed(size, lambda e: e.activations(TRAINING_8)),
    "training_8_fixed_activations": computed(size, lambda e: e.activations(fixed(TRAINING_8))),
    # Peaks
    "inference_1_peak": Fact(size, lambda e: e.peak(INFERENCE_1)),
    "inference_8_peak": Fact(size, lambda e: e.peak(INFERENCE_8)),
    "inference_8_fixed_peak": Fact(size, lambda e: e.peak(fixed(INFERENCE_8))),
    "training_1_peak": Fact(size, lambda e: e.peak(TRAINING_1)),
    "training_2_peak": Fact(size, lambda e: e.peak(TRAINING_2)),
    "training_4_peak": Fact(size, lambda e: e.peak(TRAINING_4)),
    "training_8_peak": Fact(size, lambda e: e.peak(TRAINING_8)),
    "training_8_gross_peak": Fact(size, lambda e: e.peak(TRAINING_8) + e.baseline(TRAINING_8)),
    "training_8_fixed_peak": Fact(size, lambda e: e.peak(fixed(TRAINING_8))),
    "training_4_long_peak": Fact(size, lambda e: e.peak(TRAINING_4_LONG)),
    "training_4_long_fixed_peak": Fact(size, lambda e: e.peak(fixed(TRAINING_4_LONG))),
    "checkpointing_8_peak": Fact(size, lambda e: e.peak(CHECKPOINTING_8)),
    "checkpointing_8_fixed_peak": Fact(size, lambda e: e.peak(fixed(CHECKPOINTING_8))),
    "bfloat16_8_peak": Fact(size, lambda e: e.peak(BFLOAT16_8)),
    "lora_8_peak": Fact(size, lambda e: e.peak(LORA_8)),
    "lora_8_fixed_peak": Fact(size, lambda e: e.peak(fixed(LORA_8))),
    # Ratios of peaks
    "training_over_inference_8": computed(times, lambda e: e.peak(TRAINING_8) / e.peak(INFERENCE_8)),
    "training_over_inference_8_fixed": computed(
        times, lambda e: e.peak(fixed(TRAINING_8)) / e.peak(fixed(INFERENCE_8))
    ),
    "training_1_over_weights": computed(times, lambda e: e.peak(TRAINING_1) / _weights(e)),
    "training_8_over_weights": computed(times, lambda e: e.peak(TRAINING_8) / _weights(e)),
    "length_change": computed(lambda v: change(v, 1), lambda e: e.change(TRAINING_4_LONG, TRAINING_8)),
    "length_change_fixed": computed(
        lambda v: percent(abs(v), 1), lambda e: e.change(fixed(TRAINING_4_LONG), fixed(TRAINING_8))
    ),
    # Steps
    "training_8_step_1": Fact(size, lambda e: e.step(fixed(TRAINING_8), 1)),
    "training_8_step_2": Fact(size, lambda e: e.step(fixed(TRAINING_8), 2)),
    "training_8_step_gap": computed(size, lambda e: e.step(fixed(TRAINING_8), 2) - e.step(fixed(TRAINING_8), 1)),
    # What one more example costs, and what does not depend on it
    "growth_1_to_2": computed(size, lambda e: _growth(e, TRAINING_2, TRAINING_1)),
    "growth_2_to_4": computed(size, lambda e: _growth(e, TRAINING_4, TRAINING_2)),
    "growth_4_to_8": computed(size, lambda e: _growth(e, TRAINING_8, TRAINING_4)),
    "growth_ratio_2_to_4": computed(
        times, lambda e: _growth(e, TRAINING_4, TRAINING_2) / _growth(e, TRAINING_2, TRAINING_1)
    ),
    "growth_ratio_4_to_8": computed(
        times, lambda e: _growth(e, TRAINING_8, TRAINING_4) / _growth(e, TRAINING_4, TRAINING_2)
    ),
    "example_bytes": computed(size, _example),
    "examples_8": computed(size, lambda e: 8 * _example(e)),
    # Fixes at batch 8
    "checkpointing_change": computed(change, lambda e: e.change(CHECKPOINTING_8, TRAINING_8)),
    "checkpointing_change_fixed": computed(change, lambda e: e.change(fixed(CHECKPOINTING_8), fixed(TRAINING_8))),
    "checkpointing_slower": computed(change, lambda e: _slower(e, CHECKPOINTING_8, TRAINING_8)),
    "checkpointing_slower_fixed": computed(change, lambda e: _slower(e, fixed(CHECKPOINTING_8), fixed(TRAINING_8))),
    "bfloat16_change": computed(change, lambda e: e.change(BFLOAT16_8, TRAINING_8)),
    "bfloat16_change_fixed": computed(change, lambda e: e.change(fixed(BFLOAT16_8), fixed(TRAINING_8))),
    "bfloat16_slower": computed(change, lambda e: _slower(e, BFLOAT16_8, TRAINING_8)),
    "bfloat16_slower_fixed": computed(change, lambda e: _slower(e, fixed(BFLOAT16_8), fixed(TRAINING_8))),
    "bfloat16_states_a_parameter": computed(
        worked.bytes_a_parameter, lambda e: e.states(BFLOAT16_8) / e.parameters(BFLOAT16_8)
    ),
    "lora_change": computed(change, lambda e: e.change(LORA_8, TRAINING_8)),
    "lora_change_fixed": computed(change, lambda e: e.change(fixed(LORA_8), fixed(TRAINING_8))),
    "lora_slower": computed(change, lambda e: _slower(e, LORA_8, TRAINING_8)),
    "lora_slower_fixed": computed(change, lambda e: _slower(e, fixed(LORA_8), fixed(TRAINING_8))),
    "lora_trainable": Fact(number, lambda e: e.trainable(LORA_8)),
    "lora_peak_share": computed(percent, lambda e: e.peak(LORA_8) / e.peak(TRAINING_8)),
    "lora_share": computed(lambda v: percent(v, 2), lambda e: e.trainable(LORA_8) / e.parameters(INFERENCE_1)),
    "lora_states_share": computed(percent, lambda e: _adapter_states(e, LORA_8) / _adapter_states(e, TRAINING_8)),
    "lora_activations_share": computed(
        percent, lambda e: e.activations(fixed(LORA_8)) / e.activations(fixed(TRAINING_8))
    ),
    "allocator_gap": computed(size, lambda e: e.peak(TRAINING_8) - e.peak(fixed(TRAINING_8))),
    "allocator_gap_lora": computed(size, lambda e: e.peak(LORA_8) - e.peak(fixed(LORA_8))),
    "allocator_change": computed(change, lambda e: e.change(fixed(TRAINING_8), TRAINING_8)),
    "allocator_change_lora": computed(change, lambda e: e.change(fixed(LORA_8), LORA_8)),
    "allocator_slower": computed(change, lambda e: _slower(e, fixed(TRAINING_8), TRAINING_8)),
    # Time
    "training_8_duration": Fact(duration, lambda e: e.duration(TRAINING_8)),
    "training_8_step_duration": Fact(duration, lambda e: e.step_duration(TRAINING_8)),
    # What others published
    "published_training_8_mebibytes": quoted(mebibytes, lambda _: published.size(TRAINING_8)),
    "published_training_8": quoted(megabytes, lambda _: published.size(TRAINING_8)),
    "published_inference_8_mebibytes": quoted(mebibytes, lambda _: published.size(INFERENCE_8)),
    "published_inference_8": quoted(megabytes, lambda _: published.size(INFERENCE_8)),
    "published_ratio": quoted(times, lambda _: published.TRAINING_OVER_INFERENCE),
    "published_checkpointing": quoted(change, lambda _: published.CHECKPOINTING_CHANGE),
    "published_bfloat16": quoted(change, lambda _: published.BFLOAT16_CHANGE),
    "published_weights": quoted(megabytes, lambda _: published.WEIGHTS_BYTES),
    "published_training_over_weights": quoted(times, lambda _: published.size(TRAINING_8) / published.WEIGHTS_BYTES),
    "published_mixed_units": quoted(lambda v: times(v, 0), lambda _: published.MIXED_UNITS_RATIO),
    "published_training_gap": computed(percent, lambda e: _published_gap(e, TRAINING_8)),
    "published_inference_gap": computed(percent, lambda e: _published_gap(e, INFERENCE_8)),
    # The rule, on a model that was not run here
    "example_parameters": rule(worked.billions, formulas.DEFAULT_PARAMETERS_BILLIONS),
    "example_weights": rule(gigabytes, worked.WEIGHTS_BYTES),
    "example_pure": rule(gigabytes, worked.PURE_BYTES),
    "example_mixed": rule(gigabytes, worked.MIXED_BYTES),
    "example_activations": rule(gigabytes, worked.ACTIVATIONS_BYTES),
    "example_total": rule(gigabytes, worked.TOTAL_BYTES),
    "example_adapter_total": rule(gigabytes, worked.ADAPTER_TOTAL_BYTES),
    "mixed_bytes": rule(worked.bytes_a_parameter, formulas.MIXED_ADAM.bytes_per_parameter),
    "pure_bytes": rule(worked.bytes_a_parameter, formulas.PURE_16BIT_ADAM.bytes_per_parameter),
    "small_card": constant(gigabytes, worked.SMALL_CARD_BYTES),
    "large_card": constant(gigabytes, worked.LARGE_CARD_BYTES),
    "small_machine": constant(gigabytes, worked.SMALL_MACHINE_BYTES),
    "logits_8": constant(size, worked.logits_bytes(INFERENCE_8)),
    "vocabulary": constant(number, worked.VOCABULARY),
    "lora_64_share": constant(lambda v: percent(v, 1), worked.adapter_share(64)),
    "l4_capacity": constant(worked.card, worked.L4_BYTES),
    "rtx4090_capacity": constant(worked.card, worked.RTX_4090_BYTES),
    # The examples of the calculators
    **CALCULATOR_FACTS,
    # Of the companion articles
    **COMPANION_FACTS,
    **FURTHER_FACTS,
    # How far estimates are from measures
    **VALIDATION_FACTS,
}


def stated(name: str, series: Series) -> Stated:
    """A fact for one series.

    Raises:
        KeyError: there is no such fact.
        MissingFigureError: no successful record gives it.
    """
    fact = FACTS[name]
    evidence = Evidence(series)
    value = fact.value(evidence)
    source = fact.source or _records(evidence, worked_out=fact.computed)
    records = tuple(record.key for record in evidence.used)
    return Stated(name, value, fact.write(value), fact.kind, source.title, source.href, records)


def _records(evidence: Evidence, *, worked_out: bool) -> Source:
    """The records that gave a number, for a pointer that rests on it; the link leads to the first."""
    several = len(evidence.used) > 1
    how = (
        "Mesuré" if not worked_out and not several else f"Calculé à partir {'de relevés' if several else 'd’un relevé'}"
    )
    cases = " ; ".join(label(record.case) for record in evidence.used)
    return Source(f"{how} : {cases}", f"mesures/{evidence.used[0].key}.html")
