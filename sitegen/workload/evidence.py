"""What a run shows of itself: live tensors by component, and whether its options really acted."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final

from transformers.modeling_layers import GradientCheckpointingLayer

from sitegen.allocators import FIXED_THRESHOLD, GLIBC_THRESHOLD, LIBRARIES
from sitegen.records.case import Case
from sitegen.records.model import Components, Engaged
from sitegen.records.observation import Observed
from sitegen.workload import models
from sitegen.workload.training import Job, Phases

_MAPS: Final = Path("/proc/self/maps")


class Witness:
    """Counts live bytes after each phase and watches for the options' effects."""

    def __init__(self, job: Job, observed: Observed) -> None:
        """Attach to a loaded job; findings go into `observed`."""
        self._job = job
        self._observed = observed
        self._phase = ""
        self._recomputed = 0
        self._gradients_bytes = 0
        self._fed: bool | None = None
        observed.trainable_parameters = _trainable(job)
        if job.case.gradient_checkpointing:
            _count_layers(job.model, self._layer_ran)
        self._note()

    def announcing(self, phases: Phases) -> Phases:
        """The same phases, with the witness told which one runs."""

        def announced(name: str) -> AbstractContextManager[None]:
            self._phase = name
            return phases(name)

        return announced

    def after_phase(self, name: str) -> None:
        """Count what lives at the end of a phase: gradients after the backward, state after the update."""
        self._phase = ""
        if name == "backward":
            self._gradients_bytes = models.live_bytes(models.gradient_tensors(self._job.model))
            if self._job.case.method != "full" and self._fed is not False:
                self._fed = _adapter_fed(self._job)
        self._note()

    def verdict(self) -> str | None:
        """Why the case is no measurement of what it claims, or ``None``."""
        engaged = self._engaged()
        if engaged.checkpointing is False:
            return "gradient checkpointing was asked for, but no decoder layer ran again during the backward pass"
        if engaged.adapter_gradients is False:
            return "the adapter was asked to train, but its parameters received no gradient"
        if engaged.attention not in (None, self._job.case.attention):
            return f"--attention {self._job.case.attention} was asked for, but the model used {engaged.attention}"
        if engaged.allocator is False:
            return f"--allocator {self._job.case.allocator} was asked for, but it is not what served this process"
        return None

    def _note(self) -> None:
        """Put the findings where the next report takes them."""
        self._observed.components = Components(
            weights=models.live_bytes(models.weight_tensors(self._job.model)),
            gradients=self._gradients_bytes,
            optimizer_state=models.live_bytes(models.state_tensors(self._job.optimizer)),
        )
        self._observed.engaged = self._engaged()

    def _engaged(self) -> Engaged:
        """The options' effects as seen so far."""
        case = self._job.case
        return Engaged(
            checkpointing=self._recomputed > 0 if case.gradient_checkpointing else None,
            adapter_gradients=self._fed if case.method != "full" and case.mode == "training" else None,
            attention=getattr(self._job.model.config, "_attn_implementation", None),
            allocator=allocator_serves(case),
        )

    def _layer_ran(self, *_: object) -> None:
        """A decoder layer's forward began."""
        if self._phase == "backward":
            self._recomputed += 1


def allocator_serves(case: Case) -> bool | None:
    """Whether the allocator of the case serves this process; ``None`` where the system does not show it."""
    threshold = os.environ.get(GLIBC_THRESHOLD)
    if case.allocator == "fixed":
        return threshold == FIXED_THRESHOLD
    if not _MAPS.exists():
        return None
    mapped = [name for name, library in LIBRARIES.items() if library.stem in _MAPS.read_text(encoding="utf-8")]
    if case.allocator == "default":
        return threshold is None and not mapped
    return mapped == [case.allocator]


def _trainable(job: Job) -> int:
    """Parameters that train; none when the case does not train."""
    if job.optimizer is None:
        return 0
    return sum(parameter.numel() for parameter in job.model.parameters() if parameter.requires_grad)


def _adapter_fed(job: Job) -> bool:
    """Every trainable parameter has a gradient, one at least not zero (LoRA's A gets zeros at the first step)."""
    gradients = [parameter.grad for parameter in job.model.parameters() if parameter.requires_grad]
    return all(grad is not None for grad in gradients) and any(bool(grad.any()) for grad in gradients)


def _count_layers(model: Any, hook: Any) -> None:  # noqa: ANN401 - a model of any architecture, a torch hook
    """Have `hook` called whenever the inside of a layer that can be checkpointed runs.

    The hooks sit on the layer's children: transformers recomputes a layer by its `forward`, which calls no hook of the
    layer itself.
    """
    for module in model.modules():
        if isinstance(module, GradientCheckpointingLayer):
            for child in module.children():
                child.register_forward_pre_hook(hook)
