"""Peaks that other people measured and published, and what the traces of their runs say.

A run belongs to a stack: versions of libraries, and a GPU. Its trace is made with the same transformers and peft, on
fake tensors, in an environment of its own. Sizes are whole bytes (`_bytes`) of ``torch.cuda`` allocated memory.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, Literal, TypeVar

import msgspec

from sitegen.errors import RecordError, from_os_error
from sitegen.records.trace import LiveComponents

FOLDER: Final = "published"
"""Under `measurements/`."""
RUNS: Final = "runs.json"

T = TypeVar("T")

Method = Literal["full", "lora", "qlora", "gptq-lora"]
Loss = Literal["transformers", "unsloth", "liger"]
Precision = Literal["none", "bfloat16", "float16"]


class _Frozen(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of every type here: immutable, keyword only, unknown keys refused."""


class PublishedModel(_Frozen, frozen=True):
    """A model: its published configuration, and the tokens that the run's trainer added to its vocabulary."""

    parameters: int
    added_tokens: int
    config: dict[str, Any]
    source: str


class PublishedStack(_Frozen, frozen=True):
    """What measured: versions as its authors froze them, the GPU, and the sources of the runs and of their settings."""

    versions: dict[str, str]
    hardware: str
    sources: tuple[str, ...]


class PublishedRun(_Frozen, frozen=True):
    """One run on one GPU, gradient checkpointing (reentrant), FlashAttention-2, AdamW of PyTorch, unpadded sequences.

    `autocast` is the trainer's mixed precision over weights that are already of 16 or 4 bits; `kbit_preparation` says
    that peft's `prepare_model_for_kbit_training` ran; `loss` and `fused_kernels` (RMSNorm, rotary embedding; with
    4-bit weights the LoRA projections too) say whose kernels ran. `steady_bytes` is what stays allocated between steps.
    """

    id: str
    model: str
    stack: str
    method: Method
    batch_size: int
    sequence_length: int
    autocast: Precision
    loss: Loss
    measured_bytes: int
    steady_bytes: int
    lora_rank: int = 0
    lora_targets: tuple[str, ...] = ()
    lora_dropout: float = 0.0
    kbit_preparation: bool = False
    fused_kernels: bool = False

    @property
    def traceable(self) -> bool:
        """Whether its kernels can be traced or stood in for; those of GPTQ cannot."""
        return self.method != "gptq-lora"


class PublishedRuns(_Frozen, frozen=True):
    """The table of `RUNS`; models and stacks by name."""

    models: dict[str, PublishedModel]
    stacks: dict[str, PublishedStack]
    runs: tuple[PublishedRun, ...]


class PublishedTrace(_Frozen, frozen=True):
    """What the second step's trace of a run says: live bytes at the peak of each phase, and between steps."""

    peak_bytes: int
    steady_bytes: int
    phase: str
    peak_operation: str
    phase_peak_bytes: dict[str, int]
    components: LiveComponents


class PublishedTraces(_Frozen, frozen=True):
    """The traces of one stack's runs, by run; `traced_with` are the versions that traced."""

    stack: str
    traced_with: dict[str, str]
    traces: dict[str, PublishedTrace]


def load_runs(folder: Path) -> PublishedRuns:
    """The runs under ``measurements/published``; raises `RecordError`."""
    return _read(folder / RUNS, PublishedRuns)


def load_traces(folder: Path) -> dict[str, PublishedTrace]:
    """Every committed trace, by run; raises `RecordError`."""
    traces: dict[str, PublishedTrace] = {}
    for path in trace_files(folder):
        traces |= _read(path, PublishedTraces).traces
    return traces


def traced_with(folder: Path) -> dict[str, dict[str, str]]:
    """The versions that traced, by stack; raises `RecordError`."""
    files = [_read(path, PublishedTraces) for path in trace_files(folder)]
    return {file.stack: file.traced_with for file in files}


def trace_files(folder: Path) -> list[Path]:
    """The files of traces, one a stack."""
    return sorted(folder.glob("traces-*.json"))


def encode(content: PublishedRuns | PublishedTraces) -> bytes:
    """A file's bytes: sorted keys, two-space indent, a final newline."""
    return msgspec.json.format(msgspec.json.encode(content, order="sorted"), indent=2) + b"\n"


def _read(path: Path, kind: type[T]) -> T:
    """One file as its type."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except OSError as error:
        raise from_os_error(error, f"reading {path.name}") from error
    except msgspec.DecodeError as error:
        raise RecordError(f"{path.name} is not a table of published runs: {error}.", "Restore the file.") from error
