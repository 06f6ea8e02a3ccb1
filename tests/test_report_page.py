"""The HTML report in a real browser: opened from disk, worked by keyboard; nothing leaves it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from browsing import DESK, OPEN_ALL, PHONE, faults_of_access
from commands import here
from hostile import HOSTILE, score_hostile_answers

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the report of a flawed run, beside its baseline, with a history and latencies."""
    folder = tmp_path_factory.mktemp("story")
    store = ("--store", folder / "store.db")
    for flawed in ((), (), ("--flawed",)):
        here("demo", *flawed, "--no-report", *store)
    here("baseline", "set", "latest~1", *store)
    report = folder / "report.html"
    done = here("report", "latest", "-o", report, *store)
    assert (done.code, done.err) == (0, "")
    return report


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the report of a run in which everything that can be said is hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    store = ("--store", folder / "store.db")
    score_hostile_answers(folder, folder / "store.db")
    report = folder / "report.html"
    done = here("report", "latest", "-o", report, *store)
    assert done.code == 0, done.err
    return report


def test_it_opens_from_disk_without_complaint_and_without_asking_for_anything(
    look: Any, story: Path
) -> None:
    seen = look(story)
    seen.script(OPEN_ALL)
    seen.settle()
    assert seen.page.inner_text("#verdict").split()[-1] == "FAIL"
    assert seen.complaints == []
    assert [url for url in seen.requests if not url.startswith("data:")] == [story.as_uri()]


def test_the_first_screen_has_the_verdict_the_score_the_gates_and_what_to_fix(
    look: Any, story: Path
) -> None:
    seen = look(story)
    lowest = "document.querySelector('.gates h2').getBoundingClientRect().bottom"
    assert seen.script(lowest) <= DESK[1]
    first = seen.page.inner_text(".first")
    assert "0.91" in first
    assert "95 % interval" in first
    assert "at least 0.92" in seen.page.inner_html(".verdict")
    assert "target 0.95" in seen.page.inner_html(".verdict")
    assert "e-39-24" in seen.page.inner_text(".fix")


def test_a_run_with_a_history_shows_its_trend_and_what_moved(look: Any, story: Path) -> None:
    seen = look(story)
    assert "Went from pass to fail" in seen.page.inner_text("#since")
    charts = seen.page.inner_text("#charts")
    assert "One line for each subject, over the last 3 runs." in charts
    assert "tutor: 1.00 → 1.00 (2 runs)." in charts


def test_filters_narrow_the_list_and_stand_in_the_address(look: Any, story: Path) -> None:
    seen = look(story)
    assert len(seen.ids()) == 80
    seen.page.select_option("#f-axis", "correctness")
    assert seen.ids() == ["e-39-05", "e-39-24", "e-39-44"]
    assert seen.state == "axis=correctness"
    seen.page.select_option("#f-sort", "score")
    assert seen.ids() == ["e-39-24", "e-39-44", "e-39-05"]
    seen.page.select_option("[name='tag.tense']", "past-simple")
    assert seen.ids() == ["e-39-24"]
    assert "tag.tense=past-simple" in seen.state
    again = look(story, f"#{seen.page.url.partition('#')[2]}")
    assert again.ids() == ["e-39-24"]
    assert again.page.inner_text("#count") == "1 of 80 items"
    again.page.click("#reset")
    assert len(again.ids()) == 80
    assert again.state == ""


def test_failures_changes_groups_and_texts_can_be_asked_for(look: Any, story: Path) -> None:
    seen = look(story)
    seen.page.select_option("#f-show", "failed")
    assert len(seen.ids()) == 16
    seen.page.select_option("#f-show", "changed")
    changed = len(seen.ids())
    assert changed == 53
    seen.page.select_option("#f-group", "tense")
    groups = seen.page.locator("#list h3").all_inner_texts()
    assert groups[0].startswith("past simple")
    assert len(seen.ids()) == changed
    seen.page.fill("#f-q", "goed")
    assert seen.ids() == ["e-39-24"]
    seen.page.fill("#f-q", "no such text")
    assert seen.ids() == []
    assert "No item is like that." in seen.page.inner_text("#list")
    seen.page.fill("#f-q", "")
    assert len(seen.ids()) == changed


