"""Published breakdowns: what `verify` recomputes, what it finds, and what it does not claim."""

from __future__ import annotations

import contextlib
import copy
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import markscheme
from markscheme import DocumentError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.weigh.verification import Verification

SEED: dict[str, Any] = {
    "item": "e-39-01",
    "prompt": "Conjugate 'eat' — past simple, 3rd singular.",
    "expected": ["ate"],
    "got": "Ate.",
    "score": 0.95,
    "breakdown": {"correctness": 1.0, "spanish_gloss": 0.0, "schema": 1.0, "conciseness": 1.0},
    "weighted": {"correctness": 0.60, "spanish_gloss": 0.00, "schema": 0.10, "conciseness": 0.05},
}
RIGHT = {**SEED, "score": 0.75}
MISSING = {"item": "e-39-02", "score": None, "breakdown": None, "weighted": None}
EXAM = """\
exam: small
items:
  - {id: e-39-01, prompt: eat, expected_contains: [ate], gloss_contains: [comió]}
  - {id: e-39-02, prompt: go, expected_contains: [went], gloss_contains: [fue]}
"""
RUBRIC = """\
rubric: capitals
version: 1
axes:
  - {name: right, kind: contains_all, weight: 0.70}
  - {name: brief, kind: max_words, weight: 0.30, limit: 3}
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
CAPITAL = {
    "item": "c-01",
    "expected": ["Paris"],
    "got": "Paris.",
    "score": 1.0,
    "breakdown": {"right": 1.0, "brief": 1.0},
    "weighted": {"right": 0.7, "brief": 0.3},
}


def command(*arguments: str | Path, cwd: Path) -> tuple[int, str, str]:
    """Run the command as a user does."""
    done = subprocess.run(
        [sys.executable, "-m", "markscheme", *map(str, arguments)],
        capture_output=True,
        check=False,
        cwd=cwd,
        env={**os.environ, "PYTHONWARNINGS": "error"},
    )
    out, err = done.stdout.decode(), done.stderr.decode()
    assert "Traceback" not in out + err, err
    return done.returncode, out, err


def published(folder: Path, content: Any, name: str = "p.json") -> Path:
    path = folder / name
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    path.write_text(text)
    return path


def lines_of(*records: Any) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def verified(folder: Path, content: Any, name: str = "p.json", **more: Any) -> Verification:
    return markscheme.verify(published(folder, content, name), **more)


def fields(found: Verification) -> list[str]:
    return [finding.field for finding in found.findings]


def told(found: Verification) -> dict[str, tuple[str, str]]:
    return {finding.field: (finding.published, finding.computed) for finding in found.findings}


def refused(folder: Path, content: Any, name: str = "p.json") -> list[tuple[int, str, str]]:
    with pytest.raises(DocumentError) as error:
        verified(folder, content, name)
    return [(problem.line, problem.field, problem.message) for problem in error.value.problems]


# --- what was not scored -----------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_results_with_missing_items_and_bad_rows_verify_clean(tmp_path: Path, suffix: str) -> None:
    (tmp_path / "exam.yaml").write_text(EXAM)
    (tmp_path / "a.jsonl").write_text('{"item": "e-39-01", "output": "He ate."}\n{bad\n')
    scoring = ("score", "-r", "tutor-capstone", "-e", "exam.yaml", "-a", "a.jsonl")
    assert command(*scoring, "-o", f"out.{suffix}", cwd=tmp_path)[0] == 4
    code, out, _ = command("verify", f"out.{suffix}", cwd=tmp_path)
    unscored = 1 if suffix == "json" else 2  # the JSON document keeps bad rows apart
    assert out == f"1 breakdown checked, {unscored} unscored: all follow from each other\n"
    assert code == 0
    _, as_json, _ = command("verify", f"out.{suffix}", "--format", "json", cwd=tmp_path)
    assert json.loads(as_json) == {
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
    result = markscheme.score("tutor-capstone", "capstone", answers)
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
    code, out, _ = command("verify", "p.json", cwd=tmp_path)
    assert code == 4
    assert out == f"nothing was checked: the file holds no breakdown{more}\n"


def test_nothing_checked_is_not_ok_in_json(tmp_path: Path) -> None:
    published(tmp_path, [])
    code, out, _ = command("verify", "p.json", "--format", "json", cwd=tmp_path)
    assert code == 4
    assert json.loads(out)["ok"] is False


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
    code, out, _ = command("verify", "p.json", cwd=tmp_path)
    told = "the leading axis could not be judged anew in 1 of 2 (no usable got and expected)"
    assert out.splitlines() == [told, "2 breakdowns checked: all follow from each other"]
    assert code == 0
    _, as_json, _ = command("verify", "p.json", "--format", "json", cwd=tmp_path)
    assert json.loads(as_json)["not_judged_anew"] == 1


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
    code, out, err = command("verify", "p.json", cwd=tmp_path)
    assert code == 2
    told = "`p.json` was scored under the rubric `capitals`; name its file with --rubric"
    assert told in err
    assert out == ""


def test_a_single_breakdown_may_name_its_rubric_too(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="under the rubric `capitals`"):
        verified(tmp_path, {**CAPITAL, "rubric": {"name": "capitals"}})


def test_an_own_rubric_is_used_where_it_is_given(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text(RUBRIC)
    published(tmp_path, {"rubric": {"name": "capitals"}, "items": [CAPITAL]})
    assert command("verify", "p.json", "--rubric", "r.yaml", cwd=tmp_path)[0] == 0
    published(tmp_path, {"rubric": {"name": "capitals"}, "items": [{**CAPITAL, "score": 0.7}]})
    code, out, _ = command("verify", "p.json", "-r", "r.yaml", cwd=tmp_path)
    assert code == 1
    assert "items.0.score: 0.7 is published, 1 is right: 0.70 × 1 + 0.30 × 1" in out


def test_what_names_no_rubric_is_checked_under_tutor_capstone(tmp_path: Path) -> None:
    assert verified(tmp_path, [RIGHT]).findings == ()
    assert verified(tmp_path, {"rubric": {"name": "tutor-capstone"}, **RIGHT}).findings == ()


def test_another_rubric_under_the_same_name_is_found(tmp_path: Path) -> None:
    named = {"name": "tutor-capstone", "fingerprint": "b2:0"}
    found = verified(tmp_path, {"rubric": named, "items": [RIGHT]})
    assert fields(found) == ["rubric.fingerprint"]


# --- numbers -----------------------------------------------------------------------------------


def test_the_seeds_example_has_exactly_one_error(tmp_path: Path) -> None:
    assert told(verified(tmp_path, SEED)) == {"score": ("0.95", "0.75")}


@pytest.mark.parametrize(
    ("score", "right"),
    [
        ("0.8767", True),
        ("0.87667", True),
        ("0.8766666666666667", True),
        ("0.8766", False),
        ("0.8768", False),
        ("0.877", False),
        ("0.87666", False),
        ("0.8766666666666666", False),
        ("0.87666666666666670000001", False),
    ],
)
def test_a_number_may_be_rounded_but_correctly(tmp_path: Path, score: str, right: bool) -> None:  # noqa: FBT001
    """Means of three: (1 + 1 + 0.63) / 3 is 263/300."""
    (tmp_path / "r.yaml").write_text(RUBRIC.replace("0.70", "0.63").replace("0.30", "0.37"))
    whole = {"score": 1, "breakdown": {"right": 1, "brief": 1}}
    part = {"score": 0.63, "breakdown": {"right": 1, "brief": 0}}
    summary = json.dumps({"items": [whole, whole, part], "summary": {"n": 3}})
    content = summary.replace('"n": 3', f'"score": {score}')
    found = verified(tmp_path, content, rubric=tmp_path / "r.yaml")
    assert fields(found) == ([] if right else ["summary.score"])


@pytest.mark.parametrize("score", ["0.750000000000000000000001", "0.74999999999999999999"])
def test_the_nearest_double_is_no_excuse_for_digits_no_double_has(
    tmp_path: Path, score: str
) -> None:
    content = json.dumps(SEED).replace("0.95", score)
    assert fields(verified(tmp_path, content)) == ["score"]


@pytest.mark.parametrize("score", ["0.75", "0.7500000000000000000000000", "75e-2"])
def test_one_number_may_be_written_in_several_ways(tmp_path: Path, score: str) -> None:
    assert not verified(tmp_path, json.dumps(SEED).replace("0.95", score)).findings


@pytest.mark.parametrize("value", ["NaN", "-Infinity", "1e999999999", "0e999999999", "1" * 5000])
def test_what_is_no_usable_number_is_refused_with_its_line(tmp_path: Path, value: str) -> None:
    content = json.dumps(SEED, indent=1).replace("0.95", value)
    [(line, field, message)] = refused(tmp_path, content)
    assert (line, field) == (8, "score")
    assert "no number that can be used" in message
    assert len(message) < 100


def test_nan_is_exit_3(tmp_path: Path) -> None:
    published(tmp_path, json.dumps(SEED, indent=1).replace("0.95", "NaN"))
    code, out, err = command("verify", "p.json", cwd=tmp_path)
    assert (code, out) == (3, "")
    assert err.startswith("p.json:8: score: NaN is no number that can be used")


def test_nan_is_refused_in_lists_and_json_lines_too(tmp_path: Path) -> None:
    bad = json.dumps({**RIGHT, "breakdown": {"correctness": "NaN"}}).replace('"NaN"', "NaN")
    good = json.dumps(RIGHT)
    listed = refused(tmp_path, f"[\n{good},\n{bad}\n]")
    assert [place[:2] for place in listed] == [(3, "1.breakdown.correctness")]
    by_line = refused(tmp_path, f"{good}\n{bad}\n", "p.jsonl")
    assert [place[:2] for place in by_line] == [(2, "breakdown.correctness")]


def test_a_number_that_is_published_twice_is_refused(tmp_path: Path) -> None:
    content = json.dumps(RIGHT).replace('"score"', '"score": 0.95, "score"')
    assert [place[1:] for place in refused(tmp_path, content)] == [
        ("score", "the key occurs twice; each key may occur once")
    ]


# --- axes --------------------------------------------------------------------------------------


def test_an_unknown_axis_is_found_wherever_it_stands(tmp_path: Path) -> None:
    weighted = {**SEED["weighted"], "charm": 0.2}
    document = {
        "items": [{**RIGHT, "weighted": weighted}],
        "summary": {"axes": {"charm": 1.0, "schema": 1.0}},
    }
    assert fields(verified(tmp_path, document)) == ["items.0.weighted", "summary.axes"]


def test_a_value_out_of_range_is_one_finding_and_nothing_is_computed_from_it(
    tmp_path: Path,
) -> None:
    breakdown = {**SEED["breakdown"], "schema": 2}
    document = {"items": [{**RIGHT, "breakdown": breakdown}], "summary": {"n": 1, "score": 0.8}}
    assert fields(verified(tmp_path, document)) == ["items.0.breakdown.schema"]


def test_lists_of_axes_are_and_one_axis_is(tmp_path: Path) -> None:
    many = verified(tmp_path, CAPITAL).findings[0]
    axes = "correctness, spanish_gloss, schema, conciseness are right"
    because = "these are the axes of the rubric `tutor-capstone`"
    assert f"breakdown: right, brief are published, {axes}: {because}" in str(many)
    one = verified(tmp_path, {"score": 1, "breakdown": {"right": 1}}).findings[0]
    assert f"right is published, {axes}" in str(one)
    none = verified(tmp_path, {"score": 1, "breakdown": {}}).findings[0]
    assert f"nothing is published, {axes}" in str(none)


# --- the summary -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "summary",
    [
        {},
        None,
        {"n": 1},
        {"score": 0.75},
        {"n": 1, "score": 0.75},
        {"axes": SEED["breakdown"]},
        {"axes": {"schema": 1.0}},
        {"axes": None},
    ],
)
def test_a_summary_is_checked_for_what_it_says(tmp_path: Path, summary: Any) -> None:
    assert fields(verified(tmp_path, {"items": [RIGHT], "summary": summary})) == []


@pytest.mark.parametrize(
    ("summary", "field"),
    [
        ({"n": 2}, "summary.n"),
        ({"score": 0.7}, "summary.score"),
        ({"score": None}, "summary.score"),
        ({"axes": {"schema": 0.9}}, "summary.axes.schema"),
    ],
)
def test_what_a_summary_says_must_follow(tmp_path: Path, summary: Any, field: str) -> None:
    assert fields(verified(tmp_path, {"items": [RIGHT], "summary": summary})) == [field]


@pytest.mark.parametrize("summary", [[], "good", {"axes": [1]}])
def test_a_summary_of_the_wrong_shape_is_refused(tmp_path: Path, summary: Any) -> None:
    assert refused(tmp_path, {"items": [RIGHT], "summary": summary})


@pytest.mark.parametrize(("count", "noun"), [(1, "1 breakdown"), (2, "2 breakdowns")])
def test_a_mean_is_over_one_breakdown_or_several(tmp_path: Path, count: int, noun: str) -> None:
    found = verified(tmp_path, {"items": [RIGHT] * count, "summary": {"score": 0.7}})
    assert [finding.because for finding in found.findings] == [f"the mean over {noun}"]


# --- every number of a result ------------------------------------------------------------------

TAGGED = """\
exam: small
items:
  - {id: a, prompt: x, expected_contains: [ate], gloss_contains: [comió], tags: {verb: eat, n: 1}}
  - {id: b, prompt: y, expected_contains: [went], gloss_contains: [fue], tags: {verb: go, n: 1}}
  - {id: c, prompt: z, expected_contains: [went], gloss_contains: [fue], tags: {verb: go, n: 2}}
