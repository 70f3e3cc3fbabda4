"""The operating system's own peak, phase by phase, without a sampler.

On Linux ``VmHWM`` of ``/proc/self/status`` is the process's own high-water mark; writing ``5`` to
``/proc/self/clear_refs`` brings it down to the current resident set (proc(5)). `ru_maxrss` is no substitute: it is
inherited through fork and exec. On macOS it is all there is, in bytes there and in KiB on Linux (getrusage(2)).
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from sitegen.units import KIB_BYTES

_STATUS: Final = Path("/proc/self/status")
_CLEAR_REFS: Final = Path("/proc/self/clear_refs")
NO_PHASES: Final = "this system cannot reset a process's peak, so only that of the whole process exists"


class Reading:
    """The peak of one phase, filled in when the phase ends; ``None`` where the system cannot tell."""

    peak_rss_bytes: int | None = None


def reset_peak() -> bool:
    """Bring the high-water mark down to what is resident now; say whether the system did it."""
    try:
        _CLEAR_REFS.write_text("5", encoding="ascii")
    except OSError:
        return False
    return True


def process_peak_bytes() -> int:
    """Gross peak since the last reset, or since the start where it cannot be reset."""
    return _status_bytes("VmHWM") or ru_maxrss_bytes()


def swap_bytes() -> int | None:
    """What of this process lies in swap now: none of the peaks counts it. ``None`` off Linux."""
    return _status_bytes("VmSwap")


def ru_maxrss_bytes() -> int:
    """The inherited high-water mark: a diagnostic on Linux, the only peak on macOS."""
    raw = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return raw if sys.platform == "darwin" else raw * KIB_BYTES


def major_faults() -> int:
    """Pages that had to be read from a disk so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_majflt


@contextmanager
def phase_peak() -> Iterator[Reading]:
    """Read the gross peak between entry and exit."""
    reading = Reading()
    known = reset_peak()
    yield reading
    if known:
        reading.peak_rss_bytes = process_peak_bytes()


def _status_bytes(field: str) -> int | None:
    """One size of ``/proc/self/status``, in bytes (the file says kB and means KiB)."""
    try:
        lines = _STATUS.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return None
    for line in lines:
        if line.startswith(field + ":"):
            return int(line.split()[1]) * KIB_BYTES
    return None
