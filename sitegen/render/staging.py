"""A folder beside the site, where the next one is made; it takes the site's place at once, or goes."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_KEPT: Final = "README.md"
"""The one tracked file of the site."""
_FORMER: Final = "-former"
_THEIRS: Final = ("CNAME",)
"""Beside hidden entries, what others put into a published folder."""


@contextlib.contextmanager
def staging(site: Path) -> Iterator[Path]:
    """A new folder on the same disk as the site; gone when it was not swapped in."""
    site.parent.mkdir(parents=True, exist_ok=True)
    _recover(site)
    folder = Path(tempfile.mkdtemp(prefix=f".{site.name}-{os.getpid()}-", dir=site.parent))
    try:
        folder.chmod(0o755)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def swap(folder: Path, site: Path) -> None:
    """Put the new site in the place of the former one, which comes back if that fails; what is not ours goes along."""
    if (site / _KEPT).is_file():
        shutil.copy2(site / _KEPT, folder / _KEPT)
    former = folder.with_name(folder.name + _FORMER)
    if site.exists():
        site.rename(former)
    try:
        folder.rename(site)
    except OSError:
        if former.exists():
            former.rename(site)
        raise
    _hand_over(former, site)
    shutil.rmtree(former, ignore_errors=True)


def _hand_over(former: Path, site: Path) -> None:
    """Move what a build never writes (``.git``, ``CNAME``…) from the former site to the new one."""
    for entry in sorted(former.iterdir()) if former.is_dir() else ():
        if (entry.name.startswith(".") or entry.name in _THEIRS) and not (site / entry.name).exists():
            entry.rename(site / entry.name)


def _recover(site: Path) -> None:
    """Clear what a killed build left behind; a site that it had only set aside comes back."""
    name = re.compile(rf"\.{re.escape(site.name)}-(\d+)-\w+?({_FORMER})?")
    for leftover in sorted(site.parent.glob(f".{site.name}-*")):
        found = name.fullmatch(leftover.name)
        if found is None or _alive(int(found[1])):
            continue
        if found[2] and not site.exists():
            leftover.rename(site)
        else:
            shutil.rmtree(leftover, ignore_errors=True)


def _alive(pid: int) -> bool:
    """Whether a process of that number runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
