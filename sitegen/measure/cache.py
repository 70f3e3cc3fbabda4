"""The cache folder of prepared models: where it is, and the hashes of files that were already read."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from sitegen.files import write_atomic


def cache_folder() -> Path:
    """``$SITEGEN_CACHE``, else ``$XDG_CACHE_HOME/sitegen``, else ``~/.cache/sitegen``; empty counts as unset."""
    if own := os.environ.get("SITEGEN_CACHE"):
        return Path(own).expanduser().absolute()
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared).absolute() if shared else Path.home() / ".cache") / "sitegen"


def remembered_sha256(path: Path) -> str:
    """SHA-256 of a file, read again only when its path, size, time or inode changed.

    Raises:
        OSError: the file cannot be read.
        StorageError: the cache cannot be written.
    """
    stat = path.stat()
    key = f"{path.resolve()}|{stat.st_size}|{stat.st_mtime_ns}|{stat.st_ino}"
    memo = cache_folder() / "hashes" / hashlib.sha256(key.encode()).hexdigest()
    if memo.is_file():
        return memo.read_text(encoding="ascii")
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    write_atomic(memo, digest.encode())
    return digest
