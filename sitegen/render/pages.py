"""`content/*.md` → pages: front matter, addresses, navigation. A new page is one Markdown file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import msgspec

from sitegen.errors import ContentError, from_os_error

_FRONT_MATTER: Final = re.compile(r"\A\+\+\+\n(.*?)\n\+\+\+\n(.*)\Z", re.DOTALL)
_SLUG: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*(/[a-z0-9]+(-[a-z0-9]+)*)*")


Section = Literal["comprendre", "calculer", "mesurer", "site"]
SECTIONS: Final[dict[Section, str]] = {
    "comprendre": "Comprendre",
    "calculer": "Calculer",
    "mesurer": "Mesurer",
    "site": "Ce site",
}
"""The parts of the map at the foot of every page, in order."""


class FrontMatter(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a page says of itself, in TOML between two lines of ``+++``.

    `slug` is the page's folder under the site's root, empty for the home page. `menu` is its short name in the main
    menu; without one the page is only in the map at the foot of every page, under its `section`.
    """

    title: str
    description: str
    order: int
    slug: str = ""
    menu: str = ""
    section: Section = "comprendre"
    template: str = "page.html"


@dataclass(frozen=True)
class Source:
    """One Markdown file: `name` is for messages, `text` has no front matter, `first_line` is where the text starts."""

    name: str
    front: FrontMatter
    text: str
    first_line: int

    @property
    def url_path(self) -> str:
        """The page's address from the site's root, file name included, so that it works from a disk."""
        return f"{self.front.slug}/index.html" if self.front.slug else "index.html"


@dataclass(frozen=True)
class Link:
    """A page as others name it; `href` starts at the site's root."""

    title: str
    href: str


@dataclass(frozen=True)
class Page:
    """What the templates know of the page that they lay out; `root` leads back to the site's root ("" or "../"…)."""

    title: str
    description: str
    url_path: str
    root: str
    canonical: str | None = None
    previous: Link | None = None
    next: Link | None = None


def root_of(url_path: str) -> str:
    """The way back to the site's root from an address."""
    return "../" * url_path.count("/")


def load_sources(content: Path) -> list[Source]:
    """Every page of `content`, in the order of the navigation.

    Raises:
        ContentError: no page, no home page, an address used twice, or a front matter that cannot be read.
    """
    sources = [_source(path, path.relative_to(content).as_posix()) for path in sorted(content.glob("**/*.md"))]
    sources.sort(key=lambda source: (source.front.order, source.name))
    _check_addresses(sources)
    return sources


def navigation(sources: list[Source]) -> list[Link]:
    """Every page in order, by its short name where it has one."""
    return [Link(source.front.menu or source.front.title, source.url_path) for source in sources]


def menu(sources: list[Source]) -> list[Link]:
    """The main menu: the pages that have a short name."""
    return [Link(source.front.menu, source.url_path) for source in sources if source.front.menu]


def site_map(sources: list[Source]) -> dict[str, list[Link]]:
    """Every page under the title of its section; no section is empty."""
    parts = {
        title: [Link(source.front.title, source.url_path) for source in sources if source.front.section == section]
        for section, title in SECTIONS.items()
    }
    return {title: links for title, links in parts.items() if links}


def page_of(sources: list[Source], index: int, site_url: str | None) -> Page:
    """The page of one source, with its neighbours."""
    source, links = sources[index], navigation(sources)
    return Page(
        title=source.front.title,
        description=source.front.description,
        url_path=source.url_path,
        root=root_of(source.url_path),
        canonical=canonical(source.url_path, site_url),
        previous=links[index - 1] if index else None,
        next=links[index + 1] if index + 1 < len(links) else None,
    )


def canonical(url_path: str, site_url: str | None) -> str | None:
    """The page's full address; none when the site has no address yet."""
    return None if site_url is None else f"{site_url.rstrip('/')}/{url_path.removesuffix('index.html')}"


def _source(path: Path, name: str) -> Source:
    """Read one file; raises `ContentError`."""
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise from_os_error(error, f"reading content/{name}") from error
    except UnicodeDecodeError as error:
        raise ContentError(f"content/{name} is not UTF-8 text.", "Save it as UTF-8.") from error
    found = _FRONT_MATTER.match(text)
    if found is None:
        raise ContentError(
            f"content/{name} has no front matter.",
            "Begin it with a line +++, then title, description and order, then +++.",
        )
    front = _front(found[1], name)
    return Source(name, front, found[2], found[1].count("\n") + 4)


def _front(toml: str, name: str) -> FrontMatter:
    """Read a front matter; raises `ContentError`."""
    try:
        front = msgspec.toml.decode(toml, type=FrontMatter)
    except (msgspec.DecodeError, ValueError) as error:
        raise ContentError(
            f"The front matter of content/{name} is not valid: {error}.", "Correct that line."
        ) from error
    if front.slug and not _SLUG.fullmatch(front.slug):
        raise ContentError(
            f"The slug of content/{name} is {front.slug!r}.", "Use lower-case letters without accents, digits, - and /."
        )
    return front


def _check_addresses(sources: list[Source]) -> None:
    """One home page, and no address twice."""
    by_address: dict[str, str] = {}
    for source in sources:
        if source.url_path in by_address:
            raise ContentError(
                f"content/{source.name} and content/{by_address[source.url_path]} have the same slug.", "Change one."
            )
        by_address[source.url_path] = source.name
    if "index.html" not in by_address:
        raise ContentError("content/ has no home page.", "Give one page an empty slug.")
