"""The pages of raters in a real browser: by keys alone, by touch, without JavaScript."""

from __future__ import annotations

import gzip
import re
from typing import TYPE_CHECKING

import pytest

from browsing import DESK, PHONE, faults_of_access
from markscheme.keep import open_store
from markscheme.weigh.rating_study import fold_marks
from rating_rooms import Room, open_room
from serving import foreign_requests, visiting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

    from browsing import Seen


RATERS = [f"rater-{number}" for number in range(1, 14)]


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    """Serve one study; each test is a rater of its own."""
    folder = tmp_path_factory.mktemp("room")
    with open_room(folder, "--seed", "3", raters=",".join(RATERS)) as opened:
        yield opened


@pytest.fixture(scope="module")
def names() -> Iterator[str]:
    return iter(RATERS)


@pytest.fixture
def rater(names: Iterator[str]) -> str:
    return next(names)


def begin(seen: Seen, room: Room) -> Page:
    """Open the first card by its button."""
    seen.page.goto(f"{room.server.url}{room.path}")
    with seen.page.expect_navigation():
        seen.page.keyboard.press("Tab")
        seen.page.locator("#go-on button").focus()
        seen.page.keyboard.press("Enter")
    return seen.page


def press(page: Page, keys: str) -> None:
    """Press keys, the last of which leads to another page."""
    for key in keys[:-1]:
        page.keyboard.press(key)
    last = {"\n": "Enter"}.get(keys[-1], keys[-1])
    with page.expect_navigation():
        page.keyboard.press(last)


def read_scores(room: Room, rater: str) -> list[tuple[str, str | None]]:
    """Return the marks of a rater that count now, in the order in which they were given."""
    with open_store(room.server.store, create=False) as store:
        marks = fold_marks(store.studies.read_marks(room.study, rater=rater))
    return [(mark.axis, mark.score or mark.note) for mark in marks.values()]


def count_marks(room: Room, rater: str) -> int:
    """Return how many marks of a rater were ever stored."""
    with open_store(room.server.store, create=False) as store:
        return len(store.studies.read_marks(room.study, rater=rater))


def test_seven_presses_rate_an_answer_on_six_scales(
    room: Room, rater: str, browser: Browser
) -> None:
    with visiting(browser, room.rater(rater)) as seen:
        page = begin(seen, room)
        assert "answer A" in page.inner_text("h1")
        press(page, "435123\n")
        assert "answer B" in page.inner_text("h1")
        press(page, "555555\n")
        assert "Query 2" in page.inner_text("h1")
        assert seen.complaints == []
        assert foreign_requests(seen, room.server) == []
        # The page, its style and its script; the icon is in the page.
        first = {url for url in seen.requests if not url.startswith("data:")}
        assert sum("/assets/" in url for url in first) == 2
    scores = [score for _, score in read_scores(room, rater)]
    assert scores == [*"435123", *"555555"]
    assert count_marks(room, rater) == 12


def test_a_card_weighs_at_most_12_kilobytes(room: Room, rater: str) -> None:
    client = room.rater(rater)
    page = client.get(client.post(f"{room.path}/next").location or "").body
    assets = re.findall(r'(?:href|src)="(/assets/[^"]+)"', page)
    texts = [page, *(client.get(address).body for address in assets)]
    assert len(texts) == 3
    assert sum(len(gzip.compress(text.encode(), 5)) for text in texts) <= 12 * 1024


def test_every_key_does_what_the_help_says(room: Room, rater: str, browser: Browser) -> None:
    with visiting(browser, room.rater(rater)) as seen:
        page = begin(seen, room)
        page.keyboard.press("?")
        assert page.locator("#help").get_attribute("open") is not None
        for key in ("4", "3", "k", "ArrowUp", "j"):
            page.keyboard.press(key)
        assert page.locator(".field.current").get_attribute("data-axis") == "Q-02"
        page.keyboard.press("n")
        page.keyboard.type("two s and 5 z")
        page.keyboard.press("Escape")
        page.keyboard.press("5")
        page.locator("#status", has_text="saved").wait_for()
        press(page, "z")
        assert page.locator(".field.current").get_attribute("data-axis") == "Q-02"
        press(page, "z")
        press(page, "z")
        assert read_scores(room, rater) == [("Q-01", "4")]
        press(page, "z")
        assert read_scores(room, rater) == []
        first = page.inner_text(".shown")
        press(page, "s")
        assert "Query 2" in page.inner_text("h1")
        assert page.inner_text(".shown") != first
        press(page, "[")
        press(page, "[")
        assert "Query 1" in page.inner_text("h1")
        press(page, "]")
        assert "answer B" in page.inner_text("h1")


def test_keys_can_be_switched_off_and_stay_off(room: Room, rater: str, browser: Browser) -> None:
    with visiting(browser, room.rater(rater)) as seen:
        page = begin(seen, room)
        page.keyboard.press("?")
        page.uncheck("#keys-on")
        page.reload()
        page.keyboard.press("4")
        page.keyboard.press("s")
        assert page.locator("input:checked:not(#keys-on)").count() == 0
        assert page.url.endswith("/1/1")


def test_a_mark_without_a_connection_is_sent_when_there_is_one_again(
    room: Room, rater: str, browser: Browser
) -> None:
    with visiting(browser, room.rater(rater)) as seen:
        page = begin(seen, room)
        page.context.set_offline(True)
        for key in "4351":
            page.keyboard.press(key)
        page.locator("#status", has_text="no connection").wait_for()
        assert read_scores(room, rater) == []
        page.context.set_offline(False)
        page.reload()
        page.locator("#status", has_text="saved").wait_for()
        page.wait_for_function("Object.values(localStorage).every(kept => kept === '[]')")
    assert [score for _, score in read_scores(room, rater)] == [*"4351"]


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("size", [DESK, PHONE])
def test_the_form_works_without_javascript(
    room: Room, rater: str, browser: Browser, size: tuple[int, int], language: str
) -> None:
    with visiting(
        browser, room.rater(rater), size, java_script_enabled=False, locale=language
    ) as seen:
        page = begin(seen, room)
        page.check("[name=score-0][value='4']")
        page.click("button[value=save]")
        assert page.locator("[role=alert]").count() == 1
        assert page.locator("[name=score-0]:checked").get_attribute("value") == "4"
        for number in range(1, 6):
            page.check(f"[name=score-{number}][value='2']")
        page.fill("[name=note-6]", "one needless dispatch")
        page.click("button[value=save]")
        assert page.url.endswith("/1/2")
        page.click("#undo button")
        assert page.url.endswith("/1/1?at=6")
        page.click("button[value=skip]")
        assert page.url.endswith("/2/1")
    assert len(read_scores(room, rater)) == 6


@pytest.mark.parametrize("size", [DESK, PHONE])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pages_of_raters_are_accessible_and_fit(
    room: Room, rater: str, browser: Browser, size: tuple[int, int], scheme: str
) -> None:
    with visiting(browser, room.rater(rater), size, color_scheme=scheme) as seen:
        page = begin(seen, room)
        for address in (page.url, f"{room.server.url}{room.path}"):
            page.goto(address)
            assert faults_of_access(page) == []
            assert seen.script("document.documentElement.scrollWidth") <= size[0]
