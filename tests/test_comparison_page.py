"""The comparison as a page, in a real browser: the decision first, names that are only names."""

from __future__ import annotations

import csv
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
