"""Trace one case: run its steps, the very code that is measured, on fake tensors, and count what lives.

Started as ``python -m sitegen.workload.trace`` with a `TraceRequest` (JSON) on standard input; writes one `TraceReply`
on standard output. Nothing is allocated, no weights are needed: the model's configuration is enough.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, NamedTuple

import msgspec
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from transformers import Cache

from sitegen.errors import SitegenError, UsageError
from sitegen.records.case import Case
from sitegen.records.trace import StepTrace, Trace, TraceReply, TraceRequest
from sitegen.workload import fakes, models, training
from sitegen.workload.guard import die_with_parent
from sitegen.workload.live import LiveBytes
from sitegen.workload.timeline import Span, steps_of
from sitegen.workload.training import Job


def traced(case: Case, config: dict[str, Any]) -> Trace:
    """The trace of a case.

    Args:
        case: what would run; its seed, threads and allocator move nothing here.
        config: the content of the model's config.json.

    Raises:
        ModelError: transformers does not know the model, or what the model allocates depends on values.
        UsageError: a baseline, or options that contradict each other.
    """
    recording = recorded(case, config)
    return Trace(
        case=case,
        model_type=recording.job.model.config.model_type,
        parameters=recording.parameters,
        trainable_parameters=recording.trainable_parameters,
        steps=recording.steps(),
    )


class Recording(NamedTuple):
    """A job that has run, and what lived meanwhile; `parameters` are those before any adapter."""

    job: Job
    live: LiveBytes
    spans: list[Span]
    parameters: int

    @property
    def vocabulary(self) -> int:
        """Number of token ids; that of the text part when the model has several."""
        size: int = self.job.model.config.get_text_config().vocab_size
        return size

    @property
    def trainable_parameters(self) -> int:
        """Parameters that train; none when the case does not train."""
        if self.job.optimizer is None:
            return 0
        return sum(parameter.numel() for parameter in self.job.model.parameters() if parameter.requires_grad)

    def steps(self) -> tuple[StepTrace, ...]:
        """What lived at each operation, and the peak of each phase."""
        return steps_of(self.live, self.spans, self.vocabulary)


def recorded(case: Case, config: dict[str, Any]) -> Recording:
    """Run the case on fake tensors; arguments and errors are those of `traced`."""
    if case.checked().mode == "baseline":
        raise UsageError("A baseline runs no model: there is nothing to trace.", "Choose another --mode.")
    fake = FakeTensorMode(allow_non_fake_inputs=True)
    job, parameters = fakes.build(case, config, fake)
    with fakes.pretending(case, fake):
        return _run(job, parameters)


def watched(job: Job) -> tuple[StepTrace, ...]:
    """Run a job, on fake or on real tensors, and say what lived at each operation."""
    return _run(job, 0).steps()


def _run(job: Job, parameters: int) -> Recording:
    """Run a job while every storage is counted."""
    live = LiveBytes()
    tracer = _Tracer(job, live)
    with live, _marked_cache(job, live):
        training.run(job, tracer.phase, tracer.step)
    return Recording(job, live, tracer.spans, parameters)


class _Tracer:
    """The `Phases` of a traced run: notes where each phase begins and ends, and what the new storages are for."""

    def __init__(self, job: Job, live: LiveBytes) -> None:
        self.spans: list[Span] = []
        self._job, self._live = job, live
        self._step = 0
        live.mark(models.weight_tensors(job.model), "weights")

    @contextmanager
    def step(self, number: int) -> Iterator[None]:
        """Open one step."""
        self._step = number
        yield

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Open one run of one phase."""
        start = len(self._live.operations)
        yield
        self.spans.append(Span(self._step, name, start, len(self._live.operations)))
        self._live.mark(models.weight_tensors(self._job.model), "weights")
        self._live.mark(models.gradient_tensors(self._job.model), "gradients")
        self._live.mark(models.state_tensors(self._job.optimizer), "optimizer_state")


@contextmanager
def _marked_cache(job: Job, live: LiveBytes) -> Iterator[None]:
    """Mark the keys and values of a KV cache as they are stored."""

    def before_forward(_module: torch.nn.Module, _args: tuple[object, ...], kwargs: dict[str, object]) -> None:
        for value in kwargs.values():
            if isinstance(value, Cache) and "update" not in vars(value):
                value.update = _marking(value, live)

    handle = job.model.register_forward_pre_hook(before_forward, with_kwargs=True)
    try:
        yield
    finally:
        handle.remove()


def _marking(cache: Cache, live: LiveBytes) -> Callable[..., tuple[torch.Tensor, ...]]:
    """The cache's own `update`, after which what it returns is marked."""
    update: Callable[..., tuple[torch.Tensor, ...]] = cache.update

    def updated(*args: object, **kwargs: object) -> tuple[torch.Tensor, ...]:
        keys_and_values = update(*args, **kwargs)
        live.mark(keys_and_values, "kv_cache")
        return keys_and_values

    return updated


def _reply(request: TraceRequest) -> TraceReply:
    """The trace, or its error as the parent needs it."""
    try:
        return TraceReply(trace=traced(request.case, request.config))
    except SitegenError as error:
        return TraceReply(error=error.what, remedy=error.remedy, kind=type(error).__name__)


def private_stdout() -> BinaryIO:
    """Keep standard output for the reply, and send everyone else's prints to standard error."""
    private = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return private


def main() -> None:
    """Serve one request, and end with the parent."""
    with private_stdout() as stream:
        request = msgspec.json.decode(sys.stdin.buffer.read(), type=TraceRequest)
        die_with_parent(request.parent_pid)
        stream.write(msgspec.json.encode(_reply(request)))


if __name__ == "__main__":
    main()
