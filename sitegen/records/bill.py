"""The memory bill of a case: the peak of each phase, by component, wherever the figures come from.

A trace gives one, and so does a fitted table: what is done with it afterwards is the same. Sizes are whole bytes.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from sitegen.records.case import Case

Source = Literal["traced", "polynomial", "bound"]


class _Frozen(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of every type here: immutable, keyword only, unknown keys refused."""


class PhaseBill(_Frozen, frozen=True):
    """One phase of one step, the highest of its micro-batches; `components` are those of `LiveComponents`."""

    step: int
    name: str
    peak_bytes: int
    components: dict[str, int]


class Bill(_Frozen, frozen=True):
    """The phases of a case, and what its model weighs.

    `parameters` are those before any adapter, `quantised_parameters` those of them that 4 bits stand for;
    `weights_bytes` is what is there once loading has ended. `passing_heap_bytes` is what small tensors hold at once in
    a training step, beyond those that stay; 0 where a table answers, for it knows no tensor apart. `traced_layers` are
    the depths of the models that were traced: the model's own, or three shallower ones that foretell it.
    """

    model_type: str
    parameters: int
    trainable_parameters: int
    quantised_parameters: int
    weights_bytes: int
    phases: tuple[PhaseBill, ...]
    passing_heap_bytes: int = 0
    source: Source = "traced"
    traced_layers: tuple[int, ...] = ()

    @property
    def peak(self) -> PhaseBill:
        """The phase that peaks; the first one of those that do."""
        return max(self.phases, key=lambda phase: phase.peak_bytes)


class BillRequest(_Frozen, frozen=True):
    """A case to trace: with the content of its config.json, and what each tensor's size is rounded up to."""

    case: Case
    config: dict[str, Any]
    granularity_bytes: int = 1


class BillRequests(_Frozen, frozen=True):
    """What the parent asks for, all at once: starting a process takes longer than tracing."""

    requests: tuple[BillRequest, ...]
    parent_pid: int


class BillReply(_Frozen, frozen=True):
    """One bill, or the error that the parent raises: its message, its remedy and its class."""

    bill: Bill | None = None
    error: str = ""
    remedy: str = ""
    kind: str = ""
