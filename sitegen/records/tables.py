"""Files of tables: one a family and variant, sealed, atomic; each polynomial is written once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from sitegen.errors import RecordError, from_os_error
from sitegen.files import write_atomic
from sitegen.records.table import (
    TABLE_PROTOCOL,
    Coefficients,
    Peak,
    StoredPhase,
    StoredTable,
    StoredTables,
    Table,
    TableKey,
)

FOLDER: Final = "traces"
"""Under `measurements/`: no machine has this name."""

_TRACER: Final = "tracer"
_REMEDY: Final = "Restore the file from version control, or delete it and run sitegen trace."


def packed(
    stack: Mapping[str, str],
    family: str,
    variant: str,
    tables: Iterable[Table],
    refused: Mapping[TableKey, str],
) -> StoredTables:
    """The content of a file, sealed."""
    pool: dict[str, int] = {}
    polynomials: list[Coefficients] = []

    def place(polynomial: Coefficients) -> int:
        text = json.dumps(polynomial, sort_keys=True)
        if text not in pool:
            pool[text] = len(polynomials)
            polynomials.append(polynomial)
        return pool[text]

    stored = tuple(
        StoredTable(
            key=table.key,
            depths=table.depths,
            phases=tuple(
                StoredPhase(
                    name=name,
                    peaks=tuple({part: place(one) for part, one in peak.components.items()} for peak in peaks),
                )
                for name, peaks in table.phases.items()
            ),
            gradients=place(table.gradients),
            optimizer_state=place(table.optimizer_state),
        )
        for table in tables
    )
    content = StoredTables(
        protocol=TABLE_PROTOCOL,
        stack=dict(stack),
        family=family,
        variant=variant,
        polynomials=tuple(polynomials),
        tables=stored,
        refused=tuple(refused.items()),
    )
    return msgspec.structs.replace(content, content_sha256=_content_hash(msgspec.to_builtins(content)))


def unpacked(stored: StoredTables) -> dict[TableKey, Table]:
    """The tables of a file."""
    return {one.key: table_of(stored, one) for one in stored.tables}


def table_of(stored: StoredTables, one: StoredTable) -> Table:
    """One table of a file, its polynomials in their places."""
    known = stored.polynomials
    return Table(
        key=one.key,
        depths=one.depths,
        phases={
            phase.name: tuple(
                Peak(components={part: known[index] for part, index in peak.items()}) for peak in phase.peaks
            )
            for phase in one.phases
        },
        gradients=known[one.gradients],
        optimizer_state=known[one.optimizer_state],
    )


def stack_id(stack: Mapping[str, str]) -> str:
    """The name of a stack's folder: versions and the hash of the tracer, no machine, whatever the order of the keys."""
    return "-".join(f"{name}-{stack[name]}" for name in (*sorted(set(stack) - {_TRACER}), _TRACER))


def path_of(root: Path, stack: Mapping[str, str], family: str, variant: str) -> Path:
    """Where a file is under `measurements/`."""
    return root / FOLDER / stack_id(stack) / f"{family}-{variant}.json"


def save(stored: StoredTables, root: Path) -> Path:
    """Write a file, whole or not at all; raises `StorageError`."""
    path = path_of(root, stored.stack, stored.family, stored.variant)
    write_atomic(path, _dump(msgspec.to_builtins(stored)))
    return path


def load(path: Path) -> StoredTables:
    """Read a file.

    Raises:
        RecordError: it is not one, was changed, or is of another protocol.
    """
    name = "/".join(path.parts[-3:])
    try:
        content = path.read_bytes()
        stored = msgspec.json.decode(content, type=StoredTables)
        if not _is_sealed(content, stored.content_sha256):
            raise RecordError(f"{name} was changed after it was written: its content hash does not match.", _REMEDY)
    except OSError as error:
        raise from_os_error(error, f"reading {path.name}") from error
    except (ValueError, RecursionError, msgspec.ValidationError) as error:
        raise RecordError(f"{name} is no file of tables: {error}.", _REMEDY) from error
    if stored.protocol != TABLE_PROTOCOL:
        raise RecordError(f"{name} is of protocol {stored.protocol}.", "Run sitegen trace.")
    return stored


def files(root: Path) -> Iterator[Path]:
    """The files of every stack, sorted."""
    yield from sorted(path for path in (root / FOLDER).glob("*/*.json") if not path.name.startswith("."))


def _is_sealed(content: bytes, seal: str) -> bool:
    """Whether a file's bytes are those that were written: without the seal, which comes first, they have its hash.

    A file that another program laid out anew is judged by what it holds.
    """
    unsealed = content.replace(f'"content_sha256":"{seal}",'.encode(), b"", 1)
    return hashlib.sha256(unsealed).hexdigest() == seal or _content_hash(json.loads(content)) == seal


def _content_hash(data: dict[str, Any]) -> str:
    """SHA-256 of the canonical JSON of everything but the seal."""
    return hashlib.sha256(_dump({key: value for key, value in data.items() if key != "content_sha256"})).hexdigest()


def _dump(data: object) -> bytes:
    """Canonical JSON, a line for each key of the first level: files of tables are read by programs."""
    return (json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n").encode()
