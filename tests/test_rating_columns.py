"""Columns of ratings beside the score: who rated, which criterion, which repeat and attempt."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands import here
from comparisons import AXES, GOOD, Files, rows
from desks import EACH, Desk


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def judged(lines: list[str], raters: set[str]) -> list[str]:
    """Return the rows with a source: those of some raters are by judges."""
    return [line + (",judge" if line.split(",")[2] in raters else ",person") for line in lines]


def written(files: Files, lines: list[str], more: str = "source") -> Path:
    return files.write("r.csv", f"item,variant,rater,axis,score,note,{more}\n" + "\n".join(lines))


def test_ratings_of_judges_beside_peoples_are_refused(files: Files) -> None:
    lines = judged(rows([GOOD] * 5, [GOOD] * 5, raters=("anna", "gpt")), {"gpt"})
    done = here(*files.words(written(files, lines)))
    assert done.code == 3
    assert ":8: source: gpt (judge) and anna (person) rated the same answers" in done.err
    assert "ratings of judges never count as people's" in done.err


def test_a_rater_is_a_person_or_a_judge(files: Files) -> None:
    lines = judged(rows([GOOD] * 5, [GOOD] * 5), {"anna"})
    lines[3] = lines[3].replace(",judge", ",person")
    done = here(*files.words(written(files, lines)))
    assert done.code == 3
    assert ":5: source: `anna` is a person here and a judge on an earlier row" in done.err


def test_a_comparison_by_judges_says_so(files: Files) -> None:
    path = written(files, judged(rows([GOOD] * 5, [GOOD] * 5, raters=("gpt",)), {"gpt"}))
    text = here(*files.words(path)).out
    assert "rated by judge models only (gpt)" in text
    assert "whether people would agree is not known" in text
    assert json.loads(here(*files.words(path, "--format", "json")).out)["rated_by"] == "judges"


def test_a_comparison_by_people_says_so_in_its_document(files: Files) -> None:
    path = files.ratings(rows([GOOD] * 5, [GOOD] * 5))
    assert json.loads(here(*files.words(path, "--format", "json")).out)["rated_by"] == "people"


def test_of_several_repeats_the_first_counts_in_a_comparison(files: Files) -> None:
    first = [f"{line},0" for line in rows([GOOD] * 5, [GOOD] * 5)]
    again = [f"{line},1" for line in rows([6] * 5, [6] * 5)]
    done = here(*files.words(written(files, [*again, *first], "repeat"), "--format", "json"))
    assert {query["baseline"]["mean"] for query in json.loads(done.out)["queries"]} == {4.0}


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("criterion", "c1", ":2: criterion: `c1` stands where none belongs; `Q-01` is a scale"),
        ("attempt", "2", ":2: attempt: the attempt 2 cannot be compared; allowed: 1"),
        ("attempt", "0", ":2: attempt: `0` is no attempt; allowed: whole numbers from 1"),
        ("repeat", "-1", ":2: repeat: `-1` is no count of a repeat; allowed: whole numbers from 0"),
        ("source", "robot", ":2: source: `robot` is no source; allowed: person, judge"),
    ],
)
def test_a_comparison_refuses_what_these_columns_may_not_hold(
    files: Files, column: str, value: str, message: str
) -> None:
    lines = rows([GOOD] * 5, [GOOD] * 5)
    lines = [f"{lines[0]},{value}", *(f"{line}," for line in lines[1:])]
    done = here(*files.words(written(files, lines, column)))
    assert done.code == 3
    assert message in done.err


def test_the_axes_of_a_wide_table_keep_these_columns(files: Files) -> None:
    lines = [
        f"{item},{variant},gpt,judge,{','.join('4' * len(AXES))}"
        for item in ("TQ-1", "TQ-2", "TQ-3", "TQ-4", "TQ-5")
        for variant in ("big", "small")
    ]
    path = files.write("w.csv", f"item,variant,rater,source,{','.join(AXES)}\n" + "\n".join(lines))
    assert json.loads(here(*files.words(path, "--format", "json")).out)["rated_by"] == "judges"


def test_people_do_not_rate_into_a_file_of_judges(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.out.write_text("item,variant,rater,axis,score,note,source\nTQ-1,big,gpt,Q-01,4,,judge\n")
    done = desk.rate(EACH * 4)
    assert done.code == 3
    assert ":2: source: `gpt` is a judge; people's ratings go to a file of their own" in done.err
