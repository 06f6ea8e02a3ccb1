"""Rubric and exam files: what is read, what is refused, and what the refusal says."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from markscheme import DocumentError, Exam, Item, Rubric, UsageError, load_exam, load_rubric
from markscheme.frozen import Frozen
from markscheme.read.exams import exam_of_text, exam_text
from markscheme.read.fingerprints import canonical, exam_fingerprint

RUBRIC = """\
rubric: mine
version: 2
normalise: [strip, lower]
axes:
  - name: right
    kind: contains_all
    weight: 0.60
    reads: answer
  - name: brief
    kind: max_words
    weight: 0.40
    limit: 5
gates:
  - {name: bar, level: hard, at_least: 0.9}
"""
EXAM = """\
exam: mine
items:
  - id: a-1
    prompt: Say ate.
    expected_contains: [ate]
    tags: {verb: eat}
  - id: a-2
    prompt: Say ran.
    expected_contains: [ran]
"""


def problems_of(path: Path, text: str | bytes, *, exam: bool = False) -> list[str]:
    """Return what is said about a file of this content, without the folder."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DocumentError) as caught:
        load_exam(path) if exam else load_rubric(path)
    return [str(problem).replace(f"{path.parent}/", "") for problem in caught.value.problems]


def test_a_rubric_is_read_into_frozen_types_with_exact_weights(tmp_path: Path) -> None:
    path = tmp_path / "rubric.yaml"
    path.write_text(RUBRIC)
    rubric = load_rubric(path)
    assert (rubric.name, rubric.version) == ("mine", 2)
    assert [spec.weight for spec in rubric] == [Decimal("0.60"), Decimal("0.40")]
    assert rubric.axes[0].axis.normalise == ("strip", "lower")  # type: ignore[attr-defined]
    with pytest.raises(AttributeError):
        rubric.name = "other"  # type: ignore[misc]


