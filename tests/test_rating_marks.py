"""`score --ratings`: people's and judges' marks on scales, choices and criteria make the score."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

import markscheme
from marked_answers import ANSWERS, FULL, HEADER, Desk
from markscheme import InputError, UsageError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def with_source(rows: tuple[str, ...], source: str) -> list[str]:
    return [f"{row},{source}" for row in rows]


def replace(rows: tuple[str, ...], *changes: tuple[str, str]) -> list[str]:
    """Return the rows with the last cell of some of them replaced; `None` is not possible."""
    changed = []
    for row in rows:
        start, _, _ = row.rpartition(",")
        new = next((score for key, score in changes if start.endswith(key)), None)
        changed.append(row if new is None else f"{start},{new}")
    return changed


def test_marks_of_people_make_the_score(desk: Desk) -> None:
    done = desk.score_rows(FULL)
    assert done.code == 0, done.err
    assert done.json["summary"]["exact"]["score"] == "127/144"
    first, second = done.json["items"]
    assert (first["score"], second["score"]) == (7 / 8, 8 / 9)
    assert first["breakdown"] == {"words": 1.0, "tone": 0.75, "outcome": 0.5, "facts": 1.0}
    assert "unmarked" not in done.json


def test_the_order_of_the_rows_changes_nothing(desk: Desk) -> None:
    assert desk.score_rows(FULL[::-1]).out == desk.score_rows(FULL).out


def test_several_files_are_read_as_one(desk: Desk) -> None:
    one, two = (
        desk.write_ratings(rows, name=name)
        for name, rows in (("a.csv", FULL[:4]), ("b.csv", FULL[4:]))
    )
    assert desk.score(one, two).out == desk.score_rows(FULL).out


def test_a_wide_table_holds_scales_and_choices(desk: Desk) -> None:
    wide = desk.write_ratings(
        ["i1,,ana,2.5,too-long,", "i2,,ana,3,right,fine"],
        header="item,variant,rater,tone,outcome,remark",
        name="wide.csv",
    )
    criteria = desk.write_ratings([row for row in FULL if ",facts," in row], name="criteria.csv")
    assert desk.score(wide, criteria).out == desk.score_rows(FULL).out


def test_several_people_count_by_their_mean(desk: Desk) -> None:
    done = desk.score_rows([*FULL, "i1,,ben,tone,,1", "i1,,ben,facts,c1,0"])
    # tone (3/4 + 0) / 2 and facts (3 · 1/2 + 1) / 4
    breakdown = done.json["items"][0]["breakdown"]
    assert (breakdown["tone"], breakdown["facts"]) == (3 / 8, 5 / 8)


def test_every_repeat_of_one_rater_counts(desk: Desk) -> None:
    rows = [*(f"{row}," for row in FULL), "i1,,ana,tone,,1,1", "i1,,ana,tone,,1,2"]
    done = desk.score_rows(rows, f"{HEADER},repeat")
    assert done.json["items"][0]["breakdown"]["tone"] == 1 / 4


def test_what_does_not_apply_scales_up_the_other_weights(desk: Desk) -> None:
    done = desk.score_rows(replace(FULL, ("i1,,ana,tone,", "n/a")))
    # Without the two points of tone, 5.5 of 6 points are left.
    assert done.json["items"][0]["score"] == pytest.approx(11 / 12, abs=1e-15)
    assert done.code == 0


@pytest.mark.parametrize(("met", "unmet"), [("1", "0"), ("true", "false"), ("TRUE", "False")])
def test_a_criterion_is_met_or_not(desk: Desk, met: str, unmet: str) -> None:
    rows = replace(FULL, ("facts,c1", met), ("facts,c2", unmet))
    assert desk.score_rows(rows).json["items"][0]["breakdown"]["facts"] == 1


def test_a_criterion_that_does_not_apply_leaves_the_sum(desk: Desk) -> None:
    done = desk.score_rows(replace(FULL, ("i1,,ana,facts,c1", "n/a")))
    assert done.json["items"][0]["breakdown"]["facts"] == 1


@pytest.mark.parametrize("written", ["yes", "no", "met", "2", "0.5", "-1", "maybe"])
def test_other_words_for_a_criterion_are_refused(desk: Desk, written: str) -> None:
    done = desk.score_rows(replace(FULL, ("i1,,ana,facts,c1", written)))
    assert done.code == 3
    assert f":4: score: `{written}` is no score; allowed: 1, 0, n/a, true, false" in done.err


def test_what_nobody_marked_is_counted_and_the_score_stays_unknown(desk: Desk) -> None:
    done = desk.score_rows(FULL[3:6])
    assert done.code == 4
    assert done.json["unmarked"] == {"tone": 1, "outcome": 1, "facts": 4}
    assert "6 marks are missing: tone (1), outcome (1), facts (4)" in done.err
    assert [row["score"] for row in done.json["items"]] == [None, None]


def test_a_score_that_is_left_empty_is_a_missing_mark(desk: Desk) -> None:
    done = desk.score_rows(replace(FULL, ("i1,,ana,tone,", "")))
    assert done.code == 4
    assert "1 mark is missing: tone (1)" in done.err


def test_without_ratings_all_marks_are_missing(desk: Desk) -> None:
    done = desk.score()
    assert done.code == 4
    assert done.json["unmarked"] == {"tone": 2, "outcome": 2, "facts": 5}


def test_all_mistakes_are_reported_at_once(desk: Desk) -> None:
    done = desk.score_rows(
        [
            "i3,,ana,tone,,3",
            "i1,,ana,tones,,3",
            "i1,,ana,words,,1",
            "i1,,ana,tone,c1,3",
            "i1,,ana,facts,,1",
            "i1,,ana,facts,d1,1",
            "i1,,ana,facts,c3,1",
            "i1,,ana,tone,,3.25",
            "i1,,ana,outcome,,to-long",
            "i1,,ana,outcome,,n/a",
            "i2,,ana,outcome,,right",
            "i2,,ana,outcome,,wrong",
            "i1,,ana,remark,,3",
            "i1,,,tone,,3",
        ]
    )
    assert done.code == 3
    for told in (
        ":2: item: `i3` is no item of doses",
        ":3: axis: `tones` is no axis of advice; allowed: tone, outcome, facts, remark",
        ":4: axis: `words` is decided by code, so nobody rates it",
        ":5: criterion: `c1` stands where none belongs; `tone` is a scale and has no criteria",
        ":6: criterion: is empty; `facts` is rated by criterion",
        ":7: criterion: `d1` is no criterion of `i1`; allowed: c1, c2",
        ":8: criterion: `c3` is decided by its check; leave the rating out",
        ":9: score: `3.25` is no score; allowed: numbers from 1 to 3 in steps of 0.5, n/a",
        ":10: score: `to-long` is no score; allowed: right, too-long, wrong; did you mean",
        ":11: score: `n/a` is no score; allowed: right, too-long, wrong",
        ":13: axis: `outcome` of `i2` was rated by `ana` on line 12 already; once is allowed",
        ":14: score: `3` stands where none belongs; `remark` is a note",
        ":15: rater: is empty; a rater is needed",
    ):
        assert told in done.err


def test_a_person_and_a_judge_are_never_averaged(desk: Desk) -> None:
    rows = [*with_source(FULL, "person"), "i1,,gpt,facts,c1,1,judge"]
    done = desk.score_rows(rows, f"{HEADER},source")
    assert done.code == 3
    assert ":11: source: `facts` of `i1` was rated by the judge `gpt` here and by" in done.err
    assert "the person `ana` on line 4" in done.err


def test_a_person_and_a_judge_may_mark_different_axes(desk: Desk) -> None:
    rows = [row.replace(",ana,", ",gpt,") if "facts" in row else row for row in FULL]
    rows = [f"{row},{'judge' if 'gpt' in row else ''}" for row in rows]
    done = desk.score_rows(rows, f"{HEADER},source")
    assert done.json["summary"]["exact"]["score"] == "127/144"


def test_nobody_is_a_person_and_a_judge(desk: Desk) -> None:
    rows = [f"{row},{'judge' if 'tone' in row else 'person'}" for row in FULL]
    done = desk.score_rows(rows, f"{HEADER},source")
    assert ":3: source: `ana` is a person here and a judge on an earlier row" in done.err


def test_a_file_of_judges_scores_too(desk: Desk) -> None:
    done = desk.score_rows(with_source(FULL, "judge"), f"{HEADER},source")
    assert done.code == 0
    assert done.json["summary"]["exact"]["score"] == "127/144"


def test_an_unread_reply_of_a_judge_stays_unknown_with_its_reason(desk: Desk) -> None:
    rows = [f"{row},judge," for row in FULL[1:]]
    done = desk.score_rows([*rows, "i1,,ana,tone,,,judge,cut-off"], f"{HEADER},source,note")
    assert done.code == 4
    assert "cut-off" in done.json["items"][0]["reason"]["tone"]


def test_the_variant_of_a_rating_is_the_subject_of_the_answer(desk: Desk) -> None:
    subjects = [
        {"item": item, "output": output, "subject": subject}
        for subject in ("big", "small")
        for item, output in ANSWERS
    ]
    desk.answers = desk.write_answers(subjects)
    rows = [row.replace(",,", f",{who},", 1) for who in ("big", "small") for row in FULL]
    lower = [row.replace("tone,,2.5", "tone,,1") if "small" in row else row for row in rows]
    done = desk.score_rows(lower)
    found = {row["subject"]: row["score"] for row in done.json["summary"]["subjects"]}
    # The tone of the first answer of `small` is 0 in place of 3/4, a quarter of its score.
    assert found["big"] - found["small"] == pytest.approx(3 / 32)


def test_a_rating_of_an_answer_that_is_not_there_is_refused(desk: Desk) -> None:
    desk.answers = desk.write_answers([{"item": "i1", "output": "dose", "subject": "big"}])
    rows = ["i1,bg,ana,tone,,3", "i1,,ana,tone,,3", "i2,big,ana,tone,,3", "i1,big,ana,tone,,3"]
    out = desk.folder / "out.jsonl"
    done = desk.score(desk.write_ratings(rows), more=["-o", out])
    assert done.code == 3
    assert ":2: variant: `bg` is the subject of no answer; allowed: `big`; did you mean" in done.err
    assert ":3: variant: an empty variant is the subject of no answer; allowed: `big`" in done.err
    assert ":4: item: there is no answer of `big` to `i2`" in done.err
    assert ":5:" not in done.err
    assert not out.exists()


def test_ratings_may_name_the_attempt(desk: Desk) -> None:
    desk.answers = desk.write_answers(
        [{"item": "i1", "output": "dose mg", "attempt": at} for at in (1, 2)]
        + [{"item": "i2", "output": "day"}]
    )
    rows = [f"{row}," for row in FULL] + [
        f"{row},2" for row in replace(FULL[:4], ("tone,", "1")) if row.startswith("i1")
    ]
    done = desk.score_rows(rows, f"{HEADER},attempt")
    assert [row["breakdown"]["tone"] for row in done.json["items"]] == [0.75, 0.0, 1.0]
    refused = desk.score_rows([f"{FULL[0]},3"], f"{HEADER},attempt")
    assert ":2: item: there is no answer to `i1`, attempt 3" in refused.err


def test_ratings_of_a_rubric_without_marked_axes_are_refused(desk: Desk) -> None:
    text = "rubric: plain\nversion: 1\naxes:\n  - {name: words, kind: contains_all, weight: 1}\n"
    scale = "  - {name: tone, kind: scale, question: Kind, anchors: {1: bad, 2: good}}\n"
    desk.rubric.write_text(text + scale, encoding="utf-8")
    plain = "exam: e\nitems:\n  - {id: i1, prompt: p, expected_contains: [dose]}\n"
    desk.exam.write_text(plain, encoding="utf-8")
    done = desk.score_rows(["i1,,ana,tone,,2"])
    assert done.code == 2
    assert "`plain` has no axis with a weight that people or judges mark" in done.err


def test_ratings_that_mark_nothing_are_refused(desk: Desk) -> None:
    done = desk.score_rows(["i1,,ana,tone,,"])
    assert done.code == 2
    assert "the ratings give no mark to an axis with a weight: tone, outcome, facts" in done.err


def test_ratings_do_not_go_with_ray(desk: Desk) -> None:
    path = desk.write_ratings(FULL)
    done = desk.score(path, more=["--engine", "ray", "-o", desk.folder / "out"])
    assert done.code == 2
    assert "leave out --engine ray" in done.err


def test_an_output_never_overwrites_the_ratings(desk: Desk) -> None:
    path = desk.write_ratings(FULL)
    done = desk.score(path, more=["-o", path])
    assert done.code == 2
    assert path.read_text(encoding="utf-8").startswith(HEADER)


def test_the_library_takes_rows(desk: Desk) -> None:
    keys = HEADER.split(",")
    rows = [dict(zip(keys, row.split(","), strict=True)) for row in FULL]
    answers = [{"item": item, "output": output} for item, output in ANSWERS]
    result = markscheme.score(desk.rubric, desk.exam, answers, ratings=rows)
    assert result.summary.score == Fraction(127, 144)
    assert not result.unmarked
    less = markscheme.score(desk.rubric, desk.exam, answers, ratings=rows[:3])
    assert dict(less.unmarked) == {"tone": 1, "outcome": 1, "facts": 4}


def test_the_library_refuses_what_the_command_refuses(desk: Desk) -> None:
    answers = [{"item": item, "output": output} for item, output in ANSWERS]
    row = {"item": "i1", "variant": "", "rater": "ana", "axis": "tone", "score": 7}
    with pytest.raises(InputError, match="ratings:1: score: the number 7 is no score"):
        markscheme.score(desk.rubric, desk.exam, answers, ratings=[row])
    with pytest.raises(UsageError, match="no mark to an axis"):
        markscheme.score(desk.rubric, desk.exam, answers, ratings=[{**row, "score": None}])
