"""The named quantities of the prose: the only way for a number about memory, time or saving to enter a page.

A new fact is one line of `FACTS`: how it is written, and how it is computed from the records of the series that the
prose speaks of. Facts of kind ``quoted`` come from others; those of kind ``arithmetic`` were not run here, and say so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from sitegen.french import change, date, duration, gigabytes, mebibytes, megabytes, number, percent, size, times
from sitegen.memory import formulas
from sitegen.records.case import Case
from sitegen.render import published, worked
from sitegen.render.evidence import Evidence
from sitegen.render.labels import label
from sitegen.render.series import (
    BFLOAT16_8,
    CHECKPOINTING_8,
    INFERENCE_1,
    INFERENCE_8,
    LORA_8,
    TRAINING_1,
    TRAINING_2,
    TRAINING_4,
    TRAINING_4_LONG,
    TRAINING_8,
    Series,
    under,
)
from sitegen.render.tables import Kind


@dataclass(frozen=True)
class Fact:
    """How a quantity is written in French, how it is computed, and what kind of quantity it is."""

    write: Callable[[Any], str]
    value: Callable[[Evidence], Any]
    kind: Kind = "measured"


@dataclass(frozen=True)
class Stated:
    """A fact computed for one series: `href` starts at the site's root."""

    name: str
    value: Any
    text: str
    kind: Kind
    title: str
    href: str


def fixed(case: Case) -> Case:
    """The case under the fixed allocator."""
    return under(case, "fixed")


def _states(e: Evidence, case: Case) -> int:
    """Weights, gradients and optimizer state in bytes."""
    return e.peak(case) - e.activations(case)


def _change(e: Evidence, case: Case, reference: Case) -> float:
    """Relative change of the peak."""
    return e.peak(case) / e.peak(reference) - 1


def _slower(e: Evidence, case: Case) -> float:
    """Relative change of a step's duration against full training at batch 8."""
    return e.step_duration(case) / e.step_duration(TRAINING_8) - 1


def _growth(e: Evidence, case: Case, smaller: Case) -> int:
    """What the larger batch adds to the peak, in bytes, under the fixed allocator: the heap would blur it."""
    return e.peak(fixed(case)) - e.peak(fixed(smaller))


def _weights(e: Evidence) -> int:
    """Bytes of the float32 weights."""
    return e.component(TRAINING_8, "weights")


