"""What an estimate is about: found by name or by file, without any weight."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from sitegen.errors import ConfigurationError, ModelError, SitegenError, UsageError, WeightsError
from sitegen.measure.subjects import subject_of
from sitegen.records.case import DEFAULT_MODEL
from tests.measure.conftest import TINY


def _write(folder: Path, config: object) -> Path:
    path = folder / "config.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    return path


def test_the_built_in_model_has_its_shipped_configuration() -> None:
    found = subject_of(DEFAULT_MODEL)
    assert (found.name, found.config["hidden_size"], found.config["num_hidden_layers"]) == (DEFAULT_MODEL, 576, 30)


def test_a_model_of_the_catalogue_is_found_by_its_hub_id_and_says_its_source() -> None:
    found = subject_of("meta-llama/Meta-Llama-3-8B")
    assert found.config["hidden_size"] == 4096
    assert found.notes[0].startswith("Configuration: https://")


def test_a_configuration_is_named_by_its_content(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    first, again = _write(tmp_path, TINY), _write(tmp_path / "other", dict(reversed(TINY.items())))
    assert subject_of(DEFAULT_MODEL, config=first).name == subject_of(DEFAULT_MODEL, config=again).name
    other = _write(tmp_path, TINY | {"hidden_size": 32})
    assert subject_of(DEFAULT_MODEL, config=other).name != subject_of(DEFAULT_MODEL, config=again).name


def test_a_folder_needs_no_weights(tmp_path: Path) -> None:
    _write(tmp_path, TINY)
    assert subject_of(str(tmp_path)).config == TINY


@pytest.mark.parametrize("sharded", [False, True])
@pytest.mark.parametrize(("tied", "head"), [(True, True), (False, False)])
def test_a_tie_flag_that_the_tensors_contradict_is_refused(
    tied: bool, head: bool, sharded: bool, tmp_path: Path
) -> None:
    _write(tmp_path, TINY | {"tie_word_embeddings": tied})
    names = ["model.embed_tokens.weight", *(["lm_head.weight"] if head else [])]
    if sharded:
        index = {"weight_map": dict.fromkeys(names, "model-00001-of-00001.safetensors")}
        (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    else:
        save_file({name: np.zeros((2, 2), np.float32) for name in names}, tmp_path / "model.safetensors")
    with pytest.raises(ConfigurationError, match=f"tie_word_embeddings = {str(tied).lower()}"):
        subject_of(str(tmp_path))
    _write(tmp_path, TINY | {"tie_word_embeddings": not tied})
    assert subject_of(str(tmp_path)).config["tie_word_embeddings"] is not tied


def test_a_damaged_weights_file_is_named(tmp_path: Path) -> None:
    _write(tmp_path, TINY | {"tie_word_embeddings": True})
    (tmp_path / "model.safetensors").write_bytes(b"\xff" * 20)
    with pytest.raises(WeightsError, match=r"model\.safetensors"):
        subject_of(str(tmp_path))


def test_a_file_of_50_megabytes_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.touch()
    os.truncate(path, 50_000_000)
    with pytest.raises(ConfigurationError, match="holds 50 MB"):
        subject_of(DEFAULT_MODEL, config=path)


@pytest.mark.parametrize(
    ("model", "revision", "config", "kind", "says"),
    [
        ("no-such-model", None, None, ModelError, "no model 'no-such-model'"),
        ("someone/something", None, None, ModelError, "no model 'someone/something'"),
        ("meta-llama/Meta-Llama-3-8B", "main", None, UsageError, "--revision main"),
        ("llama-3-8b", None, Path("config.json"), UsageError, "both name a model"),
        (DEFAULT_MODEL, None, Path("missing.json"), ConfigurationError, "no such file"),
    ],
)
def test_what_names_no_model_is_refused(
    model: str, revision: str | None, config: Path | None, kind: type[SitegenError], says: str
) -> None:
    with pytest.raises(kind, match=says) as caught:
        subject_of(model, revision, config)
    assert caught.value.remedy


def test_a_folder_without_a_configuration_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"no config\.json"):
        subject_of(str(tmp_path))
