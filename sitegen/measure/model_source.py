"""What ``--model``, ``--revision`` and ``--config`` name, told apart before anything is loaded."""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import re
from importlib import resources
from pathlib import Path
from typing import Final, Literal

import msgspec

from sitegen.errors import ConfigurationError, ModelError, UsageError, from_os_error
from sitegen.measure.cache import remembered_sha256
from sitegen.records.case import DEFAULT_MODEL

_CONFIGURATIONS: Final = Path(str(resources.files("sitegen"))) / "workload" / "configurations"

BUILTIN_NAMES: Final = tuple(sorted(path.stem for path in _CONFIGURATIONS.glob("*.json")))
"""Models whose configuration comes with the program: the default one, and small ones of other architectures."""

_HUB_ID: Final = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
_HASH_DIGITS: Final = 12


class ModelSource(msgspec.Struct, frozen=True, kw_only=True):
    """One model as the user named it.

    `case_name` is the value for `Case.model`: a built-in's name, a hub id, or the hash of a folder or of a
    configuration; never a path. `path` is the folder or the configuration file.
    """

    kind: Literal["builtin", "folder", "hub", "config"]
    case_name: str
    revision: str | None = None
    path: Path | None = None


def source_of(model: str, revision: str | None = None, config: Path | None = None) -> ModelSource:
    """Which model the three options name.

    Raises:
        UsageError: options that exclude each other.
        ModelError: an unknown name, or a folder or configuration file that holds no model.
    """
    source = _from_config(model, config) if config is not None else _from_name(model, revision)
    if revision is not None and source.kind != "hub":
        raise UsageError(
            f"--revision {revision} has no meaning here: only a model of the hub has revisions.",
            "Leave it out, or give --model a hub id (owner/name).",
        )
    return source


def _from_config(model: str, path: Path) -> ModelSource:
    """A configuration whose weights will be drawn at random."""
    if model != DEFAULT_MODEL:
        raise UsageError(f"--model {model} and --config {path} both name a model.", "Keep one of the two.")
    try:
        config = json.loads(path.read_bytes())
    except OSError as error:
        raise ConfigurationError(f"--config {path} cannot be read: {error.strerror}.", "Check the path.") from error
    except ValueError as error:
        raise ConfigurationError(f"--config {path} is not valid JSON ({error}).", "Correct the file.") from error
    canonical = json.dumps(config, sort_keys=True, separators=(",", ":")).encode()
    return ModelSource(kind="config", case_name=f"config-{_short_hash(canonical)}", path=path.resolve())


def _from_name(model: str, revision: str | None) -> ModelSource:
    """A built-in, an existing folder or a hub id, in this order."""
    if model == DEFAULT_MODEL:
        return ModelSource(kind="builtin", case_name=model)
    if model in BUILTIN_NAMES:
        return ModelSource(kind="config", case_name=model, path=shipped(model))
    path = Path(model).expanduser()
    if path.is_dir():
        return _from_folder(path.resolve())
    if path.exists():
        raise ModelError(
            f"--model {model} is a file.", "Give the folder that holds it, or use --config for a config.json."
        )
    if _HUB_ID.fullmatch(model):
        return ModelSource(kind="hub", case_name=model, revision=revision)
    if os.sep in model or model.startswith("~"):
        raise ModelError(f"--model {model}: there is no such folder.", "Check the path.")
    raise _unknown(model)


def shipped(model: str) -> Path:
    """The configuration of a built-in model; the weights of all but the default are drawn at random."""
    return _CONFIGURATIONS / f"{model}.json"


def _from_folder(folder: Path) -> ModelSource:
    """A local folder, named by what it holds: its configuration and its weights."""
    if not (folder / "config.json").is_file():
        raise ModelError(f"{folder} has no config.json.", "Give the folder of a transformers model.")
    weights = sorted(folder.glob("*.safetensors"))
    if not weights:
        raise ModelError(f"{folder} has no *.safetensors file.", "Give a model in the safetensors format.")
    try:
        lines = [f"{path.name} {remembered_sha256(path)}\n" for path in (folder / "config.json", *weights)]
    except OSError as error:
        raise from_os_error(error, f"reading {folder}") from error
    return ModelSource(kind="folder", case_name=f"folder-{_short_hash(''.join(lines).encode())}", path=folder)


def _unknown(model: str) -> ModelError:
    """The error for a name that is nothing known, with the nearest one."""
    near = difflib.get_close_matches(model.lower(), BUILTIN_NAMES, n=1)
    guess = f"Did you mean {near[0]}? " if near else ""
    return ModelError(
        f"Unknown model {model!r}: no built-in model, no folder, no hub id.",
        f"{guess}Give one of {', '.join(BUILTIN_NAMES)}, a folder, or owner/name.",
    )


def _short_hash(content: bytes) -> str:
    """The first digits of a SHA-256: enough to tell models apart in a name."""
    return hashlib.sha256(content).hexdigest()[:_HASH_DIGITS]
