"""Entries of `contains_all` with alternatives, of which one must occur."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from marking import cell, value
from markscheme import DocumentError, audit, load_exam, load_rubric, score, verify
from markscheme.mark.axes import ContainsAll, Match

RUBRIC = "rubric: mine\naxes: [{name: right, kind: contains_all, weight: 1}]\n"
EXAM = """\
exam: mine
items:
  - {id: a, prompt: Past of travel., expected_contains: [[travelled, traveled], home]}
  - {id: b, prompt: Past of go., expected_contains: [went]}
"""
WANTED = [["travelled", "traveled"], "home"]


def write(folder: Path, exam: str = EXAM) -> tuple[Path, Path]:
    rubric, path = folder / "r.yaml", folder / "e.yaml"
    rubric.write_text(RUBRIC)
    path.write_text(exam)
    return rubric, path


@pytest.mark.parametrize(
    ("text", "right", "reason"),
    [
        ("Travelled home.", 1, 'found "travelled" at character 1, "home" at character 11'),
        ("traveled home", 1, 'found "traveled" at character 1, "home" at character 10'),
        ("home", 0, '"travelled" or "traveled" is missing from "home"'),
        ("", 0, 'the text is empty; "travelled" or "traveled", "home" are expected'),
        ("traveled", 0, '"home" is missing from "traveled"'),
    ],
)
def test_one_of_the_alternatives_is_enough_and_every_entry_is_needed(
    text: str, right: int, reason: str
) -> None:
    judged = cell(ContainsAll(), text, expected_contains=WANTED)
    assert judged.value == Fraction(right)
    assert judged.reason == reason


def test_the_near_miss_is_that_of_the_alternative_that_would_pass() -> None:
    missed = cell(ContainsAll(), "trav-eled home", expected_contains=WANTED)
    assert (missed.value, missed.near_miss) == (Fraction(0), "ignore_punctuation")
    assert '"trav-eled" differs from "traveled"' in missed.reason


def test_alternatives_are_looked_for_as_words_too() -> None:
    axis = ContainsAll(match=Match.WORD)
    assert value(axis, "untraveled home", expected_contains=WANTED) == 0
    assert value(axis, "has traveled home", expected_contains=WANTED) == 1


@pytest.mark.parametrize(
    ("entry", "field", "reason"),
    [
        ("[]", "0", "is an empty list"),
        ("[[a]]", "0.0", "must be a text, not a list"),
        ("[1984]", "0.0", "must be a text, not the number 1984"),
        ('[a, "."]', "0.1", "is empty after normalisation"),
        ("{a: b}", "0", "must be a text, not"),
    ],
)
def test_what_is_no_list_of_texts_is_refused_with_its_place(
    tmp_path: Path, entry: str, field: str, reason: str
) -> None:
    rubric, path = write(tmp_path, EXAM.replace("[travelled, traveled]", entry))
    with pytest.raises(DocumentError, match=rf"items\.0\.expected_contains\.{field}: .*{reason}"):
        load_exam(path, rubric=load_rubric(rubric))


def test_results_show_alternatives_as_one_text_and_can_be_verified_without_the_exam(
    tmp_path: Path,
) -> None:
    rubric, exam = write(tmp_path)
    answers, target = tmp_path / "a.jsonl", tmp_path / "out.json"
    rows = [{"item": "a", "output": "traveled home"}, {"item": "b", "output": "gone"}]
    answers.write_text("".join(json.dumps(row) + "\n" for row in rows))
    score(rubric, exam, answers, output=target)
    result: dict[str, Any] = json.loads(target.read_text())
    assert [row["expected"] for row in result["items"]] == [
        ["travelled | traveled", "home"],
        ["went"],
    ]
    assert [row["score"] for row in result["items"]] == [1.0, 0.0]
    assert not verify(target, rubric).findings
    assert not verify(target, rubric, exam).findings


def test_an_audit_tries_each_alternative(tmp_path: Path) -> None:
    rubric, exam = write(tmp_path)
    report = audit(rubric, exam)
    assert not report.failures
