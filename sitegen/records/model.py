"""What a measurement is: frozen types that are the JSON of `measurements/`, units in the field names.

Sizes are whole bytes (`_bytes`), durations whole nanoseconds (`_ns`). What is not known is ``None`` and has a line in
the `reasons` beside it; it is never 0.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from sitegen.records.case import Allocator, Case

SCHEMA_VERSION: Final = 1
PROTOCOL: Final = 1

Status = Literal["ok", "failed", "invalid", "timeout", "out_of_memory", "killed", "skipped"]
OomScope = Literal["host", "cgroup", "device"]
WeightSource = Literal["hub", "package", "folder", "random"]

PHASES: Final[dict[str, tuple[str, ...]]] = {
    "baseline": (),
    "inference": ("forward",),
    "generation": ("prefill", "decode"),
    "training": ("forward", "backward", "optimizer_step"),
}
"""The phases of one step, by mode, in the order in which they run."""


class _Frozen(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of every record type: immutable, keyword only, unknown keys refused."""


class SourceFile(_Frozen, frozen=True):
    """One file that the weights came from."""

    name: str
    size_bytes: int
    sha256: str


class ModelIdentity(_Frozen, frozen=True):
    """Which weights were measured, and where they came from.

    `source` is ``random`` when the weights were drawn from the configuration: memory does not depend on their values.
    `config_sha256` is that of the configuration with its keys sorted.
    """

    name: str
    revision: str | None
    source: WeightSource
    config_sha256: str
    model_type: str
    files: tuple[SourceFile, ...]


class Machine(_Frozen, frozen=True):
    """What splits a series of measurements: no host name, no user, no path."""

    slug: str
    system: str
    architecture: str
    cpu_model: str
    cores: int
    ram_gib: int
    gpus: tuple[str, ...]


class Environment(_Frozen, frozen=True):
    """The versions that can move a peak. An absent package is ``None``."""

    id: str
    python: str
    libc: str
    threads: int
    packages: dict[str, str | None]


class Circumstances(_Frozen, frozen=True):
    """What surrounded the measurement without splitting its series.

    `transparent_huge_pages` is the kernel's current choice (``always``, ``madvise`` or ``never``),
    `cgroup_limit_bytes` the smallest limit of the ancestry, `installed` every package of the environment with its
    version.
    """

    kernel: str
    transparent_huge_pages: str | None
    swap_total_bytes: int
    cgroup_limit_bytes: int | None
    cpu_flags: tuple[str, ...]
    installed: dict[str, str]


class Phase(_Frozen, frozen=True):
    """One phase of one step: `peak_rss_bytes` is gross (the baseline is in it)."""

    peak_rss_bytes: int | None
    duration_ns: int


class Step(_Frozen, frozen=True):
    """One step: its phases by name, in the order in which they ran."""

    duration_ns: int
    phases: dict[str, Phase]


class Components(_Frozen, frozen=True):
    """Bytes of the live tensors' storages, each storage counted once."""

    weights: int
    gradients: int
    optimizer_state: int


class Engaged(_Frozen, frozen=True):
    """Whether each option really acted, as observed in the run; ``None`` where the case does not ask for it.

    `checkpointing`: decoder layers ran again during the backward pass. `adapter_gradients`: every adapter parameter
    received a gradient and at least one is not zero. `attention`: the implementation the model reports. `allocator`:
    the memory map of the process shows the library (or glibc's fixed threshold was in its environment).
    """

    checkpointing: bool | None
    adapter_gradients: bool | None
    attention: str | None
    allocator: bool | None


class Sample(_Frozen, frozen=True):
    """One fresh process. All peaks are gross.

    `ru_maxrss_bytes` is a diagnostic: on Linux it is inherited from the parent through fork and exec.
    """

    status: Status
    reason: str | None
    oom_scope: OomScope | None
    stderr_tail: str
    measured_at: str
    duration_ns: int
    load_average: float | None
    baseline_bytes: int | None
    import_peak_bytes: int | None
    load_peak_bytes: int | None
    import_duration_ns: int | None
    load_duration_ns: int | None
    steps: tuple[Step, ...]
    parameters: int | None
    trainable_parameters: int | None
    components: Components | None
    engaged: Engaged | None
    process_peak_bytes: int | None
    ru_maxrss_bytes: int | None
    swap_bytes: int | None
    major_faults: int | None
    reasons: dict[str, str]


class Summary(_Frozen, frozen=True):
    """The figures that pages and outside scripts read; peaks are net of the baseline.

    `peak_bytes` is the maximum over the phases of all steps, loading apart; `phase_peak_bytes` is that of the last
    step. With several samples it is the sample of median peak that is summarised, `peak_range_bytes` holds the
    extremes.
    """

    status: Status
    peak_bytes: int | None
    load_peak_bytes: int | None
    baseline_bytes: int | None
    step_peak_bytes: tuple[int | None, ...]
    phase_peak_bytes: dict[str, int | None]
    step_duration_ns: tuple[int, ...]
    parameters: int | None
    trainable_parameters: int | None
    component_bytes: Components | None
    allocator: Allocator
    samples: int
    peak_range_bytes: tuple[int, int] | None


class Record(_Frozen, frozen=True):
    """One case on one machine in one environment: what the file holds, whole."""

    schema_version: int
    protocol: int
    case_id: str
    case: Case
    status: Status
    reason: str | None
    summary: Summary
    model: ModelIdentity | None
    machine: Machine
    environment: Environment
    circumstances: Circumstances
    workload_sha256: str
    samples: tuple[Sample, ...]
    content_sha256: str

    @property
    def key(self) -> str:
        """Where the record lives: ``<machine>/<environment>/<case>``."""
        return f"{self.machine.slug}/{self.environment.id}/{self.case_id}"


def json_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a record file."""
    schema = msgspec.json.schema(Record)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"sitegen record, schema version {SCHEMA_VERSION}",
        **schema,
    }