def test_an_axis_may_have_its_own_normalisation(tmp_path: Path) -> None:
    path = tmp_path / "rubric.yaml"
    path.write_text(RUBRIC.replace("    reads: answer", "    normalise: [strip]"))
    assert load_rubric(path).axes[0].axis.normalise == ("strip",)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "version: 2",
            "verion: 2",
            "r.yaml:2: verion: unknown key; allowed: rubric, version, title",
        ),
        ("version: 2", "rubric: x", "r.yaml:2: rubric: the key occurs twice, first on line 1"),
        ("rubric: mine", "title: x", "r.yaml:1: rubric: is missing; it is required"),
        ("version: 2", "version: two", "r.yaml:2: version: must be a whole number, not `two`"),
        ("version: 2", "version: 0", "r.yaml:2: version: 0 is below 1; allowed: 1 or more"),
        ("0.60", ".nan", "r.yaml:7: axes.0.weight: `.nan` is not a number that can be used"),
        ("0.60", "1e999999999", "axes.0.weight: `1e999999999` is not a number that can be"),
        ("0.60", "-.inf", "r.yaml:7: axes.0.weight: `-.inf` is not a number that can be used"),
        ("0.60", "-0.60", "r.yaml:7: axes.0.weight: -0.60 is below 0"),
        ("0.60", "'0.60'", "axes.0.weight: must be a number, not `0.60` in quotation marks"),
        ("kind: max_words", "kind: 1", "r.yaml:10: axes.1.kind: must be text, not the number 1"),
        ("kind: max_words", "kind: [a]", "r.yaml:10: axes.1.kind: must be text, not a list"),
        ("    kind: max_words\n", "", "r.yaml:9: axes.1.kind: is missing"),
        ("[strip, lower]", "[[strip]]", "r.yaml:3: normalise.0: a list is no normalisation step"),
        ("[strip, lower]", "[Strip]", "did you mean `strip`?"),
        ("reads: answer", "expects: prompt", "axes.0.expects: `prompt` is no expectation"),
        ("rubric: mine", 'rubric: "\\e[31m"', "rubric: `\\x1b[31m` is no name"),
        (
            "0.40",
            "0.45",
            (
                "r.yaml:11: axes.1.weight: 0.45 makes the weights sum to 1.05; they must sum to "
                "exactly 1 (0.60 + 0.25 + 0.10 + 0.05 in the built-in rubric)"
            ),
        ),
        ("0.40", "0.399999999999", "makes the weights sum to 0.999999999999; they must sum to"),
        (
            "max_words",
            "max_wrds",
            "r.yaml:10: axes.1.kind: `max_wrds` is no kind of axis; allowed:",
        ),
        (
            "limit: 5",
            "limt: 5",
            "r.yaml:12: axes.1.limt: unknown key; allowed: name, kind, weight,",
        ),
        ("limit: 5", "limit: -5", "r.yaml:12: axes.1.limit: -5 is below 0"),
        ("limit: 5", "limit: 5.5", "axes.1.limit: must be a whole number, not the number 5.5"),
        ("    limit: 5\n", "", "r.yaml:9: axes.1.limit: is missing; it is required"),
        ("lower]", "upper]", "r.yaml:3: normalise.1: `upper` is no normalisation step; allowed:"),
        ("name: brief", "name: right", "r.yaml:9: axes.1.name: `right` occurs twice, first on"),
        ("hard", "firm", "r.yaml:14: gates.0.level: `firm` is not allowed; allowed: `hard` or"),
        ("at_least: 0.9", "at_least: 1.9", "gates.0.at_least: 1.9 is above 1; at most 1"),
        ("reads: answer", "match: exact", "axes.0.match: `exact` is not allowed; allowed: `subs"),
        ("rubric: mine", "rubric: !!python/name:os.system x", "r.yaml:1: rubric: the tag"),
        ("rubric: mine", "<<: {rubric: x}", "r.yaml:1: <<: merge keys are refused"),
    ],
)
def test_each_mistake_in_a_rubric_is_told_with_line_and_field(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    assert old in RUBRIC
    found = problems_of(tmp_path / "r.yaml", RUBRIC.replace(old, new, 1))
    assert any(said in problem for problem in found), found


@pytest.mark.parametrize(
    ("axis", "said"),
    [
        ("kind: pattern, pattern: '(?=a)'", "axes.0.pattern: `(?=a)` is refused: look-around"),
        ("kind: pattern, pattern: '('", "axes.0.pattern: `(` is refused: unclosed group"),
        ("kind: json_schema, schema: {type: 3}", "axes.0.schema: not a JSON Schema"),
        (
            "kind: json_schema, schema: {$ref: 'http://x/y'}",
            'schema.$ref: "http://x/y" leads outsi',
        ),
        ("kind: json_schema", "axes.0.schema: is missing"),
        ("kind: length", "axes.0.at_most: is missing, so every text would pass"),
        ("kind: length, at_least: 3, at_most: 2", "axes.0.at_most: 2 is below at_least, 3"),
        ("kind: length, unit: bytes", "axes.0.unit: `bytes` is not allowed; allowed: `characters`"),
        (
            "kind: number_within, tolerance: 5 percent",
            "axes.0.tolerance: `5 percent` is no tolerance",
        ),
        ("kind: number_within, tolerance: -1", "axes.0.tolerance: the number -1 is no tolerance"),
    ],
)
def test_parameters_that_no_axis_can_use_are_refused(tmp_path: Path, axis: str, said: str) -> None:
    text = f"rubric: r\naxes:\n  - {{name: a, weight: 1, {axis}}}\n"
    found = problems_of(tmp_path / "r.yaml", text)
    assert any(said in problem for problem in found), found


def test_an_axis_of_unknown_kind_is_told_once_and_its_parameters_are_left_alone(
    tmp_path: Path,
) -> None:
    found = problems_of(tmp_path / "r.yaml", RUBRIC.replace("kind: max_words", "kind: 7"))
    assert len(found) == 1


def test_a_weight_out_of_range_blames_no_other_axis(tmp_path: Path) -> None:
    found = problems_of(tmp_path / "r.yaml", RUBRIC.replace("0.60", "-0.60"))
    assert found == ["r.yaml:7: axes.0.weight: -0.60 is below 0; allowed: 0 or more"]


def test_weights_that_miss_1_by_a_hair_are_refused_with_the_whole_sum(tmp_path: Path) -> None:
    found = problems_of(tmp_path / "r.yaml", RUBRIC.replace("0.40", "0.4000000000000000000000001"))
    assert "sum to 1.0000000000000000000000001;" in found[0]
    found = problems_of(tmp_path / "r.yaml", RUBRIC.replace("0.40", "0.4" + "0" * 60 + "1"))
    assert "sum to a little more than 1;" in found[0]


def test_every_mistake_of_a_file_is_told_at_once_in_the_order_of_its_lines(tmp_path: Path) -> None:
    text = RUBRIC.replace("version", "verion").replace("0.60", ".nan").replace("max_w", "mx_w")
    lines = [int(told.split(":")[1]) for told in problems_of(tmp_path / "r.yaml", text)]
    assert lines == [2, 7, 10]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "r.yaml:1: the file is empty"),
        (b"# only a comment\n", "r.yaml:1: the file is empty"),
        (b"- a\n- b\n", "r.yaml:1: the file holds a list; a mapping"),
        (b"just words", "r.yaml:1: the file holds a single value"),
        (b"a: [1\nb: 2\n", "r.yaml:2: not YAML: did not find expected ',' or ']'"),
        (b"a: 1\n b: 2\n", "r.yaml:2: not YAML"),
        (b"a: 1\nb: \xff\n", "r.yaml:2: not UTF-8: byte 0xff at position 8"),
        ("a: 1\n".encode("utf-16"), "r.yaml:1: not UTF-8"),
        (b"a: 1\nb: \x01\n", "r.yaml:2: not YAML: unacceptable character #x0001"),
        (b"a: " + b"[" * 2000 + b"]" * 2000, "r.yaml:1: nested deeper than 64 levels"),
        (b"\n".join(b" " * i + b"a:" for i in range(2000)), "r.yaml:65: nested deeper than 64"),
        (b"a: 1\n---\nb: 2\n", "r.yaml:2: a second document starts here"),
        (b"a: *nowhere\n", "r.yaml:1: a: `*nowhere` names no finished anchor"),
        (b"a: &a [*a]\n", "r.yaml:1: a.0: `*a` names no finished anchor"),
        (b"? [a]\n: 1\n", "r.yaml:1: a key must be plain text"),
    ],
)
def test_what_is_no_document_is_refused_with_its_line(
    tmp_path: Path, content: bytes, said: str
) -> None:
    found = problems_of(tmp_path / "r.yaml", content)
    assert any(told.startswith(said) for told in found), found
    as_exam = problems_of(tmp_path / "r.yaml", content, exam=True)
    assert any(told.startswith(said) for told in as_exam), as_exam


