"""Make the tables that this stack lacks: which there are to be, and a child process that sends them one by one."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import resources
from itertools import product
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from sitegen.errors import ModelError
from sitegen.measure.machine import code_of, installed_version
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
    """The tables of a variant: training by every method, inference, generation; a batch of one apart."""
    windows = _SWITCH if family.window and family.attention[0] == "sdpa" else (False,)
    last = _QUANTISED if _QUANTISED in family.targets else list(family.targets)[-1]
    base = TableKey(family=family.name, variant=variant, mode="training", attention=family.attention[0])
    methods = [
        base,
        *(replace(base, method="lora", targets=name) for name in dict.fromkeys(("q-v", last))),
        *(replace(base, method="qlora", targets=last, double_quant=double) for double in _SWITCH),
    ]
    training = [
        replace(method, dtype=dtype, gradient_checkpointing=checkpointing, one_sequence=one, beyond_window=beyond)
        for beyond, one, dtype, method, checkpointing in product(windows, _SWITCH, _DTYPES, methods, _SWITCH)
    ]
    inference = [
        replace(base, mode="inference", dtype=dtype, logits=logits, one_sequence=one, beyond_window=beyond)
        for beyond, one, dtype, logits in product(windows, _SWITCH, _DTYPES, ("all", "last"))
    ]
    generation = [
        replace(base, mode="generation", dtype=dtype, one_sequence=one)
        for one, dtype in product(_SWITCH, _DTYPES)
        if not (family.window and family.attention[0] == "eager")
    ]
    return [*training, *inference, *generation]


def tabulate(root: Path, say: Say, only: Iterable[str] = ()) -> int:
    """Make what is missing, each table on disk before the next one is begun.

    Args:
        root: the folder `measurements/`.
        say: told of each file that is begun.
        only: names of families; all of them when empty.

    Returns:
        The number of tables made.
    """
    chosen = tuple(only)
    made = 0
    for family in FAMILIES.values():
        for variant in family.variants:
            if not chosen or family.name in chosen:
                made += _complete(root, family, variant, say)
    return made


def _complete(root: Path, family: Family, variant: str, say: Say) -> int:
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
