import os
import subprocess
import sys
from pathlib import Path

import pytest

from sitegen.render.staging import staging, swap


@pytest.fixture
def dead() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_the_new_site_takes_the_place_of_the_former(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "old.html").write_text("old", "utf-8")
    with staging(site) as folder:
        (folder / "new.html").write_text("new", "utf-8")
        swap(folder, site)
    assert [path.name for path in tmp_path.iterdir()] == ["site"]
    assert [path.name for path in site.iterdir()] == ["new.html"]


def test_what_fails_leaves_no_trace(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), staging(tmp_path / "site"):
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_build_left_is_cleared(tmp_path: Path, dead: int) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / f".site-{dead}-abc").mkdir()
    (tmp_path / f".site-{dead}-abc-former").mkdir()
    (tmp_path / f".site-{os.getpid()}-abc").mkdir()
    (tmp_path / ".site-of-someone").mkdir()
    with staging(tmp_path / "site"):
        pass
    assert sorted(path.name for path in tmp_path.iterdir()) == [f".site-{os.getpid()}-abc", ".site-of-someone", "site"]


def test_a_site_set_aside_by_a_killed_build_comes_back(tmp_path: Path, dead: int) -> None:
    former = tmp_path / f".site-{dead}-abc-former"
    former.mkdir()
    (former / "index.html").write_text("x", "utf-8")
    with staging(tmp_path / "site"):
        pass
    assert (tmp_path / "site" / "index.html").read_text("utf-8") == "x"


def test_what_others_put_into_a_published_folder_stays(tmp_path: Path) -> None:
    site = tmp_path / "site"
    (site / ".git").mkdir(parents=True)
    (site / ".git" / "HEAD").write_text("ref", "utf-8")
    (site / "CNAME").write_text("exemple.org", "utf-8")
    (site / "ancienne.html").write_text("x", "utf-8")
    with staging(site) as folder:
        (folder / "index.html").write_text("new", "utf-8")
        swap(folder, site)
    assert sorted(path.name for path in site.iterdir()) == [".git", "CNAME", "index.html"]
    assert (site / ".git" / "HEAD").read_text("utf-8") == "ref"
