"""The scripts that hold what the page's estimate reads: how configurations are read, and the families' tables.

Classic scripts, for a page that is opened from a disk can load nothing else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, get_args

import msgspec

from sitegen.memory import bounds, composition, cuda, intervals, reading, runtime
from sitegen.memory.estimate import LOADING_BYTES
from sitegen.memory.families import FAMILIES
from sitegen.memory.runtime import RuntimePages
from sitegen.memory.tabled import MMAP_THRESHOLD_BYTES
from sitegen.records import tables
from sitegen.records.case import Allocator, Case, Mode
from sitegen.records.model import Record
from sitegen.records.table import StoredTables, TableKey
from sitegen.render import estimator_words

_DEFAULTS: Final = TableKey(family="", variant="", mode="baseline")
_KINDS: Final[dict[str, dict[str, Any]]] = {
    "adapter": {"method": "lora"},
    "plain": {"method": "full"},
    "checkpointing": {"method": "full", "gradient_checkpointing": True},
}
"""What fragmentation follows, as `sitegen.memory.intervals` tells cases apart."""


def data_script(records: Iterable[Record], pages: RuntimePages | None) -> str:
    """The script that sets `Sitegen.data`.

    Args:
        records: show what each allocator does.
        pages: what the runtime touches beyond tensors, where it was measured.
    """
    content = {
        "reading": msgspec.json.decode(reading.as_json()),
        "composition": composition.as_data(),
        "cuda": {
            "workspace_bytes": cuda.CUBLAS_BYTES,
            "hopper_extra_bytes": cuda.CUBLAS_HOPPER_BYTES - cuda.CUBLAS_BYTES,
            "allocated_error": cuda.ALLOCATED_ERROR,
            "device_ratios": cuda.DEVICE_RATIOS,
            "context_bytes": cuda.CONTEXT_BYTES,
        },
        "runtime": _runtime(pages) if pages else None,
        "interval": {"share": intervals.ERROR_SHARE, "floor_bytes": intervals.ERROR_FLOOR_BYTES},
        "loading_bytes": LOADING_BYTES,
        "mmap_threshold_bytes": MMAP_THRESHOLD_BYTES,
        "merged": _merged(),
        "packing": {
            "columns": runtime.PANEL_COLUMNS,
            "depths": runtime.PANEL_DEPTHS,
            "rows": runtime.PACKING_ROWS,
            "chunk_tokens": runtime.CHUNK_TOKENS,
            "drawn_ids": runtime.DRAWN_IDS,
        },
        "bounds": {**bounds.BOUNDS, "unknown": bounds.UNKNOWN},
        "ratios": _ratios(list(records)),
        "words": estimator_words.as_data(),
    }
    return _assigned("data", content)


def table_files(measurements: Path, stack: dict[str, str] | None = None) -> dict[tuple[str, str], Path]:
    """The files of tables by family and variant: those of the stack, else of the newest one."""
    files = _files(measurements, stack)
    return {(family, variant): path for path in files for family, _, variant in [path.stem.partition("-")]}


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
    """A file without what the page does not read: seals, and options that are the usual ones.

    A peak is a list: the place of each component's polynomial, in the order of the components, -1 where it has none.
    """
    usual = msgspec.to_builtins(_DEFAULTS)
    lean = [
        {
            "key": {name: given for name, given in msgspec.to_builtins(one.key).items() if given != usual[name]},
            "phases": [{"name": phase.name, "peaks": [_placed(peak) for peak in phase.peaks]} for phase in one.phases],
            "depths": msgspec.to_builtins(one.depths),
            "gradients": one.gradients,
            "optimizer_state": one.optimizer_state,
        }
        for one in stored.tables
    ]
    return {"stack": stored.stack, "polynomials": stored.polynomials, "tables": lean}


def _placed(peak: Mapping[str, int]) -> list[int]:
    """A peak as a list."""
    return [peak.get(part, -1) for part in composition.COMPONENTS]


def _runtime(pages: RuntimePages) -> dict[str, Any]:
    """The measured part of the runtime's pages, as pairs of what it is of and what it is."""
    return {
        "threads": pages.threads,
        "ways": [[way, dict(phases)] for way, phases in pages.ways.items()],
        "layers": [[kind, size] for kind, size in pages.layer_bytes.items()],
        "options": dict(pages.option_bytes),
    }


def _merged() -> dict[str, str]:
    """The symbol of an expert's width, by family whose experts loading merges."""
    widths = {name: {rule.symbol for rule in family.rules} & {"m"} or {"i"} for name, family in FAMILIES.items()}
    return {name: next(iter(width)) for name, width in widths.items() if name in runtime.MERGED_EXPERTS}


def _ratios(records: list[Record]) -> dict[str, dict[str, tuple[float, float]]]:
    """Between which multiples of the fixed peak each allocator's lies, by mode and kind of case."""
    return {
        allocator: _ratios_by_kind(intervals.rows_of(records, allocator))
        for allocator in get_args(Allocator)
        if allocator != "fixed"
    }


def _ratios_by_kind(rows: list[intervals.Ratios]) -> dict[str, tuple[float, float]]:
    """The same of one allocator."""
    kinds: Mapping[str, Case] = {
        f"{mode}-{kind}": msgspec.convert(options | {"mode": mode}, Case)
        for mode in get_args(Mode)
        for kind, options in _KINDS.items()
    }
    return {kind: intervals.ratios_for(case, rows) for kind, case in kinds.items()}


def _assigned(name: str, content: object) -> str:
    """A classic script that puts the content under a name of `Sitegen`."""
    return f"(window.Sitegen??={{}}).{name}={_json(content)};\n"


def _json(content: object) -> str:
    """JSON that may stand in a script."""
    return msgspec.json.encode(content, order="deterministic").decode().replace("</", "<\\/")
