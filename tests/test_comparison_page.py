"""The comparison as a page, in a real browser: the decision first, names that are only names."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from browsing import DESK, OPEN_ALL, PHONE, faults_of_access
from commands import here
from comparisons import AXES, ITEMS
from hostile import HOSTILE

ROOT = Path(__file__).parent.parent
LOGS = ROOT / "tests" / "golden" / "context-agent" / "logs"
EVIL, LONG = HOSTILE[0], max(HOSTILE, key=len)


def page_of(folder: Path, ratings: Path, *more: str | Path) -> Path:
    page = folder / "page.html"
    words = ("-r", "context-agent", "-e", "context-queries", "--ratings", ratings)
    done = here("compare", *words, "--html", page, *more)
    assert done.code in {0, 1, 4}, done.err
    return page


@pytest.fixture(scope="module")
def no_go(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("no-go")
    ratings = ROOT / "docs" / "examples" / "no-go.csv"
    return page_of(folder, ratings, "-b", "big", "-c", "small")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compare two variants whose names, raters and notes are hostile, with answers of both."""
    folder = tmp_path_factory.mktemp("hostile")
    ratings = folder / "ratings.csv"
    with ratings.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(("item", "variant", "rater", "axis", "score", "note"))
        notes = iter([text for text in HOSTILE if "\0" not in text] * 2)
        for item in ITEMS:
            for variant in (EVIL, LONG[:200]):
                for axis in AXES:
                    rows.writerow((item, variant, "<b>rater</b>", axis, 4, next(notes)))
    return page_of(folder, ratings, "-b", EVIL, "-c", LONG[:200])


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compare three candidates: one that is no-go, one that is go, and one with a hostile name."""
    folder = tmp_path_factory.mktemp("several")
    examples = ROOT / "docs" / "examples"
    worse, fine = ((examples / f"{name}.csv").read_text().splitlines() for name in ("no-go", "go"))
    mid = [row.replace(",small,", ",mid,") for row in fine if ",small," in row]
    with (folder / "three.csv").open("w", newline="", encoding="utf-8") as file:
        file.write("\n".join([*worse, *mid]) + "\n")
        rows = csv.writer(file)
        for item, _, rater, axis, score, _ in csv.reader(mid):
            rows.writerow((item, EVIL, rater, axis, score, "<b>note</b>"))
    return page_of(
        folder, folder / "three.csv", "-b", "big", "-c", "small", "-c", "mid", "-c", EVIL
    )


def test_several_candidates_have_their_decisions_first_and_then_stand_side_by_side(
    look: Any, several: Path
) -> None:
    seen = look(several)
    cards = seen.page.locator(".verdict")
    assert cards.count() == 3
    assert "small" in cards.nth(0).inner_text()
    assert "NO-GO" in cards.nth(0).inner_text()
    assert "Go back to the baseline model at once." in cards.nth(0).inner_text()
    assert "GO" in cards.nth(1).inner_text()
    together = seen.page.locator("#together")
    assert together.locator("table").first.locator("tbody tr").count() == 6
    assert "0.375" in together.inner_text()
    assert together.locator(".badge").count() == 15
    assert seen.page.locator("#v2-queries figure.card").count() == 5
    assert "mid: Queries" in seen.page.inner_text("#v2-queries")
    ids = seen.script("[...document.querySelectorAll('[id]')].map(one => one.id)")
    assert len(ids) == len(set(ids))
    links = seen.script("[...document.querySelectorAll('a')].map(one => one.hash.slice(1))")
    assert set(links) <= set(ids)
    assert seen.complaints == []


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_several_candidates_are_inert_accessible_and_fit(
    look: Any, several: Path, size: tuple[int, int]
) -> None:
    seen = look(several, size=size)
    seen.script(OPEN_ALL)
    seen.settle()
    assert seen.script("window.pwned") is None
    assert seen.script("document.querySelectorAll('script').length") == 2
    assert seen.script("document.querySelectorAll('b').length") == 0
    assert seen.script("document.documentElement.scrollWidth") <= size[0]
    assert faults_of_access(seen.page) == []


def test_candidates_without_a_common_rating_still_make_a_page(tmp_path: Path) -> None:
    ratings = tmp_path / "r.csv"
    rows = [
        f"{item},{who},ann,{AXES[0]},4,"
        for item, who in zip(ITEMS, ("big", "a", "b"), strict=False)
    ]
    ratings.write_text("\n".join(("item,variant,rater,axis,score,note", *rows, "")))
    page = page_of(tmp_path, ratings, "-b", "big", "-c", "a", "-c", "b", "--allow-gaps")
    assert "no verdict" in page.read_text(encoding="utf-8")


def test_the_decision_stands_first_with_its_rule_and_what_to_do(look: Any, no_go: Path) -> None:
    seen = look(no_go)
    first = seen.page.inner_text(".verdict")
    assert "NO-GO" in first
    assert "Go back to the baseline model at once." in first
    assert "degraded-in-medium-and-thorough" in seen.page.inner_text("tr.decided")
    assert seen.page.locator("#queries figure.card").count() == 5
    assert seen.complaints == []
    assert [url for url in seen.requests if not url.startswith("data:")] == [no_go.as_uri()]


def test_checks_and_measures_of_logs_are_side_by_side(look: Any, tmp_path: Path) -> None:
    ratings = (ROOT / "docs" / "examples" / "go.csv").read_text(encoding="utf-8")
    named = ratings.replace(",big,", ",sonnet,").replace(",small,", ",haiku,")
    (tmp_path / "r.csv").write_text(named, encoding="utf-8")
    for variant in ("sonnet", "haiku"):
        for log in (LOGS / variant).iterdir():
            (tmp_path / "logs" / variant).mkdir(parents=True, exist_ok=True)
            (tmp_path / "logs" / variant / log.name).write_bytes(log.read_bytes())
    variants = ("-b", "sonnet", "-c", "haiku", "--logs", tmp_path / "logs")
    seen = look(page_of(tmp_path, tmp_path / "r.csv", *variants))
    assert "5/5" in seen.page.inner_text(".matrix")
    assert seen.page.locator(".matrix .mark.fail").count() == 7
    assert "tool_calls" in seen.page.inner_text("#measured")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_accessibility_checker_finds_nothing_serious(
    look: Any, no_go: Path, scheme: str
) -> None:
    seen = look(no_go, scheme=scheme)
    seen.script(OPEN_ALL)
    assert faults_of_access(seen.page) == []


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_hostile_names_and_notes_are_inert_and_do_not_break_the_layout(
    look: Any, hostile: Path, size: tuple[int, int]
) -> None:
    seen = look(hostile, size=size)
    seen.script(OPEN_ALL)
    seen.settle()
    assert seen.script("window.pwned") is None
    assert seen.complaints == []
    assert seen.script("document.querySelectorAll('script').length") == 2
    assert seen.script("document.querySelectorAll('b').length") == 0
    assert seen.script("document.documentElement.scrollWidth") <= size[0]


def test_the_page_says_what_the_command_says(no_go: Path) -> None:
    ratings = ROOT / "docs" / "examples" / "no-go.csv"
    words = ("-r", "context-agent", "-e", "context-queries", "--ratings", ratings)
    told = here("compare", *words, "-b", "big", "-c", "small").out
    text = re.sub(r"<[^>]+>", " ", no_go.read_text(encoding="utf-8"))
    because = next(line for line in told.splitlines() if line.startswith("because: "))
    assert because.removeprefix("because: ") in text


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_decision_cost_and_latency_come_first_and_both_answers_are_on_the_page(
    look: Any, tmp_path: Path, size: tuple[int, int]
) -> None:
    answers = tmp_path / "answers.jsonl"
    with answers.open("w", encoding="utf-8") as file:
        for item in ITEMS:
            for who, cost in (("big", 0.012), ("small", 0.00034)):
                text = f"{who} on {item} <img src=x onerror='window.pwned=1'>"
                row = {"item": item, "subject": who, "output": text}
                file.write(json.dumps({**row, "cost": cost, "latency_ms": 900}) + "\n")
    ratings = (ROOT / "docs" / "examples" / "go.csv").read_text(encoding="utf-8").splitlines()
    first = ratings[1].rpartition(",")[0] + ",<b>thin</b>"
    (tmp_path / "r.csv").write_text("\n".join([ratings[0], first, *ratings[2:], ""]))
    page = page_of(tmp_path, tmp_path / "r.csv", "-b", "big", "-c", "small", "-a", answers)
    seen = look(page, size=size)
    head = seen.page.inner_text("main section.first")
    assert head.index("GO") < head.index("cost of an answer") < head.index("latency, ms")
    assert "0.00034" in head
    details = seen.page.locator("#answers details")
    assert details.count() == 5
    assert not details.nth(0).locator("pre").nth(0).is_visible()
    seen.script(OPEN_ALL)
    seen.settle()
    assert details.nth(0).locator("pre").nth(0).inner_text().startswith("big on TQ-1 <img")
    assert details.nth(0).locator("pre").nth(1).inner_text().startswith("small on TQ-1 <img")
    assert "<b>thin</b>" in details.nth(0).inner_text()
    assert seen.script("window.pwned") is None
    assert seen.script("document.documentElement.scrollWidth") <= size[0]
    assert faults_of_access(seen.page) == []
