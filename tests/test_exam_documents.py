"""Exam files: what is read, what is refused, and what the refusal says."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from markscheme import DocumentError, UsageError, load_exam, load_rubric
from yaml_documents import EXAM, RUBRIC, problems_of


@pytest.mark.parametrize(
    ("old", "new", "expected_text"),
    [
        (
            "exam: mine",
            "exm: mine",
            "e.yaml:1: exm: unknown key; allowed: exam, version, title, ",
        ),
        (
            "    tags",
            "    tag",
            "e.yaml:6: items.0.tag: unknown key; allowed: id, prompt, tags, exp",
        ),
        ("a-2", "a-1", "e.yaml:7: items.1.id: `a-1` occurs twice, first in e.yaml:3; each id may"),
        ("a-2", "a 2", "e.yaml:7: items.1.id: `a 2` is no name; ASCII letters, digits"),
        (
            "a-2",
            '"a\\u200b2"',
            "e.yaml:7: items.1.id: `a\\u200b2` is no name; ASCII letters, digits",
        ),
        (
            "a-2",
            "2",
            "e.yaml:7: items.1.id: must be text, not the number 2; put it in",
        ),
        ("    prompt: Say ran.\n", "", "e.yaml:7: items.1.prompt: is missing; it is required"),
        ("Say ran.", "", "e.yaml:8: items.1.prompt: must be text"),
        ("Say ran.", "''", "e.yaml:8: items.1.prompt: is empty; a text is needed"),
        ("[ran]", "", "e.yaml:9: items.1.expected_contains: is empty; give it a value"),
        ("{verb: eat}", "[eat]", "e.yaml:6: items.0.tags: must be a mapping of keys to values"),
        ("{verb: eat}", "{verb: [eat]}", "e.yaml:6: items.0.tags.verb: must be"),
    ],
)
def test_each_mistake_in_an_exam_is_told_with_line_and_field(
    tmp_path: Path, old: str, new: str, expected_text: str
) -> None:
    assert old in EXAM
    found = problems_of(tmp_path / "e.yaml", EXAM.replace(old, new, 1), exam=True)
    assert any(message.startswith(expected_text) for message in found), found


def test_an_empty_exam_is_refused(tmp_path: Path) -> None:
    found = problems_of(tmp_path / "e.yaml", "exam: e\nitems: []\n", exam=True)
    assert found == ["e.yaml:2: items: is empty; at least one entry is needed"]


def test_an_id_that_occurs_in_two_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text(EXAM)
    (tmp_path / "two.yaml").write_text(EXAM.replace("a-2", "b-2"))
    with pytest.raises(DocumentError, match=r"two\.yaml:3: items\.0\.id: `a-1` occurs twice"):
        load_exam(tmp_path / "one.yaml", tmp_path / "two.yaml")


def test_mistakes_in_several_exam_files_are_told_together(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text(EXAM.replace("id: a-1", "idd: a-1"))
    (tmp_path / "two.yaml").write_text("exam: x\n")
    with pytest.raises(DocumentError) as caught:
        load_exam(tmp_path / "one.yaml", tmp_path / "two.yaml")
    assert {Path(problem.file).name for problem in caught.value.problems} == {
        "one.yaml",
        "two.yaml",
    }


@pytest.mark.parametrize(
    ("expectation", "expected_text"),
    [
        ("gloss_contains: [comió]", "items.0.expected_contains: is missing; the axis needs a list"),
        ("expected_contains: ate", "expected_contains: must be a list of texts, not `ate`"),
        ("expected_contains: []", "expected_contains: is an empty list, so it tells no answers"),
        ("expected_contains: [ate, 3]", "expected_contains.1: must be a text, not the number 3"),
        ("expected_contains: [' . ']", 'expected_contains.0: " . " is empty after normalisation'),
    ],
)
def test_an_item_without_what_an_axis_needs_is_refused(
    tmp_path: Path, expectation: str, expected_text: str
) -> None:
    path = tmp_path / "e.yaml"
    path.write_text(f"exam: e\nitems:\n  - id: a\n    prompt: p\n    {expectation}\n")
    rubric = load_rubric("tutor-capstone")
    with pytest.raises(DocumentError) as caught:
        load_exam(path, rubric=rubric)
    assert expected_text in str(caught.value)
    assert "item `a`" in str(caught.value)


def test_mistakes_of_form_and_of_expectation_are_told_together(tmp_path: Path) -> None:
    text = "exam: x\nfoo: 1\nitems:\n  - id: a\n    prompt: P\n    expected_contains: oops\n"
    (tmp_path / "e.yaml").write_text(text)
    with pytest.raises(DocumentError) as caught:
        load_exam(tmp_path / "e.yaml", rubric=load_rubric("tutor-capstone"))
    fields = [problem.field for problem in caught.value.problems]
    assert fields == ["foo", "items.0.gloss_contains", "items.0.expected_contains"]


def test_one_mistake_hides_no_other(tmp_path: Path) -> None:
    (tmp_path / "e.yaml").write_text(
        "exam: t\nitems:\n  - {id: i, prompt: p, expected_contains: [a]}\n"
        "  - {id: i, prompt: 5, expected_contains: [1]}\n  - {prompt: p}\n"
    )
    with pytest.raises(DocumentError) as caught:
        load_exam(tmp_path / "e.yaml", rubric="tutor-capstone")
    fields = {problem.field.replace("items.", "") for problem in caught.value.problems}
    assert {"1.prompt", "1.id", "1.expected_contains.0", "2.id", "2.expected_contains"} <= fields
    text = "rubric: r\naxes:\n  - {kind: max_words, weight: '1', limit: -1}\n"
    message = " ".join(problems_of(tmp_path / "r.yaml", text))
    assert all(field in message for field in ("axes.0.name", "axes.0.weight", "axes.0.limit"))


def test_loaded_documents_cannot_be_changed() -> None:
    rubric, exam = load_rubric("tutor-capstone"), load_exam("capstone")
    with pytest.raises(TypeError, match="frozen"):
        exam.items[0].expectations["expected_contains"] = ("x",)  # type: ignore[index]
    with pytest.raises(TypeError, match="frozen"):
        exam.items[0].tags.update(verb="x")  # type: ignore[attr-defined]
    assert hash((rubric, exam)) == hash((load_rubric("tutor-capstone"), load_exam("capstone")))
    assert pickle.loads(pickle.dumps(exam)) == exam  # noqa: S301 - our own bytes


def test_no_exam_at_all_is_wrong_usage() -> None:
    with pytest.raises(UsageError, match="no exam is named"):
        load_exam()


def test_a_key_that_an_axis_of_the_rubric_reads_is_known(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text(RUBRIC.replace("reads: answer", "expects: must_have"))
    (tmp_path / "e.yaml").write_text(EXAM.replace("expected_contains", "must_have"))
    rubric = load_rubric(tmp_path / "r.yaml")
    assert len(load_exam(tmp_path / "e.yaml", rubric=rubric).items) == 2
    with pytest.raises(DocumentError, match="must_have: unknown key"):
        load_exam(tmp_path / "e.yaml")


@pytest.mark.parametrize(
    ("character", "name"),
    [("\u200b", "U+200B ZERO WIDTH SPACE"), ("\u0430", "U+0430 CYRILLIC SMALL LETTER A")],
)
def test_a_character_of_an_id_that_looks_harmless_is_named(
    tmp_path: Path, character: str, name: str
) -> None:
    text = EXAM.replace("a-2", f'"{character}-2"')
    (found,) = problems_of(tmp_path / "e.yaml", text, exam=True)
    assert found.startswith("e.yaml:7: items.1.id: ")
    assert found.endswith(f"the first a letter or digit; this has {name}")
