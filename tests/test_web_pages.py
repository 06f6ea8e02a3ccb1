"""The pages of runs in the web app, in a real browser: by mouse, by keyboard, without scripts."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from html import unescape
from typing import TYPE_CHECKING, Any

import pytest

from browsing import DESK, OPEN_ALL, PHONE, faults_of_access
from calibrations import Project as CalibratedProject
from commands import Project, here
from hostile import HOSTILE, score_hostile_answers
from markscheme.keep import NewRun, open_store
from serving import foreign_requests, serve, visiting

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

    from markscheme.keep import StoredRun
    from serving import Client, Server

EXAM = "capstone+capstone-extra"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Serve a store with a baseline and two flawed runs."""
    folder = tmp_path_factory.mktemp("web")
    store = folder / "store.db"
    for words in (("demo",), ("demo", "--flawed"), ("demo", "--flawed")):
        here(*words, "--no-report", "--store", store)
    here("baseline", "set", "latest~2", "--note", "release 1", "--store", store)
    with serve(store) as running:
        yield running


@pytest.fixture(scope="module")
def owner(server: Server) -> Client:
    return server.owner()


@pytest.fixture(scope="module")
def runs(server: Server) -> list[str]:
    """Give the ids of the runs, the newest first."""
    with open_store(server.store, create=False) as store:
        return [run.id for run in store.list_runs()]


def list_pages(runs: list[str]) -> dict[str, str]:
    """Return the pages of the owner."""
    newest, _, oldest = runs
    return {
        "dashboard": "/",
        "run": f"/runs/{newest}",
        "baseline": f"/runs/{newest}/baseline",
        "items": f"/runs/{newest}/items",
        "item": f"/runs/{newest}/items/e-39-24",
        "comparison": f"/compare?run={oldest}&run={newest}",
        "error": "/runs/nothing",
        "enter": "/enter/x",
    }


def test_the_printed_link_lets_its_owner_in_by_one_press(server: Server, browser: Browser) -> None:
    with visiting(browser) as seen:
        seen.page.goto(server.link)
        seen.page.click("main button")
        assert seen.page.url == f"{server.url}/"
        assert seen.page.locator("tbody tr").count() == 3
        assert seen.complaints == []
        assert foreign_requests(seen, server) == []


@pytest.mark.parametrize("visitor", [(DESK, "light", "en-GB"), (PHONE, "dark", "es-ES")])
def test_every_page_is_accessible_fits_and_asks_nobody_else(
    server: Server,
    owner: Client,
    runs: list[str],
    browser: Browser,
    visitor: tuple[tuple[int, int], str, str],
) -> None:
    size, scheme, locale = visitor
    with visiting(browser, owner, size, color_scheme=scheme, locale=locale) as seen:
        for name, path in list_pages(runs).items():
            seen.page.goto(f"{server.url}{path}")
            assert faults_of_access(seen.page) == [], name
            assert seen.script("document.documentElement.scrollWidth") <= size[0], name
            assert seen.script("document.documentElement.lang") == locale[:2]
            assert foreign_requests(seen, server) == [], name
        assert [line for line in seen.complaints if "404" not in line] == []


@pytest.mark.parametrize("path", ["/", "/runs/latest/baseline", "/runs/latest/items/e-39-24"])
def test_no_english_is_left_on_a_spanish_page(owner: Client, path: str) -> None:
    if path.startswith("/runs/latest"):
        path = owner.get(path).location or path
    page = owner.get(path, Accept_Language="es").body
    text = " ".join(unescape(re.sub(r"<[^>]+>", " ", page.partition("<body>")[2])).split())
    for english in ("Skip", "Runs", "Compare", "started", "All ", "Make it", "Leave", "why"):
        assert english not in text, text


def test_a_visitor_chooses_a_language_and_stays_where_they_were(
    server: Server, owner: Client, browser: Browser
) -> None:
    with visiting(browser, owner) as seen:
        seen.page.goto(f"{server.url}/?subject=tutor")
        seen.page.click("button:text-is('Español')")
        seen.page.wait_for_selector("html[lang=es]")
        assert seen.page.url == f"{server.url}/?subject=tutor"
        assert "puntuación" in seen.page.inner_text("main")


def test_the_dashboard_shows_how_each_subject_stands(
    server: Server, owner: Client, browser: Browser
) -> None:
    with visiting(browser, owner) as seen:
        seen.page.goto(server.url)
        flawed, tutor = seen.page.locator(".tiles li").all_inner_texts()
        assert "FAIL" in flawed
        assert "not met: capstone, baseline" in flawed
        assert "2 complete runs: 0.91 → 0.91" in flawed
        assert "PASS" in tutor
        assert "baseline" in tutor
        assert seen.page.locator(".tiles svg").count() == 2


