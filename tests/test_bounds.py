"""What nobody marked widens a score to bounds, and never moves it; no gate passes on hope."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from random import Random
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commands import here
from erasures import erase, find_faults, make_case, make_rubric
from gates import gate, judged
from marked_answers import FULL, Desk
from markscheme import score
from markscheme.vocabulary import ScoreBounds

if TYPE_CHECKING:
    from pathlib import Path

    from gates import Cells

RUBRICS = [make_rubric(Random(seed)) for seed in range(8)]  # noqa: S311 - not a secret
ALL_BUT_C1 = [row for row in FULL if row != "i1,,ana,facts,c1,1"]
"""The first answer lacks the mark of 3 of its 4 positive points; 0 or 3 of them are earned."""


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@given(st.integers(0, 2**32), st.sampled_from(RUBRICS))
@settings(max_examples=60, deadline=None)
def test_bounds_contain_the_true_score_whatever_is_erased(seed: int, rubric: Any) -> None:
    random = Random(seed)  # noqa: S311 - not a secret
    case = make_case(random, rubric)
    assert list(find_faults(case, erase(random, case))) == []


def test_an_unmarked_criterion_leaves_a_row_and_the_summary_with_bounds(desk: Desk) -> None:
    done = desk.score_rows(ALL_BUT_C1)
    assert done.code == 4
    first, second = done.json["items"]
    # Points 1 (words), 2 · 3/4 (tone), 1/2 (outcome) and 4 times 1/4 to 1 (facts), of 8.
    assert (first["score"], first["bounds"]) == (None, [0.5, 0.875])
    assert (first["status"], first["cell_status"]["facts"]) == ("unscored", "abstained")
    assert first["cell_bounds"]["facts"] == [0.25, 1]
    assert [first["cell_bounds"][axis] for axis in ("words", "tone", "outcome")] == [None] * 3
    assert second["score"] == pytest.approx(8 / 9)
    assert "bounds" not in second
    summary = done.json["summary"]
    assert summary["score"] is None
    assert summary["exact"]["bounds"] == ["25/36", "127/144"]
    assert summary["axis_bounds"].keys() == {"facts"}
    assert summary["axes"]["tone"] == 0.875
    assert summary["subjects"][0]["bounds"] == summary["bounds"]


def test_a_row_says_who_marked_what_and_why(desk: Desk) -> None:
    header = "item,variant,rater,axis,criterion,score,note"
    rows = [f"{row}," for row in FULL[1:]]
    done = desk.score_rows(['i1,,ana,tone,,2.5,"kind, but short"', *rows], header)
    marks = done.json["items"][0]["marks"]
    assert marks["words"] is None
    assert marks["tone"] == [
        {
            "criterion": None,
            "score": 2.5,
            "verdict": None,
            "source": "person",
            "by": "ana",
            "why": "kind, but short",
        }
    ]
    assert [
        (m["criterion"], m["score"], m["verdict"], m["source"], m["by"]) for m in marks["facts"]
    ] == [
        ("c1", 1, "met", "person", "ana"),
        ("c2", 0, "not met", "person", "ana"),
        ("c3", 1, "met", "check", "contains_all"),
    ]
    assert done.json["items"][0]["expected"] == ["dose"]


def test_every_file_of_rows_has_the_bounds_and_the_marks(desk: Desk) -> None:
    for suffix in ("json", "jsonl", "parquet", "csv"):
        out = desk.folder / f"rows.{suffix}"
        ratings = desk.write_ratings(ALL_BUT_C1)
        assert desk.score(ratings, more=["-o", out]).code == 4
    first = json.loads((desk.folder / "rows.jsonl").read_text().splitlines()[0])
    assert first["bounds"] == [0.5, 0.875]
    frame = pl.read_parquet(desk.folder / "rows.parquet")
    assert frame["bounds"].to_list() == [[0.5, 0.875], None]
    assert frame["marks"].struct.field("facts").to_list()[0][0]["criterion"] == "c2"
    with (desk.folder / "rows.csv").open(newline="") as stream:
        row = next(csv.DictReader(stream))
    assert json.loads(row["bounds"]) == [0.5, 0.875]
    assert json.loads(row["marks.facts"])[0]["by"] == "ana"


def test_a_stored_run_and_its_files_say_the_same_and_verify(desk: Desk) -> None:
    out, store = desk.folder / "run.json", desk.folder / "store.db"
    words = desk.words(desk.write_ratings(ALL_BUT_C1))
    scored = here(*words, "--format", "json", "-o", out, "--store", store)
    shown = here("show", "latest", "--format", "json", "--store", store)
    assert shown.code == 4
    for part in ("items", "summary", "unmarked"):
        assert shown.json[part] == scored.json[part]
    assert here("verify", out, "-r", desk.rubric, "-e", desk.exam).code == 0
    document = json.loads(out.read_text())
    document["items"][0]["bounds"][1] = 0.9
    out.write_text(json.dumps(document))
    assert here("verify", out, "-r", desk.rubric, "-e", desk.exam).code == 1


@pytest.mark.parametrize(
    ("limit", "outcome"), [("0.5", "pass"), ("0.51", "undecided"), ("1", "undecided")]
)
def test_a_gate_passes_by_the_lower_bound_alone(limit: str, outcome: str) -> None:
    items: dict[str, list[Cells]] = {"a": [(1, 1)], "b": [(None, None)]}
    report = judged(items, gate(at_least=limit))
    assert (report.outcomes[0].outcome, report.verdict) == (outcome, outcome)
    assert report.outcomes[0].observed is None
    assert report.outcomes[0].bounds == ScoreBounds(low=Fraction(1, 2), high=Fraction(1))


def test_a_gate_fails_if_the_upper_bound_does_not_reach_it() -> None:
    items: dict[str, list[Cells]] = {"a": [(0, 0)], "b": [(None, None)]}
    (outcome,) = judged(items, gate(at_least="0.51")).outcomes
    assert outcome.outcome == "fail"
    assert "whatever the answers without a score would get" in outcome.because
    assert judged(items, gate(at_least="0.5")).verdict == "undecided"


def test_a_limit_from_above_is_met_only_by_the_upper_bound() -> None:
    items: dict[str, list[Cells]] = {"a": [(1, 1)], "b": [(None, None)]}
    (outcome,) = judged(items, gate("failures", axis="right", at_most="0")).outcomes
    assert (outcome.outcome, outcome.bounds) == (
        "undecided",
        ScoreBounds(low=Fraction(0), high=Fraction(1)),
    )
    assert judged(items, gate("failures", axis="right", at_most="1")).verdict == "pass"


def test_a_summary_with_kept_penalties_has_the_score_cut_to_zero(tmp_path: Path) -> None:
    rubric, exam = tmp_path / "rubric.yaml", tmp_path / "exam.yaml"
    rubric.write_text(
        "rubric: aid\naxes: [{name: c, kind: criteria, weight: 1, below_zero: kept}]\n"
    )
    exam.write_text(
        "exam: e\nitems:\n  - id: a\n    prompt: '?'\n    criteria:\n"
        "      - {id: good, points: 1, says: Helps.}\n"
        "      - {id: bad, points: -4, says: Harms.}\n"
    )
    ratings = [
        {"item": "a", "variant": "", "rater": "r", "axis": "c", "criterion": name, "score": score}
        for name, score in (("good", "1"), ("bad", "1"))
    ]
    answers = [{"item": "a", "output": "x"}]
    summary = score(rubric, exam, answers, ratings=ratings).to_dict()["summary"]
    assert (summary["score"], summary["score_cut"]) == (-3.0, 0.0)
    assert summary["exact"]["score_cut"] == "0/1"
    unknown = score(rubric, exam, answers, ratings=ratings[:1]).to_dict()["summary"]
    assert (unknown["score"], unknown["bounds"]) == (None, [-3.0, 1.0])
    assert "score_cut" not in unknown


FLAGS = ("--rubric", "--exam", "--answers", "--ratings")
TONE = """\
rubric: tone
axes:
  - {name: tone, kind: scale, weight: 1, question: "How kind?", may_not_apply: true,
     anchors: {1: rude, 2: cold, 3: kind}}
