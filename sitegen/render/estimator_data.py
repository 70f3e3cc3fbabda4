"""The scripts that hold what the page's estimate reads: how configurations are read, and the families' tables.

Classic scripts, for a page that is opened from a disk can load nothing else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import msgspec

from sitegen.memory import bounds, composition, cuda, intervals, reading, runtime
from sitegen.memory.runtime import RuntimePages
from sitegen.records import tables
from sitegen.records.case import Case
from sitegen.records.table import StoredTables, TableKey

_DEFAULTS: Final = TableKey(family="", variant="", mode="baseline")
_ALLOCATORS: Final = ("default", "jemalloc", "mimalloc", "tcmalloc")


def data_script(rows: Iterable[intervals.Ratios], pages: RuntimePages | None) -> str:
    """The script that sets `Sitegen.data`.

    Args:
        rows: what the records show of the default allocator.
        pages: what the runtime touches beyond tensors, where it was measured.
    """
    known = list(rows)
    content = {
        "reading": msgspec.json.decode(reading.as_json()),
        "composition": composition.as_data(),
        "cuda": {
            "workspace_bytes": cuda.CUBLAS_BYTES,
            "hopper_extra_bytes": 2 * (cuda.CUBLAS_HOPPER_BYTES - cuda.CUBLAS_BYTES),
            "allocated_error": cuda.ALLOCATED_ERROR,
            "device_ratios": cuda.DEVICE_RATIOS,
            "context_bytes": cuda.CONTEXT_BYTES,
        },
        "runtime": _runtime(pages) if pages else None,
        "interval": {"share": intervals.ERROR_SHARE, "floor_bytes": intervals.ERROR_FLOOR_BYTES},
        "packing": {
            "columns": runtime.PANEL_COLUMNS,
            "depths": runtime.PANEL_DEPTHS,
            "rows": runtime.PACKING_ROWS,
            "chunk_tokens": runtime.CHUNK_TOKENS,
            "drawn_ids": runtime.DRAWN_IDS,
        },
        "bounds": {**bounds.BOUNDS, "unknown": bounds.UNKNOWN},
        "ratios": dict.fromkeys(_ALLOCATORS, intervals.UNKNOWN_RATIOS) | {"default": _overall(known)},
    }
    return _assigned("data", content)


def table_scripts(measurements: Path, stack: dict[str, str] | None = None) -> dict[str, str]:
    """A script for each variant of a family that has tables: the text, by family and variant.

    Args:
        measurements: the project's folder.
        stack: of the tables to show; the newest stack's when there is none of it.
    """
    scripts: dict[str, str] = {}
    for path in _files(measurements, stack):
        stored = tables.load(path)
        place = f'((all)=>{{(all["{stored.family}"]??={{}})["{stored.variant}"]='
        end = "})((window.Sitegen??={}).tables??={});\n"
        scripts[f"{stored.family}-{stored.variant}"] = f"{place}{_json(_lean(stored))}{end}"
    return scripts


def _files(measurements: Path, stack: dict[str, str] | None) -> list[Path]:
    """The files of the stack, or of the last stack by name."""
    folders: defaultdict[Path, list[Path]] = defaultdict(list)
    for path in tables.files(measurements):
        folders[path.parent].append(path)
    wanted = measurements / tables.FOLDER / tables.stack_id(stack) if stack else None
    chosen = wanted if wanted in folders else max(folders, default=None)
    return folders[chosen] if chosen else []


def _lean(stored: StoredTables) -> dict[str, Any]:
    """A file without what the page does not read: seals, and options that are the usual ones."""
    usual = msgspec.to_builtins(_DEFAULTS)
    lean = [
        {
            "key": {name: given for name, given in msgspec.to_builtins(one.key).items() if given != usual[name]},
            "phases": [msgspec.to_builtins(phase) for phase in one.phases],
            "depths": msgspec.to_builtins(one.depths),
            "gradients": one.gradients,
            "optimizer_state": one.optimizer_state,
        }
        for one in stored.tables
    ]
    return {"stack": stored.stack, "polynomials": stored.polynomials, "tables": lean}


def _runtime(pages: RuntimePages) -> dict[str, Any]:
    """The measured part of the runtime's pages, keys joined by dashes."""
    return {
        "threads": pages.threads,
        "ways": {"-".join(way): dict(phases) for way, phases in pages.ways.items()},
        "layers": {"-".join(kind): size for kind, size in pages.layer_bytes.items()},
        "options": dict(pages.option_bytes),
    }


def _overall(rows: list[intervals.Ratios]) -> tuple[float, float]:
    """Between which multiples of the fixed peak the default allocator's lies, for any training case."""
    return intervals.ratios_for(Case(), rows)


def _assigned(name: str, content: object) -> str:
    """A classic script that puts the content under a name of `Sitegen`."""
    return f"(window.Sitegen??={{}}).{name}={_json(content)};\n"


def _json(content: object) -> str:
    """JSON that may stand in a script."""
    return msgspec.json.encode(content, order="deterministic").decode().replace("</", "<\\/")
