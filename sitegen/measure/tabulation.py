"""Make the tables that this stack lacks: which there are to be, and a child process that sends them one by one."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from importlib import resources
from itertools import product
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from sitegen.errors import ModelError
from sitegen.measure.machine import code_of, installed_version, usable_cores
from sitegen.memory.families import FAMILIES
from sitegen.memory.family import Family
from sitegen.records import tables
from sitegen.records.table import Table, TableKey, TableReply

STACK_PACKAGES: Final = ("torch", "transformers", "peft", "bitsandbytes")
_TRACERS: Final = ("training", "models", "fakes", "live", "timeline")
_MODULE: Final = "sitegen.workload.tabulate"
_QUIET: Final = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error", "OMP_NUM_THREADS": "1"}
_DTYPES: Final = ("float32", "bfloat16")
_SWITCH: Final = (False, True)
_QUANTISED: Final = "all-linear"

Say = Callable[[str], None]


@cache
def stack() -> dict[str, str]:
    """What a table depends on: the versions of the traced packages, and the hash of the code that runs and counts."""
    root = Path(str(resources.files("sitegen"))) / "workload"
    digest = hashlib.sha256()
    for name in _TRACERS:
        digest.update(code_of((root / f"{name}.py").read_text(encoding="utf-8")).encode())
    versions = {name: (installed_version(name) or "absent").split("+")[0] for name in STACK_PACKAGES}
    return {**versions, "tracer": digest.hexdigest()[:12]}


def wanted(family: Family, variant: str) -> list[TableKey]:
    """The tables of a variant, those that are most asked for first; a batch of one apart.

    Training by every method, inference and generation; of sequences that outgrow a window, the main methods alone.
    """
    every = _QUANTISED if _QUANTISED in family.targets else list(family.targets)[-1]
    base = TableKey(family=family.name, variant=variant, mode="training", attention=family.attention[0])
    quantised = replace(base, method="qlora", targets=every)
    main = [base, replace(base, method="lora", targets=every), replace(quantised, double_quant=True)]
    others = [replace(base, method="lora", targets="q-v"), quantised]
    inference = [replace(base, mode="inference", logits=logits) for logits in ("all", "last")]
    windowed = family.window and family.attention[0] == "sdpa"
    beyond = [replace(key, beyond_window=True) for key in main] if windowed else []
    generation = [] if family.window else [replace(base, mode="generation")]
    return [*_trained(main), *_run(inference), *_trained(beyond), *_trained(others), *_run(generation)]


def _trained(keys: list[TableKey]) -> list[TableKey]:
    """Each key with and without checkpointing, in either number format, for one and for several sequences."""
    return [replace(key, gradient_checkpointing=checkpointing) for key, checkpointing in product(_run(keys), _SWITCH)]


def _run(keys: list[TableKey]) -> list[TableKey]:
    """Each key in either number format, for one and for several sequences."""
    return [replace(key, dtype=dtype, one_sequence=one) for one, dtype, key in product(_SWITCH, _DTYPES, keys)]


def tabulate(root: Path, say: Say, only: Iterable[str] = ()) -> int:
    """Make what is missing, as many variants at once as there are cores, each table on disk before the next is begun.

    Args:
        root: the folder `measurements/`.
        say: told of each file that is begun.
        only: names of families; all of them when empty.

    Returns:
        The number of tables made.
    """
    chosen = set(only) or set(FAMILIES)
    variants = [(family, variant) for name, family in FAMILIES.items() if name in chosen for variant in family.variants]
    with ThreadPoolExecutor(usable_cores()) as pool:
        return sum(pool.map(partial(_complete, root, say), *zip(*variants, strict=True)))


def _complete(root: Path, say: Say, family: Family, variant: str) -> int:
    """Make the tables that the file of a variant lacks."""
    path = tables.path_of(root, stack(), family.name, variant)
    stored = tables.load(path) if path.exists() else None
    known: dict[TableKey, Table] = tables.unpacked(stored) if stored else {}
    refused = dict(stored.refused) if stored else {}
    missing = [key for key in wanted(family, variant) if key not in known and key not in refused]
    if missing:
        say(f"Tracing {family.name} ({variant}): {len(missing)} tables.")
    for key, reply in zip(missing, _replies(missing), strict=False):
        if reply.table is not None:
            known[key] = reply.table
        else:
            refused[key] = reply.error
        tables.save(tables.packed(stack(), family.name, variant, known.values(), refused), root)
    return len(missing)


def _replies(keys: list[TableKey]) -> Iterator[TableReply]:
    """What the child says, a table at a time."""
    if not keys:
        return
    with subprocess.Popen(
        [sys.executable, "-m", _MODULE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **_QUIET},
        cwd=Path(__file__).parents[2],
    ) as child:
        assert child.stdin is not None  # noqa: S101 - asked for above
        assert child.stdout is not None  # noqa: S101 - asked for above
        child.stdin.write(msgspec.json.encode(keys))
        child.stdin.close()
        for line in child.stdout:
            yield msgspec.json.decode(line, type=TableReply)
    if child.returncode:
        raise ModelError(f"The tracing of tables ended with status {child.returncode}.", "Run the command again.")
