"""Synthetic records of a whole reference suite, for the tests that need records without measuring.

The default allocator's peaks are those of a first reproduction on a small Linux machine; the fixed ones stand on the
live tensors of the same cases plus the runtime's own pages. They only have to be plausible: no test may take them for
measurements.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from sitegen.records.case import Allocator, Case
from sitegen.records.model import (
    PROTOCOL,
    SCHEMA_VERSION,
    Circumstances,
    Environment,
    Machine,
    ModelIdentity,
    Record,
    Sample,
    SourceFile,
    Status,
    Step,
    Summary,
)
from sitegen.records.store import save, seal
from sitegen.units import MIB_BYTES
from tests.factory_samples import BASELINE_BYTES, ended_badly, succeeded

MACHINE: Final = Machine(
    slug="test-processor-2-cores-8-gib",
    system="Linux",
    architecture="x86_64",
    cpu_model="Test(R) Processor",
    cores=2,
    ram_gib=8,
    gpus=(),
)
OTHER_MACHINE: Final = replace(MACHINE, slug="test-processor-16-cores-64-gib", cores=16, ram_gib=64)
PACKAGES: Final[dict[str, str | None]] = {
    "torch": "2.13.0",
    "transformers": "5.24.0",
    "peft": "0.21.2",
    "tokenizers": "0.23.3",
    "safetensors": "0.8.0",
    "numpy": "2.4.6",
    "accelerate": "1.15.0",
    "bitsandbytes": None,
}
ENVIRONMENT: Final = Environment(
    id="py3.11-torch2.13.0-transformers5.24.0-00c0ffee", python="3.11", libc="glibc 2.36", threads=2, packages=PACKAGES
)
OTHER_ENVIRONMENT: Final = replace(
    ENVIRONMENT, id="py3.11-torch2.14.0-transformers5.24.0-00decade", packages={**PACKAGES, "torch": "2.14.0"}
)
CIRCUMSTANCES: Final = Circumstances(
    kernel="6.1.0",
    transparent_huge_pages="madvise",
    swap_total_bytes=0,
    cgroup_limit_bytes=None,
    cpu_flags=("avx2", "avx512f"),
    installed={"torch": "2.13.0", "transformers": "5.24.0"},
)
MODEL: Final = ModelIdentity(
    name="smollm2-135m-instruct",
    revision=None,
    source="random",
    config_sha256="c0" * 32,
    model_type="llama",
    files=(SourceFile(name="config.json", size_bytes=704, sha256="ab" * 32),),
)

BASELINE: Final = Case(mode="baseline")
INFERENCE_1: Final = Case(mode="inference", batch_size=1)
INFERENCE_8: Final = Case(mode="inference", batch_size=8)
TRAINING: Final = {batch: Case(batch_size=batch) for batch in (1, 2, 4, 8)}
TRAINING_4_LONG: Final = Case(batch_size=4, sequence_length=512)
CHECKPOINTING: Final = Case(batch_size=8, gradient_checkpointing=True)
BFLOAT16: Final = Case(batch_size=8, dtype="bfloat16")
LORA: Final = Case(batch_size=8, method="lora")

_NET_MIB: Final[dict[Case, dict[Allocator, tuple[int, ...]]]] = {
    INFERENCE_1: {"default": (611,), "fixed": (600,)},
    INFERENCE_8: {"default": (1141,), "fixed": (935,)},
    TRAINING[1]: {"default": (2296, 2846), "fixed": (2108, 2570)},
    TRAINING[2]: {"default": (2480, 3330), "fixed": (2110, 3042)},
    TRAINING[4]: {"default": (2960, 4420), "fixed": (2450, 3986)},
    TRAINING[8]: {"default": (4375, 6541), "fixed": (4336, 5876)},
    TRAINING_4_LONG: {"default": (4420, 6588), "fixed": (4338, 5880)},
    CHECKPOINTING: {"default": (2700, 4232), "fixed": (2110, 3400)},
    BFLOAT16: {"default": (3400, 4251), "fixed": (2905, 3675)},
    LORA: {"default": (4790, 4800), "fixed": (3535, 3545)},
}
"""Net peak of each step in MiB, by case and allocator."""


def reference_cases() -> list[Case]:
    """Every case of the reference suite, under both allocators."""
    cases = [BASELINE, *_NET_MIB]
    return [replace(case, allocator=allocator) for case, allocator in itertools.product(cases, ("default", "fixed"))]


def reference_suite(machine: Machine = MACHINE, environment: Environment = ENVIRONMENT) -> list[Record]:
    """One sealed record a case, all successful."""
    return [record(case, machine=machine, environment=environment) for case in reference_cases()]


def record(  # noqa: PLR0913  # each argument is one thing that a test varies
    case: Case,
    *,
    net_mib: tuple[float, ...] | None = None,
    status: Status = "ok",
    reason: str | None = None,
    machine: Machine = MACHINE,
    environment: Environment = ENVIRONMENT,
    measured_at: str = "2026-03-02T08:30:00Z",
) -> Record:
    """A sealed record of `case`.

    Args:
        case: what ran.
        net_mib: the net peak of each step in MiB; those of the table above when left out.
        status: anything but ``ok`` gives a record without figures.
        reason: why it did not end well.
        machine: where.
        environment: under which versions.
        measured_at: ISO date and time.
    """
    if status == "ok":
        sample = succeeded(case, _net_bytes(case, net_mib), measured_at)
    else:
        sample = ended_badly(status, reason, measured_at)
    return _sealed(case, sample, machine, environment)


def scaled(original: Record, factor: float) -> Record:
    """The same case measured again with every net peak multiplied by `factor`."""
    net = tuple((peak or 0) / MIB_BYTES * factor for peak in original.summary.step_peak_bytes)
    return record(original.case, net_mib=net, machine=original.machine, environment=original.environment)


def write_records(records: Iterable[Record], root: Path) -> None:
    """Save them under `root`, the `measurements/` folder of a project."""
    for each in records:
        save(each, root)


def _net_bytes(case: Case, net_mib: tuple[float, ...] | None) -> tuple[int, ...]:
    """The net peak of each step in bytes."""
    if case.mode == "baseline":
        return ()
    mib = net_mib or _NET_MIB[replace(case, allocator="default")][case.allocator]
    return tuple(round(each * MIB_BYTES) for each in mib)


def _sealed(case: Case, sample: Sample, machine: Machine, environment: Environment) -> Record:
    """The record around one sample."""
    return seal(
        Record(
            schema_version=SCHEMA_VERSION,
            protocol=PROTOCOL,
            case_id=case.id,
            case=case,
            status=sample.status,
            reason=sample.reason,
            summary=_summary(case, sample),
            model=None if case.mode == "baseline" else MODEL,
            machine=machine,
            environment=environment,
            circumstances=CIRCUMSTANCES,
            workload_sha256="5e" * 32,
            samples=(sample,),
            content_sha256="",
        )
    )


def _summary(case: Case, sample: Sample) -> Summary:
    """The figures that pages read, net of the baseline."""
    peaks = tuple(_net(_peak(step)) for step in sample.steps)
    last = sample.steps[-1].phases if sample.steps else {}
    known = [peak for peak in peaks if peak is not None]
    peak = max(known, default=None)
    return Summary(
        status=sample.status,
        peak_bytes=peak,
        load_peak_bytes=_net(sample.load_peak_bytes),
        baseline_bytes=sample.baseline_bytes,
        step_peak_bytes=peaks,
        phase_peak_bytes={name: _net(phase.peak_rss_bytes) for name, phase in last.items()},
        step_duration_ns=tuple(step.duration_ns for step in sample.steps),
        parameters=sample.parameters,
        trainable_parameters=sample.trainable_parameters,
        component_bytes=sample.components,
        allocator=case.allocator,
        samples=1,
        peak_range_bytes=None,
    )


def _peak(step: Step) -> int | None:
    """Gross peak of one step in bytes."""
    peaks = (phase.peak_rss_bytes for phase in step.phases.values())
    return max((peak for peak in peaks if peak is not None), default=None)


def _net(gross_bytes: int | None) -> int | None:
    """Without the baseline."""
    return None if gross_bytes is None else gross_bytes - BASELINE_BYTES
