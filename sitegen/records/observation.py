"""What a measured process tells its parent, as it goes.

The child writes one `Progress` a line; each carries all that was observed so far, so that whatever kills it, the last
line holds what had been measured until then.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from sitegen.records.case import Case
from sitegen.records.model import Components, Engaged, Step


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What the parent asks for: the case, the prepared weights' folder (none for a baseline), who is asking."""

    case: Case
    folder: str | None
    parent_pid: int


class Observed(msgspec.Struct, kw_only=True):
    """The child's findings so far; peaks are gross. The fields are those of `Sample`."""

    baseline_bytes: int | None = None
    import_peak_bytes: int | None = None
    load_peak_bytes: int | None = None
    import_duration_ns: int | None = None
    load_duration_ns: int | None = None
    steps: list[Step] = []
    parameters: int | None = None
    trainable_parameters: int | None = None
    components: Components | None = None
    engaged: Engaged | None = None
    process_peak_bytes: int | None = None
    ru_maxrss_bytes: int | None = None
    swap_bytes: int | None = None
    major_faults: int | None = None
    reasons: dict[str, str] = {}


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """How the workload ended when it did not end well."""

    status: Literal["failed", "invalid", "out_of_memory", "skipped"]
    reason: str


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the child's report. `phase` is what begins now; `done` marks the last line."""

    phase: str
    step: int | None
    observed: Observed
    failure: Failure | None = None
    done: bool = False