gates:
  - {name: bar, level: hard, at_least: 0.75}
  - {name: few, level: hard, metric: not_applicable, axis: tone, at_most: LIMIT}
"""


@pytest.mark.parametrize(("limit", "code"), [("0.34", 0), ("0.33", 1)])
def test_an_answer_to_which_nothing_applies_is_no_loss_but_may_not_be_many(
    tmp_path: Path, limit: str, code: int
) -> None:
    texts = {
        "rubric.yaml": TONE.replace("LIMIT", limit),
        "exam.yaml": "exam: e\nitems:\n"
        + "".join(f"  - {{id: {i}, prompt: '?'}}\n" for i in "abc"),
        "answers.jsonl": "".join(json.dumps({"item": i, "output": "x"}) + "\n" for i in "abc"),
        "ratings.csv": "item,variant,rater,axis,score\n"
        + "".join(f"{i},,r,tone,{s}\n" for i, s in zip("abc", ("3", "n/a", "2"), strict=True)),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    inputs = [f"{flag}={tmp_path / name}" for flag, name in zip(FLAGS, texts, strict=True)]
    store = tmp_path / "s.db"
    done = here("score", *inputs, "--store", store, "--format", "json")
    assert done.code == 0
    summary = done.json["summary"]
    assert (summary["score"], summary["complete"]) == (0.75, True)
    assert summary["not_applicable"] == {"tone": 1}
    assert [item["status"] for item in done.json["items"]] == ["scored", "n/a", "scored"]
    gated = here("gate", "latest", "--store", store, "--format", "json")
    assert gated.code == code
    assert gated.json["gates"][1]["exact"]["observed"] == "1/3"
    assert [item["status"] for item in gated.json["items"]] == ["passed", "n/a", "failed"]


@pytest.mark.parametrize("key", ["bounds", "cell_bounds", "cell_status", "marks"])
def test_no_shape_of_marks_and_bounds_in_a_result_is_too_strange(desk: Desk, key: str) -> None:
    document = desk.score_rows(ALL_BUT_C1).json
    path = desk.folder / "strange.json"
    strange: list[Any] = [5, "x", [[]], {"facts": "x"}, {"facts": [1]}, {"facts": [{"by": []}]}]
    for value in (*strange, {"facts": [{"source": [], "criterion": {}}]}):
        document["items"][0][key] = value
        path.write_text(json.dumps(document), encoding="utf-8")
        for verb in (("verify",), ("gate",)):
            options = ("-r", desk.rubric, "--exam", desk.exam)
            assert here(*verb, path, *options).code in {0, 1, 2, 3, 4}, value
