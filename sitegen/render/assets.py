"""The files that pages load, under content hashes: our style sheets and scripts, and plotly.js out of its wheel."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from sitegen.errors import ContentError
from sitegen.memory.formulas import printing
from sitegen.render.calculators import SCRIPTED

STATIC: Final = Path(__file__).parent / "static"
_THEME: Final = "theme.js"
"""Runs before the first paint, so that a dark page never flashes."""
_FIRST: Final = ("tokens.css", "french-numbers.js")
"""What the others use."""
_LAST: Final = ("print.css",)
"""What overrides the others."""
_ESTIMATOR, _CALCULATOR = "estimator", "calculator"
"""How the names of the files begin that the page « Estimateur » alone loads, and pages with a calculator."""


@dataclass(frozen=True)
class Own:
    """What one page loads beside what all of them load: addresses from the site's root.

    `tables` are the scripts of the families' tables, by family and variant, which it loads on demand.
    """

    styles: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    tables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Assets:
    """Addresses from the site's root."""

    styles: tuple[str, ...]
    scripts: tuple[str, ...]
    theme: str
    plotly: str
    estimator: Own = field(default_factory=Own)
    calculator: Own = field(default_factory=Own)
    search: str = ""


def publish(site: Path, tables: Mapping[str, str] | None = None, data: str = "") -> Assets:
    """Copy every asset into ``assets/`` of the site under its content's hash.

    Args:
        site: the folder of the site.
        tables: the scripts that hold the families' tables, by family and variant.
        data: the script of what else the estimate reads; none when empty.

    Raises:
        ContentError: the plotly package is not complete.
    """
    folder = site / "assets"
    folder.mkdir()
    styles = _copied(_ordered(STATIC / "css", "*.css"), folder)
    scripts = _copied([path for path in _ordered(STATIC / "js", "*.js") if path.name != _THEME], folder)
    formulas = _write("formulas.js", printing.javascript(SCRIPTED).encode(), folder)
    theme, plotly = _copy(STATIC / "js" / _THEME, folder), _copy(_plotly(), folder)
    read = (_write("estimator-data.js", data.encode(), folder),) if data else ()
    addresses = {family: _write(f"table-{family}.js", text.encode(), folder) for family, text in (tables or {}).items()}
    return Assets(
        tuple(address for owner, address in styles if owner != _ESTIMATOR),
        tuple(address for owner, address in scripts if not owner),
        theme,
        plotly,
        Own(_of(_ESTIMATOR, styles), (*read, *_of(_ESTIMATOR, scripts)), addresses),
        Own((), (formulas, *_of(_CALCULATOR, scripts))),
    )


def with_search(published: Assets, script: str, site: Path) -> Assets:
    """The same with the index of the search, which is made of the pages and so comes after them."""
    return replace(published, search=_write("search-index.js", script.encode(), site / "assets"))


def _copied(paths: list[Path], folder: Path) -> list[tuple[str, str]]:
    """Copies of files: the kind of page that each is for, empty for all of them, and its address."""
    return [(_owner(path.name), _copy(path, folder)) for path in paths]


def _owner(name: str) -> str:
    """The kind of page that a file is for."""
    return next((kind for kind in (_ESTIMATOR, _CALCULATOR) if name.startswith(kind)), "")


def _of(kind: str, copies: list[tuple[str, str]]) -> tuple[str, ...]:
    """The addresses of those that are for one kind of page."""
    return tuple(address for owner, address in copies if owner == kind)


def _ordered(folder: Path, pattern: str) -> list[Path]:
    """The files in the order in which a page loads them."""
    return sorted(folder.glob(pattern), key=lambda path: (path.name in _LAST, path.name not in _FIRST, path.name))


def _copy(path: Path, folder: Path) -> str:
    """Copy a file under its hash and return its address."""
    return _write(path.name, path.read_bytes(), folder)


def _write(name: str, content: bytes, folder: Path) -> str:
    """Write a file under its content's hash and return its address."""
    hashed = f"{name.partition('.')[0]}.{hashlib.sha256(content).hexdigest()[:12]}{Path(name).suffix}"
    (folder / hashed).write_bytes(content)
    return f"assets/{hashed}"


def _plotly() -> Path:
    """plotly.js as the installed wheel ships it, found without importing the package."""
    spec = find_spec("plotly")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(place) / "package_data" / "plotly.min.js"
        if path.is_file():
            return path
    raise ContentError("plotly.min.js is not in the installed plotly package.", "Reinstall it: pip install plotly")
