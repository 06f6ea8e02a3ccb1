"""The pages of the web app in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from browsing import DESK, PHONE, faults_of_access
from commands import here
from serving import foreign_requests, serve, visiting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from serving import Server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Serve a store with a baseline and a flawed run."""
    store = tmp_path_factory.mktemp("web") / "store.db"
    for words in (("demo",), ("demo", "--flawed")):
        here(*words, "--no-report", "--store", store)
    here("baseline", "set", "latest~1", "--store", store)
    with serve(store) as running:
        yield running


def test_the_printed_link_lets_its_owner_in_by_one_press(server: Server, browser: Browser) -> None:
    with visiting(browser) as seen:
        seen.page.goto(server.link)
        seen.page.click("main button")
        assert seen.page.url == f"{server.url}/"
        assert seen.page.locator("tbody tr").count() == 2
        assert seen.complaints == []
        assert foreign_requests(seen, server) == []


@pytest.mark.parametrize("size", [DESK, PHONE])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_dashboard_is_accessible_and_fits(
    server: Server, browser: Browser, size: tuple[int, int], scheme: str
) -> None:
    with visiting(browser, server.owner(), size, color_scheme=scheme) as seen:
        seen.page.goto(f"{server.url}/")
        assert faults_of_access(seen.page) == []
        assert seen.script("document.documentElement.scrollWidth") <= size[0]


def test_a_visitor_chooses_a_language(server: Server, browser: Browser) -> None:
    with visiting(browser, server.owner()) as seen:
        seen.page.goto(f"{server.url}/?exam=capstone")
        seen.page.click("button:text-is('Español')")
        seen.page.wait_for_selector("html[lang=es]")
        assert seen.page.url == f"{server.url}/?exam=capstone"
        assert "puntuación" in seen.page.inner_text("main")