@pytest.mark.parametrize(
    ("content", "advice"),
    [
        ("items:\n\t- id: a\n", "r.yaml:2: not YAML: {}; indent with spaces; YAML takes no tabs"),
        ("a: what: is it\n", "r.yaml:1: {}; a value with a colon and a space in it must stand"),
        ("a: @who\n", "r.yaml:1: {}; a value that begins with `@` must stand in quotation marks"),
        ("a: [%b]\n", "r.yaml:1: {}; a value that begins with `%` must stand in quotation marks"),
        ('a: "b\n', "r.yaml:2: {}; a quotation mark is never closed"),
        ("a: [b, c\n", "r.yaml:2: {}; a comma is missing in a list, or `[` is never closed"),
        ("a:\n  - b: 1\n   c: 2\n", "r.yaml:3: {}; keys of one entry must begin in the same"),
    ],
)
def test_what_to_do_about_yaml_that_cannot_be_read_is_told(
    tmp_path: Path, content: str, advice: str
) -> None:
    (found,) = problems_of(tmp_path / "r.yaml", content.encode())
    start, _, rest = advice.partition("{}")
    assert found.startswith(start.removesuffix("not YAML: "))
    assert rest in found


def test_a_nul_in_a_text_is_refused_as_it_is_in_answers(tmp_path: Path) -> None:
    exam = (
        b'exam: e\nitems:\n  - {id: a, prompt: "p\\0", expected_contains: [x], gloss_contains: [y]}'
    )
    (told,) = problems_of(tmp_path / "e.yaml", exam, exam=True)
    assert told.startswith("e.yaml:3: items.0.prompt: holds a NUL character")


def test_normalisation_that_is_left_empty_is_refused_not_guessed(tmp_path: Path) -> None:
    rubric = b"rubric: r\nnormalise:\naxes:\n  - {name: a, kind: contains_all, weight: 1}\n"
    told = problems_of(tmp_path / "r.yaml", rubric)
    assert told == ["r.yaml:2: normalise: must be a list, not nothing"]


def test_only_a_number_is_said_to_stand_in_quotation_marks(tmp_path: Path) -> None:
    rubric = "rubric: r\naxes:\n  - {{name: a, kind: max_words, limit: 3, weight: {}}}\n"
    said = [problems_of(tmp_path / "r.yaml", rubric.format(w).encode()) for w in ('"1"', "1/1")]
    assert said == [
        ["r.yaml:3: axes.0.weight: must be a number, not `1` in quotation marks"],
        ["r.yaml:3: axes.0.weight: must be a number, not `1/1`"],
    ]


