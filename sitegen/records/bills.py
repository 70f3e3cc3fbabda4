"""The traced bills of measured cases, one sealed file a stack: pages compare estimate and measurement without torch."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from sitegen.errors import RecordError, from_os_error
from sitegen.files import write_atomic
from sitegen.records import tables
from sitegen.records.bill import Bill

NAME: Final = "cases.json"
_REMEDY: Final = "Restore the file from version control, or delete it and run sitegen trace."


class StoredBills(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The bills of one stack, by the `id` of the case and its model; `content_sha256` seals the file."""

    stack: dict[str, str]
    bills: dict[str, Bill]
    content_sha256: str = ""


def path_of(root: Path, stack: Mapping[str, str]) -> Path:
    """Where the file of a stack is under `measurements/`."""
    return root / tables.FOLDER / tables.stack_id(stack) / "cases" / NAME


def save(root: Path, stack: Mapping[str, str], bills: Mapping[str, Bill]) -> Path:
    """Write the file, whole or not at all; raises `StorageError`."""
    stored = StoredBills(stack=dict(stack), bills=dict(sorted(bills.items())))
    sealed = msgspec.structs.replace(stored, content_sha256=_content_hash(msgspec.to_builtins(stored)))
    path = path_of(root, stack)
    write_atomic(path, _dump(msgspec.to_builtins(sealed)))
    return path


def load(path: Path) -> StoredBills:
    """Read a file; raises `RecordError` when it is not one or was changed."""
    try:
        data = json.loads(path.read_bytes())
        if not isinstance(data, dict) or data.get("content_sha256") != _content_hash(data):
            raise RecordError(f"{path.name} of {path.parts[-3]} was changed after it was written.", _REMEDY)
        return msgspec.convert(data, StoredBills)
    except OSError as error:
        raise from_os_error(error, f"reading {path.name}") from error
    except (ValueError, RecursionError, msgspec.ValidationError) as error:
        raise RecordError(f"{path.name} of {path.parts[-3]} holds no bills: {error}.", _REMEDY) from error


def load_all(root: Path) -> list[StoredBills]:
    """The files of every stack, sorted by stack."""
    return [load(path) for path in sorted((root / tables.FOLDER).glob(f"*/cases/{NAME}"))]


def merged(root: Path) -> dict[str, Bill]:
    """Every bill that is known, by case id; of several stacks, the last one's."""
    found: dict[str, Bill] = {}
    for stored in load_all(root):
        found |= stored.bills
    return found


def _content_hash(data: dict[str, Any]) -> str:
    """SHA-256 of the canonical JSON of everything but the seal."""
    return hashlib.sha256(_dump({key: value for key, value in data.items() if key != "content_sha256"})).hexdigest()


def _dump(data: object) -> bytes:
    """Canonical JSON."""
    return (json.dumps(data, sort_keys=True, indent=1, ensure_ascii=False) + "\n").encode()
