"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from sitegen.errors import from_os_error


def write_atomic(path: Path, content: bytes) -> None:
    """Temporary file in the same folder, fsync, replace: a reader sees the old file or the new one, never a part.

    Raises:
        StorageError: the disk is full or refuses the file; nothing is left behind.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".partial")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            Path(temporary).chmod(0o644)
            Path(temporary).replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()
            raise
    except OSError as error:
        raise from_os_error(error, f"writing {path.name}") from error
