"""The samples of synthetic records: what one process would have seen, from the peaks that a test asks for."""

from __future__ import annotations

from typing import Any, Final

from msgspec.structs import replace

from sitegen.records.case import Case
from sitegen.records.model import PHASES, Components, Engaged, Phase, Sample, Status, Step
from sitegen.units import MIB_BYTES, NS_PER_S

PARAMETERS: Final = 134_515_008
ADAPTER_PARAMETERS: Final = 460_800
BASELINE_BYTES: Final = 359 * 10**6

_SECONDS: Final = {
    Case(batch_size=8, gradient_checkpointing=True): 12.5,
    Case(batch_size=8, dtype="bfloat16"): 15.0,
    Case(batch_size=8, method="lora"): 6.5,
}
"""Duration of a step in seconds; the others follow their number of tokens."""

_MEASURED: Final = (
    "load_average",
    "baseline_bytes",
    "import_peak_bytes",
    "load_peak_bytes",
    "import_duration_ns",
    "load_duration_ns",
    "parameters",
    "trainable_parameters",
    "components",
    "engaged",
    "process_peak_bytes",
    "ru_maxrss_bytes",
    "swap_bytes",
    "major_faults",
)
"""What a process that ended badly leaves unknown."""


def succeeded(case: Case, net: tuple[int, ...], measured_at: str) -> Sample:
    """One successful process."""
    baseline = case.mode == "baseline"
    load_peak = None if baseline else BASELINE_BYTES + 4 * PARAMETERS + 20 * MIB_BYTES
    steps = tuple(_step(case, peak) for peak in net)
    return Sample(
        status="ok",
        reason=None,
        oom_scope=None,
        stderr_tail="",
        measured_at=measured_at,
        duration_ns=8 * NS_PER_S + sum(step.duration_ns for step in steps),
        load_average=0.5,
        baseline_bytes=BASELINE_BYTES,
        import_peak_bytes=BASELINE_BYTES,
        load_peak_bytes=load_peak,
        import_duration_ns=6 * NS_PER_S,
        load_duration_ns=None if baseline else NS_PER_S,
        steps=steps,
        parameters=None if baseline else PARAMETERS,
        trainable_parameters=_trainable(case),
        components=None if baseline else _components(case),
        engaged=None if baseline else _engaged(case),
        process_peak_bytes=BASELINE_BYTES + max(net, default=0),
        ru_maxrss_bytes=BASELINE_BYTES + max(net, default=0),
        swap_bytes=0,
        major_faults=0,
        reasons=dict.fromkeys(("load_peak_bytes", "components"), "the case loads no model") if baseline else {},
    )


def ended_badly(status: Status, reason: str | None, measured_at: str) -> Sample:
    """One process that ended badly: nothing is known but why."""
    why = reason or "the process ended before its first step"
    unknown: dict[str, Any] = dict.fromkeys(_MEASURED)
    return Sample(
        status=status,
        reason=why,
        oom_scope="host" if status == "out_of_memory" else None,
        stderr_tail=why,
        measured_at=measured_at,
        duration_ns=3 * NS_PER_S,
        steps=(),
        reasons=dict.fromkeys(unknown, why),
        **unknown,
    )


def _step(case: Case, net: int) -> Step:
    """One step whose largest phase peaks at `net` bytes above the baseline."""
    components = _components(case)
    states = components.weights + components.gradients + components.optimizer_state
    update = min(net, states + 40 * MIB_BYTES)
    peaks = {"forward": round(0.93 * net), "backward": net, "optimizer_step": update}
    phases = PHASES[case.mode]
    duration = _step_duration_ns(case)
    return Step(
        duration_ns=duration,
        phases={
            name: Phase(
                peak_rss_bytes=BASELINE_BYTES + (peaks[name] if len(phases) > 1 else net),
                duration_ns=duration // len(phases),
            )
            for name in phases
        },
    )


def _step_duration_ns(case: Case) -> int:
    """How long one step takes."""
    tokens = case.batch_size * case.sequence_length
    cost = tokens * (0.0045 if case.mode == "training" else 0.0012)
    seconds = _SECONDS.get(replace(case, allocator="default"), cost)
    return round(seconds * (1.15 if case.allocator == "fixed" else 1.0) * NS_PER_S)


def _trainable(case: Case) -> int | None:
    """How many parameters receive gradients."""
    if case.mode == "baseline":
        return None
    if case.mode != "training":
        return 0
    return ADAPTER_PARAMETERS if case.method == "lora" else PARAMETERS


def _components(case: Case) -> Components:
    """Live bytes after the last step: 4 bytes a parameter in float32, 2 in bfloat16; Adam holds two moments."""
    size = 2 if case.dtype == "bfloat16" else 4
    adapter = ADAPTER_PARAMETERS if case.method == "lora" else 0
    gradients = (_trainable(case) or 0) * size
    return Components(weights=(PARAMETERS + adapter) * size, gradients=gradients, optimizer_state=2 * gradients)


def _engaged(case: Case) -> Engaged:
    """Every option that the case asks for did act."""
    return Engaged(
        checkpointing=True if case.gradient_checkpointing else None,
        adapter_gradients=True if case.method == "lora" else None,
        attention=case.attention,
        allocator=True if case.allocator == "fixed" else None,
    )