def test_an_item_opens_with_all_that_is_known_of_it(look: Any, story: Path) -> None:
    seen = look(story)
    seen.page.click(".fix table a:text-is('e-39-24')")
    seen.settle()
    inside = seen.page.inner_text(".item[open]")
    for told in (
        "Conjugate 'go' — past simple, 2nd singular.",
        "went",
        "fuiste",
        "YOU GOED.",
        '"went" is missing from "YOU GOED."',
        "raw output",
        '{"correction": "YOU GOED."',
        "1.00 → 0.15",
    ):
        assert told in inside
    assert seen.state == "open=e-39-24"


def test_links_lead_to_the_items_they_speak_of(look: Any, story: Path) -> None:
    seen = look(story)
    seen.page.click("#tags a:text-is('go')")
    seen.settle()
    assert seen.state == "tag.verb=go"
    assert len(seen.ids()) == 3
    seen.page.click(".item:not([hidden]) .id")
    seen.page.click(".item[open] a:text-is('tense: present simple')")
    seen.settle()
    assert seen.state.startswith("tag.tense=present-simple")
    assert len(seen.ids()) == 9
    seen.page.go_back()
    seen.settle()
    assert seen.state.startswith("tag.verb=go")
    seen.page.click("nav a[href='#charts']")
    assert seen.state.startswith("tag.verb=go"), "a link to a part leaves the state alone"


def test_a_press_on_a_bar_opens_its_item(look: Any, story: Path) -> None:
    seen = look(story, "#sort=score")
    seen.script("document.querySelector('#bars').scrollIntoView()")
    seen.settle()
    left = seen.script(
        "(() => { const at = document.querySelector('.bars').getScreenCTM();"
        " return [at.e, at.f]; })()"
    )
    seen.page.mouse.move(left[0] + 3, left[1] + 20)
    assert seen.page.inner_text("#bars .readout").startswith("e-39-24: 0.15")
    seen.page.mouse.click(left[0] + 3, left[1] + 20)
    seen.settle()
    assert seen.state == "sort=score&open=e-39-24"


def test_another_pair_of_tags_can_be_chosen(look: Any, story: Path) -> None:
    seen = look(story)
    assert seen.page.locator("#heat .variant:visible").count() == 1
    seen.page.select_option("#heat-choice", label="verb × person")
    assert "verb and person" in seen.page.inner_text("#heat .variant:visible figcaption")
    assert seen.state.startswith("heat=")
    link = seen.page.locator("#heat .variant:visible td a").first
    assert "tag.verb=" in str(link.get_attribute("href"))


def test_the_keyboard_alone_reaches_everything(look: Any, story: Path) -> None:
    seen = look(story, "#axis=correctness")
    seen.script("document.activeElement.blur(); scrollTo(0, 0)")
    number = """
        document.querySelectorAll('a[href],summary,select,input,button,[tabindex="0"]')
          .forEach((one, at) => { one.dataset.number = at; });
        [...document.querySelectorAll('[data-number]')]
          .filter(one => one.checkVisibility({visibilityProperty: true}))
          .map(one => one.dataset.number)
    """
    wanted = set(seen.script(f"(() => {{ {number.replace('[...doc', 'return [...doc')} }})()"))
    reached = set()
    for _ in range(len(wanted) + 10):
        seen.page.keyboard.press("Tab")
        reached.add(seen.script("document.activeElement.dataset.number"))
    assert wanted <= reached
    seen.page.locator(".item:not([hidden]) summary").first.focus()
    seen.page.keyboard.press("Enter")
    seen.settle()
    assert "raw output" in seen.page.inner_text(".item[open]")
    assert seen.complaints == []


def test_the_first_tab_offers_to_skip_to_the_report(look: Any, story: Path) -> None:
    seen = look(story)
    seen.page.keyboard.press("Tab")
    assert seen.script("document.activeElement.className") == "skip"
    seen.page.keyboard.press("Enter")
    assert seen.script("document.activeElement.id") == "main"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_accessibility_checker_finds_nothing_serious(
    look: Any, story: Path, scheme: str
) -> None:
    seen = look(story, "#axis=correctness&open=e-39-24", scheme=scheme)
    seen.script("document.querySelector('#heat details').open = true")
    assert faults_of_access(seen.page) == []


