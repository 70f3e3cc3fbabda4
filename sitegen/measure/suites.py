"""Which cases each suite runs: lists of cases, nothing else."""

from __future__ import annotations

from typing import Final, get_args

import msgspec

from sitegen.records.case import SEVEN_PROJECTIONS, Allocator, Case

_BOTH: Final[tuple[Allocator, ...]] = ("default", "fixed")

BASELINE: Final = Case(mode="baseline")
LORA_8: Final = Case(batch_size=8, method="lora")
LORA_SEVEN: Final = Case(batch_size=8, method="lora", lora_targets=SEVEN_PROJECTIONS)


def _under(cases: tuple[Case, ...], allocators: tuple[Allocator, ...] = _BOTH) -> tuple[Case, ...]:
    """Each case under each allocator, allocators side by side."""
    return tuple(msgspec.structs.replace(case, allocator=name) for case in cases for name in allocators)


REFERENCE: Final = _under(
    (
        BASELINE,
        Case(mode="inference", batch_size=1),
        Case(mode="inference", batch_size=8),
        Case(batch_size=1),
        Case(batch_size=2),
        Case(batch_size=4),
        Case(batch_size=8),
        Case(batch_size=4, sequence_length=512),
        Case(batch_size=8, gradient_checkpointing=True),
        Case(batch_size=8, dtype="bfloat16"),
        LORA_8,
    )
)

QUICK: Final = (
    BASELINE,
    Case(mode="inference", batch_size=1),
    *_under((Case(batch_size=1),)),
    msgspec.structs.replace(LORA_8, batch_size=1),
)

EXTENDED: Final = (
    *REFERENCE,
    *_under(
        (
            Case(batch_size=8, zero_grad="free"),
            Case(batch_size=8, method="lora", gradient_checkpointing=True),
            Case(batch_size=8, method="qlora"),
            Case(batch_size=8, optimizer="sgd"),
            Case(batch_size=8, optimizer="sgd-momentum"),
            Case(batch_size=8, optimizer="adafactor"),
            Case(batch_size=8, mixed_precision="bf16"),
            Case(batch_size=1, gradient_accumulation=8),
            Case(batch_size=8, attention="eager"),
            Case(batch_size=8, padding=True),
            Case(batch_size=8, loss="chunked"),
            Case(mode="generation"),
        )
    ),
    *_under((LORA_SEVEN,), get_args(Allocator)),
)

SUITES: Final[dict[str, tuple[Case, ...]]] = {"reference": REFERENCE, "quick": QUICK, "extended": EXTENDED}
