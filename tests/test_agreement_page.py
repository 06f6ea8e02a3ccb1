"""The page of the agreement of raters, in a real browser: every axis, and names that are inert."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

import pytest

from browsing import DESK, PHONE, faults_of_access
from commands import here
from hostile import HOSTILE

if TYPE_CHECKING:
    from pathlib import Path

EVIL = HOSTILE[0]


def page_of(folder: Path, raters: dict[str, str]) -> Path:
    """Write the page of raters, by name with their source, who rated 20 answers on two axes."""
    ratings, page = folder / "r.csv", folder / "page.html"
    with ratings.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(("item", "variant", "rater", "axis", "score", "source"))
        for number, (rater, source) in enumerate(raters.items()):
            for item in range(20):
                for axis in ("tone", EVIL):
                    score = (item + number * item % 3) % 5 + 1
                    rows.writerow((f"q{item}", "v", rater, axis, score, source))
    done = here("agree", "--ratings", ratings, "--html", page)
    assert done.code == 0, done.err
    return page


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_few_raters_stand_in_a_matrix(look: Any, tmp_path: Path, size: tuple[int, int]) -> None:
    seen = look(page_of(tmp_path, {"ana": "", "<b>ben</b>": "person", "gpt": "judge"}), size=size)
    text = seen.page.locator("main").inner_text()
    assert "Kappa of each two raters" in text
    assert "<b>ben</b>" in text
    assert "gpt (judge)" in text
    assert EVIL in text
    assert seen.complaints == []
    assert [url for url in seen.requests if not url.startswith(("file:", "data:"))] == []
    width = seen.script("document.documentElement.scrollWidth - window.innerWidth")
    assert width <= 0
    assert faults_of_access(seen.page) == []


def test_of_many_raters_the_one_who_agrees_least_stands_first(look: Any, tmp_path: Path) -> None:
    raters = {f"r{number:02}": "" for number in range(40)}
    seen = look(page_of(tmp_path, raters))
    text = seen.page.locator("#axis-1").inner_text()
    assert "Each rater beside the people, the lowest agreement first" in text
    assert all(rater in text for rater in raters)
    assert "median of 780 pairs" in seen.page.locator("#pairs").inner_text()
    assert faults_of_access(seen.page) == []


def test_the_page_never_overwrites_the_ratings(tmp_path: Path) -> None:
    ratings = tmp_path / "r.csv"
    ratings.write_text("item,variant,rater,axis,score\nq,v,ana,tone,1\nq,v,ben,tone,1\n")
    done = here("agree", "--ratings", ratings, "--html", ratings)
    assert done.code == 2
    assert ratings.read_text().startswith("item,")