def test_sixty_hostile_texts_are_inert_and_are_told_as_they_are(look: Any, hostile: Path) -> None:
    assert len(set(HOSTILE)) == 60
    seen = look(hostile)
    seen.script(OPEN_ALL)
    seen.settle()
    seen.page.wait_for_timeout(200)
    assert seen.script("window.pwned") is None
    assert seen.complaints == []
    assert [url for url in seen.requests if not url.startswith("data:")] == [hostile.as_uri()]
    assert seen.script("document.querySelectorAll('script').length") == 2
    assert seen.script("document.querySelectorAll('style').length") == 1
    foreign = "iframe,object,embed,form,base,img,video,audio,marquee,math,foreignObject,animate"
    assert seen.script(f"document.querySelectorAll('{foreign}').length") == 0
    attributes = "[...document.querySelectorAll('*')].flatMap(one => one.getAttributeNames())"
    assert not [name for name in set(seen.script(attributes)) if name.startswith("on")]
    assert "style" not in seen.script(attributes)
    raw = seen.script("[...document.querySelectorAll('.item pre')].map(one => one.textContent)")
    for text, output, at in zip(HOSTILE, raw, range(60), strict=True):
        assert (text if at % 3 else json.dumps(text, ensure_ascii=False)[1:3000]) in output


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_hostile_texts_do_not_break_the_layout(
    look: Any, hostile: Path, size: tuple[int, int]
) -> None:
    seen = look(hostile, size=size)
    seen.script(OPEN_ALL)
    seen.settle()
    assert seen.script("document.documentElement.scrollWidth") <= size[0]
    wide = "Math.max(...[...document.querySelectorAll('.card')].map(one => one.offsetWidth))"
    assert seen.script(wide) <= size[0]


def test_a_phone_shows_everything_without_scrolling_sideways(look: Any, story: Path) -> None:
    seen = look(story, "#open=e-39-24", size=PHONE)
    seen.script(OPEN_ALL)
    seen.settle()
    assert seen.script("document.documentElement.scrollWidth") <= PHONE[0]


def test_on_paper_a_summary_of_two_pages_comes_before_the_items(look: Any, story: Path) -> None:
    seen = look(story, "#show=failed")
    seen.page.emulate_media(media="print")
    assert not seen.page.locator(".controls").is_visible()
    row = seen.page.locator(".item", has_text="e-39-24").inner_text()
    assert "YOU GOED. → went · correctness" in " ".join(row.split())
    pages = seen.page.pdf(format="A4").count(b"/Type /Page\n")
    assert pages == 3
    assert seen.state == "show=failed"


def test_a_full_picture_of_the_page_shows_every_row(look: Any, story: Path) -> None:
    seen = look(story)
    seen.settle()
    drawn = "row => row.checkVisibility({contentVisibilityAuto: true})"
    assert seen.script(f"[...document.querySelectorAll('.item')].filter({drawn}).length") == 80


def test_the_legend_shows_the_items_that_lost_points_on_an_axis(look: Any, story: Path) -> None:
    seen = look(story)
    seen.page.click("#bars .legend a:has-text('Spanish meaning')")
    seen.settle()
    assert seen.state == "axis=spanish_gloss"
    assert seen.page.locator(".item:visible").count() == 14


def test_the_next_commands_name_the_run_and_can_be_copied(look: Any, story: Path) -> None:
    seen = look(story)
    commands = seen.page.locator(".commands code").all_inner_texts()
    assert commands[0].startswith("markscheme show ")
    assert seen.page.locator(".commands .copy").count() == len(commands) == 4


def test_without_its_script_the_page_still_tells_the_essentials(
    browser: Browser, story: Path
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(story.as_uri())
    text = str(page.text_content("body"))
    context.close()
    for told in ("FAIL", "0.91", "What to fix first", "e-39-24", "YOU GOED.", "Without JavaScript"):
        assert told in text
