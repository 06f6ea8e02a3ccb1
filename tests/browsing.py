"""A page in a real browser, with what it complained about and what it asked for."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_plus

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
DESK, PHONE = (1280, 900), (390, 844)
BLOCKING = {"serious", "critical"}
OPEN_ALL = "document.querySelectorAll('details').forEach(one => { one.open = true; })"


class Seen:
    """A page, with what it complained about and what it asked for."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.requests: list[str] = []

    def script(self, code: str) -> Any:
        return self.page.evaluate(code)

    def settle(self) -> None:
        self.script("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")

    def ids(self) -> list[str]:
        """Return the items that are listed, in their order."""
        found: list[str] = self.script(
            "[...document.querySelectorAll('.item:not([hidden]) .id')].map(id => id.textContent)"
        )
        return found

    @property
    def state(self) -> str:
        return unquote_plus(self.page.url.partition("#")[2])


def faults_of_access(page: Page) -> list[str]:
    """Return what the accessibility checker axe calls serious or worse."""
    from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415 - only where there is a browser

    found = Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {[node['html'][:200] for node in one['nodes'][:3]]}"
        for one in found
        if one["impact"] in BLOCKING
    ]
