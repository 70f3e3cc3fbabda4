"""Which cases each suite runs: lists of cases, nothing else."""

from __future__ import annotations

from typing import Final, get_args

from msgspec.structs import replace

from sitegen.records.case import SEVEN_PROJECTIONS, Allocator, Case

_BOTH: Final[tuple[Allocator, ...]] = ("default", "fixed")

BASELINE: Final = Case(mode="baseline")
LORA_8: Final = Case(batch_size=8, method="lora")
LORA_SEVEN: Final = Case(batch_size=8, method="lora", lora_targets=SEVEN_PROJECTIONS)


def _under(cases: tuple[Case, ...], allocators: tuple[Allocator, ...] = _BOTH) -> tuple[Case, ...]:
    """Each case under each allocator, allocators side by side."""
    return tuple(replace(case, allocator=name) for case in cases for name in allocators)


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
    replace(LORA_8, batch_size=1),
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

RUNTIME_MODELS: Final = ("synthetic-probe", "synthetic-probe-deep", "synthetic-probe-tiny")
"""Models on which the runtime's own pages are measured, and nothing else: no other suite runs them."""

VALIDATION_MODELS: Final = (
    "synthetic-llama",
    "synthetic-qwen2",
    "synthetic-qwen3",
    "synthetic-gemma3",
    "synthetic-mistral",
    "synthetic-gpt2",
    "synthetic-gpt-neox",
    "synthetic-phi3",
    "synthetic-olmo2",
    "synthetic-mixtral",
    "synthetic-qwen3-moe",
    "synthetic-granite",
)
"""Architectures of which a small model ships with the program as a configuration; its weights are drawn at random."""


def _on(name: str, *cases: Case) -> tuple[Case, ...]:
    """Each case on the named model."""
    return tuple(replace(case, model=name) for case in cases)


_FULL_2: Final = Case(batch_size=2)
_INFERENCE_2: Final = Case(mode="inference", batch_size=2)
_LORA_2: Final = Case(method="lora", batch_size=2, lora_targets=SEVEN_PROJECTIONS)
_QLORA_2: Final = Case(method="qlora", batch_size=2, lora_targets=SEVEN_PROJECTIONS)
_QLORA_INFERENCE_2: Final = Case(mode="inference", method="qlora", batch_size=2, lora_targets=SEVEN_PROJECTIONS)

RUNTIME: Final = _under(
    (
        *_on(
            "synthetic-probe",
            _INFERENCE_2,
            replace(_INFERENCE_2, dtype="bfloat16"),
            replace(_INFERENCE_2, logits="last"),
            replace(_INFERENCE_2, dtype="bfloat16", logits="last"),
            Case(mode="generation", batch_size=2),
            Case(mode="generation", batch_size=2, dtype="bfloat16"),
            _FULL_2,
            replace(_FULL_2, dtype="bfloat16"),
            replace(_FULL_2, mixed_precision="bf16"),
            replace(_FULL_2, optimizer="adamw-8bit"),
            replace(_FULL_2, optimizer="adafactor"),
            replace(_FULL_2, gradient_checkpointing=True),
            replace(_FULL_2, optimizer="sgd"),
            _LORA_2,
            replace(_LORA_2, dtype="bfloat16"),
            replace(_LORA_2, mixed_precision="bf16"),
            replace(_LORA_2, gradient_checkpointing=True),
            replace(_LORA_2, mode="inference"),
            _QLORA_2,
            replace(_QLORA_2, dtype="bfloat16"),
            replace(_QLORA_2, dtype="bfloat16", gradient_checkpointing=True),
            _QLORA_INFERENCE_2,
            replace(_QLORA_INFERENCE_2, dtype="bfloat16"),
        ),
        *_on("synthetic-probe-deep", _FULL_2, _INFERENCE_2, _LORA_2),
        *_on("synthetic-probe-tiny", _FULL_2, _INFERENCE_2, _LORA_2),
    ),
    ("fixed",),
)
"""What `sitegen.memory.runtime` is made of: one row for each way of running that pages depend on."""

_LORA_16: Final = Case(method="lora", batch_size=2, lora_rank=16, lora_targets=SEVEN_PROJECTIONS)

