"""The parts of the page « Estimateur », by name, for the tests that use it as a reader does."""

from __future__ import annotations

from typing import Final

from playwright.sync_api import Locator, Page

from sitegen.memory.catalogue import model

ESTIMATOR: Final = "estimateur/index.html"
NO_BREAK: Final = "\u00a0"
LLAMA: Final = dict(model("llama-3.1-8b").config)
SMALL: Final = (
    "model=smollm2-135m&method=full&numbers=float32&batch_size=8&sequence_length=256"
    "&device=cpu&card=ram-8&zero_grad=keep&allocator=fixed"
)
"""A state whose every option has a table."""


def part(page: Page, name: str) -> Locator:
    """What the script fills."""
    return page.locator(f"[data-part={name}]")


def field(page: Page, name: str) -> Locator:
    """A control of the form."""
    return page.locator(f".estimator [name={name}]")


def error(page: Page, name: str) -> Locator:
    """What is said beside a field."""
    return page.locator(f"[data-error={name}]")


def choose(page: Page, name: str, value: str) -> None:
    """Tick one of a group of radio buttons."""
    page.locator(f".estimator [name={name}][value={value}]").check()


def pasted(page: Page, text: str) -> None:
    """Paste a configuration."""
    choose(page, "source", "config")
    field(page, "config").fill(text)


def peak(page: Page) -> str:
    """The figure that is shown."""
    return part(page, "value").text_content() or ""


def go(page: Page, state: str) -> None:
    """Follow a link to a state of the page that is open."""
    page.goto(page.url.split("#", maxsplit=1)[0] + "#" + state)
