"""Have a child process trace cases into memory bills; what was traced once with these versions is not traced again."""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import IO, Final

import msgspec
from msgspec.structs import replace

from sitegen.errors import ALL_KINDS, ModelError, SitegenError, StorageError
from sitegen.files import write_atomic
from sitegen.measure.cache import cache_folder
from sitegen.measure.machine import code_of, installed_version
from sitegen.records.bill import Bill, BillReply, BillRequest, BillRequests
from sitegen.records.case import Case

STACK_PACKAGES: Final = ("torch", "transformers", "peft", "bitsandbytes")
"""The packages whose code is traced."""

_MODULE: Final = "sitegen.workload.bills"
_ROOMS: Final = ("workload", "memory/depth.py", "records/bill.py", "records/trace.py")
_KINDS: Final = {kind.__name__: kind for kind in ALL_KINDS}
_QUIET: Final = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error", "TOKENIZERS_PARALLELISM": "false"}
_FREE: Final = ("model", "revision", "seed", "threads", "allocator", "timeout")
"""The options of a case that move nothing in its trace."""


def bills(requests: Sequence[BillRequest], say: Callable[[str], None] = lambda _: None) -> list[Bill | SitegenError]:
    """The bill of each request, or the error that it ended in: known from an earlier run, or traced now by one child.

    Args:
        requests: what is asked.
        say: told how many of them have to be traced, when some have.

    Raises:
        ModelError: the child ended without an answer.
    """
    plain = [_plain(request) for request in requests]
    found = {_key(request): _remembered(request) for request in plain}
    missing = {_key(request): request for request in plain if found[_key(request)] is None}
    answers: dict[str, Bill | SitegenError] = {key: bill for key, bill in found.items() if bill is not None}
    if missing:
        say(f"Tracing {len(missing)} cases…")
        answers |= _traced(missing)
    return [answers[_key(request)] for request in plain]


@cache
def stack() -> dict[str, str]:
    """What a trace depends on: the versions of the traced packages, and the hash of the code that traces."""
    versions = {name: installed_version(name) or "absent" for name in STACK_PACKAGES}
    return {**versions, "tracer": _tracer_sha256()[:12]}


def _tracer_sha256() -> str:
    """Hash of the syntax trees of all that decides what a trace says."""
    root = Path(str(resources.files("sitegen")))
    digest = hashlib.sha256()
    for room in _ROOMS:
        paths = sorted((root / room).glob("*.py")) if (root / room).is_dir() else [root / room]
        for path in paths:
            digest.update(code_of(path.read_text(encoding="utf-8")).encode())
    return digest.hexdigest()


def _plain(request: BillRequest) -> BillRequest:
    """The request without the options of its case that move nothing."""
    defaults = {name: getattr(Case(), name) for name in _FREE}
    return replace(request, case=replace(request.case, **defaults))


def _key(request: BillRequest) -> str:
    """A name for what is asked of this stack."""
    return hashlib.sha256(msgspec.json.encode([stack(), request], order="sorted")).hexdigest()


def _place(key: str) -> Path:
    """Where a bill is remembered."""
    return cache_folder() / "bills" / f"{key}.json"


def _remembered(request: BillRequest) -> Bill | None:
    """The bill of an earlier run, if it is there and whole."""
    try:
        return msgspec.json.decode(_place(_key(request)).read_bytes(), type=Bill)
    except (OSError, msgspec.DecodeError):
        return None


def _remember(key: str, bill: Bill) -> None:
    """Keep a bill; a cache that cannot be written costs time, not the answer."""
    with contextlib.suppress(OSError, StorageError):
        write_atomic(_place(key), msgspec.json.encode(bill))


def _traced(missing: dict[str, BillRequest]) -> dict[str, Bill | SitegenError]:
    """What the child answers, in one process."""
    answers: dict[str, Bill | SitegenError] = {}
    asked = BillRequests(requests=tuple(missing.values()), parent_pid=os.getpid())
    for key, reply in zip(missing, _replies(asked), strict=True):
        if reply.bill is None:
            answers[key] = _KINDS.get(reply.kind, ModelError)(reply.error, reply.remedy)
        else:
            answers[key] = reply.bill
            _remember(key, reply.bill)
    return answers


def _replies(asked: BillRequests) -> Iterator[BillReply]:
    """The child's replies, as many as there are requests."""
    with tempfile.TemporaryFile() as noise:
        done = subprocess.run(
            [sys.executable, "-m", _MODULE],
            input=msgspec.json.encode(asked),
            stdout=subprocess.PIPE,
            stderr=noise,
            env={**os.environ, **_QUIET},
            cwd=Path(__file__).parents[2],
            check=False,
        )
        lines = done.stdout.splitlines()
        if len(lines) != len(asked.requests):
            raise ModelError(
                f"The trace ended unexpectedly: {_last_line(noise) or f'exit status {done.returncode}'}",
                "Run the same command again; if it persists, report it.",
            )
    yield from (msgspec.json.decode(line, type=BillReply) for line in lines)


def _last_line(noise: IO[bytes]) -> str:
    """The last thing the child said."""
    noise.seek(0)
    lines = noise.read().decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""