VALIDATION: Final = _under(
    (
        Case(batch_size=3, sequence_length=128),
        Case(batch_size=2, sequence_length=384, optimizer="sgd", zero_grad="free"),
        Case(batch_size=4, sequence_length=192, optimizer="sgd-momentum"),
        Case(batch_size=2, optimizer="adafactor"),
        Case(batch_size=2, optimizer="adamw-8bit"),
        Case(batch_size=2, sequence_length=192, foreach=True),
        Case(batch_size=2, mixed_precision="bf16"),
        Case(sequence_length=128, gradient_accumulation=4),
        Case(batch_size=2, gradient_accumulation=2, zero_grad="free"),
        Case(batch_size=2, sequence_length=512, attention="eager"),
        Case(batch_size=3, padding=True),
        Case(batch_size=4, loss="chunked"),
        Case(batch_size=4, sequence_length=384, gradient_checkpointing=True, zero_grad="free"),
        Case(batch_size=4, dtype="bfloat16", gradient_checkpointing=True, reentrant=True),
        Case(mode="inference", batch_size=3, sequence_length=384),
        Case(mode="inference", batch_size=4, dtype="bfloat16", logits="last"),
        Case(mode="generation", batch_size=4, sequence_length=128),
        Case(method="lora", batch_size=4, sequence_length=128, lora_rank=4, lora_targets=("k_proj", "o_proj")),
        _LORA_16,
        replace(_LORA_16, batch_size=4, dtype="bfloat16", lora_rank=64, gradient_checkpointing=True),
        Case(method="lora", batch_size=3, sequence_length=192, mixed_precision="bf16", zero_grad="free"),
        replace(_QLORA_2, sequence_length=128),
        Case(method="qlora", batch_size=4, dtype="bfloat16", double_quant=True, gradient_checkpointing=True),
        Case(mode="inference", method="qlora", batch_size=2, dtype="bfloat16"),
        *_on("synthetic-llama", Case(batch_size=2, sequence_length=192), replace(_LORA_16, batch_size=4)),
        *_on("synthetic-qwen2", Case(batch_size=3, sequence_length=128), Case(mode="inference", batch_size=4)),
        *_on("synthetic-qwen3", Case(batch_size=2, gradient_checkpointing=True)),
        *_on("synthetic-qwen3", Case(mode="generation", batch_size=2, dtype="bfloat16")),
        *_on("synthetic-gemma3", Case(sequence_length=192, dtype="bfloat16"), Case(method="lora")),
        *_on("synthetic-mistral", Case(sequence_length=384), Case(batch_size=2, optimizer="sgd", attention="eager")),
        *_on("synthetic-gpt2", Case(batch_size=2)),
        *_on(
            "synthetic-gpt-neox",
            Case(method="lora", batch_size=2, sequence_length=192, lora_targets=("query_key_value",)),
        ),
        *_on(
            "synthetic-phi3",
            Case(method="lora", batch_size=4, lora_targets=("qkv_proj", "o_proj"), gradient_checkpointing=True),
            Case(batch_size=2, sequence_length=128, zero_grad="free"),
        ),
        *_on(
            "synthetic-olmo2",
            Case(optimizer="sgd-momentum"),
            Case(mode="inference", batch_size=2, sequence_length=512),
        ),
        *_on("synthetic-mixtral", Case(batch_size=2)),
        *_on("synthetic-qwen3-moe", Case(method="lora", batch_size=2, sequence_length=192)),
        *_on("synthetic-granite", Case(batch_size=2, mixed_precision="bf16")),
        *_on("synthetic-qwen2", Case(sequence_length=96, gradient_accumulation=4)),
        *_on("synthetic-mistral", Case(sequence_length=48, gradient_accumulation=3, zero_grad="free")),
        *_on("synthetic-llama", replace(_LORA_16, batch_size=1, sequence_length=64, gradient_accumulation=8)),
    ),
    ("fixed",),
)
"""What the estimates are held to, beside the reference suite.

No figure of an estimate comes from these rows but one: after how many passes the heap grows no more
(`sitegen.memory.runtime.HEAP_PASSES`) was seen on repeats of 1 x 128 tokens.
"""

HEAP: Final = tuple(replace(case, allocator="default") for case in VALIDATION)
"""The same rows under glibc's own heap: measured with at least three repeats, they say what it adds."""

SUITES: Final[dict[str, tuple[Case, ...]]] = {
    "reference": REFERENCE,
    "quick": QUICK,
    "extended": EXTENDED,
    "runtime": RUNTIME,
    "validation": VALIDATION,
    "heap": HEAP,
}
