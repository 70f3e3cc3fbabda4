"""What the prose asserts: each qualitative sentence has a condition, and the build fails when records contradict it.

A new claim is one line of `CLAIMS`, a comparison of facts; its message shows the facts' values.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True)
class Claim:
    """A condition on named facts."""

    condition: str
    facts: tuple[str, ...]
    holds: Callable[..., bool]


def less(smaller: str, larger: str) -> Claim:
    """One fact is below another."""
    return Claim(f"{smaller} < {larger}", (smaller, larger), operator.lt)


def at_most(smaller: str, larger: str) -> Claim:
    """One fact is not above another."""
    return Claim(f"{smaller} <= {larger}", (smaller, larger), operator.le)


def above(name: str, low: float) -> Claim:
    """A fact is above a number."""
    return Claim(f"{name} > {low}", (name,), lambda value: value > low)


def below(name: str, high: float) -> Claim:
    """A fact is below a number."""
    return Claim(f"{name} < {high}", (name,), lambda value: value < high)


def between(name: str, low: float, high: float) -> Claim:
    """A fact is in an interval."""
    return Claim(f"{low} <= {name} <= {high}", (name,), lambda value: low <= value <= high)


def all_of(*claims: Claim) -> Claim:
    """Every one of several claims."""
    return Claim(
        " and ".join(claim.condition for claim in claims),
        tuple(name for claim in claims for name in claim.facts),
        lambda *values: _all_hold(claims, list(values)),
    )


def _all_hold(claims: tuple[Claim, ...], values: list[Any]) -> bool:
    """Give each claim its own values."""
    results = []
    for claim in claims:
        own, values = values[: len(claim.facts)], values[len(claim.facts) :]
        results.append(claim.holds(*own))
    return all(results)


CLAIMS: Final[dict[str, Claim]] = {
    "training_costs_several_inferences": all_of(
        between("training_over_inference_8", 3, 12), between("training_over_inference_8_fixed", 5, 8)
    ),
    "states_are_four_times_the_weights": between("states_over_weights", 3.95, 4.05),
    "activations_are_the_largest_line": all_of(
        less("states", "training_8_activations"),
        less("states", "training_8_fixed_activations"),
        above("allocator_gap", 0),
    ),
    "inference_makes_the_gap": all_of(
        below("published_training_gap", 0.03),
        less("published_training_gap", "published_inference_gap"),
        less("published_ratio", "training_over_inference_8"),
        less("inference_8_peak", "published_inference_8"),
    ),
    "gradients_weigh_as_the_weights": between("gradients_over_weights", 0.98, 1.02),
    "moments_weigh_twice_the_weights": between("optimizer_state_over_weights", 1.98, 2.02),
    "one_example_is_above_the_floor": less("states", "training_1_peak"),
    "batch_grows_the_peak": all_of(
        less("training_1_peak", "training_2_peak"),
        less("training_2_peak", "training_4_peak"),
        less("training_4_peak", "training_8_peak"),
    ),
    "growth_follows_the_batch": all_of(
        between("growth_ratio_2_to_4", 1.9, 2.1), between("growth_ratio_4_to_8", 1.9, 2.1)
    ),
    "activations_dominate_at_8": all_of(less("states", "examples_8"), less("states", "training_8_fixed_activations")),
    "length_weighs_as_batch": between("length_change_fixed", -0.02, 0.02),
    "step_two_is_higher": between("training_8_step_gap", 900e6, 3000e6),
    "checkpointing_saves": all_of(
        between("checkpointing_change", -0.6, -0.15), between("checkpointing_change_fixed", -0.6, -0.15)
    ),
    "bfloat16_saves_less_than_half": all_of(
        between("bfloat16_change", -0.495, -0.15), between("bfloat16_change_fixed", -0.495, -0.15)
    ),
    "bfloat16_states_are_16_bits": between("bfloat16_states_a_parameter", 7.95, 8.05),
    "lora_saves": all_of(less("lora_8_peak", "training_8_peak"), less("lora_8_fixed_peak", "training_8_fixed_peak")),
    "lora_keeps_activations": all_of(
        less("lora_share", "lora_peak_share"),
        below("lora_states_share", 0.02),
        above("lora_activations_share", 0.5),
    ),
    "fixed_allocator_is_lower": all_of(
        at_most("training_8_fixed_peak", "training_8_peak"),
        at_most("training_4_long_fixed_peak", "training_4_long_peak"),
        at_most("checkpointing_8_fixed_peak", "checkpointing_8_peak"),
        at_most("lora_8_fixed_peak", "lora_8_peak"),
    ),
    "estimates_are_near": all_of(between("validation_median", 0, 0.003), between("validation_within_share", 0.95, 1)),
    "intervals_hold_the_heap": between("heap_covered_share", 0.95, 1),
    "published_runs_are_near": all_of(
        between("published_median", 0, 0.01),
        between("published_worst", -0.03, 0.05),
        above("published_lowest", -0.03),
    ),
    "fused_kernels_are_modelled": all_of(
        between("published_liger_median", 0, 0.05),
        between("published_unsloth_median", 0, 0.05),
        between("published_fused_worst", -0.05, 0.05),
    ),
    "only_published_models_are_large": all_of(below("validation_largest", 1e9), above("published_largest", 1e9)),
    "no_rule_comes_near": all_of(
        less("rules_ours", "rules_best"), less("published_all_median", "published_rules_best")
    ),
    "one_large_card_splits_the_two_bills": all_of(
        less("example_pure", "large_card"), less("large_card", "example_mixed")
    ),
    "adapter_overflows_the_small_card": all_of(
        less("example_weights", "small_card"), less("small_card", "example_adapter_total")
    ),
    "cache_overflows_the_small_card": all_of(
        less("kv_example_weights", "small_card"), less("small_card", "kv_example_total")
    ),
    "an_adapter_may_pass_one_percent": all_of(below("lora_example_share", 0.01), above("lora_64_share", 0.01)),
    "cards_hold_other_than_they_say": all_of(
        less("small_card", "l4_capacity"), less("l4_capacity", "rtx4090_capacity")
    ),
    # Of the companion articles
    "checkpointing_keeps_a_part": between("checkpointing_activations_share", 0.1, 0.7),
    "half_a_batch_saves_less_than_half": between("half_batch_change", -0.49, -0.1),
    "half_a_length_saves_less_than_half": all_of(
        between("half_length_change", -0.49, -0.1), between("length_change_fixed", -0.02, 0.02)
    ),
    "eager_attention_costs": above("eager_change", 0),
    "a_chunked_loss_saves": between("chunked_loss_change", -0.2, -0.001),
    "sixteen_bits_halve_the_states_only": all_of(
        between("bfloat16_states_share", 0.49, 0.51), between("bfloat16_activations_share", 0.55, 0.95)
    ),
    "lora_leaves_the_activations": all_of(
        less("lora_states", "states"), between("lora_activations_share", 0.5, 1), above("lora_gain", 0)
    ),
    "qlora_loads_above_its_weights": less("qlora_weights", "qlora_load"),
    "sober_optimizers_save": all_of(
        less("adam_8bit_state", "optimizer_state"),
        less("adafactor_state", "adam_8bit_state"),
        below("adam_8bit_change", 0),
        below("adafactor_change", 0),
    ),
    "the_heap_weighs_more_with_an_adapter": all_of(
        less("allocator_change_lora", "allocator_change"), below("allocator_change", 0)
    ),
    "fixes_add_up": below("path_share", 0.5),
    "activations_come_first_and_stay_last": all_of(
        above("path_middle_share", 0.5), less("path_first_rest", "path_last_rest"), above("path_last_rest", 0.5)
    ),
    "only_quantised_weights_fit_the_small_card": all_of(
        less("mistral_qlora", "l4_capacity"),
        less("l4_capacity", "mistral_lora"),
        less("l4_capacity", "mistral_qlora_8"),
    ),
    "running_takes_a_little_more_than_the_weights": all_of(
        between("inference_1_over_weights", 1, 1.5), less("inference_1_over_weights", "inference_8_over_weights")
    ),
    "four_times_is_only_the_floor": all_of(
        less("states_over_weights", "training_1_over_weights"), less("training_1_peak", "training_8_peak")
    ),
    "the_backward_makes_the_peak_here": all_of(
        less("training_8_forward", "training_8_backward"), less("training_8_update", "training_8_backward")
    ),
    "the_update_makes_the_peak_there": between("mistral_full_growth", -0.001, 0.001),
    "mixed_precision_saves_nothing_here": between("mixed_change", 0, 0.1),
    "four_bits_take_more_than_four_bits": all_of(
        less("large_naive_4bit", "large_nf4_double"), less("large_nf4_double", "large_nf4")
    ),
    "preparation_costs_weights": less("large_nf4_double", "large_prepared"),
    "unprepared_kernels_take_less": all_of(
        less("mistral_qlora", "mistral_lora"),
        less("mistral_qlora_fused", "mistral_qlora"),
        less("mistral_qlora_8", "mistral_lora_8"),
    ),
    "qlora_keeps_its_vocabulary": all_of(
        less("qlora_weights", "bfloat16_weights"), less("small_packed", "small_kept"), above("qlora_share", 0.35)
    ),
    "others_filled_the_card": between("oom_elsewhere", 5 * 2**30, 7 * 2**30),
    "a_long_example_costs": above("double_length", 1.2),
    "resuming_holds_more_than_the_states": less("states", "resume_bytes"),
    "one_large_card_splits_the_eight_billion": all_of(
        less("large_pure", "large_card"), less("large_card", "large_mixed")
    ),
    "checkpointing_beats_an_optimizer_without_state": all_of(
        less("optimizer_state", "checkpointing_gain"), less("training_1_fixed_activations", "optimizer_state")
    ),
}