def test_an_alias_bomb_is_refused_before_it_goes_off(tmp_path: Path) -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    lines = ["a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    for before, letter in pairwise(letters):
        lines.append(f"{letter}: &{letter} [{', '.join([f'*{before}'] * 9)}]")
    found = problems_of(tmp_path / "r.yaml", "\n".join(lines))
    assert "aliases expand to more than 100000 values" in found[0]


def test_a_file_of_100_megabytes_is_refused_without_being_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    with path.open("wb") as file:
        file.truncate(100 * 1024 * 1024)
    with pytest.raises(DocumentError, match=r"r\.yaml:1: the file is larger than 32 MB"):
        load_rubric(path)


def test_words_of_yaml_1_1_stay_words(tmp_path: Path) -> None:
    path = tmp_path / "e.yaml"
    path.write_text(EXAM.replace("{verb: eat}", "{verb: no, on: yes, n: 010, x: 1e3}"))
    assert load_exam(path).items[0].tags == {"verb": "no", "on": "yes", "n": "10", "x": "1E+3"}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("exam: mine", "exm: mine", "e.yaml:1: exm: unknown key; allowed: exam, title, items; did"),
        (
            "    tags",
            "    tag",
            "e.yaml:6: items.0.tag: unknown key; allowed: id, prompt, tags, exp",
        ),
        ("a-2", "a-1", "e.yaml:7: items.1.id: `a-1` occurs twice, first in e.yaml:3; each id may"),
        ("a-2", "a 2", "e.yaml:7: items.1.id: `a 2` is no name; ASCII letters, digits"),
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
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    assert old in EXAM
    found = problems_of(tmp_path / "e.yaml", EXAM.replace(old, new, 1), exam=True)
    assert any(told.startswith(said) for told in found), found


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
    ("expectation", "said"),
    [
        ("gloss_contains: [comió]", "items.0.expected_contains: is missing; the axis needs a list"),
        ("expected_contains: ate", "expected_contains: must be a list of texts, not `ate`"),
        ("expected_contains: []", "expected_contains: is an empty list, so it tells no answers"),
        ("expected_contains: [ate, 3]", "expected_contains.1: must be a text, not the number 3"),
        ("expected_contains: [' . ']", 'expected_contains.0: " . " is empty after normalisation'),
    ],
)
def test_an_item_without_what_an_axis_needs_is_refused(
    tmp_path: Path, expectation: str, said: str
) -> None:
    path = tmp_path / "e.yaml"
    path.write_text(f"exam: e\nitems:\n  - id: a\n    prompt: p\n    {expectation}\n")
    rubric = load_rubric("tutor-capstone")
    with pytest.raises(DocumentError) as caught:
        load_exam(path, rubric=rubric)
    assert said in str(caught.value)
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
    told = " ".join(problems_of(tmp_path / "r.yaml", text))
    assert all(field in told for field in ("axes.0.name", "axes.0.weight", "axes.0.limit"))


def test_an_accent_written_as_an_escape_is_the_same_accent(tmp_path: Path) -> None:
    (tmp_path / "e.yaml").write_text(EXAM.replace("[ate]", '["comio\\u0301"]'))
    assert load_exam(tmp_path / "e.yaml").items[0].expectations["expected_contains"] == ("comió",)


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


def reformatted(text: str) -> str:
    """Say the same in other words: comments, key order, quotes, another spelling of a number."""
    return (
        "# a comment\ntitle: new\n"
        + text.replace("0.60", "6.0e-1")
        .replace("version: 2\n", "")
        .replace(
            "kind: contains_all\n    weight: 6.0e-1", "weight: 6.0e-1\n    kind: 'contains_all'"
        )
        + "version: 2 # moved\n"
    )


def test_a_fingerprint_survives_reformatting(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text(RUBRIC)
    (tmp_path / "two.yaml").write_text(reformatted(RUBRIC))
    one, two = load_rubric(tmp_path / "one.yaml"), load_rubric(tmp_path / "two.yaml")
    assert (tmp_path / "one.yaml").read_text() != (tmp_path / "two.yaml").read_text()
    assert one.fingerprint == two.fingerprint
    assert one.fingerprint.startswith("b2:")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0.60", "0.61"),
        ("limit: 5", "limit: 6"),
        ("[strip, lower]", "[lower, strip]"),
        ("[strip, lower]", "[strip]"),
        ("reads: answer", "match: word"),
        ("version: 2", "version: 3"),
    ],
)
def test_a_fingerprint_changes_with_anything_that_could_change_a_score(
    tmp_path: Path, old: str, new: str
) -> None:
    (tmp_path / "one.yaml").write_text(RUBRIC)
    changed = RUBRIC.replace(old, new).replace("0.40", "0.39" if new == "0.61" else "0.40")
    (tmp_path / "two.yaml").write_text(changed)
    one, two = load_rubric(tmp_path / "one.yaml"), load_rubric(tmp_path / "two.yaml")
    assert one.fingerprint != two.fingerprint


