"""Results as published: every number of them is checked, whatever was forged."""

from __future__ import annotations

import contextlib
import copy
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from breakdowns import RIGHT, fields, published, verified
from commands import markscheme
from markscheme import DocumentError, UsageError, load_exam, load_rubric, score

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    loaded = load_exam(exam, rubric="tutor-capstone")
    document = score("tutor-capstone", loaded, answers).to_dict()
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
            return "1/7" if value != "1/7" else "2/7"
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
    rubric = load_rubric("tutor-capstone")
    loaded: dict[str, Any] = {"rubric": rubric, "exam": load_exam(exam, rubric=rubric)}
    assert verified(tmp_path, document, **loaded).findings == ()
    assert len(list(numbers(document))) > 100
    for place, forged in forgeries(document):
        found = fields(verified(tmp_path, forged, **loaded))
        assert found, place
        # Bounds are one value, so a wrong one of the two is told as a whole.
        whole = place[:-1] if {"bounds", "axis_bounds"} & set(place) else place
        assert place[0] != "summary" or ".".join(map(str, whole)) in found, place


def test_every_number_that_was_measured_in_logs_follows_from_the_rows(tmp_path: Path) -> None:
    logs = Path(__file__).parent / "golden" / "context-agent" / "logs"
    document = score("context-agent", "context-queries", logs=logs).to_dict()
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


def every_place(value: Any, *place: Any) -> Iterator[tuple[Any, ...]]:
    if place:
        yield place
    if isinstance(value, dict | list) and "groups" not in place[:-1]:
        for key, inside in value.items() if isinstance(value, dict) else enumerate(value):
            yield from every_place(inside, *place, key)


@pytest.mark.parametrize("value", [None, 5, "x", [[1]], {"a": {}}])
def test_no_shape_of_a_document_is_too_strange(
    tmp_path: Path, result: tuple[Path, dict[str, Any]], value: Any
) -> None:
    """Whatever stands where, the document follows, does not, or is refused."""
    exam, document = result
    logs = Path(__file__).parent / "golden" / "context-agent" / "logs"
    logged = score("context-agent", "context-queries", logs=logs).to_dict()
    for whole, name, of in (
        (document, "tutor-capstone", exam),
        (json.loads(json.dumps(logged)), "context-agent", "context-queries"),
    ):
        rubric = load_rubric(name)
        loaded: dict[str, Any] = {"rubric": rubric, "exam": load_exam(of, rubric=rubric)}
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
    right = document["summary"]["groups"][0]["n"]
    document["summary"]["groups"][0]["n"] = right + 1
    file = published(tmp_path, document)
    done = markscheme("verify", file, cwd=tmp_path)
    assert done.code == 0
    assert done.out.startswith("4 groups by tag were not checked; --exam names the exam")
    done = markscheme("verify", file, "--exam", exam, cwd=tmp_path)
    assert done.code == 1
    assert f"summary.groups.0.n: {right + 1} is published, {right} is right" in done.out
    other = published(tmp_path, TAGGED.replace("went", "gone"), "other.yaml")
    done = markscheme("verify", file, "--exam", other, cwd=tmp_path)
    assert done.code == 1
    assert "exam.fingerprint" in done.out
