"""Naming a model, and the cache of prepared ones: what bears the right name is whole."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import filelock
import msgspec
import pytest

from sitegen.errors import BusyError, ModelError, SitegenError, StorageError, UsageError
from sitegen.measure import preparation, weights
from sitegen.measure.cache import cache_folder, remembered_sha256
from sitegen.measure.weights import ModelSource, lookup, prepare, source_of
from sitegen.records.case import DEFAULT_MODEL
from sitegen.records.model import ModelIdentity, SourceFile

COMMIT = "0123456789abcdef0123456789abcdef01234567"
CONFIG = {
    "model_type": "llama",
    "hidden_size": 16,
    "intermediate_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "vocab_size": 64,
}
IDENTITY = ModelIdentity(
    name="a-name",
    revision=None,
    source="folder",
    config_sha256="c",
    model_type="llama",
    files=(SourceFile(name="model.safetensors", size_bytes=3, sha256="f"),),
)


def silent(_line: str) -> None:
    """No progress."""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("SITEGEN_CACHE", str(folder))
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a configuration and something in the place of weights."""
    path = tmp_path / "a-model"
    path.mkdir()
    (path / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    (path / "model.safetensors").write_bytes(b"weights")
    return path


# --- Which model the options name ---------------------------------------------------------------------------------


def test_the_default_is_the_builtin() -> None:
    assert source_of(DEFAULT_MODEL) == ModelSource(kind="builtin", case_name=DEFAULT_MODEL)


def test_owner_slash_name_is_a_hub_id_with_its_revision() -> None:
    expected = ModelSource(kind="hub", case_name="owner/a-Model.1", revision="v1")
    assert source_of("owner/a-Model.1", "v1") == expected


def test_a_folder_is_named_by_what_it_holds(folder: Path) -> None:
    first = source_of(str(folder))
    assert first.kind == "folder"
    assert first.path == folder
    moved = folder.rename(folder.with_name("moved"))
    assert source_of(str(moved)).case_name == first.case_name
    (moved / "model.safetensors").write_bytes(b"other w")
    assert source_of(str(moved)).case_name != first.case_name
    assert len(first.case_name) == len("folder-") + 12


def test_a_configuration_is_named_by_its_content_whatever_its_layout(tmp_path: Path) -> None:
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    one.write_text('{"b": 1, "a": 2}', encoding="utf-8")
    two.write_text('{ "a":2,\n"b":1 }', encoding="utf-8")
    assert source_of(DEFAULT_MODEL, None, one).case_name == source_of(DEFAULT_MODEL, None, two).case_name


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("smollm2-135m-instrct", "Unknown model 'smollm2-135m-instrct'"),
        ("a/b/c", "no such folder"),
        ("/nowhere/at-all", "no such folder"),
        ("~/no-such-folder-here", "no such folder"),
    ],
)
def test_an_unknown_model_is_named(model: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError, match=message):
        source_of(model)


def test_the_nearest_name_is_proposed() -> None:
    with pytest.raises(ModelError) as caught:
        source_of("SmolLM2-135M")
    assert "Did you mean smollm2-135m-instruct?" in caught.value.remedy


@pytest.mark.parametrize("missing", ["config.json", "model.safetensors"])
def test_a_folder_that_is_no_model_is_refused(folder: Path, missing: str) -> None:
    (folder / missing).unlink()
    with pytest.raises(ModelError, match="safetensors" if missing.endswith("safetensors") else "config.json"):
        source_of(str(folder))


def test_a_file_is_no_model(folder: Path) -> None:
    with pytest.raises(ModelError, match="is a file"):
        source_of(str(folder / "model.safetensors"))


