"""One case in one fresh process: start it, follow it, end it in time, and say how it ended."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Final, NamedTuple

import msgspec

from sitegen import allocators
from sitegen.measure.oom import OomKills, oom_kills, scope_of
from sitegen.measure.scrub import scrubbed
from sitegen.records.case import Case
from sitegen.records.model import OomScope, Sample, Status
from sitegen.records.observation import Observed, Progress, Request

PROBE: Final = "sitegen.workload.probe"
_GRACE_S: Final = 30.0
_TAIL_BYTES: Final = 4000
_READ_BYTES: Final = 65536
_KILLED_BY_SHELL: Final = 128 + signal.SIGKILL  # how a shell says that its child was killed
_QUIET: Final = {
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "TOKENIZERS_PARALLELISM": "false",
}

Watch = Callable[[Progress], None]


class Ending(NamedTuple):
    """How a process ended: the status, why, and, for want of memory, whose limit it met."""

    status: Status
    reason: str | None = None
    oom_scope: OomScope | None = None


class _Followed(NamedTuple):
    """What a process said, and whether it was still running when its time was up."""

    last: Progress | None
    timed_out: bool


def run_sample(case: Case, folder: Path | None, watch: Watch, module: str = PROBE) -> Sample:
    """Run the case once in a fresh process.

    Args:
        case: what to run.
        folder: the prepared weights; ``None`` for a baseline.
        watch: told of each phase as it begins.
        module: the measured program; another one keeps to the same protocol (`sitegen.workload.probe.observe`).

    Raises:
        UsageError: the allocator of the case is not to be had here.
    """
    environment = allocators.environment_for(case.allocator) | _QUIET
    request = Request(case=case, folder=str(folder) if folder else None, parent_pid=os.getpid())
    kills, load = oom_kills(), _load_average()
    began, began_ns = datetime.now(UTC), time.monotonic_ns()
    with tempfile.TemporaryFile() as errors:
        with _started(module, environment, errors) as process:
            followed = _follow(process, request, watch)
        tail = _tail(errors)
    ending = _ending(case, followed, process.returncode, kills)
    observed = followed.last.observed if followed.last else Observed()
    return Sample(
        **msgspec.structs.asdict(observed) | {"steps": tuple(observed.steps)},
        status=ending.status,
        reason=scrubbed(ending.reason) if ending.reason else None,
        oom_scope=ending.oom_scope,
        stderr_tail="" if ending.status == "ok" else tail,
        measured_at=began.isoformat(timespec="seconds").replace("+00:00", "Z"),
        duration_ns=time.monotonic_ns() - began_ns,
        load_average=load,
    )


def skipped_sample(reason: str) -> Sample:
    """The sample of a case that cannot run here at all."""
    return Sample(
        **msgspec.structs.asdict(Observed()) | {"steps": ()},
        status="skipped",
        reason=scrubbed(reason),
        oom_scope=None,
        stderr_tail="",
        measured_at=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        duration_ns=0,
        load_average=_load_average(),
    )


def ended(returncode: int, before: OomKills, now: OomKills) -> Ending:
    """What an exit code says of a process that did not report its own end.

    Args:
        returncode: as `subprocess` gives it (negative: a signal), or as a shell does (128 + signal).
        before: the kernel's counters when it started.
        now: the counters after it ended.
    """
    if returncode not in (-signal.SIGKILL, _KILLED_BY_SHELL):
        return Ending("failed", f"the measured process ended without a result (exit status {returncode})")
    scope = scope_of(before, now)
    if scope is None:
        return Ending("killed", "the measured process was killed, and not by the kernel for want of memory")
    return Ending("out_of_memory", f"the kernel killed the measured process for want of memory ({scope})", scope)


def _ending(case: Case, followed: _Followed, returncode: int, kills: OomKills) -> Ending:
    """How the process ended: its own word first, then the clock's, then the kernel's."""
    if followed.last is not None and followed.last.done:
        failure = followed.last.failure
        return Ending("ok") if failure is None else Ending(failure.status, failure.reason)
    if followed.timed_out:
        return Ending("timeout", f"not finished after {case.timeout} s (--timeout)")
    return ended(returncode, kills, oom_kills())


@contextmanager
def _started(module: str, environment: dict[str, str], errors: IO[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """A fresh interpreter in a session of its own; on exit nothing of its process group is left."""
    process = subprocess.Popen(
        [sys.executable, "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        env=environment,
        cwd=Path(__file__).parents[2],
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _follow(process: subprocess.Popen[bytes], request: Request, watch: Watch) -> _Followed:
    """Send the request, then read the report line by line until it ends or the time is up."""
    if process.stdin is None or process.stdout is None:
        raise TypeError("the process was started without pipes")
    with contextlib.suppress(BrokenPipeError), process.stdin:
        process.stdin.write(msgspec.json.encode(request))
    deadline, last, pending = time.monotonic() + request.case.timeout, None, b""
    with selectors.DefaultSelector() as selector, process.stdout:
        selector.register(process.stdout, selectors.EVENT_READ)
        while (left := deadline - time.monotonic()) > 0:
            if not selector.select(left):
                break
            chunk = os.read(process.stdout.fileno(), _READ_BYTES)
            if not chunk:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(_GRACE_S)
                return _Followed(last, timed_out=False)
            *lines, pending = (pending + chunk).split(b"\n")
            for line in lines:
                last = msgspec.json.decode(line, type=Progress)
                watch(last)
    return _Followed(last, timed_out=True)


def _tail(errors: IO[bytes]) -> str:
    """The end of what the process wrote on standard error, scrubbed."""
    errors.seek(max(0, errors.seek(0, os.SEEK_END) - _TAIL_BYTES))
    return scrubbed(errors.read().decode(errors="replace"))


def _load_average() -> float | None:
    """The machine's load over the last minute, where it is known."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
