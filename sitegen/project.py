"""Where a project is, and what its author decided in ``content/site.toml``."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path
from typing import Final, Literal

import msgspec

from sitegen.errors import ProjectError, from_os_error
from sitegen.files import write_atomic

Locale = Literal["fr-FR", "fr-CA"]

SETTINGS_FILE: Final = "content/site.toml"
_ADDRESS: Final = re.compile(r"https?://[A-Za-z0-9.-]+(:[0-9]+)?(/[A-Za-z0-9._~%-]*)*")


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The author's decisions; every one has a default.

    `url` is the site's address, for canonical links and the sitemap. `environment` names the records that the prose
    speaks of, as ``<machine>/<environment>``; left out, the most complete reference suite is taken.
    """

    url: str | None = None
    locale: Locale = "fr-FR"
    environment: str | None = None
    publisher: str | None = None
    host: str | None = None
    text_licence: str = "CC BY 4.0"
    data_licence: str = "CC0 1.0"


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings file: one table."""

    site: Settings = Settings()


class Project(msgspec.Struct, frozen=True):
    """A project folder and its settings."""

    root: Path
    settings: Settings

    @property
    def content(self) -> Path:
        """The French pages."""
        return self.root / "content"

    @property
    def measurements(self) -> Path:
        """The records."""
        return self.root / "measurements"

    @property
    def site(self) -> Path:
        """The built site."""
        return self.root / "site"

    @property
    def lock(self) -> Path:
        """The file that a measurement holds while it runs."""
        return self.root / ".sitegen" / "lock"


def find_project(start: Path) -> Project:
    """The project that `start` is in: the nearest folder, upwards, with ``content/site.toml``.

    Raises:
        ProjectError: there is none, or its settings cannot be read.
    """
    here = start.resolve()
    for folder in (here, *here.parents):
        if (folder / SETTINGS_FILE).is_file():
            return Project(folder, _settings(folder / SETTINGS_FILE))
    raise ProjectError(
        f"There is no sitegen project here: no {SETTINGS_FILE} in this folder or above it.",
        "Go to a project folder, or lay one down with: sitegen init DIR",
    )


def init_project(folder: Path) -> Project:
    """Lay a new project down in `folder` from the package's own copy of the content.

    Raises:
        ProjectError: the folder already holds a project or other files.
        StorageError: the disk refuses it.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ProjectError(f"{folder.name or folder} already exists and is not an empty folder.", "Name a new folder.")
    source = _starter_content()
    for path in sorted(source.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            write_atomic(folder / "content" / path.relative_to(source), path.read_bytes())
    try:
        for name in ("measurements", "site"):
            (folder / name).mkdir(exist_ok=True)
    except OSError as error:
        raise from_os_error(error, f"creating {name}/") from error
    return find_project(folder)


def _starter_content() -> Path:
    """The content that ships with the package; in a source tree, the tree's own."""
    package = Path(str(resources.files("sitegen")))
    shipped = package / "starter" / "content"
    return shipped if shipped.is_dir() else package.parent / "content"


def _settings(path: Path) -> Settings:
    """Read the settings file; raises `ProjectError`."""
    try:
        settings = msgspec.toml.decode(path.read_bytes(), type=_File).site
    except (msgspec.DecodeError, ValueError) as error:
        raise ProjectError(f"{SETTINGS_FILE} is not valid: {error}.", "Correct the setting it names.") from error
    except OSError as error:
        raise from_os_error(error, f"reading {SETTINGS_FILE}") from error
    if settings.url is not None and not _ADDRESS.fullmatch(settings.url):
        raise ProjectError(
            f"{SETTINGS_FILE}: url is {settings.url!r}, which is no address of a site.",
            "Give it whole, e.g. https://example.org/memoire/",
        )
    return settings
