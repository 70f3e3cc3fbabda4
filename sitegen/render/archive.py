"""The whole site as one file to take away: the same bytes from the same pages, whenever and wherever it is built."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Final

PATH: Final = "donnees/site.zip"
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
"""The first date that the format knows: no clock enters the archive."""
_READABLE: Final = 0o100644 << 16
_FAST: Final = 1


def publish(site: Path, root: str) -> None:
    """Pack every file of the site under a folder named `root`; `OSError` when the disk refuses."""
    paths = sorted(path for path in site.rglob("*") if path.is_file() and path != site / PATH)
    with zipfile.ZipFile(site / PATH, "w", zipfile.ZIP_DEFLATED, compresslevel=_FAST) as packed:
        for path in paths:
            entry = zipfile.ZipInfo(f"{root}/{path.relative_to(site).as_posix()}", _EPOCH)
            entry.external_attr, entry.compress_type = _READABLE, zipfile.ZIP_DEFLATED
            packed.writestr(entry, path.read_bytes(), compresslevel=_FAST)
