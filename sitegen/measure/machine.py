"""The fingerprint of a measurement: machine, environment, circumstances, workload. Read without importing torch."""

from __future__ import annotations

import ast
import hashlib
import os
import platform
import re
import sys
from collections.abc import Iterable
from functools import cache
from importlib import metadata, resources
from pathlib import Path
from typing import Final

import msgspec
import psutil

from sitegen.records.case import Case
from sitegen.records.model import Circumstances, Environment, Machine
from sitegen.units import GIB_BYTES

PACKAGES: Final = (
    "torch",
    "transformers",
    "peft",
    "tokenizers",
    "safetensors",
    "numpy",
    "accelerate",
    "bitsandbytes",
)
"""The packages whose version can move a peak; any other one makes no record stale."""

WORKLOAD_MODULES: Final = ("training", "models", "peak", "probe")
_NO_LIMIT_BYTES: Final = 2**60  # cgroup v1 writes a huge number for "no limit"
_USEFUL_FLAGS: Final = ("avx2", "avx512f", "avx512_bf16", "amx_bf16", "amx_tile")


@cache
def this_machine() -> Machine:
    """What splits a series: processor, cores that this process may use, memory."""
    cpu, cores = _cpu_model(), usable_cores()
    ram_gib = round(psutil.virtual_memory().total / GIB_BYTES)
    return Machine(
        slug=_slug(f"{cpu} {cores} cores {ram_gib} GiB"),
        system=platform.system(),
        architecture=platform.machine(),
        cpu_model=cpu,
        cores=cores,
        ram_gib=ram_gib,
        gpus=(),
    )


def environment_of(case: Case) -> Environment:
    """The environment that the case runs in: the versions here, and its number of threads."""
    threads = case.threads or usable_cores()
    packages = {name: installed_version(name) for name in PACKAGES}
    libc, python = _libc(), f"{sys.version_info.major}.{sys.version_info.minor}"
    digest = hashlib.sha256(msgspec.json.encode([python, libc, threads, packages], order="sorted")).hexdigest()[:8]
    readable = f"py{python} torch{packages['torch']} transformers{packages['transformers']} {digest}"
    return Environment(id=_slug(readable), python=python, libc=libc, threads=threads, packages=packages)


def circumstances() -> Circumstances:
    """What is worth knowing of the measurement without splitting its series."""
    return Circumstances(
        kernel=kernel_version(platform.release()),
        transparent_huge_pages=bracketed(_read("/sys/kernel/mm/transparent_hugepage/enabled")),
        swap_total_bytes=psutil.swap_memory().total,
        cgroup_limit_bytes=smallest_limit(_cgroup_limits()),
        cpu_flags=tuple(flag for flag in _USEFUL_FLAGS if flag in _cpu_flags()),
        installed=_installed(),
    )


@cache
def workload_sha256() -> str:
    """Hash of the workload's syntax trees, without docstrings and comments: rewording makes nothing stale."""
    root = Path(str(resources.files("sitegen"))) / "workload"
    digest = hashlib.sha256()
    for name in WORKLOAD_MODULES:
        digest.update(code_of((root / f"{name}.py").read_text(encoding="utf-8")).encode())
    return digest.hexdigest()


def code_of(source: str) -> str:
    """The syntax tree of a module as text, docstrings left out (comments are in no tree)."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and body:
            first = body[0]
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                node.body = body[1:] or [ast.Pass()]
    return ast.dump(tree)


@cache
def _installed() -> dict[str, str]:
    """Every package of the environment with its version; read once, a campaign asks for each of its cases."""
    named = [
        dist for dist in metadata.distributions() if dist.metadata["Name"]
    ]  # an interrupted install leaves some without
    return dict(sorted((dist.name.lower(), dist.version) for dist in named))


def installed_version(package: str) -> str | None:
    """The installed version, or ``None``."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def usable_cores() -> int:
    """Cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def kernel_version(release: str) -> str:
    """The numbers of a kernel release: what follows them may name its owner."""
    found = re.match(r"[0-9]+(\.[0-9]+)*", release)
    return found.group() if found else "unknown"


def bracketed(choices: str | None) -> str | None:
    """The current choice of a kernel file such as ``always [madvise] never``: the word in brackets."""
    found = re.search(r"\[(\w+)\]", choices or "")
    return found.group(1) if found else None


def smallest_limit(limits: Iterable[str]) -> int | None:
    """The limit that binds among a control group's ancestry, in bytes; ``None`` when nothing binds.

    Args:
        limits: contents of the limit files, ``max`` or a number; cgroup v1 writes one near 2^63 for "no limit".
    """
    numbers = [int(limit) for limit in limits if limit.strip().isdigit()]
    return min((number for number in numbers if number < _NO_LIMIT_BYTES), default=None)


def cgroup_folders() -> list[Path]:
    """The folders of this process's memory control group and of its ancestors, nearest first."""
    found: list[Path] = []
    for line in (_read("/proc/self/cgroup") or "").splitlines():
        _, controllers, path = line.split(":", 2)
        roots = [Path("/sys/fs/cgroup/unified"), Path("/sys/fs/cgroup")] if not controllers else []
        if "memory" in controllers.split(","):
            roots = [Path("/sys/fs/cgroup/memory")]
        for root in roots:
            here = root / path.lstrip("/")
            found += [folder for folder in (here, *here.parents) if folder == root or root in folder.parents]
    return found


def _cgroup_limits() -> list[str]:
    """What the limit files of the ancestry say."""
    names = ("memory.max", "memory.limit_in_bytes")
    texts = (_read(folder / name) for folder in cgroup_folders() for name in names)
    return [text for text in texts if text is not None]


def _cpu_model() -> str:
    """The processor's name as the system tells it."""
    found = re.search(r"^model name\s*:\s*(.+)$", _read("/proc/cpuinfo") or "", re.MULTILINE)
    return found.group(1).strip() if found else platform.processor() or platform.machine()


def _cpu_flags() -> set[str]:
    """The instruction sets that the processor announces."""
    found = re.search(r"^flags\s*:\s*(.+)$", _read("/proc/cpuinfo") or "", re.MULTILINE)
    return set(found.group(1).split()) if found else set()


def _libc() -> str:
    """The C library and its version: its malloc is part of a peak."""
    if hasattr(os, "confstr") and "CS_GNU_LIBC_VERSION" in os.confstr_names:
        return os.confstr("CS_GNU_LIBC_VERSION") or "glibc"
    return " ".join(("macOS", platform.mac_ver()[0])).strip()


def _read(path: str | Path) -> str | None:
    """A small system file, or ``None`` where there is none."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def _slug(text: str) -> str:
    """Lower-case letters, digits, dots and single dashes: safe in a path and in an address."""
    return re.sub(r"[^a-z0-9.]+", "-", re.sub(r"\((r|tm)\)", "", text.lower())).strip("-")
