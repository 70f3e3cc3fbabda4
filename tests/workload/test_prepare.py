"""Preparation in one process: the order of the sources, the checks, and the one file that comes out."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM

from sitegen.errors import ModelError, StorageError
from sitegen.records.case import DEFAULT_MODEL, Dtype
from sitegen.workload import convert, prepare, sources
from sitegen.workload.checkpoints import config_hash
from sitegen.workload.sources import BUILTINS, Builtin, Origin

LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 16,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "vocab_size": 64,
    "max_position_embeddings": 32,
    "tie_word_embeddings": True,
}
# Counted by hand: 64·16 embeddings, twice (4·16² attention + 3·16·32 MLP + 2·16 norms), 16 final norm.
LLAMA_PARAMETERS = 64 * 16 + 2 * (4 * 16**2 + 3 * 16 * 32 + 2 * 16) + 16


def request(kind: Any, path: Path | None, into: Path, dtype: Dtype = "float32") -> prepare.Request:
    into.mkdir(exist_ok=True)
    return prepare.Request(
        kind=kind, name="a-name", revision=None, path=path, dtype=dtype, into=into, parent_pid=os.getpid()
    )


def config_file(folder: Path, **changes: Any) -> Path:
    """The small configuration; a key changed to ``None`` is left out."""
    config = {key: value for key, value in {**LLAMA, **changes}.items() if value is not None}
    path = folder / "config.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("has", "asked"),
    [
        ("cache", ["cache"]),
        ("hub", ["cache", "hub"]),
        ("package", ["cache", "hub", "package"]),
        ("random", ["cache", "hub", "package", "random"]),
    ],
)
def test_the_builtins_sources_are_tried_in_order(
    has: str, asked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tried(has, True, tmp_path, monkeypatch) == asked


def test_an_unreachable_hub_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert tried("package", False, tmp_path, monkeypatch) == ["cache", "package"]


def tried(has: str, reachable: bool, into: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Prepare the built-in when one source has it; which ones were asked, in order."""
    asked: list[str] = []

    def answer(name: str) -> Origin:
        asked.append(name)
        if name != has:
            raise ModelError(f"{name} has nothing.")
        return Origin(source="hub", revision=name)

    def materialise(_request: prepare.Request, origin: Origin, _config: Path, builtin: Builtin) -> str:
        assert builtin is BUILTINS[DEFAULT_MODEL]
        if origin.source == "random":
            asked.append("random")
        return "done"

    monkeypatch.setattr(sources, "hub_reachable", lambda: reachable)
    monkeypatch.setattr(sources, "cached", lambda *_: answer("cache") if has == "cache" else asked.append("cache"))
    monkeypatch.setattr(sources, "download", lambda *_: answer("hub"))
    monkeypatch.setattr(sources, "from_package", lambda *_: answer("package"))
    monkeypatch.setattr(prepare, "_materialise", materialise)
    builtin = prepare.Request(
        kind="builtin", name=DEFAULT_MODEL, revision=None, path=None, dtype="float32", into=into, parent_pid=0
    )
    assert prepare.prepared(builtin) == "done"  # type: ignore[comparison-overlap]
    assert not list(into.iterdir())  # nothing of the attempts stays beside the model
    return asked


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_a_configuration_becomes_one_file_in_its_dtype(tmp_path: Path, dtype: Dtype) -> None:
    identity = prepare.prepared(request("config", config_file(tmp_path), tmp_path / "out", dtype))
    tensors = load_file(tmp_path / "out" / "model.safetensors")
    assert {tensor.dtype for tensor in tensors.values()} == {getattr(torch, dtype)}
    assert sum(tensor.numel() for tensor in tensors.values()) == LLAMA_PARAMETERS  # tied weights are there once
    assert (identity.source, identity.model_type, identity.revision) == ("random", "llama", None)
    assert identity.config_sha256 == config_hash(LLAMA)


def test_random_weights_are_the_same_each_time(tmp_path: Path) -> None:
    for name in ("one", "two"):
        prepare.prepared(request("config", config_file(tmp_path), tmp_path / name))
    one, two = (load_file(tmp_path / name / "model.safetensors") for name in ("one", "two"))
    assert all(torch.equal(one[name], two[name]) for name in one)


@pytest.fixture
def sharded(tmp_path: Path) -> Path:
    """A folder with the small model in several shards and generation settings that transformers refuses to write."""
    torch.manual_seed(1)
    model = AutoModelForCausalLM.from_config(convert.known_config(LLAMA))
    model.save_pretrained(tmp_path / "sharded", max_shard_size=4096)
    settings = {"temperature": 0.6, "do_sample": False}
    (tmp_path / "sharded" / "generation_config.json").write_text(json.dumps(settings), encoding="utf-8")
    return tmp_path / "sharded"