"""
MEASURED = {"attempt", "line", "latency_ms", "tokens_in", "tokens_out", "cost"}


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """Return an exam, and a result of two subjects with a missing item and a bad row."""
    exam = tmp_path_factory.mktemp("result") / "exam.yaml"
    exam.write_text(TAGGED)
    rows: list[dict[str, Any]] = [
        {"item": item, "output": output, "subject": who, "attempt": attempt, "cost": 0.5}
        for who, said in (("ann", "Ate. Comió."), ("bob", "Went. Fue."))
        for attempt, (item, output) in enumerate((("a", said), ("b", "went"), ("c", said)), 1)
    ]
    answers = [*rows[:-1], {"item": "zz", "output": "?"}]
    loaded = markscheme.load_exam(exam, rubric="tutor-capstone")
    document = markscheme.score("tutor-capstone", loaded, answers).to_dict()
    return exam, json.loads(json.dumps(document))


def numbers(value: Any, *place: str | int) -> Iterator[tuple[str | int, ...]]:
    """Yield the place of every number, exact ratio and list of items in a document."""
    if isinstance(value, dict | list):
        if place and place[-1] == "missing":
            yield place
        for key, inside in value.items() if isinstance(value, dict) else enumerate(value):
            yield from numbers(inside, *place, key)
    elif place[-1] in MEASURED:
        return
    elif isinstance(value, int | float) or "exact" in place:
        yield place


def changed(value: Any) -> Any:
    match value:
        case bool():
            return not value
        case str():
            return "1/7"
        case list():
            return [*value, "b"]
        case _:
            return value + 1 if value < 1 else value - 1


def forgeries(document: Any) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Yield the document with one number changed, for every number."""
    for place in numbers(document):
        forged = copy.deepcopy(document)
        inside = forged
        for key in place[:-1]:
            inside = inside[key]
        inside[place[-1]] = changed(inside[place[-1]])
        yield place, forged


