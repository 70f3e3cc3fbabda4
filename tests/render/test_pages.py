from pathlib import Path

import pytest

from sitegen.errors import ContentError
from sitegen.render.pages import canonical, load_sources, menu, navigation, page_of, root_of, site_map

CONTENT = Path(__file__).parents[2] / "content"
HOME = '+++\ntitle = "Accueil"\ndescription = "d"\norder = 1\n+++\nTexte\n'


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text, "utf-8")


def test_pages_come_in_the_order_of_the_navigation(tmp_path: Path) -> None:
    write(tmp_path, "z.md", HOME)
    write(tmp_path, "a.md", '+++\ntitle = "Loin"\ndescription = "d"\norder = 9\nslug = "x/y"\nmenu = "L"\n+++\n')
    sources = load_sources(tmp_path)
    assert [(link.title, link.href) for link in navigation(sources)] == [
        ("Accueil", "index.html"),
        ("L", "x/y/index.html"),
    ]
    page = page_of(sources, 1, "https://example.org/site/")
    assert page.root == "../../"
    assert page.canonical == "https://example.org/site/x/y/"
    assert page.previous is not None
    assert page.previous.href == "index.html"
    assert page.next is None


def test_the_menu_is_short_and_the_map_is_whole() -> None:
    sources = load_sources(CONTENT)
    assert 4 <= len(menu(sources)) <= 7
    mapped = [link.href for links in site_map(sources).values() for link in links]
    assert sorted(mapped) == sorted(source.url_path for source in sources)


def test_a_page_without_a_short_name_is_in_its_section_alone(tmp_path: Path) -> None:
    write(tmp_path, "a.md", HOME)
    write(tmp_path, "b.md", '+++\ntitle = "B"\ndescription = "d"\norder = 2\nslug = "b"\nsection = "site"\n+++\n')
    sources = load_sources(tmp_path)
    assert menu(sources) == []
    assert {title: [link.title for link in links] for title, links in site_map(sources).items()} == {
        "Comprendre": ["Accueil"],
        "Ce site": ["B"],
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Texte", "no front matter"),
        ('+++\ntitle = "x"\n+++\n', "missing required field `description`"),
        ('+++\ntitle = "x"\ndescription = "d"\norder = "one"\n+++\n', "order"),
        ('+++\ntitle = "x"\ndescription = "d"\norder = 1\nauthor = "me"\n+++\n', "author"),
        ('+++\ntitle = "x"\ndescription = "d"\norder = 1\nsection = "x"\n+++\n', "section"),
        ("+++\ntitle = \n+++\n", "not valid"),
        ('+++\ntitle = "x"\ndescription = "d"\norder = 1\nslug = "../x"\n+++\n', "slug"),
        ('+++\ntitle = "x"\ndescription = "d"\norder = 1\nslug = "Été"\n+++\n', "slug"),
    ],
)
def test_a_front_matter_that_cannot_be_used_is_named(tmp_path: Path, text: str, message: str) -> None:
    write(tmp_path, "mauvaise.md", text)
    with pytest.raises(ContentError, match=message) as caught:
        load_sources(tmp_path)
    assert "mauvaise.md" in str(caught.value)


def test_an_address_is_used_once(tmp_path: Path) -> None:
    write(tmp_path, "a.md", HOME)
    write(tmp_path, "b.md", HOME)
    with pytest.raises(ContentError, match=r"b\.md and content/a\.md"):
        load_sources(tmp_path)


def test_a_site_has_a_home_page(tmp_path: Path) -> None:
    with pytest.raises(ContentError, match="no home page"):
        load_sources(tmp_path)


def test_a_page_that_is_not_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "image.md").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ContentError, match=r"image\.md is not UTF-8"):
        load_sources(tmp_path)


def test_addresses_work_from_a_disk_and_from_a_server() -> None:
    assert root_of("index.html") == ""
    assert root_of("mesures/m/e/c.html") == "../../../"
    assert canonical("mesures/m/e/c.html", "https://example.org") == "https://example.org/mesures/m/e/c.html"
    assert canonical("index.html", None) is None
