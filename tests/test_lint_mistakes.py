"""Mistakes that a reader overlooks: words inside a schema, swapped files, gates the wrong way."""

from __future__ import annotations

from pathlib import Path

import pytest

from markscheme import DocumentError, LintFinding, UsageError, lint, load_exam, load_rubric

HEAD = "rubric: mine\naxes:\n"
SCHEMA = HEAD + (
    "  - name: form\n"
    "    kind: json_schema\n"
    "    schema:\n"
    "      required: [answer]\n"
    "      properties: {answer: {type: string}}\n"
)
EXAM = "exam: mine\nitems: [{id: a, prompt: Past of go., expected_contains: [went]}]\n"


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def find(path: Path, code: str) -> list[LintFinding]:
    return [found for found in lint(path).findings if found.code == code]


@pytest.mark.parametrize(
    ("right", "wrong", "field", "line"),
    [
        ("required:", "requried:", "requried", 6),
        ("properties:", "propertes:", "propertes", 7),
        ("{type: string}", "{type: array, items: {typ: string}}", "properties.answer.items.typ", 7),
        ("{type: string}", "{anyOf: [{enmu: [a]}]}", "properties.answer.anyOf.0.enmu", 7),
    ],
)
def test_a_keyword_that_no_schema_has_is_found_with_its_line_and_what_is_allowed(
    tmp_path: Path, right: str, wrong: str, field: str, line: int
) -> None:
    (found,) = find(write(tmp_path / "r.yaml", SCHEMA.replace(right, wrong)), "R021")
    assert (found.field, found.line) == (f"axes.0.schema.{field}", line)
    assert "allowed: $anchor, " in found.message
    assert "did you mean `" in found.message


def test_names_of_properties_and_notes_are_no_keywords(tmp_path: Path) -> None:
    named = SCHEMA.replace("{answer: {", "{requried: {x-why: new, ")
    assert find(write(tmp_path / "r.yaml", named), "R021") == []


@pytest.mark.parametrize("types", ["str", "[string, text]"])
def test_a_type_that_json_lacks_is_refused_with_its_line_and_the_types(
    tmp_path: Path, types: str
) -> None:
    path = write(tmp_path / "r.yaml", SCHEMA.replace("{type: string}", f"{{type: {types}}}"))
    with pytest.raises(DocumentError) as caught:
        load_rubric(path)
    (problem,) = caught.value.problems
    assert (problem.line, problem.field) == (7, "axes.0.schema.properties.answer.type")
    assert "is no type of JSON; allowed: array, boolean, integer, null, number" in problem.message


def test_all_types_that_json_lacks_are_told_at_once(tmp_path: Path) -> None:
    properties = "{answer: {type: str}, type: {enum: [{type: x}], items: {type: [nul]}}}"
    path = write(tmp_path / "r.yaml", SCHEMA.replace("{answer: {type: string}}", properties))
    with pytest.raises(DocumentError) as caught:
        load_rubric(path)
    assert [problem.field.removeprefix("axes.0.schema.") for problem in caught.value.problems] == [
        "properties.answer.type",
        "properties.type.items.type",
    ]


def test_another_mistake_in_a_schema_is_told_at_its_place(tmp_path: Path) -> None:
    path = write(tmp_path / "r.yaml", SCHEMA.replace("[answer]", "answer"))
    with pytest.raises(DocumentError) as caught:
        load_rubric(path)
    (problem,) = caught.value.problems
    assert (problem.line, problem.field) == (6, "axes.0.schema.required")


def test_an_exam_in_the_place_of_a_rubric_is_recognised_and_the_other_way_round(
    tmp_path: Path,
) -> None:
    exam, rubric = write(tmp_path / "e.yaml", EXAM), write(tmp_path / "r.yaml", SCHEMA)
    with pytest.raises(DocumentError, match=r"e\.yaml:1: this is an exam, not a rubric; .*-e"):
        load_rubric(exam)
    with pytest.raises(DocumentError, match=r"r\.yaml:1: this is a rubric, not an exam; .*-r"):
        load_exam(rubric)


def test_a_built_in_exam_in_the_place_of_a_rubric_is_recognised_and_the_other_way_round() -> None:
    with pytest.raises(UsageError, match="`capstone` is a built-in exam, not a rubric; give it"):
        load_rubric("capstone")
    with pytest.raises(UsageError, match="`tutor-capstone` is a built-in rubric, not an exam; "):
        load_exam("tutor-capstone")


def test_the_sum_of_many_weights_is_shown_with_its_first_terms_only(tmp_path: Path) -> None:
    axes = [f"  - {{name: a{n}, kind: length, at_most: {n}, weight: 0.01}}\n" for n in range(1, 40)]
    with pytest.raises(DocumentError) as caught:
        load_rubric(write(tmp_path / "r.yaml", HEAD + "".join(axes)))
    assert "sum to 0.39 (0.01 + 0.01 + " in str(caught.value)
    assert "+ …); they must sum to exactly 1" in str(caught.value)


@pytest.mark.parametrize(
    ("limits", "count"),
    [
        ("at_most: 0.9", 1),
        ("at_least: 0.5, at_most: 0.9", 0),
        ("metric: passed, at_most: 0.5", 1),
        ("metric: axis, axis: form, at_most: 0.5", 0),
        ("metric: cost, at_most: 0.5", 0),
    ],
)
def test_a_score_that_is_only_limited_from_above_is_questioned(
    tmp_path: Path, limits: str, count: int
) -> None:
    gates = f"gates:\n  - {{name: bar, level: hard, {limits}}}\n"
    assert len(find(write(tmp_path / "r.yaml", SCHEMA + gates), "R020")) == count