def test_every_number_that_a_result_holds_is_checked(
    tmp_path: Path, result: tuple[Path, dict[str, Any]]
) -> None:
    exam, document = result
    rubric = markscheme.load_rubric("tutor-capstone")
    loaded: dict[str, Any] = {"rubric": rubric, "exam": markscheme.load_exam(exam, rubric=rubric)}
    assert verified(tmp_path, document, **loaded).findings == ()
    assert len(list(numbers(document))) > 100
    for place, forged in forgeries(document):
        found = fields(verified(tmp_path, forged, **loaded))
        assert found, place
        assert place[0] != "summary" or ".".join(map(str, place)) in found, place


def test_every_number_that_was_measured_in_logs_follows_from_the_rows(tmp_path: Path) -> None:
    logs = Path(__file__).parent / "golden" / "context-agent" / "logs"
    document = markscheme.score("context-agent", "context-queries", logs=logs).to_dict()
    whole = json.loads(json.dumps(document))
    few = {**whole, "operational": [whole["operational"][at] for at in (0, 1, 3, -1)]}
    assert verified(tmp_path, whole).findings == ()
    for place, forged in forgeries({"operational": few["operational"]}):
        assert fields(verified(tmp_path, {**few, **forged})) == [".".join(map(str, place))]
    for entry in ({}, 3, {"item": ["TQ-1"]}):
        assert "operational.0" in fields(verified(tmp_path, {**few, "operational": [entry]}))[0]


