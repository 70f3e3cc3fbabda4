"""Run the child process that prepares a model, and turn what it says into progress lines, an identity, or an error."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import IO, Any, Final

import msgspec

from sitegen.errors import ALL_KINDS, ModelError, SitegenError
from sitegen.records.model import ModelIdentity

_MODULE: Final = "sitegen.workload.prepare"
_KINDS: Final = {kind.__name__: kind for kind in ALL_KINDS}
_QUIET: Final = {
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "TQDM_DISABLE": "1",
}


def run_preparation(request: dict[str, Any], say: Callable[[str], None]) -> ModelIdentity:
    """Have the child serve one request (the fields of its own `Request`).

    Raises:
        SitegenError: what the child could not do, of the kind that it named.
    """
    with tempfile.TemporaryFile() as noise:
        child = subprocess.Popen(
            [sys.executable, "-m", _MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=noise,
            env={**os.environ, **_QUIET},
            start_new_session=True,
        )
        try:
            last = _converse(child, {**request, "parent_pid": os.getpid()}, say)
        finally:
            _end(child)
        if "done" in last:
            return msgspec.convert(last["done"], ModelIdentity)
        raise _failure(request["name"], last, child.returncode, noise)


def _converse(child: subprocess.Popen[bytes], request: dict[str, Any], say: Callable[[str], None]) -> dict[str, Any]:
    """Send the request, pass progress on, and return the last word: ``done``, ``error``, or nothing."""
    if child.stdin is None or child.stdout is None:
        raise TypeError("the child was started without pipes")
    with contextlib.suppress(BrokenPipeError):  # it ended at once: what it left behind says why
        child.stdin.write(json.dumps(request).encode())
        child.stdin.close()
    for line in child.stdout:
        message = _message(line)
        if "say" in message:
            say(message["say"])
        elif message:
            return message
    child.wait()
    return {}


def _end(child: subprocess.Popen[bytes]) -> None:
    """Leave nothing of the child's process group behind: it may have started pip."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            pipe.close()


def _message(line: bytes) -> dict[str, Any]:
    """The JSON object of a line; libraries that print something else are not listened to."""
    try:
        message = json.loads(line)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


def _failure(name: str, last: dict[str, Any], returncode: int, noise: IO[bytes]) -> SitegenError:
    """The error to raise: the child's own words, or what its end tells."""
    if "error" in last:
        return _KINDS.get(last["kind"], ModelError)(last["error"], last["remedy"])
    if returncode == -signal.SIGKILL:
        return ModelError(
            f"The preparation of {name} was killed, most often because memory ran out.",
            "Close other programs, or choose a smaller model, then run the same command again.",
        )
    noise.seek(0)
    lines = noise.read().decode(errors="replace").strip().splitlines()
    return ModelError(
        f"The preparation of {name} ended unexpectedly: {lines[-1] if lines else f'exit status {returncode}'}",
        "Run the same command again; if it persists, report it.",
    )
