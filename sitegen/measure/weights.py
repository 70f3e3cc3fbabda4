"""The weights that a measured process loads: found in the cache, or prepared once by a child process.

A prepared model is one folder of the cache, ``models/<name>-<hash>/<dtype>/``. It is filled under a temporary name
beside it, its sheet `prepared.json` is written last, everything reaches the disk, and only then is it renamed: what
bears the right name is whole.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import filelock
import msgspec

from sitegen.errors import BusyError, ModelError, from_os_error
from sitegen.measure.cache import cache_folder
from sitegen.measure.model_source import ModelSource, source_of
from sitegen.measure.preparation import run_preparation
from sitegen.records.case import Dtype
from sitegen.records.model import ModelIdentity

__all__ = ["ModelSource", "Prepared", "lookup", "prepare", "source_of"]

Say = Callable[[str], None]

LAYOUT: Final = 1
"""Raised when what a prepared folder holds changes: older ones are then not found again."""

WAIT_S: Final = 3600
"""How long to wait for another process that prepares the same model."""

_SHEET: Final = "prepared.json"
_PARTIAL: Final = ".partial"


class Prepared(msgspec.Struct, frozen=True):
    """A folder that holds one model in one dtype, and what its weights are."""

    folder: Path
    identity: ModelIdentity


class _Sheet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`prepared.json`: the identity, and the size of each file beside it."""

    identity: ModelIdentity
    sizes_bytes: dict[str, int]


def lookup(source: ModelSource, dtype: Dtype) -> Prepared | None:
    """The model as an earlier run prepared it, or ``None``. Sizes are compared; nothing is read again."""
    folder = _home(source, dtype)
    try:
        sheet = msgspec.json.decode((folder / _SHEET).read_bytes(), type=_Sheet)
        sizes_bytes = {name: (folder / name).stat().st_size for name in sheet.sizes_bytes}
    except (OSError, msgspec.DecodeError):
        return None
    return Prepared(folder, sheet.identity) if sizes_bytes == sheet.sizes_bytes else None


def prepare(source: ModelSource, dtype: Dtype, say: Say) -> Prepared:
    """The model on this machine's disk, ready to be loaded; `say` gets a line at each step.

    Raises:
        ModelError: the model cannot be found, read or trusted.
        StorageError: the disk is full or refuses to be written.
        BusyError: another process has been preparing the same model for an hour.
    """
    found = lookup(source, dtype)
    if found is not None:
        return found
    try:
        with _alone(_home(source, dtype).parent, say):
            return lookup(source, dtype) or _prepare_alone(source, dtype, say)
    except OSError as error:
        raise from_os_error(error, f"preparing {source.case_name}") from error


def _prepare_alone(source: ModelSource, dtype: Dtype, say: Say) -> Prepared:
    """Fill a temporary folder, then give it its name; on any failure nothing is left."""
    home = _home(source, dtype)
    for leftover in home.parent.glob(f".*{_PARTIAL}"):
        shutil.rmtree(leftover)
    say(f"Preparing {source.case_name} in {dtype}, once.")
    partial = Path(tempfile.mkdtemp(dir=home.parent, prefix=f".{dtype}-", suffix=_PARTIAL))
    try:
        identity = _fill(partial, source, dtype, say)
        _seal(partial, identity)
        if home.exists():
            shutil.rmtree(home)
        partial.rename(home)
        _sync(home.parent)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return Prepared(home, identity)


def _fill(partial: Path, source: ModelSource, dtype: Dtype, say: Say) -> ModelIdentity:
    """Have the child fill the folder, out of the float32 copy when there is one: both then hold the same weights."""
    full = lookup(source, "float32") if dtype != "float32" else None
    request = {
        "kind": source.kind if full is None else "folder",
        "name": source.case_name,
        "revision": source.revision,
        "path": str(full.folder if full else source.path) if full or source.path else None,
        "dtype": dtype,
        "into": str(partial),
    }
    identity = run_preparation(request, say)
    return full.identity if full else identity


def _seal(folder: Path, identity: ModelIdentity) -> None:
    """Write the sheet after everything else, and wait until all of it is on the disk."""
    sizes_bytes = {path.name: path.stat().st_size for path in sorted(folder.iterdir())}
    if "model.safetensors" not in sizes_bytes:
        raise ModelError(f"The preparation of {identity.name} wrote no model.safetensors.")
    sheet = _Sheet(identity, sizes_bytes)
    (folder / _SHEET).write_bytes(msgspec.json.format(msgspec.json.encode(sheet, order="sorted"), indent=2))
    for path in (*folder.iterdir(), folder):
        _sync(path)


def _sync(path: Path) -> None:
    """Wait until a file's bytes, or a folder's names, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _home(source: ModelSource, dtype: Dtype) -> Path:
    """Where the prepared model lies, whether or not it is there."""
    facts = [LAYOUT, source.kind, source.case_name, source.revision]
    digest = hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:12]
    slug = re.sub(r"[^a-z0-9.-]+", "--", source.case_name.lower())
    return cache_folder() / "models" / f"{slug}-{digest}" / dtype


@contextlib.contextmanager
def _alone(folder: Path, say: Say) -> Iterator[None]:
    """Hold the model's lock: two processes that prepare the same model would undo each other's work."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = filelock.FileLock(folder / ".lock")
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        say("Another process is preparing this model: waiting for it.")
        _wait(lock)
    try:
        yield
    finally:
        lock.release()


def _wait(lock: filelock.BaseFileLock) -> None:
    """Wait for the lock; raises `BusyError` in the end."""
    try:
        lock.acquire(timeout=WAIT_S, poll_interval=0.5)
    except filelock.Timeout as error:
        raise BusyError(
            "Another process has been preparing this model for an hour.", "End it, then run the same command again."
        ) from error
