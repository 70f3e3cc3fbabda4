"""Trace cases into memory bills, deep models from shallow ones: ``python -m sitegen.workload.bills``.

`BillRequests` (JSON) come in on standard input; one `BillReply` a line goes out on standard output, in their order.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from sitegen.errors import ModelError, SitegenError, UsageError
from sitegen.memory.depth import IrregularDepthError, Profile, Row, depths, growths
from sitegen.records.bill import Bill, BillReply, BillRequest, BillRequests, PhaseBill
from sitegen.records.case import Case
from sitegen.workload.guard import die_with_parent
from sitegen.workload.layers import Layers, matrices
from sitegen.workload.profiles import COMPONENTS, passing_heap_bytes, profiles
from sitegen.workload.trace import Recording, private_stdout, recorded

_TOKENS: Final = (3, 4, 5)
"""Tokens to generate in the traces that foretell longer generations."""

_WINDOW_MARGIN: Final = 2
_WEIGHTS: Final = COMPONENTS.index("weights")


class _Traced(NamedTuple):
    """A whole model: its phases, its numbers of parameters (all, trainable, quantised) and what passes in the heap."""

    phases: tuple[Profile, ...]
    counts: Row
    layers: tuple[int, ...]
    model_type: str


def bill(request: BillRequest) -> Bill:
    """The bill of a case; a later step or micro-batch than the second costs what the second does, and is not traced.

    Raises:
        SitegenError: what `sitegen.workload.trace.traced` raises.
    """
    case = request.case
    short = replace(case, steps=min(case.steps, 2), gradient_accumulation=min(case.gradient_accumulation, 2))
    layers = Layers(request.config)
    tracer = _Tracer(layers, request.granularity_bytes)
    if _is_long(short, layers):
        with suppress(IrregularDepthError):
            return _long_generation(short, tracer)
    traced = tracer.whole(short)
    return _bill(traced, [(phase, phase.peak()) for phase in traced.phases])


def _is_long(case: Case, layers: Layers) -> bool:
    """Whether a few tokens foretell the generation: it is long, and its cache does not come to fill a window."""
    if case.mode != "generation" or case.new_tokens <= _TOKENS[-1]:
        return False
    first, last = case.sequence_length - _WINDOW_MARGIN, case.sequence_length + case.new_tokens + _WINDOW_MARGIN
    return layers.window is None or not first <= layers.window <= last


def _outgrows(case: Case, window: int | None) -> bool:
    """Whether sequences come to fill the window, which makes the layers that have one another kind."""
    longest = case.sequence_length + (case.new_tokens if case.mode == "generation" else 0)
    return window is not None and longest >= window


def _long_generation(case: Case, tracer: _Tracer) -> Bill:
    """A generation of many tokens, from those of a few."""
    few = [tracer.whole(replace(case, new_tokens=count)) for count in _TOKENS]
    further = case.new_tokens - _TOKENS[0]
    found = growths(*(traced.phases for traced in few))
    return _bill(few[0], list(zip(few[0].phases, (growth.peak(further) for growth in found), strict=True)))


class _Tracer:
    """Traces of one model, each made once."""

    def __init__(self, layers: Layers, granularity_bytes: int) -> None:
        self._layers, self._granularity_bytes = layers, granularity_bytes
        self._known: dict[tuple[Case, int], _Traced] = {}

    def whole(self, case: Case) -> _Traced:
        """Every phase of the model at its own depth, from three shallower ones where these foretell it."""
        distinct = _outgrows(case, self._layers.window)
        for three in depths(self._layers.kinds, distinct) if self._layers.regular else ():
            with suppress(IrregularDepthError):
                return self._deep(case, three)
        return self._at(case, self._layers.count)

    def _deep(self, case: Case, three: tuple[int, int, int]) -> _Traced:
        """What three depths foretell; raises `IrregularDepthError`."""
        shallow, deep, deeper = (self._at(case, count) for count in three)
        period = three[1] - three[0]
        periods = (self._layers.count - three[0]) // period
        found = growths(shallow.phases, deep.phases, deeper.phases, periods=(three[2] - three[0]) // period)
        counts = tuple(a + periods * (b - a) for a, b in zip(shallow.counts, deep.counts, strict=True))
        return _Traced(tuple(growth.profile(periods) for growth in found), counts, three, shallow.model_type)

    def _at(self, case: Case, count: int) -> _Traced:
        """A trace with `count` layers."""
        key = case, count
        if key not in self._known:
            self._known[key] = self._trace(case, count)
        return self._known[key]

    def _trace(self, case: Case, count: int) -> _Traced:
        """The trace itself."""
        recording = recorded(case, self._layers.cut(count))
        phases = profiles(recording, self._granularity_bytes)
        counts = (
            recording.parameters,
            recording.trainable_parameters,
            _quantised(recording),
            passing_heap_bytes(recording) if case.mode == "training" else 0,
        )
        return _Traced(phases, counts, (count,), recording.job.model.config.model_type)


def _quantised(recording: Recording) -> int:
    """The weights that 4 bits stand for."""
    return sum(
        parameter.quant_state.shape.numel()
        for parameter in recording.job.model.parameters()
        if getattr(parameter, "quant_state", None) is not None
    )


def _bill(traced: _Traced, peaks: Sequence[tuple[Profile, Row]]) -> Bill:
    """The bill that the peaks of the phases make."""
    highest: dict[tuple[int, str], Row] = {}
    for phase, row in peaks:
        key = phase.step, phase.name
        highest[key] = max(highest.get(key, row), row, key=sum)
    parameters, trainable, quantised, heap_bytes = traced.counts
    return Bill(
        model_type=traced.model_type,
        parameters=parameters,
        trainable_parameters=trainable,
        quantised_parameters=quantised,
        passing_heap_bytes=heap_bytes,
        weights_bytes=traced.phases[0].rows[0][_WEIGHTS],
        phases=tuple(
            PhaseBill(step=step, name=name, peak_bytes=sum(row), components=dict(zip(COMPONENTS, row, strict=True)))
            for (step, name), row in highest.items()
        ),
        traced_layers=traced.layers,
    )


def _reply(request: BillRequest) -> BillReply:
    """The bill, or its error as the parent needs it."""
    try:
        return BillReply(bill=bill(request))
    except SitegenError as error:
        return BillReply(error=error.what, remedy=error.remedy, kind=type(error).__name__)
    except Exception as error:  # noqa: BLE001 - whatever transformers and peft raise of a configuration or a target
        return _refusal(request, error)
    finally:
        gc.collect()


def _refusal(request: BillRequest, error: Exception) -> BillReply:
    """What a library refused, in words: most often LoRA targets that the model does not have."""
    if "arget modules" in str(error):
        return BillReply(
            error=f"--lora-targets {','.join(request.case.lora_targets)}: this {request.config['model_type']} model has"
            " no such modules.",
            remedy=f"Name some of its matrices: {', '.join(matrices(request.config))}.",
            kind=UsageError.__name__,
        )
    first = next((line.strip() for line in str(error).splitlines() if line.strip()), "no message")
    return BillReply(
        error=f"This case cannot be traced: {type(error).__name__}: {first}",
        remedy="Check the options and the configuration.",
        kind=ModelError.__name__,
    )


def main() -> None:
    """Serve all the requests, and end with the parent."""
    with private_stdout() as stream:
        asked = msgspec.json.decode(sys.stdin.buffer.read(), type=BillRequests)
        die_with_parent(asked.parent_pid)
        for request in asked.requests:
            stream.write(msgspec.json.encode(_reply(request)) + b"\n")
            stream.flush()


if __name__ == "__main__":
    main()
