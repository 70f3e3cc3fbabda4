"""Judge a model's files before torch reads them: a damaged file gets a sentence, not a traceback.

Standard library only, so that a bad folder is refused at once.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final

from sitegen.errors import ConfigurationError, PointerError, WeightsError
from sitegen.records.model import SourceFile
from sitegen.units import readable

SINGLE: Final = "model.safetensors"
INDEX: Final = "model.safetensors.index.json"
MAX_HEADER_BYTES: Final = 100_000_000
"""The safetensors format's own limit."""

_LENGTH_BYTES: Final = 8
_LFS_START: Final = b"version https://git-lfs"
_FETCH_AGAIN: Final = "Download the file again, or point --model at a complete copy."


def read_config(path: Path) -> dict[str, Any]:
    """The configuration's JSON object.

    Raises:
        ConfigurationError: not a JSON object, no `model_type`, two different dtypes, weights already quantised.
    """
    config = _read_object(path)
    if not isinstance(config.get("model_type"), str):
        raise ConfigurationError(
            f"{path.name} has no model_type: it does not say which architecture it describes.", "Add the key."
        )
    _require_one_dtype(config, path.name)
    if "quantization_config" in config:
        raise ConfigurationError(
            f"{path.name} describes weights that are already quantised (quantization_config).",
            "Give the original weights; --method qlora quantises them itself.",
        )
    return config


def config_hash(config: dict[str, Any]) -> str:
    """SHA-256 of the configuration with its keys sorted."""
    return hashlib.sha256(json.dumps(config, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def checked_weights(folder: Path) -> list[Path]:
    """The safetensors files of a folder, every one present and whole.

    Raises:
        WeightsError: none, a shard is missing, or a file that its header contradicts.
        PointerError: a Git LFS pointer.
    """
    files = _weight_files(folder)
    for path in files:
        if not path.is_file():
            raise WeightsError(f"{path.name} is missing, although {INDEX} names it.", _FETCH_AGAIN)
        check_safetensors(path)
    return files


def check_safetensors(path: Path) -> None:
    """Compare a safetensors file's size with what its header announces.

    Layout: header length (8 bytes, little endian), header (JSON), tensors.

    Raises:
        PointerError: the file is a Git LFS pointer.
        WeightsError: truncated, followed by stray bytes, or no safetensors file at all.
    """
    refuse_pointer(path)
    size_bytes = path.stat().st_size
    with path.open("rb") as stream:
        header_bytes = int.from_bytes(stream.read(_LENGTH_BYTES), "little")
        if size_bytes >= _LENGTH_BYTES and header_bytes > MAX_HEADER_BYTES:
            raise WeightsError(
                f"{path.name} announces a header of {header_bytes} bytes; the safetensors format allows"
                f" {MAX_HEADER_BYTES}: the file is damaged, or of another format.",
                _FETCH_AGAIN,
            )
        data_start = _LENGTH_BYTES + header_bytes
        if size_bytes < data_start:
            raise _wrong_size(path, size_bytes, data_start)
        announced_bytes = data_start + _last_offset(stream.read(header_bytes), path.name)
    if size_bytes != announced_bytes:
        raise _wrong_size(path, size_bytes, announced_bytes)


def refuse_pointer(path: Path) -> None:
    """Raise `PointerError` when the file is what Git LFS leaves in place of a large file."""
    with path.open("rb") as stream:
        if stream.read(len(_LFS_START)) == _LFS_START:
            raise PointerError(
                f"{path.name} is a Git LFS pointer ({path.stat().st_size} bytes of text), not the file itself.",
                "Run `git lfs pull` in its folder.",
            )


def source_file(path: Path) -> SourceFile:
    """Name, size and hash of one file, under the name it has in its own folder."""
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return SourceFile(name=path.name, size_bytes=path.stat().st_size, sha256=digest)


def _read_object(path: Path) -> dict[str, Any]:
    """The JSON object that a file holds; raises `ConfigurationError`."""
    if not path.is_file():
        raise WeightsError(f"{path.name} is missing.", _FETCH_AGAIN)
    refuse_pointer(path)
    try:
        value = json.loads(path.read_bytes())
    except ValueError as error:
        raise ConfigurationError(f"{path.name} is not valid JSON ({error}).", _FETCH_AGAIN) from error
    if not isinstance(value, dict):
        raise ConfigurationError(f"{path.name} does not hold a JSON object.", _FETCH_AGAIN)
    return value


def _require_one_dtype(config: dict[str, Any], name: str) -> None:
    """Refuse a configuration whose old and new spelling of the dtype disagree."""
    old, new = config.get("torch_dtype"), config.get("dtype")
    if old is not None and new is not None and old != new:
        raise ConfigurationError(
            f"{name} gives two dtypes: torch_dtype is {old!r} and dtype is {new!r}.", "Keep one of the two keys."
        )


def _weight_files(folder: Path) -> list[Path]:
    """The file, or the shards that the index names, in the order in which transformers looks for them."""
    if (folder / SINGLE).is_file():
        return [folder / SINGLE]
    if not (folder / INDEX).is_file():
        raise WeightsError(
            f"No {SINGLE} and no {INDEX} beside config.json.",
            "Give a model in the safetensors format; other formats are not read.",
        )
    weight_map = _read_object(folder / INDEX).get("weight_map")
    if not isinstance(weight_map, dict) or not weight_map:
        raise WeightsError(f"{INDEX} has no weight_map: it does not say where the tensors are.", _FETCH_AGAIN)
    return [folder / _plain_name(name) for name in sorted({str(name) for name in weight_map.values()})]


def _plain_name(name: str) -> str:
    """A shard's name, refused when it leads out of the folder."""
    if Path(name).name != name:
        raise WeightsError(f"{INDEX} names {name!r}, which is not a file of its folder.", _FETCH_AGAIN)
    return name


def _last_offset(header: bytes, name: str) -> int:
    """Where the last tensor ends, in bytes after the header; raises `WeightsError` for an unreadable header."""
    try:
        entries = json.loads(header)
        return max(
            (int(entry["data_offsets"][1]) for key, entry in entries.items() if key != "__metadata__"), default=0
        )
    except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        raise WeightsError(f"{name} has an unreadable safetensors header ({error}).", _FETCH_AGAIN) from error


def _wrong_size(path: Path, size_bytes: int, announced_bytes: int) -> WeightsError:
    """The error for a file that is shorter or longer than announced."""
    problem = "is truncated" if size_bytes < announced_bytes else "has stray bytes at its end"
    return WeightsError(
        f"{path.name} {problem}: it holds {size_bytes} bytes and its header announces {announced_bytes}"
        f" ({readable(announced_bytes)}).",
        _FETCH_AGAIN,
    )
