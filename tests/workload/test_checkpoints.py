"""A model's files, whole and damaged."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from sitegen.errors import ModelError
from sitegen.workload.checkpoints import (
    MAX_HEADER_BYTES,
    check_safetensors,
    checked_weights,
    config_hash,
    read_config,
    source_file,
)

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 538090408\n"


def safetensors_bytes(data_bytes: int = 8) -> bytes:
    """A file by the format's description: length, header, data."""
    header = json.dumps({"a": {"dtype": "F32", "shape": [data_bytes // 4], "data_offsets": [0, data_bytes]}}).encode()
    return len(header).to_bytes(8, "little") + header + bytes(data_bytes)


def write_config(folder: Path, **keys: Any) -> Path:
    path = folder / "config.json"
    path.write_text(json.dumps({"model_type": "llama", **keys}), encoding="utf-8")
    return path


def test_a_whole_file_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(safetensors_bytes())
    check_safetensors(path)


@pytest.mark.parametrize(("cut", "problem"), [(1, "is truncated"), (8, "is truncated"), (-3, "has stray bytes")])
def test_a_wrong_size_is_told_with_both_sizes(tmp_path: Path, cut: int, problem: str) -> None:
    whole = safetensors_bytes()
    path = tmp_path / "model.safetensors"
    path.write_bytes(whole[:-cut] if cut > 0 else whole + b"\0" * -cut)
    with pytest.raises(ModelError) as caught:
        check_safetensors(path)
    assert problem in caught.value.what
    assert f"holds {len(whole) - cut} bytes" in caught.value.what
    assert f"announces {len(whole)}" in caught.value.what


@pytest.mark.parametrize("content", [b"", b"\x05", b"\x40\0\0\0\0\0\0\0{"])
def test_a_file_cut_before_its_tensors_is_truncated(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    with pytest.raises(ModelError, match="is truncated"):
        check_safetensors(path)


def test_an_impossible_header_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes((MAX_HEADER_BYTES + 1).to_bytes(8, "little") + b"\0" * 16)
    with pytest.raises(ModelError, match=r"announces a header of 100000001 bytes.* allows 100000000"):
        check_safetensors(path)


@pytest.mark.parametrize("header", [b"not json", b"[1, 2]", b'{"a": {}}', b'{"a": {"data_offsets": [0, "x"]}}'])
def test_an_unreadable_header_is_a_model_error(tmp_path: Path, header: bytes) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(ModelError, match=r"model\.safetensors has an unreadable safetensors header"):
        check_safetensors(path)


def test_a_git_lfs_pointer_is_named_as_such(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    path.write_text(POINTER, encoding="ascii")
    with pytest.raises(ModelError, match="is a Git LFS pointer") as caught:
        check_safetensors(path)
    assert "git lfs pull" in caught.value.remedy


def test_shards_are_those_of_the_index(tmp_path: Path) -> None:
    shards = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]
    index = {"weight_map": {"b": shards[1], "a": shards[0], "c": shards[1]}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    (tmp_path / "stray.safetensors").write_bytes(b"never read")
    (tmp_path / shards[0]).write_bytes(safetensors_bytes())
    with pytest.raises(ModelError, match=f"{shards[1]} is missing"):
        checked_weights(tmp_path)
    (tmp_path / shards[1]).write_bytes(safetensors_bytes(16))
    assert [path.name for path in checked_weights(tmp_path)] == shards


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ("{}", "no weight_map"),
        ("[", "not valid JSON"),
        ("[]", "JSON object"),
        ('{"weight_map": {"a": "../other.safetensors"}}', "not a file of its folder"),
    ],
)
def test_a_bad_index_is_a_model_error(tmp_path: Path, index: str, message: str) -> None:
    (tmp_path / "model.safetensors.index.json").write_text(index, encoding="utf-8")
    with pytest.raises(ModelError, match=message):
        checked_weights(tmp_path)


def test_a_folder_without_safetensors_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pytorch_model.bin").write_bytes(b"pickle")
    with pytest.raises(ModelError, match="safetensors"):
        checked_weights(tmp_path)


def test_two_spellings_of_one_dtype_agree(tmp_path: Path) -> None:
    config = read_config(write_config(tmp_path, torch_dtype="bfloat16", dtype="bfloat16"))
    assert config["dtype"] == "bfloat16"


def test_two_dtypes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="torch_dtype is 'float32' and dtype is 'bfloat16'"):
        read_config(write_config(tmp_path, torch_dtype="float32", dtype="bfloat16"))


def test_quantised_weights_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="already quantised"):
        read_config(write_config(tmp_path, quantization_config={"quant_method": "gptq"}))


@pytest.mark.parametrize("text", ['{"hidden_size": 8}', '{"model_type": 3}', "[]", "{", POINTER])
def test_what_is_no_configuration_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.json").write_text(text, encoding="utf-8")
    with pytest.raises(ModelError, match=r"config\.json"):
        read_config(tmp_path / "config.json")


def test_the_configuration_hash_ignores_the_order_of_keys() -> None:
    # Expected: SHA-256 of the canonical JSON written out by hand.
    expected = hashlib.sha256(b'{"a":1,"b":{"c":2,"d":3}}').hexdigest()
    assert config_hash({"b": {"d": 3, "c": 2}, "a": 1}) == expected


def test_a_source_file_says_name_size_and_hash(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"abc")
    found = source_file(path)
    # SHA-256 of "abc": FIPS 180-2, appendix B.1.
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert (found.name, found.size_bytes, found.sha256) == ("model.safetensors", 3, digest)
