"""Who killed a process for want of memory: the host's kernel or a control group's limit."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, NamedTuple

from sitegen.measure.machine import cgroup_folders
from sitegen.records.model import OomScope

_VMSTAT: Final = Path("/proc/vmstat")


class OomKills(NamedTuple):
    """The kernel's counters of processes killed for want of memory; ``None`` where it keeps none."""

    host: int | None
    cgroup: int | None


def oom_kills() -> OomKills:
    """The counters now. The host's counts every kill, a control group's own ones included."""
    files = (folder / name for folder in cgroup_folders() for name in ("memory.events", "memory.oom_control"))
    groups = [count for count in (_counter(path) for path in files) if count is not None]
    return OomKills(_counter(_VMSTAT), max(groups, default=None))


def scope_of(before: OomKills, now: OomKills) -> OomScope | None:
    """Whose limit was met between two readings; ``None`` when no counter moved."""
    if _moved(before.cgroup, now.cgroup):
        return "cgroup"
    return "host" if _moved(before.host, now.host) else None


def _moved(before: int | None, now: int | None) -> bool:
    """Whether a counter went up."""
    return before is not None and now is not None and now > before


def _counter(path: Path) -> int | None:
    """The line ``oom_kill N`` of a kernel file."""
    try:
        found = re.search(r"^oom_kill (\d+)$", path.read_text(encoding="ascii", errors="replace"), re.MULTILINE)
    except OSError:
        return None
    return int(found.group(1)) if found else None
