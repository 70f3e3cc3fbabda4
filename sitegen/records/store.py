"""Record files: sealed, atomic, one a case."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from sitegen.errors import RecordError, from_os_error
from sitegen.files import write_atomic
from sitegen.records.migrate import upgraded
from sitegen.records.model import Record

NO_MACHINES: Final = ("traces", "published")
"""Folders beside the machines': tables of traces, and runs that others published."""

_SAFE: Final = re.compile(r"[a-z0-9]+([.-][a-z0-9]+)*")


def seal(record: Record) -> Record:
    """The record with `content_sha256` set to the hash of everything else."""
    return msgspec.structs.replace(record, content_sha256=_content_hash(msgspec.to_builtins(record)))


def encode(record: Record) -> bytes:
    """The file's bytes: sorted keys, two-space indent, no NaN, a final newline."""
    return _dump(msgspec.to_builtins(record))


def decode(text: bytes, name: str) -> Record:
    """The record that a file's bytes hold.

    Args:
        text: the bytes.
        name: what to call the file in a message.

    Raises:
        RecordError: not JSON, a broken seal, a newer schema, an unknown or missing key, a value of the wrong type.
    """
    remedy = "Restore the file from version control, or delete it and measure the case again."
    try:
        data = json.loads(text)
        if not isinstance(data, dict):
            raise RecordError(f"{name} is not a record: a JSON object is expected.", remedy)
        current = upgraded(data, name)
        if data.get("content_sha256") != _content_hash(data):
            raise RecordError(f"{name} was changed after it was written: its content hash does not match.", remedy)
        record = msgspec.convert(current, Record)
    except msgspec.ValidationError as error:
        raise RecordError(f"{name} is not a valid record: {error}.", remedy) from error
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{name} is not valid JSON ({error}).", remedy) from error
    problem = _problem(record)
    if problem:
        raise RecordError(f"{name} is not a valid record: {problem}.", remedy)
    return record


def path_of(record: Record, root: Path) -> Path:
    """Where the record's file is under `measurements/`."""
    return root / record.machine.slug / record.environment.id / f"{record.case_id}.json"


def save(record: Record, root: Path) -> Path:
    """Write the sealed record, whole or not at all.

    Raises:
        StorageError: the disk is full or refuses the file; an earlier record is left as it was.
    """
    path = path_of(record, root)
    write_atomic(path, encode(seal(record)))
    return path


def load(path: Path) -> Record:
    """Read one record file; raises `RecordError`."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise from_os_error(error, f"reading {path.name}") from error
    name = "/".join(path.parts[-3:])
    record = decode(text, name)
    if path.parts[-3:] != path_of(record, Path()).parts:
        raise RecordError(
            f"{name} holds the record {record.key}.", "Move the file to the place that it names, or remove it."
        )
    return record


def load_all(root: Path) -> list[Record]:
    """Every record under `root`, ordered by machine, environment and case; `RecordError` at the first bad one."""
    return [load(path) for path in record_files(root)]


def record_files(root: Path) -> Iterator[Path]:
    """The record files: ``<machine>/<environment>/<case>.json``, sorted."""
    found = (path for path in root.glob("*/*/*.json") if not path.name.startswith("."))
    yield from sorted(path for path in found if path.parts[-3] not in NO_MACHINES)


def _problem(record: Record) -> str | None:
    """What is impossible in a record whose types are right, if anything: its names become paths and addresses."""
    if not all(_SAFE.fullmatch(name) for name in (record.machine.slug, record.environment.id)):
        return "the names of its machine and environment may hold only lower-case letters, digits, dots and dashes"
    if record.case_id != record.case.id:
        return f"its case_id is {record.case_id!r} and its options make {record.case.id!r}"
    if not record.samples:
        return "it has no sample"
    return None


def _content_hash(data: dict[str, Any]) -> str:
    """SHA-256 of the canonical JSON of everything but the seal."""
    return hashlib.sha256(_dump({key: value for key, value in data.items() if key != "content_sha256"})).hexdigest()


def _dump(data: object) -> bytes:
    """Canonical JSON."""
    return (json.dumps(data, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()
