"""What the companion articles say of records beyond the reference suite, and of runs that others published.

A page asks with ``known("…")`` before it speaks of them: a site of other measurements may lack them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sitegen.french import change, percent, size, small_percent
from sitegen.records.case import SEVEN_PROJECTIONS, Case
from sitegen.records.published import PublishedRun
from sitegen.render.evidence import Evidence, MissingFigureError
from sitegen.render.origins import Fact, Source, computed
from sitegen.render.series import BFLOAT16_8, TRAINING_2, TRAINING_4, under

_FIXED_2: Final = under(TRAINING_2, "fixed")
_FIXED_4: Final = under(TRAINING_4, "fixed")
ADAM_8BIT: Final = Case(batch_size=2, optimizer="adamw-8bit", allocator="fixed")
ADAFACTOR: Final = Case(batch_size=2, optimizer="adafactor", allocator="fixed")
MIXED: Final = Case(batch_size=2, mixed_precision="bf16", allocator="fixed")
CHUNKED_LOSS: Final = Case(batch_size=4, loss="chunked", allocator="fixed")
EAGER: Final = Case(batch_size=2, sequence_length=512, attention="eager", allocator="fixed")
SHORT_CHECKPOINTED: Final = Case(
    batch_size=4, dtype="bfloat16", gradient_checkpointing=True, reentrant=True, allocator="fixed"
)
LORA_SEVEN: Final = Case(batch_size=2, method="lora", lora_rank=16, lora_targets=SEVEN_PROJECTIONS)
LORA_64: Final = Case(
    batch_size=4,
    method="lora",
    lora_rank=64,
    lora_targets=SEVEN_PROJECTIONS,
    dtype="bfloat16",
    gradient_checkpointing=True,
    allocator="fixed",
)
QLORA: Final = Case(
    batch_size=4,
    method="qlora",
    double_quant=True,
    dtype="bfloat16",
    gradient_checkpointing=True,
    allocator="fixed",
)
MISTRAL: Final = "mistralai/Mistral-7B-v0.1"
_PUBLISHED: Final = Source(
    "Cité : Mistral 7B sur une carte A100, publié par fms-acceleration",
    "estime-et-mesure/index.html#estime-publies-lignes",
)


def mistral(evidence: Evidence, method: str, batch: int, *, fused: bool = False) -> PublishedRun:
    """A published run of Mistral 7B, 4096 tokens, gradient checkpointing; raises `MissingFigureError` without it."""
    for row in evidence.published():
        run = row.run
        wanted = (run.model, run.method, run.batch_size, run.fused_kernels)
        if wanted == (MISTRAL, method, batch, fused):
            return run
    raise MissingFigureError(
        f"no published run of {MISTRAL} is {method} at batch {batch}",
        "Restore measurements/published from version control.",
    )


def _published(method: str, batch: int, *, fused: bool = False) -> Fact:
    """The peak that others measured."""
    return Fact(size, lambda e: mistral(e, method, batch, fused=fused).measured_bytes, "quoted", _PUBLISHED)


def _doubled_batch(evidence: Evidence) -> float:
    """How far full training at batch 8 is from batch 4."""
    return mistral(evidence, "full", 8).measured_bytes / mistral(evidence, "full", 4).measured_bytes - 1


def _middle_share(evidence: Evidence) -> float:
    """What 16 bits and checkpointing take of all that the path takes."""
    taken = evidence.peak(_FIXED_4) - evidence.peak(SHORT_CHECKPOINTED)
    return taken / (evidence.peak(TRAINING_4) - evidence.peak(QLORA))


def _against(case: Case, reference: Case, write: Callable[[float], str] = change) -> Fact:
    """How far a peak is from another's."""
    return computed(write, lambda e: e.change(case, reference))


FURTHER_FACTS: Final[dict[str, Fact]] = {
    # Optimizers, at batch 2
    "adam_8bit_change": _against(ADAM_8BIT, _FIXED_2),
    "adam_8bit_state": Fact(size, lambda e: e.component(ADAM_8BIT, "optimizer_state")),
    "adafactor_change": _against(ADAFACTOR, _FIXED_2),
    "adafactor_state": Fact(size, lambda e: e.component(ADAFACTOR, "optimizer_state")),
    # Number formats
    "mixed_change": _against(MIXED, _FIXED_2),
    # Loss and attention
    "chunked_loss_change": _against(CHUNKED_LOSS, _FIXED_4),
    "eager_change": _against(EAGER, _FIXED_4),
    # Adapters
    "lora_seven_allocator_change": _against(under(LORA_SEVEN, "fixed"), LORA_SEVEN),
    "qlora_peak": Fact(size, lambda e: e.peak(QLORA)),
    "qlora_weights": Fact(size, lambda e: e.component(QLORA, "weights")),
    "qlora_share": computed(percent, lambda e: e.component(QLORA, "weights") / e.component(BFLOAT16_8, "weights")),
    "qlora_load": Fact(size, lambda e: e.load_peak(QLORA)),
    # The whole path
    "path_share": computed(percent, lambda e: e.peak(QLORA) / e.peak(TRAINING_4)),
    "path_middle_share": computed(percent, _middle_share),
    "path_last_rest": computed(percent, lambda e: e.activations(QLORA) / e.peak(QLORA)),
    # What others published of a model of 7 billion parameters
    "mistral_full": _published("full", 4),
    "mistral_full_growth": Fact(small_percent, _doubled_batch, "quoted", _PUBLISHED),
    "mistral_lora": _published("lora", 4),
    "mistral_lora_8": _published("lora", 8),
    "mistral_qlora": _published("qlora", 4),
    "mistral_qlora_8": _published("qlora", 8),
    "mistral_qlora_fused": _published("qlora", 4, fused=True),
}
