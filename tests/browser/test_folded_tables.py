"""A table that is folded opens when an address leads to it, also where the browser does not do so by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Page

import sitegen

pytestmark = pytest.mark.browser
SCRIPT: Final = Path(sitegen.__file__).parent / "render" / "static" / "js" / "tables.js"
FOLDED: Final = (
    '<details class="folded"><summary>Lignes</summary><table id="lignes"><tr><td>1</td></tr></table></details>'
)


@pytest.mark.parametrize(("fragment", "opens"), [("lignes", True), ("autre", False), ("", False)])
def test_an_address_opens_the_table_that_it_names(page: Page, fragment: str, opens: bool) -> None:
    page.goto("about:blank")
    page.set_content(FOLDED)
    page.add_script_tag(path=SCRIPT)
    # No navigation: the browser would open the table itself, and nothing would be seen of the script.
    page.evaluate("(name) => history.replaceState(null, '', '#' + name)", fragment)
    assert page.locator("details").get_attribute("open") is None
    page.evaluate("dispatchEvent(new HashChangeEvent('hashchange'))")
    assert (page.locator("details").get_attribute("open") is not None) == opens
