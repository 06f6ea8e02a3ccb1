"""Numbers of a breakdown: rounded correctly or wrong, on known axes, and summed up truly."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from breakdowns import CAPITAL, RIGHT, RUBRIC, SEED, fields, published, refused, told, verified
from commands import markscheme

if TYPE_CHECKING:
    from pathlib import Path


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
    done = markscheme("verify", "p.json", cwd=tmp_path)
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith("p.json:8: score: NaN is no number that can be used")


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
