"""The files that pages load, under content hashes: our style sheets and scripts, and plotly.js out of its wheel."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from sitegen.errors import ContentError

STATIC: Final = Path(__file__).parent / "static"
_THEME: Final = "theme.js"
"""Runs before the first paint, so that a dark page never flashes."""
_FIRST: Final = ("tokens.css", "french-numbers.js")
"""What the others use."""
_LAST: Final = ("print.css",)
"""What overrides the others."""


@dataclass(frozen=True)
class Assets:
    """Addresses from the site's root."""

    styles: tuple[str, ...]
    scripts: tuple[str, ...]
    theme: str
    plotly: str


def publish(site: Path) -> Assets:
    """Copy every asset into ``assets/`` of the site under its content's hash.

    Raises:
        ContentError: the plotly package is not complete.
    """
    folder = site / "assets"
    folder.mkdir()
    styles = [_copy(path, folder) for path in _ordered(STATIC / "css", "*.css")]
    scripts = [_copy(path, folder) for path in _ordered(STATIC / "js", "*.js") if path.name != _THEME]
    return Assets(tuple(styles), tuple(scripts), _copy(STATIC / "js" / _THEME, folder), _copy(_plotly(), folder))


def _ordered(folder: Path, pattern: str) -> list[Path]:
    """The files in the order in which a page loads them."""
    return sorted(folder.glob(pattern), key=lambda path: (path.name in _LAST, path.name not in _FIRST, path.name))


def _copy(path: Path, folder: Path) -> str:
    """Copy a file under its hash and return its address."""
    content = path.read_bytes()
    name = f"{path.name.split('.')[0]}.{hashlib.sha256(content).hexdigest()[:12]}{path.suffix}"
    (folder / name).write_bytes(content)
    return f"assets/{name}"


def _plotly() -> Path:
    """plotly.js as the installed wheel ships it, found without importing the package."""
    spec = find_spec("plotly")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(place) / "package_data" / "plotly.min.js"
        if path.is_file():
            return path
    raise ContentError("plotly.min.js is not in the installed plotly package.", "Reinstall it: pip install plotly")
