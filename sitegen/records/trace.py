"""What a trace is: the live bytes of a case, operation by operation, with nothing allocated and no machine in it.

Sizes are whole bytes (`_bytes`) of storages, each storage once. Operations are those that PyTorch dispatches, under its
own names (``aten.mm.default``).
"""

from __future__ import annotations

from typing import Any

import msgspec

from sitegen.records.case import Case


class _Frozen(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of every type here: immutable, keyword only, unknown keys refused."""


class LiveComponents(_Frozen, frozen=True):
    """Live bytes by what they are for.

    `weights`: parameters (an adapter's too), buffers, and the scales of 4-bit weights. `saved_activations`: what the
    forward, or a recomputation, leaves for the backward. `logits_and_loss`: tensors whose last dimension is the
    vocabulary. `temporaries`: the rest.
    """

    weights: int = 0
    gradients: int = 0
    optimizer_state: int = 0
    saved_activations: int = 0
    logits_and_loss: int = 0
    kv_cache: int = 0
    temporaries: int = 0

    @property
    def total_bytes(self) -> int:
        """All the live bytes."""
        return sum(msgspec.structs.asdict(self).values())


class PhaseTrace(_Frozen, frozen=True):
    """One run of one phase: ``live_bytes[i]`` is what lives when ``operations[i]`` has just returned.

    `peak_operation` is the index of the first operation with the most; `components` is what lives there.
    """

    name: str
    operations: tuple[str, ...]
    live_bytes: tuple[int, ...]
    peak_bytes: int
    peak_operation: int
    components: LiveComponents


class StepTrace(_Frozen, frozen=True):
    """One step: its phases in the order in which they ran; with micro-batches a name comes several times."""

    phases: tuple[PhaseTrace, ...]

    def peak_bytes(self) -> dict[str, int]:
        """The peak of each phase by name, the highest of its micro-batches, as a measured step has it."""
        peaks: dict[str, int] = {}
        for phase in self.phases:
            peaks[phase.name] = max(peaks.get(phase.name, 0), phase.peak_bytes)
        return peaks


class Trace(_Frozen, frozen=True):
    """A traced case. `parameters` are those before any adapter; `trainable_parameters` is 0 when nothing trains."""

    case: Case
    model_type: str
    parameters: int
    trainable_parameters: int
    steps: tuple[StepTrace, ...]

    @property
    def peak_bytes(self) -> int:
        """The most that lives in any phase of any step; loading is no part of a trace."""
        return max(peak for step in self.steps for peak in step.peak_bytes().values())


class TraceRequest(_Frozen, frozen=True):
    """What the parent asks for: the case, the content of the model's config.json, who is asking."""

    case: Case
    config: dict[str, Any]
    parent_pid: int


class TraceReply(_Frozen, frozen=True):
    """The trace, or the error that the parent raises again: its message, its remedy and its class."""

    trace: Trace | None = None
    error: str = ""
    remedy: str = ""
    kind: str = ""