def test_filters_stand_in_the_address(server: Server, owner: Client, browser: Browser) -> None:
    with visiting(browser, owner) as seen:
        seen.page.goto(server.url)
        seen.page.select_option("#f-subject", "tutor")
        seen.page.click("form[role=search] button")
        assert "subject=tutor" in seen.page.url
        assert seen.page.locator("tbody tr").count() == 1
        seen.page.goto(f"{server.url}/?exam=no-such-exam")
        assert "No run is like that." in seen.page.inner_text("main")
        seen.page.click("main a:text-is('all runs') >> nth=0")
        assert seen.page.locator("tbody tr").count() == 3


def test_two_runs_are_chosen_and_compared_by_keyboard_alone(
    server: Server, owner: Client, runs: list[str], browser: Browser
) -> None:
    with visiting(browser, owner) as seen:
        seen.page.goto(server.url)
        chosen = 0
        for _ in range(60):
            seen.page.keyboard.press("Tab")
            value = seen.script("document.activeElement.value")
            if (
                value in {runs[0], runs[2]}
                and seen.script("document.activeElement.type") == "checkbox"
            ):
                seen.page.keyboard.press("Space")
                chosen += 1
            if chosen == 2:
                break
        seen.page.keyboard.press("Enter")
        seen.page.wait_for_url("**/compare?*")
        assert seen.page.inner_text("h1") == "Is flawed-tutor worse than tutor?"
        assert "worse" in seen.page.inner_text(".verdict h2")
        seen.page.locator(".regressed .item summary").first.click()
        inside = seen.page.inner_text(".regressed .inside >> nth=0")
        assert "YOU GOED." in inside
        assert "YOU WENT." in inside.upper()
        seen.page.click(".actions a")
        assert "first=" in seen.page.url
        assert seen.page.inner_text("h1") == "Is tutor worse than flawed-tutor?"


@pytest.mark.parametrize("query", ["", "?run={0}", "?run={0}&run={0}", "?run={0}&run=unknown"])
def test_a_comparison_of_fewer_than_two_runs_is_explained(
    owner: Client, runs: list[str], query: str
) -> None:
    answer = owner.get(f"/compare{query.format(runs[0])}")
    assert answer.status in {400, 404}
    assert "<h1>" in answer.body


def test_a_run_has_the_report_with_links_to_other_runs(
    server: Server, owner: Client, runs: list[str], browser: Browser
) -> None:
    with visiting(browser, owner) as seen:
        seen.page.goto(f"{server.url}/runs/latest")
        assert seen.page.url == f"{server.url}/runs/{runs[0]}"
        assert len(seen.ids()) == 80
        seen.page.click(".fix table a:text-is('e-39-24')")
        seen.settle()
        assert "YOU GOED." in seen.page.inner_text(".item[open]")
        assert seen.page.locator(f"#since h2 a[href='/runs/{runs[2]}']").count() == 1
        seen.page.click("a:text-is('Compare with the baseline')")
        assert seen.page.inner_text("h1") == "Is flawed-tutor worse than tutor?"
        assert seen.complaints == []


def test_without_scripts_every_item_has_a_page_of_its_own(
    server: Server, owner: Client, browser: Browser
) -> None:
    with visiting(browser, owner, java_script_enabled=False) as seen:
        seen.page.goto(f"{server.url}/runs/latest")
        seen.page.click("noscript a:text-is('items that lost points')")
        assert seen.page.locator("tbody tr").count() == 53
        seen.page.click("a:text-is('e-39-24')")
        text = seen.page.inner_text("main")
        for told in ("Conjugate 'go'", "fuiste", "YOU GOED.", '"went" is missing', "0.15"):
            assert told in text
        seen.page.click("a[rel=next]")
        assert seen.page.inner_text("h1") == "e-39-25"


def test_the_report_of_a_run_can_be_kept_as_a_file(owner: Client, runs: list[str]) -> None:
    answer = owner.get(f"/runs/{runs[0]}/report.html")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="report.html"'
    assert "<style>" in answer.body
    assert "/assets/" not in answer.body


def test_a_run_that_misses_a_hard_gate_becomes_the_baseline_only_when_that_is_confirmed(
    tmp_path: Path, browser: Browser
) -> None:
    store = tmp_path / "store.db"
    for words in (("demo",), ("demo", "--flawed")):
        here(*words, "--no-report", "--store", store)
    with serve(store) as server, visiting(browser, server.owner()) as seen:
        seen.page.goto(f"{server.url}/runs/latest")
        seen.page.click("a:text-is('Make it the baseline')")
        assert "capstone: score 0.91 is below 0.92" in seen.page.inner_text(".note")
        seen.page.fill("#note", "we ship it <b>anyway</b>")
        seen.page.click("main button")
        assert seen.page.url.endswith("/baseline"), "the box is required"
        path = seen.page.url.removeprefix(server.url)
        refused = server.owner().post(path, {"note": "x"})
        assert (refused.status, "does not meet capstone" in unescape(refused.body)) == (400, True)
        seen.page.check("[name=force]")
        seen.page.click("main button")
        assert seen.page.locator(".brand .mark-baseline").count() == 1
        for _ in range(2):
            owner = server.owner()
            owner.post(path, {"note": "we ship it <b>anyway</b>", "by": "", "force": "1"})
        with open_store(store, create=False) as opened:
            (baseline,) = opened.list_baselines()
        assert (baseline.note, baseline.set_by) == ("we ship it <b>anyway</b>", None)


