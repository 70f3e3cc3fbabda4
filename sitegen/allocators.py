"""The allocators that a CPU measurement can run under, and how each is engaged.

glibc raises its mmap threshold as large blocks are freed (mallopt(3), M_MMAP_THRESHOLD) and then serves tensors from
a heap that fragments; setting the threshold, to its own initial value, ends that. The others replace malloc by being
preloaded.
"""

from __future__ import annotations

import ctypes.util
import os
import sys
from pathlib import Path
from typing import Final, NamedTuple

from sitegen.errors import UsageError

GLIBC_THRESHOLD: Final = "MALLOC_MMAP_THRESHOLD_"
FIXED_THRESHOLD: Final = "131072"  # glibc's initial threshold, 128 KiB


class Library(NamedTuple):
    """A replacement for malloc: its shared object's stem, and the Debian package that has it."""

    stem: str
    names: tuple[str, ...]
    debian_package: str


LIBRARIES: Final[dict[str, Library]] = {
    "jemalloc": Library("libjemalloc", ("jemalloc",), "libjemalloc2"),
    "mimalloc": Library("libmimalloc", ("mimalloc",), "libmimalloc2.0"),
    "tcmalloc": Library("libtcmalloc", ("tcmalloc_minimal", "tcmalloc"), "libtcmalloc-minimal4"),
}
_FOLDERS: Final = ("/usr/lib", "/usr/local/lib", "/usr/lib64", "/opt/homebrew/lib")
_OURS: Final = ("LD_PRELOAD", "DYLD_INSERT_LIBRARIES", "GLIBC_TUNABLES")


def environment_for(allocator: str) -> dict[str, str]:
    """The environment of a process that runs under `allocator`, without what would engage another one.

    Raises:
        UsageError: the library is not installed, or this system has no such allocator.
    """
    clean = {key: value for key, value in os.environ.items() if key not in _OURS and not key.startswith("MALLOC_")}
    if allocator == "default":
        return clean
    if allocator == "fixed":
        if sys.platform != "linux":
            raise UsageError(
                "--allocator fixed sets a parameter of glibc; this system has none.", "Use --allocator default."
            )
        return clean | {GLIBC_THRESHOLD: FIXED_THRESHOLD}
    variable = "LD_PRELOAD" if sys.platform == "linux" else "DYLD_INSERT_LIBRARIES"
    return clean | {variable: str(_installed(LIBRARIES[allocator], allocator))}


def _installed(library: Library, allocator: str) -> Path:
    """The shared object to preload; raises `UsageError` when there is none."""
    for name in library.names:
        found = ctypes.util.find_library(name)
        if found is None:
            continue
        candidates = [Path(found), *(path for folder in _FOLDERS for path in Path(folder).glob(f"**/{found}"))]
        for path in candidates:
            if path.is_absolute() and path.exists():
                return path
    raise UsageError(
        f"--allocator {allocator}: no installed {library.stem} was found.",
        f"Install it (on Debian: apt-get install {library.debian_package}), or use another allocator.",
    )
