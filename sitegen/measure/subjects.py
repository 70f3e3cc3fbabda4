"""What ``sitegen estimate`` is asked about: a configuration, found without fetching or reading any weight."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final, NamedTuple

from huggingface_hub import try_to_load_from_cache
from safetensors import SafetensorError, safe_open

from sitegen.errors import ConfigurationError, ModelError, UsageError, WeightsError, from_os_error
from sitegen.measure.model_source import BUILTIN_NAMES, shipped
from sitegen.memory import catalogue
from sitegen.memory.configuration import LARGEST_BYTES, judged, parsed
from sitegen.records.case import DEFAULT_MODEL
from sitegen.units import readable

_CONFIG: Final = "config.json"
_WEIGHTS: Final = "model.safetensors"
_INDEX: Final = "model.safetensors.index.json"
_EMBEDDINGS: Final = "embed_tokens.weight"
_HEAD: Final = "lm_head.weight"
_HASH_DIGITS: Final = 12


class Subject(NamedTuple):
    """A model to estimate: `name` is the value for `Case.model`, `notes` what a reader should know."""

    name: str
    config: dict[str, Any]
    notes: tuple[str, ...] = ()


def subject_of(model: str, revision: str | None = None, config: Path | None = None) -> Subject:
    """The model that the three options name.

    Raises:
        UsageError: options that exclude each other.
        ModelError: a name that is nothing known, or a folder without a configuration.
        ConfigurationError: a configuration that describes no language model.
    """
    if config is not None and model != DEFAULT_MODEL:
        raise UsageError(f"--model {model} and --config {config} both name a model.", "Keep one of the two.")
    if config is not None:
        return _from_file(config, f"--config {config}")
    if model in BUILTIN_NAMES:
        return _from_file(shipped(model), _CONFIG)._replace(name=model)
    if Path(model).expanduser().is_dir():
        return _from_folder(Path(model).expanduser())
    return _from_name(model, revision)


def _from_folder(folder: Path) -> Subject:
    """A local model, of which only the configuration is read."""
    if not (folder / _CONFIG).is_file():
        raise ModelError(f"{folder} has no {_CONFIG}.", "Give the folder of a transformers model.")
    found = _from_file(folder / _CONFIG, _CONFIG)
    _require_same_tie(found.config, _tensor_names(folder))
    return found


def _tensor_names(folder: Path) -> set[str]:
    """The tensors of a folder's weights, where it has some: names only."""
    if (folder / _INDEX).is_file():
        index = parsed((folder / _INDEX).read_bytes(), _INDEX)
        return set(index.get("weight_map", {}))
    if not (folder / _WEIGHTS).is_file():
        return set()
    try:
        with safe_open(folder / _WEIGHTS, framework="np") as tensors:
            return set(tensors.keys())
    except (SafetensorError, OSError) as error:
        raise WeightsError(f"{_WEIGHTS} cannot be read: {error}.", "Download the file again.") from error


def _require_same_tie(config: dict[str, Any], names: set[str]) -> None:
    """Refuse a flag that the tensors contradict: one more or one less matrix of embeddings is a large difference."""
    tied = config.get("tie_word_embeddings")
    if tied is None or not any(name.endswith(_EMBEDDINGS) for name in names):
        return
    if tied == (_HEAD in names):
        problem = f"there is a {_HEAD} of its own" if tied else f"there is no {_HEAD}"
        raise ConfigurationError(
            f"{_CONFIG} says tie_word_embeddings = {str(tied).lower()}, and {problem} among the weights.",
            "Correct the key.",
        )


def _from_name(model: str, revision: str | None) -> Subject:
    """A model of the catalogue, else the configuration that the hub's client keeps on this machine."""
    try:
        entry = catalogue.model(model)
    except ModelError:
        cached = _cached(model, revision)
        if cached is None:
            raise
        return _from_file(cached, f"{model}'s {_CONFIG}")._replace(name=model)
    if revision is not None:
        raise UsageError(
            f"--revision {revision} has no meaning here: the catalogue has one configuration of {entry.name}.",
            "Leave it out, or give that revision's config.json to --config.",
        )
    return Subject(entry.hub_id, entry.config, (f"Configuration: {entry.source}, read on {entry.read_on}.",))


def _cached(model: str, revision: str | None) -> Path | None:
    """The configuration in the hub client's cache, if it is there."""
    try:
        found = try_to_load_from_cache(model, _CONFIG, revision=revision)
    except ValueError:  # not the shape of a hub id
        return None
    return Path(found) if isinstance(found, str) else None


def _from_file(path: Path, name: str) -> Subject:
    """The configuration of a file, named by its hash; a file that is too long is not read."""
    try:
        size_bytes = path.stat().st_size
        if size_bytes > LARGEST_BYTES:
            raise ConfigurationError(
                f"{name} holds {readable(size_bytes)}; a configuration has some kB.", "Give the model's config.json."
            )
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise ConfigurationError(f"{name} cannot be read: there is no such file.", "Check the path.") from error
    except OSError as error:
        raise from_os_error(error, f"reading {path.name}") from error
    config = parsed(content, name)
    canonical = json.dumps(config, sort_keys=True, separators=(",", ":")).encode()
    found = judged(config, name)
    return Subject(f"config-{hashlib.sha256(canonical).hexdigest()[:_HASH_DIGITS]}", found.config, found.notes)
