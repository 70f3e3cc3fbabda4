"""Bytes, and the two families of prefixes that people mix.

Everything is stored as a whole number of bytes. 1 MB (French: Mo) is 10^6 bytes and 1 MiB (Mio) is 2^20: IEC 80000-13.
"""

from __future__ import annotations

from typing import Final

KIB_BYTES: Final = 2**10
MIB_BYTES: Final = 2**20
GIB_BYTES: Final = 2**30
MB_BYTES: Final = 10**6
GB_BYTES: Final = 10**9
NS_PER_S: Final = 10**9


def mib(size_bytes: int) -> float:
    """Size in MiB (2^20 bytes)."""
    return size_bytes / MIB_BYTES


def megabytes(size_bytes: int) -> float:
    """Size in MB (10^6 bytes)."""
    return size_bytes / MB_BYTES


def readable(size_bytes: int | None) -> str:
    """A size for terminals and messages, in decimal units: ``1.23 GB``, ``456 MB``, ``-`` when unknown."""
    if size_bytes is None:
        return "-"
    if abs(size_bytes) >= GB_BYTES:
        return f"{size_bytes / GB_BYTES:.2f} GB"
    return f"{size_bytes / MB_BYTES:.0f} MB"
