"""A real Chromium on a whole site, built once from synthetic records; nothing outside the site can be reached."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request, Route, expect

from sitegen.project import find_project
from sitegen.records.case import Case
from sitegen.render.build import render
from tests import factories

expect.set_options(timeout=15_000)  # ms; a busy machine is no fault of the page's

ROOT = Path(__file__).resolve().parents[2]
CONTENT = ROOT / "content"
TRACES = ROOT / "measurements" / "traces"
CALCULATOR = "calculateurs/vram-entrainement/index.html"
CHROMIUM_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    found = os.environ.get("SITEGEN_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    given = {**browser_type_launch_args, "args": CHROMIUM_ARGUMENTS}
    return {**given, "executable_path": found} if found else given


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of a reference suite, with a failed record beside it, and the committed tables."""
    root = tmp_path_factory.mktemp("project")
    shutil.copytree(CONTENT, root / "content")
    shutil.copytree(TRACES, root / "measurements" / "traces", ignore=shutil.ignore_patterns("cases"))
    failed = factories.record(Case(batch_size=64), status="out_of_memory", reason="killed by the <kernel> & its guard")
    factories.write_records([*factories.reference_suite(), failed], root / "measurements")
    return render(find_project(root)).site


@pytest.fixture(scope="session")
def addresses(site: Path) -> list[str]:
    """Every page but the records' pages, of which each kind has one: baseline, inference, training, failed."""
    pages = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    records = [page for page in pages if page.count("/") == 3 and page.startswith("mesures/")]
    kinds = ("baseline-fixed", "inference-full-float32-b8-s256-default", "training-lora", "-b64-")
    shown = [next(page for page in records if kind in page) for kind in kinds]
    return [page for page in pages if page not in records] + shown


class _Silent(SimpleHTTPRequestHandler):
    """A file server that does not write to the terminal."""

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def _served(site: Path) -> Iterator[str]:
    """The address of a local server of a site, ending with a slash."""
    running = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Silent, directory=str(site)))
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{running.server_port}/"
    running.shutdown()
    running.server_close()


@pytest.fixture(scope="session")
def server(site: Path) -> Iterator[str]:
    """Where the site of synthetic records is served."""
    with _served(site) as address:
        yield address


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of the committed records, as it is published."""
    return render(find_project(ROOT), tmp_path_factory.mktemp("published") / "site").site


@pytest.fixture(scope="session")
def published_server(published: Path) -> Iterator[str]:
    """Where it is served."""
    with _served(published) as address:
        yield address


@pytest.fixture(params=["http", "file"])
def origin(request: pytest.FixtureRequest, server: str, site: Path) -> str:
    """Where the site is read from: a server, or the disk."""
    return server if request.param == "http" else f"{site.as_uri()}/"


@dataclass
class Watch:
    """What a page said and asked for."""

    messages: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def outside(self, origin: str) -> list[str]:
        """The requests that leave the site."""
        return [url for url in self.requests if not url.startswith((origin, "data:", "blob:"))]

    def clear(self) -> None:
        self.messages.clear()
        self.requests.clear()


@pytest.fixture
def watch(context: BrowserContext) -> Watch:
    """Listen to every page of the context, and block what is neither a server of ours nor the disk."""
    seen = Watch()

    def guard(route: Route) -> None:
        if route.request.url.startswith(("http://127.0.0.1:", "file:", "data:", "blob:")):
            route.continue_()
        else:
            route.abort()

    def on_request(request: Request) -> None:
        seen.requests.append(request.url)

    def on_console(message: ConsoleMessage) -> None:
        seen.messages.append(f"{message.page.url if message.page else ''}: {message.text}")

    context.route("**/*", guard)
    context.on("request", on_request)
    context.on("console", on_console)
    context.on("weberror", lambda error: seen.messages.append(str(error.error)))
    context.on("requestfailed", lambda request: seen.messages.append(f"failed: {request.url}"))
    return seen


@pytest.fixture
def calculator(page: Page, watch: Watch, server: str) -> Page:
    """The page of the calculator, silent so far."""
    page.goto(server + CALCULATOR)
    assert watch.messages == []
    return page


@pytest.fixture
def estimator(page: Page, watch: Watch, server: str) -> Page:
    """The page « Estimateur » as it opens, its tables there, silent so far."""
    page.goto(server + "estimateur/index.html")
    expect(page.locator("[data-part=source]")).to_have_text("tracé")
    assert watch.messages == []
    watch.clear()
    return page