def test_a_sharded_folder_becomes_one_file_with_the_same_values(sharded: Path, tmp_path: Path) -> None:
    shards = sorted(sharded.glob("model-*.safetensors"))
    assert len(shards) > 2
    identity = prepare.prepared(request("folder", sharded, tmp_path / "out"))
    expected = {name: tensor for shard in shards for name, tensor in load_file(shard).items()}
    written = load_file(tmp_path / "out" / "model.safetensors")
    assert written.keys() == expected.keys()
    assert all(torch.equal(written[name], expected[name]) for name in expected)
    assert [file.name for file in identity.files] == [shard.name for shard in shards]
    assert identity.source == "folder"
    copied = (tmp_path / "out" / "generation_config.json").read_text(encoding="utf-8")
    assert json.loads(copied) == {"temperature": 0.6, "do_sample": False}


def test_a_missing_shard_is_named(sharded: Path, tmp_path: Path) -> None:
    gone = sorted(sharded.glob("model-*.safetensors"))[1]
    gone.unlink()
    with pytest.raises(ModelError, match=gone.name):
        prepare.prepared(request("folder", sharded, tmp_path / "out"))


def test_weights_of_another_shape_are_refused(sharded: Path, tmp_path: Path) -> None:
    config_file(sharded, intermediate_size=48)
    with pytest.raises(ModelError, match="could not load the model"):
        prepare.prepared(request("folder", sharded, tmp_path / "out"))


def test_weights_that_lack_a_layer_are_refused(sharded: Path, tmp_path: Path) -> None:
    config_file(sharded, num_hidden_layers=3)
    with pytest.raises(ModelError, match=r"lack 9 of the model's tensors, among them model\.layers\.2\."):
        prepare.prepared(request("folder", sharded, tmp_path / "out"))


@pytest.mark.parametrize("key", ["hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size"])
def test_a_missing_dimension_is_named(tmp_path: Path, key: str) -> None:
    with pytest.raises(ModelError, match=rf"config\.json has no {key}\."):
        prepare.prepared(request("config", config_file(tmp_path, **{key: None}), tmp_path / "out"))
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize("value", [0, -1, "576", True, 1.5])
def test_an_impossible_dimension_is_refused(value: Any) -> None:
    with pytest.raises(ModelError, match="hidden_size"):
        convert.known_config({**LLAMA, "hidden_size": value})


def test_a_dimension_has_the_name_that_its_architecture_gives_it() -> None:
    gpt2 = {"model_type": "gpt2", "n_embd": 16, "n_layer": 2, "n_head": 2, "vocab_size": 64}
    assert convert.known_config(gpt2).hidden_size == 16
    with pytest.raises(ModelError, match="has no n_embd"):
        convert.known_config({key: value for key, value in gpt2.items() if key != "n_embd"})


def test_dimensions_may_be_nested_in_text_config() -> None:
    text = {key: value for key, value in LLAMA.items() if key != "architectures"} | {"model_type": "gemma3_text"}
    nested = {"model_type": "gemma3", "text_config": text}
    assert convert.known_config(nested).get_text_config().hidden_size == 16
    del text["hidden_size"]
    with pytest.raises(ModelError, match="has no hidden_size"):
        convert.known_config(nested)


def test_an_unknown_architecture_is_named_with_the_version() -> None:
    with pytest.raises(ModelError, match="does not know model_type 'no-such-thing'"):
        convert.known_config({"model_type": "no-such-thing"})


@pytest.mark.parametrize("changes", [{"rms_norm_eps": "small"}, {"text_config": "llama"}])
def test_a_value_that_transformers_refuses_names_the_file(changes: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match=r"config\.json was refused by transformers"):
        convert.known_config({**LLAMA, **changes})


def test_a_full_disk_is_told_before_anything_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage._replace(free=1000))
    with pytest.raises(StorageError, match="The disk has 0 MB free; the prepared model takes 16 MB"):
        prepare.prepared(request("config", config_file(tmp_path), tmp_path / "out"))
    assert not list((tmp_path / "out").iterdir())


def test_the_shipped_configuration_takes_the_tensors_of_any_source() -> None:
    config = convert.known_config(LLAMA)
    model = AutoModelForCausalLM.from_config(config)
    moved = convert.rehoused(model, config, LLAMA_PARAMETERS)
    assert all(torch.equal(tensor, model.state_dict()[name]) for name, tensor in moved.state_dict().items())
    assert moved.get_output_embeddings().weight is moved.get_input_embeddings().weight


def test_another_number_of_parameters_is_refused() -> None:
    config = convert.known_config(LLAMA)
    with pytest.raises(ModelError, match=f"hold {LLAMA_PARAMETERS} parameters; this model has 134515008"):
        convert.rehoused(AutoModelForCausalLM.from_config(config), config, 134_515_008)


def test_other_shapes_are_refused_even_with_the_right_number() -> None:
    model = AutoModelForCausalLM.from_config(convert.known_config(LLAMA))
    other = convert.known_config({**LLAMA, "vocab_size": 32, "intermediate_size": 48})
    with pytest.raises(ModelError, match="not those of the shipped configuration"):
        convert.rehoused(model, other, LLAMA_PARAMETERS)
