"""Scales, the axes that people rate: how they are read, and that nothing marks them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from markscheme import DocumentError, lint, load_rubric
from markscheme.workflows.documents import build_json_schemas

if TYPE_CHECKING:
    from pathlib import Path

RUBRIC = """\
rubric: r
axes:
  - {name: short, kind: max_words, weight: 1, limit: 3}
  - {name: depth, kind: scale, question: How deep, anchors: {1: flat, 2: some, 3: deep}}
  - {name: said, kind: note, question: What else}
verdicts: [good, bad]
verdict_rules:
  match: first
  scores: {lowest: 1, highest: 3, axes: 1}
  rules:
    - {verdict: bad, when: {candidate: {below: 2}}}
    - {verdict: good}
decision_table:
  outcomes: [go, no-go]
  missing: none
  queries: {quick: 1}
  rows:
    - {name: bad, when: [{count: [bad], at_least: 1}], outcome: no-go}
    - {name: good, when: [{count: [bad], exactly: 0}], outcome: go}
"""


def loaded(folder: Path, *changes: tuple[str, str]) -> Path:
    text = RUBRIC
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = folder / "r.yaml"
    path.write_text(text)
    return path


def test_scales_and_notes_are_read_apart_from_what_is_marked(tmp_path: Path) -> None:
    rubric = load_rubric(loaded(tmp_path))
    (scale,) = rubric.scales
    assert [spec.name for spec in rubric.axes] == ["short"]
    assert (scale.lowest, scale.highest, scale.anchors[2]) == (1, 3, "some")
    assert [note.name for note in rubric.notes] == ["said"]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("2: some, ", "", "r.yaml:4: axes.1.anchors: lacks 2; every whole number from 1 to 3"),
        (", anchors: {1: flat, 2: some, 3: deep}", "", "axes.1.anchors: is missing"),
        ("2: some", "two: some", "axes.1.anchors"),
        (
            "question: How deep",
            "weight: 1, question: How deep",
            "axes.1.weight: 1 makes the weights",
        ),
        ("question: How deep, ", "", "axes.1.question: is missing"),
        ("name: depth", "name: short", "axes.1.name: `short` occurs twice"),
        ("axes: 1}", "axes: 2}", "verdict_rules.scores.axes: 2 is not what the axes"),
        ("highest: 3", "highest: 5", "verdict_rules.scores.highest: 5 is not what the axes"),
        ("kind: scale", "kind: scales", "did you mean `scale`?"),
        ("weight: 1,", "weight: 0.5,", "makes the weights sum to 0.5"),
        ("question: What else", "anchors: {1: a}", "axes.2.anchors: unknown key"),
    ],
)
def test_a_wrong_scale_is_told_by_reader_and_lint(
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    path = loaded(tmp_path, (old, new))
    with pytest.raises(DocumentError) as refused:
        load_rubric(path)
    assert told in str(refused.value)
    assert not lint(path).ok


def test_a_gate_cannot_be_on_a_scale(tmp_path: Path) -> None:
    gate = "gates: [{name: g, level: hard, metric: axis, axis: depth, at_least: 1}]\nverdicts:"
    with pytest.raises(DocumentError, match="depth"):
        load_rubric(loaded(tmp_path, ("verdicts:", gate)))


def test_lint_blames_the_right_axis_behind_a_scale(tmp_path: Path) -> None:
    behind = "verdicts: [good, bad]\n"
    more = "  - {name: all, kind: pattern, weight: 0, pattern: '.*'}\n" + behind
    report = lint(loaded(tmp_path, (behind, more)))
    (found,) = [finding for finding in report.findings if finding.code == "R013"]
    assert found.line == 6


def test_anchors_and_questions_are_part_of_the_fingerprint(tmp_path: Path) -> None:
    one = load_rubric(loaded(tmp_path)).fingerprint
    assert one != load_rubric(loaded(tmp_path, ("2: some", "2: more"))).fingerprint
    spaced = ("{1: flat, 2: some, 3: deep}", "{3: deep,  2: some, 1: flat}")
    assert one == load_rubric(loaded(tmp_path, spaced)).fingerprint


def test_the_schema_knows_scales_and_notes() -> None:
    assert {"ScaleModel", "NoteModel"} <= set(build_json_schemas()["rubric"]["$defs"])
