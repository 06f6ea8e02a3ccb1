"""The page of a run opens the criteria of an item: what was met, who marked it, and why."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from browsing import DESK, PHONE, faults_of_access
from commands import here
from marked_answers import FULL, Desk
from serving import serve

if TYPE_CHECKING:
    from pathlib import Path

HEADER = "item,variant,rater,axis,criterion,score,note"
LINES = "[...document.querySelectorAll('.item[open] .criteria li')].map(li => li.innerText)"
NOTE = '"<b>it</b> says so"'


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the report of a run in which one criterion has no mark and one has a reason."""
    desk = Desk(tmp_path_factory.mktemp("criteria"))
    rows = [
        f"{row},{NOTE if row.endswith('c2,0') else ''}"
        for row in FULL
        if row != "i1,,ana,facts,c1,1"
    ]
    store, out = desk.folder / "s.db", desk.folder / "report.html"
    here(*desk.words(desk.write_ratings(rows, HEADER)), "--store", store)
    here("report", "latest", "--store", store, "-o", out)
    return out


@pytest.mark.parametrize(("size", "scheme"), [(DESK, "light"), (DESK, "dark"), (PHONE, "light")])
def test_an_item_shows_each_criterion_and_who_marked_it(
    look: Any, page: Path, size: tuple[int, int], scheme: str
) -> None:
    seen = look(page, "#open=i1", size=size, scheme=scheme)
    lines = seen.script(
        "[...document.querySelectorAll('.item[open] .criteria li')].map(li => li.innerText)"
    )
    texts = [" ".join(line.split()) for line in lines]
    assert texts[0] == "ana (person): 2.5"
    assert texts[1] == "ana (person): too-long"
    assert texts[2] == "c1 +3 not marked Names the dose."
    assert texts[3] == "c2 −2 not met Invents a source. ana (person): 0 – <b>it</b> says so"
    assert texts[4].startswith("c3 +1 met check `contains_all` contains_all (check): 1 – ")
    assert "0.50 … 0.88" in seen.script("document.querySelector('.item[open] .sc').textContent")
    assert "… " in seen.script("document.querySelector('.score .big').textContent")
    assert seen.script("document.documentElement.scrollWidth") <= size[0]
    assert faults_of_access(seen.page) == []
    assert seen.complaints == []


def test_the_words_of_a_rater_are_found_in_the_list(look: Any, page: Path) -> None:
    assert look(page, "#q=it</b> says").ids() == ["i1"]
    assert look(page, "#q=no jargon").ids() == ["i2"]


def test_the_web_app_shows_the_criteria_of_an_item_without_scripts(page: Path) -> None:
    with serve(page.parent / "s.db") as server:
        body = server.owner().get("/runs/latest/items/i1").body
    text = " ".join(re.sub("<[^>]*>", " ", body).split())
    assert "c1 +3 not marked Names the dose." in text
    assert "c2 −2 not met Invents a source. ana (person): 0 – &lt;b&gt;it&lt;/b&gt; says so" in text
    assert "0.50 … 0.875" in text
