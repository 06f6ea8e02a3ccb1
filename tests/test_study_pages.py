"""The owner's pages of a study; cards with choices, criteria and hostile texts; in a browser."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from browsing import DESK, PHONE, faults_of_access
from hostile import HOSTILE
from markscheme.keep import open_store
from markscheme.weigh.rating_study import LEASE_TIME
from markscheme.workflows.study import load_study
from markscheme.workflows.study_marks import take_query
from markscheme.workflows.study_results import collect_study_ratings
from rating_rooms import Room, open_room, serve_study
from serving import foreign_requests, visiting
from studies import rate_all

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

MANY_KINDS = """\
rubric: kinds
version: 1
axes:
  - {name: content, kind: criteria, weight: 1, expects: criteria}
  - name: tone
    kind: choice
    question: Which tone?
    options: {kind: 1, rude: 0}
    may_not_apply: true
  - name: depth
    kind: scale
    question: How deep?
    anchors: {1: flat, 2: fair, 3: deep}
    step: 0.5
"""
KINDS_EXAM = """\
exam: kinds
items:
  - id: n1
    prompt: Write a note.
    criteria:
      - {id: c1, points: 2, says: Names the dose.}
      - {id: c2, points: -1, says: Invents a source.}
"""


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    """Serve a study that two raters have rated, far apart on the first query."""
    with open_room(tmp_path_factory.mktemp("room"), "--sample", "2") as opened:
        rate_all(
            opened.server.store,
            opened.study,
            lambda rater, key: "5" if (rater, key.axis) == ("ana", "Q-02") else "3",
        )
        yield opened


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_the_owner_closes_a_study_decides_and_takes_the_ratings(
    room: Room, browser: Browser, size: tuple[int, int]
) -> None:
    with visiting(browser, room.server.owner(), size) as seen:
        page = seen.page
        page.goto(f"{room.server.url}/studies")
        assert faults_of_access(page) == []
        page.click(f"text={room.name}")
        assert faults_of_access(page) == []
        if page.locator("#close").count():
            assert "rated: 4 of 4" in page.inner_text("main")
            page.click("button:text-is('Close the study')")
        assert "zephyrine" in page.inner_text("main")
        first = page.locator("article").first
        first.locator("select").select_option("4")
        first.locator("input[name=note]").fill("between the two")
        first.locator("button").click()
        page.locator("text=decided: 4").first.wait_for()
        assert faults_of_access(page) == []
        assert seen.script("document.documentElement.scrollWidth") <= size[0]
        page.click("text=agreement of the raters")
        assert "Q-02" in page.inner_text("main")
        assert faults_of_access(page) == []
        assert foreign_requests(seen, room.server) == []
        assert seen.complaints == []
    owner = room.server.owner()
    text = owner.get(f"/studies/{room.study}/ratings.csv").body
    with open_store(room.server.store, create=False) as store:
        ratings = collect_study_ratings(store, load_study(store, room.study))
    assert len(list(csv.DictReader(io.StringIO(text)))) == len(ratings) == 48
    decided = owner.get(f"/studies/{room.study}/adjudications.csv").body
    assert [row["score"] for row in csv.DictReader(io.StringIO(decided))] == ["4"]


def test_a_new_link_lets_a_rater_in_who_then_sees_that_the_study_is_closed(room: Room) -> None:
    owner = room.server.owner()
    owner.post(f"/studies/{room.study}/close")
    page = owner.post(f"/studies/{room.study}/links", {"rater": "ana"}).body
    token = page.partition("/enter/")[2].partition("<")[0]
    client = room.server.client()
    answer = client.enter(f"{room.server.url}/enter/{token}")
    assert (answer.status, answer.location) == (303, room.path)
    assert "The study is closed" in client.get(room.path).body
    assert client.get(f"{room.path}/1/1").location == room.path
    mark = {"id": "late-mark", "place": "1", "axis": "Q-01", "score": "3"}
    assert client.post(f"{room.path}/marks", mark).status == 409
    assert client.post(f"{room.path}/undo", {"id": "late-undo"}).location == room.path


def test_a_rater_whose_query_went_to_another_one_is_told(tmp_path: Path) -> None:
    with open_room(tmp_path, "--per-answer", "1", queries=1) as room:
        ana, ben = room.rater("ana"), room.rater("ben")
        long_ago = datetime.now(UTC) - LEASE_TIME
        with open_store(room.server.store, create=False, now=lambda: long_ago) as store:
            take_query(store, load_study(store, room.study), "ana")
        assert ben.post(f"{room.path}/next").location == f"{room.path}/1/1"
        mark = {"id": "mark-of-ana", "place": "1", "axis": "Q-01", "score": "3"}
        assert ana.post(f"{room.path}/marks", mark).status == 409
        answer = ana.post(f"{room.path}/1/1", {"id": "form-of-ana", "score-0": "3"})
        assert answer.location == f"{room.path}/1/1?state=lost"
        page = ana.get(answer.location).body
        assert "was given to another rater" in page
        assert "<fieldset" not in page
        assert ana.post(f"{room.path}/next").location == f"{room.path}?state=waiting"
        assert ana.get("/rate").location == room.path


def test_criteria_choices_and_halves_are_rated_by_axis(tmp_path: Path, browser: Browser) -> None:
    (tmp_path / "rubric.yaml").write_text(MANY_KINDS)
    (tmp_path / "exam.yaml").write_text(KINDS_EXAM)
    rows = [{"item": "n1", "subject": name, "output": f"take {name}"} for name in ("b", "s")]
    answers = tmp_path / "answers.jsonl"
    answers.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    words = ("-r", tmp_path / "rubric.yaml", "-e", tmp_path / "exam.yaml", "-a", answers)
    with serve_study(tmp_path / "store.db", *words, "--raters", "ana", "--by", "axis") as room:
        with visiting(browser, room.rater("ana")) as seen:
            page = seen.page
            page.goto(f"{room.server.url}{room.path}")
            with page.expect_navigation():
                page.click("#go-on button")
            page.check("[name=score-0][value='2.5']")
            page.keyboard.press("j")
            for keys in ("1", "1-", "10", "01"):
                assert page.locator(".answer").count() == 2
                assert faults_of_access(page) == []
                for key in keys:
                    page.keyboard.press(key)
                with page.expect_navigation():
                    page.keyboard.press("Enter")
            assert "Everything is rated" in page.inner_text("main")
        done = room.command("rate", "close", room.name, "-o", tmp_path / "ratings.csv")
        assert done.code == 0, done.out
    rated = list(csv.DictReader(io.StringIO((tmp_path / "ratings.csv").read_text())))
    assert len(rated) == 8
    scores: dict[str, list[str]] = {axis: [] for axis in ("depth", "tone", "content")}
    for row in rated:
        scores[row["axis"]].append(row["score"])
    assert sorted(scores["depth"]) == ["1", "2.5"]
    assert sorted(scores["tone"]) == ["kind", "n/a"]
    assert sorted(scores["content"]) == ["0", "0", "1", "1"]


def test_hostile_answers_prompts_anchors_and_names_are_inert(
    tmp_path: Path, browser: Browser
) -> None:
    texts = ["\n".join(HOSTILE[start::6]) for start in range(6)]
    # YAML has no control characters.
    prompts = ["".join(c for c in text if c.isprintable()) for text in texts]
    items = [{"id": f"h{n}", "prompt": prompt} for n, prompt in enumerate(prompts)]
    exam, rubric, answers = (tmp_path / name for name in ("e.yaml", "r.yaml", "a.jsonl"))
    exam.write_text(json.dumps({"exam": "hostile", "items": items}, ensure_ascii=False))
    scale = {"name": "tone", "kind": "scale", "question": prompts[0]}
    axes = [{**scale, "anchors": {1: prompts[1], 2: prompts[2]}}]
    document = {"rubric": "hostile", "version": 1, "axes": axes}
    rubric.write_text(json.dumps(document, ensure_ascii=False).replace('"1":', "1:"))
    rows = [{"item": f"h{n}", "subject": "one", "output": text} for n, text in enumerate(texts)]
    answers.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    words = ("-r", rubric, "-e", exam, "-a", answers)
    rater = "<img src=x onerror=window.pwned=1>"
    with serve_study(tmp_path / "store.db", *words, "--raters", rater) as room:
        rate_all(room.server.store, room.study, lambda _, __: "2")
        with visiting(browser, room.rater(rater)) as seen:
            for number in range(1, 7):
                seen.page.goto(f"{room.server.url}{room.path}/{number}/1")
                assert "window.pwned" in seen.page.inner_text(".answer .text")
                assert seen.page.locator("main :is(img, script, iframe, svg, style)").count() == 0
                assert seen.script("window.pwned") is None
            assert (seen.complaints, foreign_requests(seen, room.server)) == ([], [])
        with visiting(browser, room.server.owner()) as seen:
            seen.page.goto(f"{room.server.url}/studies/{room.study}")
            assert rater in seen.page.inner_text("main")
            assert seen.script("window.pwned") is None
            assert (seen.complaints, foreign_requests(seen, room.server)) == ([], [])