@pytest.mark.parametrize("content", [None, "{"])
def test_an_unreadable_configuration_is_refused(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "config.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(ModelError, match=r"--config .*config\.json"):
        source_of(DEFAULT_MODEL, None, path)


def test_a_model_and_a_configuration_exclude_each_other(folder: Path) -> None:
    with pytest.raises(UsageError, match="both name a model"):
        source_of("owner/name", None, folder / "config.json")


def test_a_revision_only_goes_with_a_hub_id(folder: Path) -> None:
    for model, config in ((DEFAULT_MODEL, None), (str(folder), None), (DEFAULT_MODEL, folder / "config.json")):
        with pytest.raises(UsageError, match="--revision main has no meaning here"):
            source_of(model, "main", config)


# --- The cache ----------------------------------------------------------------------------------------------------


def test_the_cache_folder_follows_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cache_folder() == tmp_path / "cache"
    monkeypatch.setenv("SITEGEN_CACHE", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "sitegen"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_folder() == tmp_path / "home" / ".cache" / "sitegen"


def test_a_file_is_read_once_for_its_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"abc")
    first = remembered_sha256(path)
    # SHA-256 of "abc": FIPS 180-2, appendix B.1.
    assert first == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    with monkeypatch.context() as blind:
        blind.setattr(Path, "open", lambda *_: pytest.fail("read again"))
        blind.setattr(Path, "read_text", lambda self, **_: os.fsdecode(self.read_bytes()))
        blind.setattr(Path, "read_bytes", lambda self: os.read(os.open(self, os.O_RDONLY), 100))
        assert remembered_sha256(path) == first
    path.write_bytes(b"abcd")
    assert remembered_sha256(path) != first


Fill = Callable[[dict[str, Any], Callable[[str], None]], ModelIdentity]


@pytest.fixture
def child(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Replace the child process by one that writes three bytes; its requests are kept."""
    requests: list[dict[str, Any]] = []

    def run(request: dict[str, Any], say: Callable[[str], None]) -> ModelIdentity:
        requests.append(request)
        say("working")
        (Path(request["into"]) / "config.json").write_text("{}", encoding="utf-8")
        (Path(request["into"]) / "model.safetensors").write_bytes(b"abc")
        return msgspec.structs.replace(IDENTITY, revision=str(len(requests)))

    monkeypatch.setattr(weights, "run_preparation", run)
    return requests


def test_a_model_is_prepared_once(child: list[dict[str, Any]], folder: Path, cache: Path) -> None:
    source = source_of(str(folder))
    assert lookup(source, "bfloat16") is None
    lines: list[str] = []
    prepared = prepare(source, "bfloat16", lines.append)
    assert prepared == prepare(source, "bfloat16", silent) == lookup(source, "bfloat16")
    assert len(child) == 1
    assert "working" in lines
    assert prepared.folder.is_relative_to(cache / "models")
    assert prepared.folder.name == "bfloat16"
    assert {path.name for path in prepared.folder.iterdir()} == {"config.json", "model.safetensors", "prepared.json"}


def test_a_second_dtype_comes_from_the_float32_copy_and_keeps_its_identity(
    child: list[dict[str, Any]], folder: Path
) -> None:
    source = source_of(str(folder))
    full = prepare(source, "float32", silent)
    half = prepare(source, "bfloat16", silent)
    assert half.identity == full.identity
    assert (child[1]["kind"], child[1]["path"]) == ("folder", str(full.folder))


def test_revisions_do_not_share_a_folder(child: list[dict[str, Any]]) -> None:
    folders = {prepare(source_of("owner/name", revision), "float32", silent).folder for revision in (None, "v1", "v2")}
    assert len(folders) == len(child) == 3


@pytest.mark.parametrize("damage", ["no sheet", "bad sheet", "short file", "missing file"])
def test_a_damaged_folder_is_prepared_again(child: list[dict[str, Any]], folder: Path, damage: str) -> None:
    source = source_of(str(folder))
    home = prepare(source, "float32", silent).folder
    if damage == "no sheet":
        (home / "prepared.json").unlink()
    elif damage == "bad sheet":
        (home / "prepared.json").write_text('{"identity": 1}', encoding="utf-8")
    elif damage == "short file":
        (home / "model.safetensors").write_bytes(b"ab")
    else:
        (home / "config.json").unlink()
    assert lookup(source, "float32") is None
    assert prepare(source, "float32", silent).folder == home
    assert lookup(source, "float32") is not None
    assert len(child) == 2


def test_a_failure_leaves_nothing(folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(request: dict[str, Any], _say: Callable[[str], None]) -> ModelIdentity:
        (Path(request["into"]) / "model.safetensors").write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(weights, "run_preparation", fail)
    with pytest.raises(StorageError, match="The disk is full"):
        prepare(source_of(str(folder)), "float32", silent)
    assert not list((cache / "models").rglob("*.safetensors"))
    assert not list((cache / "models").rglob("*.partial"))


@pytest.mark.usefixtures("child")
def test_what_a_dead_preparation_left_is_neither_trusted_nor_kept(folder: Path) -> None:
    source = source_of(str(folder))
    home = prepare(source, "float32", silent).folder
    leftover = home.rename(home.with_name(".float32-dead.partial"))
    assert lookup(source, "float32") is None
    prepare(source, "float32", silent)
    assert not leftover.exists()


def test_two_preparations_take_turns(
    child: list[dict[str, Any]], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = source_of(str(folder))
    home = weights._home(source, "float32")
    home.parent.mkdir(parents=True)
    monkeypatch.setattr(weights, "WAIT_S", 0.2)
    lines: list[str] = []
    with filelock.FileLock(home.parent / ".lock"), pytest.raises(BusyError):
        prepare(source, "float32", lines.append)
    assert lines == ["Another process is preparing this model: waiting for it."]
    assert not child


# --- The child process --------------------------------------------------------------------------------------------


def test_a_truncated_file_is_refused_before_anything_is_measured(folder: Path, cache: Path) -> None:
    header = json.dumps({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
    (folder / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + b"1234")
    with pytest.raises(ModelError, match=r"model\.safetensors is truncated"):
        prepare(source_of(str(folder)), "float32", silent)
    assert not list((cache / "models").rglob("*.partial"))


def test_a_git_lfs_pointer_is_told_by_the_child(folder: Path) -> None:
    (folder / "model.safetensors").write_text("version https://git-lfs.github.com/spec/v1\n", encoding="ascii")
    with pytest.raises(ModelError, match="Git LFS pointer") as caught:
        prepare(source_of(str(folder)), "float32", silent)
    assert "git lfs pull" in caught.value.remedy


def test_a_configuration_is_prepared_for_real(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(CONFIG), encoding="utf-8")
    source = source_of(DEFAULT_MODEL, None, path)
    prepared = prepare(source, "bfloat16", silent)
    assert prepared.identity.name == source.case_name
    assert prepared.identity.source == "random"
    # By hand: untied embeddings 2·64·16, one layer 4·16² + 3·16·32 + 2·16, final norm 16; 2 bytes each.
    parameters = 2 * 64 * 16 + 4 * 16**2 + 3 * 16 * 32 + 2 * 16 + 16
    assert tensor_bytes(prepared.folder / "model.safetensors") == 2 * parameters


def tensor_bytes(path: Path) -> int:
    """Bytes of the tensors of a safetensors file: its size without the length and the header."""
    header_bytes = int.from_bytes(path.read_bytes()[:8], "little")
    return path.stat().st_size - 8 - header_bytes


ENDINGS = {
    "words": ('import sys; print(\'{"error": "no", "remedy": "do", "kind": "StorageError"}\')', StorageError, "no"),
    "noise": ("print('not json'); print('[1]'); raise ValueError('broken')", ModelError, "ValueError: broken"),
    "silence": ("import os; os._exit(3)", ModelError, "exit status 3"),
    "kill": ("import os; os.kill(os.getpid(), 9)", ModelError, "was killed"),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_however_the_child_ends_the_user_gets_a_sentence(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, kind, message = ENDINGS[ending]
    (tmp_path / "dying.py").write_text(f"import sys; sys.stdin.read()\n{program}\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(preparation, "_MODULE", "dying")
    with pytest.raises(SitegenError, match=message) as caught:
        preparation.run_preparation({"name": "a-name"}, silent)
    assert type(caught.value) is kind


def test_killing_the_parent_ends_the_preparation_and_the_next_run_succeeds(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(CONFIG), encoding="utf-8")
    program = (
        "import sys; from pathlib import Path; from sitegen.measure.weights import prepare, source_of\n"
        "source = source_of(sys.argv[1], None, Path(sys.argv[2]))\n"
        "prepare(source, 'float32', lambda line: print(line, flush=True))\n"
    )
    command = [sys.executable, "-c", program, DEFAULT_MODEL, str(path)]
    parent = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    assert parent.stdout.readline().startswith("Preparing config-")
    children = child_pids(parent.pid)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    assert wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in children))
    source = source_of(DEFAULT_MODEL, None, path)
    assert lookup(source, "float32") is None
    prepared = prepare(source, "float32", silent)
    assert [child.name for child in prepared.folder.parent.iterdir() if child.is_dir()] == ["float32"]
    assert prepared.folder.is_relative_to(cache)


def child_pids(pid: int) -> list[int]:
    """The direct children of a process, once there is one."""
    listing = Path(f"/proc/{pid}/task/{pid}/children")
    assert wait_until(lambda: bool(listing.read_text(encoding="ascii").split()))
    return [int(word) for word in listing.read_text(encoding="ascii").split()]


def wait_until(condition: Callable[[], bool]) -> bool:
    """Whether it comes true within 5 seconds."""
    deadline = time.monotonic() + 5
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


# --- A hub on this machine ----------------------------------------------------------------------------------------


class Hub(BaseHTTPRequestHandler):
    """As much of the hub's interface as its client needs: `files` of one repository, and its refusals."""

    files: dict[str, bytes] = {}  # noqa: RUF012 - filled by the fixture

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        refusals = {"owner/gated": (403, "GatedRepo"), "owner/none": (404, "RepoNotFound")}
        for repository, (status, code) in refusals.items():
            if f"/{repository}/" in f"{self.path.partition('?')[0]}/":
                return self.answer(status, b"{}", {"X-Error-Code": code})
        if "/revision/gone" in self.path:
            return self.answer(404, b"{}", {"X-Error-Code": "RevisionNotFound"})
        if self.path.startswith(f"/api/models/owner/model/tree/{COMMIT}"):
            tree = [
                {"type": "file", "path": name, "size": len(content), "oid": name}
                for name, content in self.files.items()
            ]
            return self.answer(200, json.dumps(tree).encode())
        if self.path.startswith("/api/models/owner/model"):
            siblings = [{"rfilename": name, "size": len(content)} for name, content in self.files.items()]
            return self.answer(200, json.dumps({"id": "owner/model", "sha": COMMIT, "siblings": siblings}).encode())
        name = self.path.rpartition("/")[2]
        if self.path == f"/owner/model/resolve/{COMMIT}/{name}" and name in self.files:
            return self.answer(200, self.files[name], {"ETag": f'"{name}"', "X-Repo-Commit": COMMIT})
        return self.answer(404, b"{}", {"X-Error-Code": "EntryNotFound"})

    def answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's own name
        """Keep quiet."""


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, bytes]]:
    """A hub with one repository ``owner/model``; its files can be changed."""
    monkeypatch.setattr(Hub, "files", {})
    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
        monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
        yield Hub.files
        server.shutdown()


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize(
    ("name", "revision", "message"),
    [
        ("owner/gated", None, "owner/gated is gated"),
        ("owner/none", None, "The hub has no model owner/none"),
        ("owner/model", "gone", "owner/model has no revision 'gone'"),
        ("owner/model", None, r"owner/model has no model\.safetensors and no"),
    ],
)
def test_each_refusal_of_the_hub_has_its_own_sentence(name: str, revision: str | None, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        prepare(source_of(name, revision), "float32", silent)


def test_a_branch_of_the_hub_is_resolved_to_a_commit_once(
    hub: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(CONFIG), encoding="utf-8")
    drawn = prepare(source_of(DEFAULT_MODEL, None, path), "float32", silent)
    hub["config.json"] = json.dumps(CONFIG).encode()
    hub["model.safetensors"] = (drawn.folder / "model.safetensors").read_bytes()
    hub["pytorch_model.bin"] = b"never asked for"
    lines: list[str] = []
    prepared = prepare(source_of("owner/model", "main"), "float32", lines.append)
    assert (prepared.identity.source, prepared.identity.revision) == ("hub", COMMIT)
    assert any(line.startswith("Downloading owner/model from the hub") for line in lines)
    assert not any("pytorch_model" in line for line in lines)
    hub.clear()
    assert prepare(source_of("owner/model", "main"), "float32", silent) == prepared
    shutil.rmtree(prepared.folder)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")  # the client's own cache still has the commit
    assert prepare(source_of("owner/model", "main"), "float32", silent) == prepared


# --- The built-in -------------------------------------------------------------------------------------------------


@pytest.mark.model
def test_the_builtin_has_its_parameters_in_both_dtypes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SITEGEN_CACHE")  # the user's own cache: prepared once for all tests
    for dtype, width_bytes in (("float32", 4), ("bfloat16", 2)):
        prepared = prepare(source_of(DEFAULT_MODEL), dtype, silent)  # type: ignore[arg-type]
        assert tensor_bytes(prepared.folder / "model.safetensors") == 134_515_008 * width_bytes
        assert prepared.identity.name == DEFAULT_MODEL
        assert prepared.identity.files
