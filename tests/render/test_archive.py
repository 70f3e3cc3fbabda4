"""The archive of the site: whole, and the same bytes each time."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

from sitegen.render import archive


def laid_down(folder: Path) -> Path:
    for name, text in {"index.html": "a", "mesures/x.html": "b", "donnees/faits.json": "{}"}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


def test_it_holds_every_file_but_itself_under_one_folder(tmp_path: Path) -> None:
    site = laid_down(tmp_path)
    archive.publish(site, "mon-site")
    archive.publish(site, "mon-site")
    with zipfile.ZipFile(site / archive.PATH) as packed:
        assert packed.namelist() == ["mon-site/donnees/faits.json", "mon-site/index.html", "mon-site/mesures/x.html"]
        assert packed.read("mon-site/mesures/x.html") == b"b"
        assert packed.testzip() is None


def test_its_bytes_depend_on_the_pages_alone(tmp_path: Path) -> None:
    one, other = laid_down(tmp_path / "one"), laid_down(tmp_path / "other")
    for path in other.rglob("*.*"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
        path.chmod(0o600)
    archive.publish(one, "s")
    archive.publish(other, "s")
    assert (one / archive.PATH).read_bytes() == (other / archive.PATH).read_bytes()


def test_the_built_site_is_in_it_page_for_page(built: Path) -> None:
    with zipfile.ZipFile(built / archive.PATH) as packed:
        names = {name.partition("/")[2] for name in packed.namelist()}
        assert packed.read("entrer-n-est-pas-entrainer/index.html") == (built / "index.html").read_bytes()
    files = {path.relative_to(built).as_posix() for path in built.rglob("*") if path.is_file()}
    assert names == files - {archive.PATH}
