"""Where a project is, and what its settings say."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitegen.errors import ProjectError
from sitegen.project import Settings, find_project, init_project


def test_a_project_is_found_from_any_folder_inside_it(tmp_path: Path) -> None:
    init_project(tmp_path / "p")
    inner = tmp_path / "p" / "content"
    assert find_project(inner).root == (tmp_path / "p").resolve()


def test_no_project_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="sitegen init DIR"):
        find_project(tmp_path)


def test_every_setting_has_a_default(tmp_path: Path) -> None:
    project = init_project(tmp_path / "p")
    (project.content / "site.toml").write_text("", encoding="utf-8")
    assert find_project(project.root).settings == Settings()


@pytest.mark.parametrize(
    ("text", "names"),
    [('[site]\nlocale = "de-DE"\n', "de-DE"), ("[site]\nurl = 3\n", "url"), ("[site\n", "site"), ("[x]\n", "x")],
)
def test_a_wrong_setting_is_named(tmp_path: Path, text: str, names: str) -> None:
    project = init_project(tmp_path / "p")
    (project.content / "site.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ProjectError, match=names):
        find_project(project.root)


def test_init_keeps_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(ProjectError, match="not an empty folder"):
        init_project(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "example.org", "https://e.org/a b/", "https://", "https://e.org/?q"]
)
def test_what_is_no_address_is_refused(tmp_path: Path, url: str) -> None:
    project = init_project(tmp_path / "p")
    (project.content / "site.toml").write_text(f'[site]\nurl = "{url}"\n', encoding="utf-8")
    with pytest.raises(ProjectError, match="no address of a site"):
        find_project(project.root)


@pytest.mark.parametrize("url", ["https://example.org", "https://example.org/memoire/", "http://localhost:8000/a/b.c/"])
def test_an_address_is_taken(tmp_path: Path, url: str) -> None:
    project = init_project(tmp_path / "p")
    (project.content / "site.toml").write_text(f'[site]\nurl = "{url}"\n', encoding="utf-8")
    assert find_project(project.root).settings.url == url
