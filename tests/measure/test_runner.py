"""One case in one fresh process, and every way it can end."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from sitegen.measure.runner import run_sample
from sitegen.records.case import Case
from sitegen.records.model import Sample
from sitegen.records.observation import Progress
from sitegen.records.summary import net_peak_bytes
from sitegen.units import MIB_BYTES
from tests.probes import ending

ROOT = Path(__file__).parents[2]
UNDER_A_PARENT_THAT_HELD_600_MIB = """
import json
from sitegen.measure.runner import run_sample
from sitegen.records.case import Case
from sitegen.records.summary import net_peak_bytes
block = bytearray(b"x") * (600 * 2**20)
del block
sample = run_sample(Case(), None, lambda progress: None, "tests.probes.allocating")
print(json.dumps([net_peak_bytes(sample), sample.ru_maxrss_bytes]))
"""


def _run(how: int, timeout: int = 60) -> Sample:
    return run_sample(Case(seed=how, timeout=timeout), None, lambda _progress: None, "tests.probes.ending")


def test_512_mib_read_as_512_mib_whatever_the_parent_held_before() -> None:
    sample = run_sample(Case(), None, lambda _progress: None, "tests.probes.allocating")
    net = net_peak_bytes(sample)
    assert net is not None
    assert abs(net - 512 * MIB_BYTES) <= 2 * MIB_BYTES

    output = subprocess.run(
        [sys.executable, "-c", UNDER_A_PARENT_THAT_HELD_600_MIB], cwd=ROOT, capture_output=True, check=True
    ).stdout
    under_it, ru_maxrss = json.loads(output)
    assert abs(under_it - 512 * MIB_BYTES) <= 2 * MIB_BYTES
    assert sys.platform != "linux" or ru_maxrss >= 600 * MIB_BYTES  # the trap was there


@pytest.mark.parametrize(
    ("how", "status", "says"),
    [
        (ending.RAISES, "failed", "ValueError: …/weights.bin"),
        (ending.NO_MEMORY, "out_of_memory", "MemoryError"),
        (ending.NO_BLOCK, "out_of_memory", "DefaultCPUAllocator: can't allocate memory"),
        (ending.INVALID, "invalid", "the option did nothing"),
        (ending.KILLED, "killed", "was killed"),
        (ending.SILENT, "failed", "ended without a result (exit status 0)"),
    ],
)
def test_each_ending_is_recorded_as_such_with_what_was_measured_until_then(how: int, status: str, says: str) -> None:
    sample = _run(how)
    assert sample.status == status
    assert says in (sample.reason or "")
    assert sample.baseline_bytes is not None
    assert sample.baseline_bytes > 0


def test_a_failure_s_stderr_is_kept_and_scrubbed() -> None:
    sample = _run(ending.RAISES)
    assert "weights.bin" in sample.stderr_tail
    assert "somebody" not in sample.stderr_tail + (sample.reason or "")


def test_what_a_library_prints_is_no_part_of_the_report() -> None:
    assert _run(ending.NOISY).status == "ok"


def test_a_timeout_ends_the_whole_process_group() -> None:
    seen: list[Progress] = []
    case = Case(seed=ending.SLEEPS, timeout=3)
    began = time.monotonic()
    sample = run_sample(case, None, seen.append, "tests.probes.ending")
    assert sample.status == "timeout"
    assert "3 s" in (sample.reason or "")
    assert time.monotonic() - began < 20
    grandchild = int(seen[-1].observed.reasons["grandchild"])
    assert _is_gone(grandchild)


def test_phases_are_announced_as_they_begin() -> None:
    seen: list[Progress] = []
    run_sample(Case(), None, seen.append, "tests.probes.allocating")
    assert [(progress.step, progress.phase) for progress in seen] == [(1, "forward"), (1, "end")]
    assert seen[-1].done


def test_the_environment_of_the_author_engages_no_allocator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MALLOC_ARENA_MAX", "1")
    monkeypatch.setenv("MALLOC_MMAP_THRESHOLD_", "1")
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.malloc.arena_max=1")
    from sitegen.allocators import environment_for  # noqa: PLC0415 - after the environment is spoilt

    assert not {key for key in environment_for("default") if key.startswith(("MALLOC_", "GLIBC_"))}
    assert environment_for("fixed")["MALLOC_MMAP_THRESHOLD_"] == "131072"


def _is_gone(pid: int) -> bool:
    """Whether the process ended (a zombie that nobody reaps has ended)."""
    for _ in range(50):
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.1)
    return False