FACTS: Final[dict[str, Fact]] = {
    # The model, the machine, the day
    "parameters": Fact(number, lambda e: e.parameters(INFERENCE_1)),
    "machine": Fact(str, lambda e: e.record(TRAINING_8).machine.cpu_model),
    "cores": Fact(number, lambda e: e.record(TRAINING_8).machine.cores),
    "torch_version": Fact(str, lambda e: e.record(TRAINING_8).environment.packages["torch"]),
    "transformers_version": Fact(str, lambda e: e.record(TRAINING_8).environment.packages["transformers"]),
    "measured_on": Fact(date, lambda e: e.record(TRAINING_8).samples[-1].measured_at),
    "baseline": Fact(size, lambda e: e.baseline(TRAINING_8)),
    # The lines of the bill
    "weights": Fact(size, _weights),
    "gradients": Fact(size, lambda e: e.component(TRAINING_8, "gradients")),
    "optimizer_state": Fact(size, lambda e: e.component(TRAINING_8, "optimizer_state")),
    "states": Fact(size, lambda e: _states(e, TRAINING_8)),
    "states_over_weights": Fact(lambda v: times(v, 0), lambda e: _states(e, TRAINING_8) / _weights(e)),
    "gradients_over_weights": Fact(times, lambda e: e.component(TRAINING_8, "gradients") / _weights(e)),
    "optimizer_state_over_weights": Fact(times, lambda e: e.component(TRAINING_8, "optimizer_state") / _weights(e)),
    "training_8_activations": Fact(size, lambda e: e.activations(TRAINING_8)),
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
    "training_over_inference_8": Fact(times, lambda e: e.peak(TRAINING_8) / e.peak(INFERENCE_8)),
    "training_over_inference_8_fixed": Fact(times, lambda e: e.peak(fixed(TRAINING_8)) / e.peak(fixed(INFERENCE_8))),
    "training_1_over_weights": Fact(times, lambda e: e.peak(TRAINING_1) / _weights(e)),
    "training_8_over_weights": Fact(times, lambda e: e.peak(TRAINING_8) / _weights(e)),
    "length_change_fixed": Fact(
        lambda v: change(v, 1), lambda e: _change(e, fixed(TRAINING_4_LONG), fixed(TRAINING_8))
    ),
    # Steps
    "training_8_step_1": Fact(size, lambda e: e.step(fixed(TRAINING_8), 1)),
    "training_8_step_2": Fact(size, lambda e: e.step(fixed(TRAINING_8), 2)),
    "training_8_step_gap": Fact(size, lambda e: e.step(fixed(TRAINING_8), 2) - e.step(fixed(TRAINING_8), 1)),
    # What one more example costs, and what does not depend on it
    "growth_1_to_2": Fact(size, lambda e: _growth(e, TRAINING_2, TRAINING_1)),
    "growth_2_to_4": Fact(size, lambda e: _growth(e, TRAINING_4, TRAINING_2)),
    "growth_4_to_8": Fact(size, lambda e: _growth(e, TRAINING_8, TRAINING_4)),
    "growth_ratio_2_to_4": Fact(
        times, lambda e: _growth(e, TRAINING_4, TRAINING_2) / _growth(e, TRAINING_2, TRAINING_1)
    ),
    "growth_ratio_4_to_8": Fact(
        times, lambda e: _growth(e, TRAINING_8, TRAINING_4) / _growth(e, TRAINING_4, TRAINING_2)
    ),
    "example_bytes": Fact(size, lambda e: _growth(e, TRAINING_8, TRAINING_4) // 4),
    # Fixes at batch 8
    "checkpointing_change": Fact(change, lambda e: _change(e, CHECKPOINTING_8, TRAINING_8)),
    "checkpointing_change_fixed": Fact(change, lambda e: _change(e, fixed(CHECKPOINTING_8), fixed(TRAINING_8))),
    "checkpointing_slower": Fact(change, lambda e: _slower(e, CHECKPOINTING_8)),
    "bfloat16_change": Fact(change, lambda e: _change(e, BFLOAT16_8, TRAINING_8)),
    "bfloat16_change_fixed": Fact(change, lambda e: _change(e, fixed(BFLOAT16_8), fixed(TRAINING_8))),
    "bfloat16_slower": Fact(change, lambda e: _slower(e, BFLOAT16_8)),
    "lora_change": Fact(change, lambda e: _change(e, LORA_8, TRAINING_8)),
    "lora_change_fixed": Fact(change, lambda e: _change(e, fixed(LORA_8), fixed(TRAINING_8))),
    "lora_slower": Fact(change, lambda e: _slower(e, LORA_8)),
    "lora_trainable": Fact(number, lambda e: e.trainable(LORA_8)),
    "lora_peak_share": Fact(percent, lambda e: e.peak(LORA_8) / e.peak(TRAINING_8)),
    "lora_share": Fact(lambda v: percent(v, 2), lambda e: e.trainable(LORA_8) / e.parameters(INFERENCE_1)),
    "allocator_gap": Fact(size, lambda e: e.peak(TRAINING_8) - e.peak(fixed(TRAINING_8))),
    "allocator_gap_lora": Fact(size, lambda e: e.peak(LORA_8) - e.peak(fixed(LORA_8))),
    "allocator_change": Fact(change, lambda e: _change(e, fixed(TRAINING_8), TRAINING_8)),
    "allocator_change_lora": Fact(change, lambda e: _change(e, fixed(LORA_8), LORA_8)),
    # Time
    "training_8_duration": Fact(duration, lambda e: e.duration(TRAINING_8)),
    "training_8_step_duration": Fact(duration, lambda e: e.step_duration(TRAINING_8)),
    # What others published
    "published_training_8_mebibytes": Fact(mebibytes, lambda _: published.size(TRAINING_8), "quoted"),
    "published_training_8": Fact(megabytes, lambda _: published.size(TRAINING_8), "quoted"),
    "published_inference_8_mebibytes": Fact(mebibytes, lambda _: published.size(INFERENCE_8), "quoted"),
    "published_inference_8": Fact(megabytes, lambda _: published.size(INFERENCE_8), "quoted"),
    "published_ratio": Fact(times, lambda _: published.TRAINING_OVER_INFERENCE, "quoted"),
    "published_checkpointing": Fact(change, lambda _: published.CHECKPOINTING_CHANGE, "quoted"),
    "published_bfloat16": Fact(change, lambda _: published.BFLOAT16_CHANGE, "quoted"),
    # The rule, on a model that was not run here
    "example_parameters": Fact(worked.billions, lambda _: formulas.DEFAULT_PARAMETERS_BILLIONS, "arithmetic"),
    "example_weights": Fact(gigabytes, lambda _: worked.WEIGHTS_BYTES, "arithmetic"),
    "example_pure": Fact(gigabytes, lambda _: worked.PURE_BYTES, "arithmetic"),
    "example_mixed": Fact(gigabytes, lambda _: worked.MIXED_BYTES, "arithmetic"),
    "example_activations": Fact(gigabytes, lambda _: worked.ACTIVATIONS_BYTES, "arithmetic"),
    "example_total": Fact(gigabytes, lambda _: worked.TOTAL_BYTES, "arithmetic"),
    "example_adapter_total": Fact(gigabytes, lambda _: worked.ADAPTER_TOTAL_BYTES, "arithmetic"),
    "mixed_bytes": Fact(worked.bytes_a_parameter, lambda _: formulas.MIXED_ADAM.bytes_per_parameter, "arithmetic"),
    "pure_bytes": Fact(worked.bytes_a_parameter, lambda _: formulas.PURE_16BIT_ADAM.bytes_per_parameter, "arithmetic"),
    "small_card": Fact(gigabytes, lambda _: worked.SMALL_CARD_BYTES, "arithmetic"),
    "large_card": Fact(gigabytes, lambda _: worked.LARGE_CARD_BYTES, "arithmetic"),
    "small_machine": Fact(gigabytes, lambda _: worked.SMALL_MACHINE_BYTES, "arithmetic"),
    "logits_8": Fact(size, lambda _: worked.logits_bytes(INFERENCE_8), "arithmetic"),
}

EXPLAINED: Final[dict[Kind, str]] = {
    "quoted": "mesures/index.html#reference-publiee",
    "arithmetic": "calculateurs/vram-entrainement/index.html#la-formule",
}
"""Where a number that no record backs is explained."""


def stated(name: str, series: Series) -> Stated:
    """A fact for one series.

    Raises:
        KeyError: there is no such fact.
        MissingFigureError: no successful record gives it.
    """
    fact = FACTS[name]
    evidence = Evidence(series)
    value = fact.value(evidence)
    return Stated(name, value, fact.write(value), fact.kind, _title(fact.kind, evidence), _href(fact.kind, evidence))


def _href(kind: Kind, evidence: Evidence) -> str:
    """The record that gave the number, or the place that explains it."""
    return EXPLAINED[kind] if kind in EXPLAINED else f"mesures/{evidence.used[0].key}.html"


def _title(kind: Kind, evidence: Evidence) -> str:
    """What the number is, for a pointer that rests on it."""
    if kind == "quoted":
        return f"Cité. {published.REFERENCE_SOURCE}"
    if kind == "arithmetic":
        return "Calcul ou valeur nominale : rien de cela n’a été exécuté ici"
    cases = [label(record.case) for record in evidence.used]
    return f"{'Mesuré' if len(evidence.used) == 1 else 'Calculé à partir de relevés'} : {' ; '.join(cases)}"