def test_measures_that_the_rows_do_not_hold_are_taken_as_they_are(tmp_path: Path) -> None:
    document = {"exam": {"name": "capstone"}, "items": [RIGHT], "operational": [{"sessions": 3}]}
    assert verified(tmp_path, document).findings == ()


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("groups",), []),
        (("groups",), "none"),
        (("groups", 0), {}),
        (("groups", 0, "tag"), "vreb"),
        (("subjects",), None),
        (("subjects",), [3]),
        (("subjects", 1, "subject"), "ann"),
        (("exact", "score"), 3),
        (("exact", "score"), "x"),
        (("missing",), 3),
        (("complete",), 0),
    ],
)
def test_a_total_of_another_shape_does_not_follow(
    tmp_path: Path, result: tuple[Path, dict[str, Any]], place: tuple[Any, ...], value: Any
) -> None:
    exam, document = result
    forged = copy.deepcopy(document)
    inside = forged["summary"]
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = value
    found = fields(verified(tmp_path, forged, exam=exam))
    expected = place != ("subjects",) or value is not None  # no total is no wrong total
    assert any(field.startswith(f"summary.{place[0]}") for field in found) == expected


@pytest.mark.parametrize("value", [None, 5, "x", [[1]], {"a": {}}])
def test_no_shape_of_a_document_is_too_strange(
    tmp_path: Path, result: tuple[Path, dict[str, Any]], value: Any
) -> None:
    """Whatever stands where, the document follows, does not, or is refused."""
    exam, document = result
    logs = Path(__file__).parent / "golden" / "context-agent" / "logs"
    logged = markscheme.score("context-agent", "context-queries", logs=logs).to_dict()
    for whole, name, of in (
        (document, "tutor-capstone", exam),
        (json.loads(json.dumps(logged)), "context-agent", "context-queries"),
    ):
        rubric = markscheme.load_rubric(name)
        loaded: dict[str, Any] = {"rubric": rubric, "exam": markscheme.load_exam(of, rubric=rubric)}
        short = {**whole, "operational": whole.get("operational", [])[:2]}
        short["items"] = [whole["items"][0], whole["items"][-1]]
        for place in every_place(short):
            forged = copy.deepcopy(short)
            inside = forged
            for key in place[:-1]:
                inside = inside[key]
            inside[place[-1]] = value
            with contextlib.suppress(DocumentError, UsageError):
                verified(tmp_path, forged, **loaded)


