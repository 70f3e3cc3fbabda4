"""What the companion articles add to the facts of the home page: more of the reference suite, and more arithmetic.

Every one of them exists where the reference suite does; what needs other records is in `further_facts`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from sitegen.french import NO_BREAK, change, megabytes, number, percent, size, times
from sitegen.memory import cuda, formulas
from sitegen.records.case import Case
from sitegen.render import worked, worked_large
from sitegen.render.evidence import Evidence
from sitegen.render.origins import Fact, Source, computed, constant
from sitegen.render.series import (
    BFLOAT16_8,
    CHECKPOINTING_8,
    INFERENCE_1,
    INFERENCE_8,
    LORA_8,
    TRAINING_1,
    TRAINING_4,
    TRAINING_4_LONG,
    TRAINING_8,
    under,
)
from sitegen.units import GB_BYTES, GIB_BYTES

QUANTISED: Final = Source("Calcul : rien de cela n’a été exécuté ici", "quantification/index.html#poids-quantifies")
LARGE: Final = Source("Calcul : rien de cela n’a été exécuté ici", "calcul-de-la-memoire/index.html#un-modele-de-8b")
DRIVER: Final = Source(
    "Cité : 101 essais d’une carte A100, publiés par fms-acceleration",
    "calcul-de-la-memoire/index.html#alloue-reserve-ou-vu-par-le-pilote",
)
ERROR: Final = Source(
    "Calculé d’après un message cité de pytorch/pytorch, n° 29198",
    "avant-d-accuser-la-memoire/index.html#lire-l-erreur",
)
_FIXED_8: Final = under(TRAINING_8, "fixed")
_TOKENS_8: Final = TRAINING_8.batch_size * TRAINING_8.sequence_length


def _fixed(case: Case) -> Case:
    """The case under the allocator whose peak is that of the live tensors."""
    return under(case, "fixed")


def _rest_share(e: Evidence, case: Case) -> float:
    """What a fix leaves of the activations, under the fixed allocator."""
    return e.activations(_fixed(case)) / e.activations(_FIXED_8)


def _gain(e: Evidence, case: Case) -> int:
    """What a fix takes from the peak, in bytes, under the fixed allocator."""
    return e.peak(_FIXED_8) - e.peak(_fixed(case))


def _weights(e: Evidence) -> int:
    """Bytes of the float32 weights."""
    return e.component(TRAINING_8, "weights")


def _resumed(e: Evidence) -> int:
    """A model and its state with the saved ones beside them, in bytes."""
    return formulas.resume_bytes(_weights(e), e.component(TRAINING_8, "optimizer_state"))


def _batch_16(e: Evidence) -> int:
    """The peak at batch 16, in bytes, on the line through batches 4 and 8."""
    return e.peak(_FIXED_8) + 2 * (e.peak(_FIXED_8) - e.peak(_fixed(TRAINING_4)))


def _largest_batch(e: Evidence) -> int:
    """The largest batch whose peak is under that of a small machine, on the same line."""
    example = (e.peak(_FIXED_8) - e.peak(_fixed(TRAINING_4))) // 4
    return 8 + (worked.SMALL_MACHINE_BYTES - e.baseline(_FIXED_8) - e.peak(_FIXED_8)) // example


def _arithmetic(write: Callable[[Any], str], value: float, source: Source) -> Fact:
    """What is computed for a model that was not run here."""
    return Fact(write, lambda _: value, "arithmetic", source)


def _cited(write: Callable[[Any], str], value: float) -> Fact:
    """What others published of a card."""
    return Fact(write, lambda _: value, "quoted", DRIVER)


def _billions(value: float) -> str:
    """A count of parameters: ``8,03 milliards``."""
    return f"{number(value / GB_BYTES, 2)}{NO_BREAK}milliards"


def _bits(value: float) -> str:
    """A number of bits a weight: ``4,13 bits``, ``4,5 bits``."""
    return f"{number(value, 1 if value * 10 == round(value * 10) else 2)}{NO_BREAK}bits"


def _gibibytes(value: float) -> str:
    """A size in Gio, only for what others print in that unit."""
    return f"{number(value / GIB_BYTES, 2)}{NO_BREAK}Gio"


def _ratio(value: float) -> str:
    """A ratio to a hundredth: ``1,17 fois``."""
    return times(value, 2)


COMPANION_FACTS: Final[dict[str, Fact]] = {
    # What each fix leaves, under the fixed allocator
    "checkpointing_activations_share": computed(percent, lambda e: _rest_share(e, CHECKPOINTING_8)),
    "bfloat16_activations_share": computed(percent, lambda e: _rest_share(e, BFLOAT16_8)),
    "bfloat16_states_share": computed(percent, lambda e: e.states(BFLOAT16_8) / e.states(TRAINING_8)),
    "checkpointing_gain": computed(size, lambda e: _gain(e, CHECKPOINTING_8)),
    "bfloat16_gain": computed(size, lambda e: _gain(e, BFLOAT16_8)),
    "lora_gain": computed(size, lambda e: _gain(e, LORA_8)),
    "half_batch_change": computed(change, lambda e: e.change(_fixed(TRAINING_4), _FIXED_8)),
    "half_length_change": computed(change, lambda e: e.change(_fixed(TRAINING_4), _fixed(TRAINING_4_LONG))),
    "double_length": computed(times, lambda e: e.peak(TRAINING_4_LONG) / e.peak(TRAINING_4)),
    "path_first_rest": computed(percent, lambda e: e.activations(TRAINING_4) / e.peak(TRAINING_4)),
    "training_4_fixed_peak": Fact(size, lambda e: e.peak(_fixed(TRAINING_4))),
    "bfloat16_weights": Fact(size, lambda e: e.component(BFLOAT16_8, "weights")),
    "lora_states": computed(size, lambda e: e.states(LORA_8)),
    # Running
    "inference_1_over_weights": computed(times, lambda e: e.peak(INFERENCE_1) / _weights(e)),
    "inference_8_over_weights": computed(times, lambda e: e.peak(INFERENCE_8) / _weights(e)),
    # Phases of the second step
    "training_8_forward": Fact(size, lambda e: e.phase(_FIXED_8, "forward")),
    "training_8_backward": Fact(size, lambda e: e.phase(_FIXED_8, "backward")),
    "training_8_update": Fact(size, lambda e: e.phase(_FIXED_8, "optimizer_step")),
    # Resuming, and prolonging a line
    "resume_bytes": computed(size, _resumed),
    "resume_over_weights": computed(lambda v: times(v, 0), lambda e: _resumed(e) / _weights(e)),
    "batch_16": computed(size, _batch_16),
    "largest_batch": computed(number, _largest_batch),
    "training_1_fixed_activations": computed(size, lambda e: e.activations(_fixed(TRAINING_1))),
    "lora_fixed_peak_share": computed(percent, lambda e: e.peak(_fixed(LORA_8)) / e.peak(_FIXED_8)),
    "activations_a_token": computed(size, lambda e: e.activations(_FIXED_8) // _TOKENS_8),
    # An adapter of the measured model
    "lora_16_parameters": constant(number, worked.query_value_parameters(16)),
    "lora_16_bytes": constant(size, formulas.adapter_bytes(worked.query_value_parameters(16), 4)),
    "small_packed": constant(size, worked.PACKED_BYTES),
    "small_kept": constant(size, worked.KEPT_BYTES),
    # A larger model
    "large_parameters": _arithmetic(_billions, worked_large.PARAMETERS, LARGE),
    "large_bfloat16": _arithmetic(size, worked_large.BFLOAT16_BYTES, QUANTISED),
    "large_pure": _arithmetic(size, formulas.fixed_bill(worked_large.PARAMETERS, 2), LARGE),
    "large_mixed": _arithmetic(size, formulas.sixteen_bytes(worked_large.PARAMETERS), LARGE),
    "large_naive_4bit": _arithmetic(size, worked_large.NAIVE_4BIT_BYTES, QUANTISED),
    "large_nf4": _arithmetic(size, worked_large.NF4_BYTES, QUANTISED),
    "large_nf4_double": _arithmetic(size, worked_large.NF4_DOUBLE_BYTES, QUANTISED),
    "large_prepared": _arithmetic(size, worked_large.PREPARED_BYTES, QUANTISED),
    "nf4_bits": _arithmetic(_bits, worked_large.NF4_BITS, QUANTISED),
    "nf4_double_bits": _arithmetic(_bits, worked_large.NF4_DOUBLE_BITS, QUANTISED),
    "large_checkpoints": _arithmetic(size, worked_large.CHECKPOINTS_BYTES, QUANTISED),
    "large_prepared_checkpoints": _arithmetic(size, worked_large.PREPARED_CHECKPOINTS_BYTES, QUANTISED),
    "large_kv_token": _arithmetic(size, worked_large.KV_TOKEN_BYTES, LARGE),
    "large_kv": _arithmetic(size, worked_large.KV_BYTES, LARGE),
    "large_logits": _arithmetic(size, worked_large.LOGITS_BYTES, LARGE),
    "large_vocabulary": _arithmetic(number, worked_large.VOCABULARY, LARGE),
    # What a driver shows over what PyTorch allocates
    "device_ratio_least": _cited(_ratio, cuda.DEVICE_RATIOS[0]),
    "device_ratio_median": _cited(_ratio, cuda.DEVICE_RATIOS[1]),
    "device_ratio_most": _cited(_ratio, cuda.DEVICE_RATIOS[2]),
    "device_context": _cited(megabytes, cuda.CONTEXT_BYTES),
    "oom_elsewhere": _arithmetic(_gibibytes, worked_large.ELSEWHERE_BYTES, ERROR),
}
