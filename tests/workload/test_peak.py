"""The system's own peak, reset phase by phase."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import pytest

from sitegen.units import MIB_BYTES
from sitegen.workload import peak
from sitegen.workload.peak import phase_peak, process_peak_bytes, reset_peak

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="only Linux can reset a process's peak")


@linux_only
def test_a_phase_reads_its_own_peak_and_not_an_earlier_one() -> None:
    with phase_peak() as empty:
        pass
    with phase_peak() as large:
        block = bytearray(b"x") * (300 * MIB_BYTES)
        del block
    with phase_peak() as after:
        pass
    assert empty.peak_rss_bytes is not None
    assert large.peak_rss_bytes is not None
    assert after.peak_rss_bytes is not None
    assert abs(large.peak_rss_bytes - empty.peak_rss_bytes - 300 * MIB_BYTES) <= 2 * MIB_BYTES
    assert after.peak_rss_bytes < empty.peak_rss_bytes + 100 * MIB_BYTES


def test_where_the_peak_cannot_be_reset_a_phase_is_unknown_and_not_zero(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peak, "_CLEAR_REFS", tmp_path / "absent" / "clear_refs")
    assert reset_peak() is False
    with phase_peak() as reading:
        pass
    assert reading.peak_rss_bytes is None
    assert process_peak_bytes() > 0


@pytest.mark.parametrize(
    ("platform", "expected_bytes"),
    [("darwin", 21_831_680), ("linux", 22_355_640_320)],  # getrusage(2): bytes on macOS, KiB on Linux
)
def test_ru_maxrss_has_the_unit_of_its_platform(
    platform: str, expected_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Usage:
        ru_maxrss = 21_831_680

    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(resource, "getrusage", lambda _who: Usage)
    assert peak.ru_maxrss_bytes() == expected_bytes


def test_on_macos_the_inherited_mark_is_the_only_peak(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peak, "_STATUS", tmp_path / "absent")
    assert process_peak_bytes() == peak.ru_maxrss_bytes()
    assert peak.swap_bytes() is None