def test_a_gate_is_no_part_of_the_fingerprint_because_it_changes_no_score(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text(RUBRIC)
    (tmp_path / "two.yaml").write_text(RUBRIC.replace("at_least: 0.9", "at_least: 0.8"))
    one, two = load_rubric(tmp_path / "one.yaml"), load_rubric(tmp_path / "two.yaml")
    assert one.fingerprint == two.fingerprint


@given(st.permutations(["capstone", "capstone-extra", "regression"]))
def test_the_order_of_exam_files_does_not_change_the_fingerprint(names: list[str]) -> None:
    usual = load_exam("capstone", "capstone-extra", "regression")
    assert load_exam(*names).fingerprint == usual.fingerprint


@pytest.mark.parametrize("change", [("[ate]", "[eaten]"), ("Say ran", "Say run"), ("eat}", "x}")])
def test_an_exam_fingerprint_changes_with_its_items(
    tmp_path: Path, change: tuple[str, str]
) -> None:
    (tmp_path / "one.yaml").write_text(EXAM)
    (tmp_path / "two.yaml").write_text(EXAM.replace(*change))
    one, two = load_exam(tmp_path / "one.yaml"), load_exam(tmp_path / "two.yaml")
    assert one.fingerprint != two.fingerprint


ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.decimals(-9, 9, places=3) | ANY,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY, inner, max_size=3),
    max_leaves=6,
)
ITEMS = st.builds(
    lambda **fields: Item(**{name: Frozen.of(value) for name, value in fields.items()}),
    id=ANY,
    prompt=ANY,
    expectations=st.dictionaries(ANY, VALUES, max_size=3),
    tags=st.dictionaries(ANY, ANY, max_size=3),
)


@given(st.lists(ANY, min_size=1, max_size=2), st.lists(ITEMS, max_size=4))
def test_an_exam_comes_back_from_its_text_as_it_was(names: list[str], items: list[Item]) -> None:
    exam = Exam(names=tuple(names), items=tuple(items), fingerprint=exam_fingerprint(names, items))
    assert exam_of_text(exam_text(exam), "kept") == exam


def test_a_text_that_is_no_exam_says_so() -> None:
    with pytest.raises(DocumentError, match="kept:1: not JSON"):
        exam_of_text("{", "kept")


@given(VALUES.filter(lambda value: "Decimal" not in repr(value)))
def test_the_canonical_text_of_plain_values_is_their_json(value: Any) -> None:
    assert json.loads(canonical(Frozen.of(value))) == value


def test_no_two_built_in_documents_share_a_fingerprint() -> None:
    exams = [load_exam(name).fingerprint for name in ("capstone", "capstone-extra", "regression")]
    prints = [*exams, load_rubric("tutor-capstone").fingerprint]
    assert len(set(prints)) == len(prints)


def test_the_built_in_rubric_is_the_seeds() -> None:
    rubric: Rubric = load_rubric("tutor-capstone")
    weights = {spec.name: str(spec.weight) for spec in rubric}
    assert weights == {
        "correctness": "0.60",
        "spanish_gloss": "0.25",
        "schema": "0.10",
        "conciseness": "0.05",
    }
    assert rubric.gates[0].at_least == Decimal("0.92")


def test_the_shipped_json_schemas_are_what_the_models_say() -> None:
    script = Path(__file__).parent.parent / "scripts" / "build_schemas.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_json_schemas_admit_the_built_in_documents_and_refuse_a_typo() -> None:
    import jsonschema_rs  # noqa: PLC0415
    from ruamel.yaml import YAML  # noqa: PLC0415

    root = Path(__file__).parent.parent / "src" / "markscheme" / "builtin"
    for kind in ("rubric", "exam"):
        schema = json.loads((root / "schemas" / f"{kind}.schema.json").read_text())
        validator = jsonschema_rs.validator_for(schema)
        paths = list((root / f"{kind}s").glob("*.yaml"))
        assert paths
        for path in paths:
            document = json.loads(json.dumps(YAML(typ="safe", pure=True).load(path), default=str))
            assert validator.is_valid(document), path.name
            assert not validator.is_valid({**document, "typo": 1})


WORDS = st.recursive(
    st.none() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3).map(Frozen)
    ),
    max_leaves=8,
)


@example({"\x7f": None})
@given(WORDS)
def test_what_is_written_by_the_encoder_is_the_canonical_text(value: Any) -> None:
    by_rule = canonical([value, 0])  # a number is written by its value, and all beside it by rule
    assert by_rule == f"{canonical([value])[:-1]},0]"
