"""Published breakdowns: what `verify` recomputes, what it finds, and what it does not claim."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from breakdowns import CAPITAL, RIGHT, RUBRIC, SEED, fields, published, refused, told, verified
from commands import markscheme
from markscheme import UsageError, score

if TYPE_CHECKING:
    from pathlib import Path

MISSING = {"item": "e-39-02", "score": None, "breakdown": None, "weighted": None}
EXAM = """\
exam: small
items:
  - {id: e-39-01, prompt: eat, expected_contains: [ate], gloss_contains: [comió]}
  - {id: e-39-02, prompt: go, expected_contains: [went], gloss_contains: [fue]}
"""
OUTPUTS = st.sampled_from(
    [
        "Ate. Comio\u0301.",
        "",
        "word " * 31,
        '{"correction": "ate", "spanish_gloss": "comió", "explanation": "x"}',
        '```json\n{"correction": "ate"}\n```',
    ]
)


def lines_of(*records: Any) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


# --- what was not scored -----------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_results_with_missing_items_and_bad_rows_verify_clean(tmp_path: Path, suffix: str) -> None:
    (tmp_path / "exam.yaml").write_text(EXAM)
    (tmp_path / "a.jsonl").write_text('{"item": "e-39-01", "output": "He ate."}\n{bad\n')
    scoring = ("score", "-r", "tutor-capstone", "-e", "exam.yaml", "-a", "a.jsonl")
    assert markscheme(*scoring, "-o", f"out.{suffix}", cwd=tmp_path).code == 4
    done = markscheme("verify", f"out.{suffix}", cwd=tmp_path)
    unscored = 1 if suffix == "json" else 2  # the JSON document keeps bad rows apart
    assert done.out == f"1 breakdown checked, {unscored} unscored: all follow from each other\n"
    assert done.code == 0
    assert markscheme("verify", f"out.{suffix}", "--format", "json", cwd=tmp_path).json == {
        "file": f"out.{suffix}",
        "checked": 1,
        "unscored": unscored,
        "not_judged_anew": 0,
        "groups_not_checked": 0,
        "ok": True,
        "findings": [],
    }


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["e-39-01", "no-such-item"]), OUTPUTS), max_size=6))
def test_every_result_of_ours_follows(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]
) -> None:
    answers = [{"item": item, "output": out, "attempt": n} for n, (item, out) in enumerate(rows, 1)]
    result = score("tutor-capstone", "capstone", answers)
    found = verified(tmp_path_factory.mktemp("ours"), result.to_dict())
    assert (found.findings, found.not_judged_anew) == ((), 0)
    assert found.checked == result.summary.n


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"score": 0.5}, "breakdown"),
        ({"weighted": {"correctness": 0.6}}, "breakdown"),
        ({"status": "scored"}, "breakdown"),
    ],
)
def test_a_row_without_a_breakdown_says_no_number(
    tmp_path: Path, change: dict[str, Any], field: str
) -> None:
    assert [name for _, name, _ in refused(tmp_path, {**MISSING, **change})] == [field]


@pytest.mark.parametrize(
    ("name", "content", "unscored"),
    [
        ("p.json", [], 0),
        ("p.jsonl", "", 0),
        ("p.json", {"items": []}, 0),
        ("p.json", [{**MISSING, "status": "missing"}], 1),
        ("p.jsonl", lines_of(MISSING, MISSING), 2),
    ],
)
def test_a_file_may_hold_nothing_to_check(
    tmp_path: Path, name: str, content: Any, unscored: int
) -> None:
    found = verified(tmp_path, content, name)
    assert (found.checked, found.unscored, found.findings) == (0, unscored, ())


@pytest.mark.parametrize(("content", "more"), [([], ""), ([MISSING], ", 1 unscored")])
def test_nothing_checked_is_never_0(tmp_path: Path, content: Any, more: str) -> None:
    published(tmp_path, content)
    done = markscheme("verify", "p.json", cwd=tmp_path)
    assert done.code == 4
    assert done.out == f"nothing was checked: the file holds no breakdown{more}\n"


def test_nothing_checked_is_not_ok_in_json(tmp_path: Path) -> None:
    published(tmp_path, [])
    done = markscheme("verify", "p.json", "--format", "json", cwd=tmp_path)
    assert done.code == 4
    assert done.json["ok"] is False


# --- the leading axis --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [{"got": None}, {"got": 5}, {"expected": None}, {"expected": [1]}, {"expected": []}],
)
def test_what_could_not_be_judged_anew_is_counted(tmp_path: Path, change: dict[str, Any]) -> None:
    found = verified(tmp_path, [RIGHT, {**RIGHT, **change}])
    assert (found.checked, found.not_judged_anew, found.findings) == (2, 1, ())


def test_what_could_not_be_judged_anew_is_told_and_fails_nothing(tmp_path: Path) -> None:
    published(tmp_path, [RIGHT, {**RIGHT, "got": None}])
    done = markscheme("verify", "p.json", cwd=tmp_path)
    told = "the leading axis could not be judged anew in 1 of 2 (no usable got and expected)"
    assert done.out.splitlines() == [told, "2 breakdowns checked: all follow from each other"]
    assert done.code == 0
    as_json = markscheme("verify", "p.json", "--format", "json", cwd=tmp_path).json
    assert as_json["not_judged_anew"] == 1


def test_a_rubric_without_a_leading_axis_leaves_nothing_unjudged(tmp_path: Path) -> None:
    only = "rubric: r\nversion: 1\naxes: [{name: brief, kind: max_words, weight: 1, limit: 3}]\n"
    (tmp_path / "r.yaml").write_text(only)
    record = {"score": 1, "breakdown": {"brief": 1}}
    assert verified(tmp_path, record, rubric=tmp_path / "r.yaml").not_judged_anew == 0


def test_findings_agree_with_each_other_where_the_leading_axis_is_wrong(tmp_path: Path) -> None:
    document = {"items": [{**RIGHT, "got": "Eat."}], "summary": {"n": 1, "score": 0.75}}
    assert told(verified(tmp_path, document)) == {
        "items.0.breakdown.correctness": ("1", "0"),
        "items.0.weighted.correctness": ("0.6", "0"),
        "items.0.score": ("0.75", "0.15"),
        "summary.score": ("0.75", "0.15"),
    }


def test_an_accent_in_two_code_points_is_the_same_accent(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text(RUBRIC)
    record = {**CAPITAL, "expected": ["Bogotá"], "got": "Bogota\u0301"}
    content = json.dumps(record)  # escaped, so that it is only one accent once it is read
    assert not verified(tmp_path, content, rubric=tmp_path / "r.yaml").findings


# --- which rubric ------------------------------------------------------------------------------


@pytest.mark.parametrize("named", [{"name": "capitals"}, "capitals"])
def test_a_rubric_that_is_not_built_in_must_be_given(tmp_path: Path, named: Any) -> None:
    published(tmp_path, {"rubric": named, "items": [CAPITAL]})
    done = markscheme("verify", "p.json", cwd=tmp_path)
    assert done.code == 2
    told = "`p.json` was scored under the rubric `capitals`; name its file with --rubric"
    assert told in done.err
    assert done.out == ""


def test_a_single_breakdown_may_name_its_rubric_too(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="under the rubric `capitals`"):
        verified(tmp_path, {**CAPITAL, "rubric": {"name": "capitals"}})


def test_an_own_rubric_is_used_where_it_is_given(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text(RUBRIC)
    published(tmp_path, {"rubric": {"name": "capitals"}, "items": [CAPITAL]})
    assert markscheme("verify", "p.json", "--rubric", "r.yaml", cwd=tmp_path).code == 0
    published(tmp_path, {"rubric": {"name": "capitals"}, "items": [{**CAPITAL, "score": 0.7}]})
    done = markscheme("verify", "p.json", "-r", "r.yaml", cwd=tmp_path)
    assert done.code == 1
    assert "items.0.score: 0.7 is published, 1 is right: 0.70 × 1 + 0.30 × 1" in done.out


def test_what_names_no_rubric_is_checked_under_tutor_capstone(tmp_path: Path) -> None:
    assert verified(tmp_path, [RIGHT]).findings == ()
    assert verified(tmp_path, {"rubric": {"name": "tutor-capstone"}, **RIGHT}).findings == ()


def test_another_rubric_under_the_same_name_is_found(tmp_path: Path) -> None:
    named = {"name": "tutor-capstone", "fingerprint": "b2:0"}
    found = verified(tmp_path, {"rubric": named, "items": [RIGHT]})
    assert fields(found) == ["rubric.fingerprint"]


# --- JSON lines --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["p.jsonl", "p.JSONL", "p.ndjson", "p.json", "p.txt"])
def test_json_lines_are_read_under_any_name(tmp_path: Path, name: str) -> None:
    found = verified(tmp_path, lines_of(RIGHT, RIGHT) + "\n" + lines_of(MISSING, SEED), name)
    assert (found.checked, found.unscored) == (3, 1)
    assert [(finding.line, finding.field) for finding in found.findings] == [(5, "score")]


def test_every_bad_line_is_told_at_once_and_without_an_index(tmp_path: Path) -> None:
    content = lines_of(RIGHT) + '{bad\n{"score": 1}\n[1]\n{also bad\n'
    for name in ("p.jsonl", "p.json"):
        assert [line for line, _, _ in refused(tmp_path, content, name)] == [2, 5]
    content = lines_of(RIGHT, {"score": 1}, [1])
    assert [place[:2] for place in refused(tmp_path, content)] == [(2, "breakdown"), (3, "")]


def test_a_broken_document_is_told_as_one_document(tmp_path: Path) -> None:
    assert [line for line, _, _ in refused(tmp_path, '{\n"score": 1,\n"breakdown": }\n')] == [3]


def test_findings_in_a_list_name_their_line(tmp_path: Path) -> None:
    found = verified(tmp_path, f"[\n{json.dumps(RIGHT)},\n{json.dumps(SEED)}\n]")
    assert [(finding.line, finding.field) for finding in found.findings] == [(3, "1.score")]


def test_verify_finds_the_error_in_the_seeds_published_example(tmp_path: Path) -> None:
    (tmp_path / "seed.json").write_text(json.dumps(SEED, indent=2, ensure_ascii=False))
    done = markscheme("verify", "seed.json", cwd=tmp_path)
    assert done.code == 1
    assert "seed.json:8: e-39-01: score: 0.95 is published, 0.75 is right" in done.out
    assert len(done.out.splitlines()) == 2
    document = markscheme("verify", "seed.json", "--format", "json", cwd=tmp_path).json
    assert [f["field"] for f in document["findings"]] == ["score"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"weighted": {**SEED["weighted"], "schema": 0.2}}, "weighted.schema"),
        ({"breakdown": {"correctness": 1}}, "breakdown"),
        ({"got": "Eat."}, "breakdown.correctness"),
        ({"breakdown": {**SEED["breakdown"], "schema": 2}}, "breakdown.schema"),
        ({"score": None}, "score"),
    ],
)
def test_verify_names_the_field_that_is_wrong(
    tmp_path: Path, change: dict[str, Any], field: str
) -> None:
    (tmp_path / "p.json").write_text(json.dumps({**SEED, "score": 0.75, **change}))
    document = markscheme("verify", "p.json", "--format", "json", cwd=tmp_path).json
    assert field in [finding["field"] for finding in document["findings"]]


@pytest.mark.parametrize("content", ["", "[1]", "{}", '{"score": "x", "breakdown": {}}', "{"])
def test_verify_refuses_what_is_no_breakdown(tmp_path: Path, content: str) -> None:
    (tmp_path / "p.json").write_text(content)
    done = markscheme("verify", "p.json", cwd=tmp_path)
    assert done.code == 3
    assert done.err.startswith("p.json:1:")
