"""Audits of criteria: golden cases with marks notice points and signs that are wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from commands import Done, here

if TYPE_CHECKING:
    from pathlib import Path

CRITERIA = """\
    criteria:
      - {id: good, points: 3, says: Helps.}
      - {id: bad, points: -2, says: Harms.}
"""
RUBRIC = """\
rubric: aid
axes:
  - {name: words, kind: contains_all, points: 1}
  - {name: quality, kind: criteria, points: 2}
"""
EXAM = f"exam: e\nitems:\n  - id: i\n    prompt: '?'\n    expected_contains: [x]\n{CRITERIA}"
CASES = f"""\
cases: c
items:
  - id: both
    prompt: '?'
    expected_contains: [x]
{CRITERIA}    answer: x
    marks: {{quality: {{good: 1, bad: 1}}}}
    cells: {{words: 1, quality: 1/3}}
    score: 5/9
pass_mark: [{{seen: 1, passes: true}}, {{seen: 0.99, passes: false}}]
"""


def audited(folder: Path, cases: str) -> Done:
    for name, text in (("rubric", RUBRIC), ("exam", EXAM), ("cases", cases)):
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    paths = {name: folder / f"{name}.yaml" for name in ("rubric", "exam", "cases")}
    words = ("--exam", paths["exam"], "--cases", paths["cases"], "--format", "json")
    return here("audit", paths["rubric"], *words)


def fates(done: Done) -> dict[str, str]:
    kinds = {"points", "sign"}
    return {m["name"]: m["fate"] for m in done.json["mutants"] if m["kind"] in kinds}


def test_a_case_in_which_all_points_matter_kills_every_wrong_point_and_sign(
    tmp_path: Path,
) -> None:
    found = fates(audited(tmp_path, CASES))
    assert found == dict.fromkeys(
        [
            "points words=2",
            "points quality=1",
            "points quality=3",
            "points i quality good=4",
            "points i quality bad=-3",
            "sign i quality good=-3",
            "sign i quality bad=2",
        ],
        "killed",
    )


def test_points_that_no_case_needs_survive_and_are_told(tmp_path: Path) -> None:
    met = CASES.replace("bad: 1", "bad: 0").replace("quality: 1/3", "quality: 1")
    done = audited(tmp_path, met.replace("score: 5/9", "score: 1"))
    found = fates(done)
    survived = {name for name, fate in found.items() if fate == "survived"}
    assert {"points i quality good=4", "points i quality bad=-3"} <= survived
    assert found["sign i quality bad=2"] == "killed"
    assert done.code == 1


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("quality: {{good", "words: {{good", "marked axis"),
        ("good: 1, bad", "good: [], bad", "must be a score"),
        ("quality: 1/3", "quality: 4/3", "cells.quality"),
    ],
)
def test_a_wrong_mark_of_a_case_is_refused(tmp_path: Path, old: str, new: str, told: Any) -> None:
    changed = CASES.replace(old.replace("{{", "{"), new.replace("{{", "{"))
    assert changed != CASES
    done = audited(tmp_path, changed)
    assert done.code == 3
    assert told in done.err