def every_place(value: Any, *place: Any) -> Iterator[tuple[Any, ...]]:
    if place:
        yield place
    if isinstance(value, dict | list) and "groups" not in place[:-1]:
        for key, inside in value.items() if isinstance(value, dict) else enumerate(value):
            yield from every_place(inside, *place, key)


def test_a_row_that_was_left_out_is_missed_by_the_exam(
    tmp_path: Path, result: tuple[Path, dict[str, Any]]
) -> None:
    exam, document = result
    assert [row["item"] for row in document["items"]][1::4] == ["b", "c"]
    rows = [row for row in document["items"] if row["item"] != "b"]
    forged = {**document, "items": rows, "summary": {"missing": ["c"], "items": 2}}
    assert fields(verified(tmp_path, forged, exam=exam)) == ["summary.items", "summary.missing"]


def test_a_forged_expectation_is_found_by_the_exam(
    tmp_path: Path, result: tuple[Path, dict[str, Any]]
) -> None:
    exam, document = result
    forged = copy.deepcopy(document)
    forged["items"][0] |= {"expected": ["ate", "drank"]}
    assert "items.0.expected" in fields(verified(tmp_path, forged, exam=exam))
    forged["items"][0] |= {"item": ["a"]}
    assert "items.0.item" in fields(verified(tmp_path, forged, exam=exam))


def test_groups_of_an_exam_that_is_not_known_are_said_to_be_unchecked(
    tmp_path: Path, result: tuple[Path, dict[str, Any]]
) -> None:
    exam, document = result
    document = copy.deepcopy(document)
    document["summary"]["groups"][0]["n"] += 1
    file = published(tmp_path, document)
    code, out, _ = command("verify", file, cwd=tmp_path)
    assert code == 0
    assert out.startswith("4 groups by tag were not checked; --exam names the exam")
    code, out, _ = command("verify", file, "--exam", exam, cwd=tmp_path)
    assert code == 1
    assert "summary.groups.0.n: 2 is published, 1 is right" in out
    other = published(tmp_path, TAGGED.replace("went", "gone"), "other.yaml")
    code, out, _ = command("verify", file, "--exam", other, cwd=tmp_path)
    assert code == 1
    assert "exam.fingerprint" in out


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