def test_the_verdict_on_a_judged_run_follows_the_calibration_of_its_judge(tmp_path: Path) -> None:
    judged = CalibratedProject(tmp_path, 36)
    judged.score()
    with serve(judged.store) as server:
        owner = server.owner()
        assert "CANNOT TELL" in owner.get("/").body
        judged.calibrate()
        assert "CANNOT TELL" not in owner.get("/").body
        assert "PASS" in owner.get("/").body


def test_an_empty_store_shows_the_first_commands(tmp_path: Path) -> None:
    with serve(tmp_path / "new.db") as server:
        page = server.owner().get("/").body
    for command in (
        "markscheme demo",
        "markscheme baseline set latest",
        "markscheme demo --flawed",
    ):
        assert command in page


def test_many_runs_come_in_pages_and_an_unfinished_one_says_so(tmp_path: Path) -> None:
    project = Project(tmp_path)
    first = project.stored("yes", "yes", "yes", "yes", subject="one")
    with open_store(project.store, create=False) as store:
        run = store.find_run(first)
        (data,), ((_, summary),) = store.read_run_data([first]), store.read_summaries([first])
        with store.transaction():
            for _ in range(60):
                store.begin_run(_new_run_like(run))
            for _ in range(60):
                assert run.counts
                parts = {"summary": summary, "measures": data.measures, "marks": data.marks}
                store.finish_run(store.begin_run(_new_run_like(run)), counts=run.counts, **parts)
            store.tag_run(first, "best")
    with serve(project.store) as server:
        owner = server.owner()
        pages = [owner.get(f"/?subject=one&page={n}").body for n in (1, 3, 9)]
        tagged = owner.get("/?tag=best").body
    assert ["newer runs" in page for page in pages] == [False, True, True]
    assert ["older runs" in page for page in pages] == [True, True, False]
    assert ["not finished" in page for page in pages] == [False, True, True]
    assert "121 runs" in pages[0]
    assert tagged.count('type="checkbox"') == 1


def _new_run_like(run: StoredRun) -> NewRun:
    return NewRun(
        subject=run.subject,
        rubric=run.rubric.digest,
        exam=run.exam.digest,
        axis_versions=run.axis_versions,
        tool_version=run.tool_version,
    )


def dump_store(path: Any) -> list[str]:
    with closing(sqlite3.connect(path)) as store:
        return list(store.iterdump())


def test_no_page_that_is_only_looked_at_changes_anything_and_no_link_is_dead(
    server: Server, owner: Client, runs: list[str]
) -> None:
    before = dump_store(server.store)
    seen, waiting = set[str](), {*list_pages(runs).values(), "/live/x", "/live/x/events"}
    while waiting and len(seen) < 150:
        path = waiting.pop()
        seen.add(path)
        answer = owner.get(path)
        assert answer.status < 500, path
        if path not in {"/runs/nothing", "/live/x", "/live/x/events"}:
            assert answer.status in {200, 303}, path
        links = {unescape(link) for link in re.findall(r'(?:href|src)="(/[^"#]*)', answer.body)}
        waiting |= links - seen
    assert len(seen) > 100
    assert dump_store(server.store) == before


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Serve two runs in which everything that can be said is hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    store = folder / "store.db"
    for subject in HOSTILE[:2]:
        score_hostile_answers(folder, store, subject=subject)
    with serve(store) as running:
        yield running


def test_the_score_of_an_incomplete_run_says_that_it_is_incomplete(tmp_path: Path) -> None:
    project = Project(tmp_path, items=2)
    project.stored("yes")
    project.stored("yes", "yes")
    with serve(project.store) as running:
        rows = running.owner().get("/").body.split("<tr>")[-2:]
    assert ["incomplete" in row for row in rows] == [False, True]


def test_hostile_texts_are_inert_on_every_page(hostile: Server, browser: Browser) -> None:
    owner = hostile.owner()
    with open_store(hostile.store, create=False) as store:
        newest, oldest = (run.id for run in store.list_runs())
        store.set_baseline(oldest, by=HOSTILE[8], note=HOSTILE[0])
    for size in (DESK, PHONE):
        with visiting(browser, owner, size) as seen:
            paths = ["/", f"/runs/{newest}", f"/runs/{newest}/baseline", f"/runs/{newest}/items"]
            paths += [
                f"/compare?run={oldest}&run={newest}",
                "/?subject=<script>window.pwned=1</script>",
            ]
            paths += [
                f"/runs/{newest}/items/h{at}" for at in range(0, 60, 1 if size == DESK else 20)
            ]
            for path in paths:
                seen.page.goto(f"{hostile.url}{path}")
                seen.script(OPEN_ALL)
                assert seen.script("window.pwned") is None, path
                assert seen.script("document.documentElement.scrollWidth") <= size[0], path
            assert seen.complaints == []
            assert foreign_requests(seen, hostile) == []
