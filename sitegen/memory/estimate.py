"""From a memory bill to an estimate: the peak, its interval, what it is made of, and whether it fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, Protocol

import msgspec

from sitegen.memory import intervals
from sitegen.memory.catalogue import Card
from sitegen.memory.cuda import DEVICE_RATIOS, CudaLines, cuda_lines
from sitegen.memory.intervals import Interval, Ratios
from sitegen.memory.runtime import Shape, computed_bytes, margins_bytes
from sitegen.memory.verdicts import Verdict, verdicts
from sitegen.records.bill import Bill, PhaseBill, Source
from sitegen.records.case import Case
from sitegen.units import MB_BYTES

Device = Literal["cpu", "cuda"]

RUNTIME: Final = "runtime"
"""The component that no tensor is: the pages that the runtime itself touches."""

UNKNOWN_SHAPE: Final = Shape(hidden_size=0, vocabulary_size=0, layers=0, tied=True)
"""That of a model whose configuration has other names than the usual ones: nothing is computed from it."""

BASELINE_BYTES: Final = 500 * MB_BYTES
"""More than any stack was seen to hold before a model (351 to 408 MB): a machine's memory must hold it too."""

LOADING_BYTES: Final = 46 * MB_BYTES
"""The most that loading took in the reference suite where it touched no weight: code, and the Python objects made."""

_ITEM_BYTES: Final = {"float32": 4, "bfloat16": 2, "float16": 2}


class RuntimePages(Protocol):
    """What a process takes beside its tensors: code pages, stacks, buffers, less the weights that it never reads."""

    def bytes_for(self, case: Case, shape: Shape, phase: str) -> int:
        """Bytes of these pages at the peak of a phase; negative when the unread weights are the larger part."""
        ...


class TypicalPages:
    """What the reference suite showed, in the middle of a mode, beside what is computed (`computed_bytes`).

    Inference 35 MB, generation 19, training 36 to 52 (SmolLM2-135M, torch 2.13.0, transformers 5.24, 2 cores).

    Args:
        threads: those of a process whose case does not say.
    """

    _BYTES: Final = {"inference": 35 * MB_BYTES, "generation": 19 * MB_BYTES, "training": 45 * MB_BYTES}

    def __init__(self, threads: int) -> None:
        self._threads = threads

    def bytes_for(self, case: Case, shape: Shape, phase: str) -> int:
        """Bytes of these pages, the same in every phase."""
        del phase
        return self._BYTES[case.mode] + computed_bytes(case, shape, case.threads or self._threads)


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """What a case takes. Sizes are bytes; on a CPU they are net of what Python and the libraries hold before any model.

    `peak_bytes` is that of the live tensors over all phases, plus the runtime's pages (on CUDA: PyTorch's allocations).
    `load_peak_bytes` is what loading makes resident at most. `interval_bytes` is under the case's own allocator, and
    `allocators` has it under the others that are known. `components` add up to `peak_bytes`.
    """

    model: str
    case: Case
    device: Device
    peak_bytes: int
    load_peak_bytes: int
    interval_bytes: Interval
    allocators: dict[str, Interval]
    phase: str
    step: int
    phases: tuple[PhaseBill, ...]
    components: dict[str, int]
    parameters: int
    trainable_parameters: int
    stack: dict[str, str]
    source: Source
    traced_layers: tuple[int, ...]
    verdicts: tuple[Verdict, ...]
    cuda: CudaLines | None
    notes: tuple[str, ...]


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """Where a case would run, and what is known of it.

    `shape` is the model's, where its configuration tells it; `rows` are the records under the case's allocator
    (`sitegen.memory.intervals.rows_of`); `baseline_bytes` is what Python and the libraries hold before any model;
    `notes` is what a reader should know of the model.
    """

    device: Device = "cpu"
    runtime: RuntimePages
    shape: Shape = UNKNOWN_SHAPE
    rows: Sequence[Ratios] = ()
    baseline_bytes: int = BASELINE_BYTES
    cards: Sequence[Card] = ()
    stack: dict[str, str] = {}
    notes: tuple[str, ...] = ()


def estimated(bill: Bill, case: Case, setting: Setting) -> Estimate:
    """The estimate that a bill gives for a case in a setting."""
    cuda = cuda_lines(bill, case) if setting.device == "cuda" else None
    beside = {
        phase.name: cuda.workspaces_bytes if cuda else setting.runtime.bytes_for(case, setting.shape, phase.name)
        for phase in bill.phases
    }
    phases = tuple(_with_runtime(phase, beside[phase.name]) for phase in bill.phases)
    peak = max(phases, key=lambda phase: phase.peak_bytes)
    allocators = {} if cuda else _allocators(peak.peak_bytes, case, setting)
    own = cuda.allocated_interval_bytes if cuda else allocators[case.allocator]
    load_peak_bytes = _load_peak(bill, case)
    process = own[0] + setting.baseline_bytes, max(own[1], load_peak_bytes) + setting.baseline_bytes
    return Estimate(
        model=case.model,
        case=case,
        device=setting.device,
        peak_bytes=peak.peak_bytes,
        load_peak_bytes=load_peak_bytes,
        interval_bytes=own,
        allocators=allocators,
        phase=peak.name,
        step=peak.step,
        phases=phases,
        components=peak.components,
        parameters=bill.parameters,
        trainable_parameters=bill.trainable_parameters,
        stack=setting.stack,
        source=bill.source,
        traced_layers=bill.traced_layers,
        verdicts=verdicts(setting.cards, process, cuda.device_interval_bytes if cuda else _on_a_card(bill)),
        cuda=cuda,
        notes=setting.notes,
    )


def _with_runtime(phase: PhaseBill, runtime_bytes: int) -> PhaseBill:
    """The phase with what is no tensor among its components."""
    components = {**phase.components, RUNTIME: runtime_bytes}
    return msgspec.structs.replace(phase, peak_bytes=phase.peak_bytes + runtime_bytes, components=components)


def _allocators(peak_bytes: int, case: Case, setting: Setting) -> dict[str, Interval]:
    """The interval under the fixed allocator and, when it is another, under the case's own."""
    margins = margins_bytes(case, setting.shape)
    known = {"fixed": intervals.of_fixed(peak_bytes, margins)}
    if case.allocator != "fixed":
        ratios = intervals.ratios_for(case, setting.rows)
        known[case.allocator] = intervals.under(peak_bytes, ratios, margins)
    return known


def _load_peak(bill: Bill, case: Case) -> int:
    """What loading may make resident: the weights, and beside 4-bit ones the file that they are quantised from.

    `sitegen.workload.models.load` maps a safetensors file, so its pages come in as they are touched: at most all of
    them. The mapped originals of what is quantised stay beside it, and so do those of what peft's k-bit preparation
    copies into float32.
    """
    copied = case.mode == "training" and case.method == "qlora" and case.dtype != "float32"
    originals = bill.parameters if copied else bill.quantised_parameters
    return bill.weights_bytes + originals * _ITEM_BYTES[case.dtype] + LOADING_BYTES


def _on_a_card(bill: Bill) -> Interval:
    """A CUDA card's interval for a bill of CPU steps: the published ratios, on the live tensors."""
    least, _, most = DEVICE_RATIOS
    return round(bill.peak.peak_bytes * least), round(bill.peak.peak_bytes * most)
