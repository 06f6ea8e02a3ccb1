"""A CSV file that is opened in a spreadsheet computes nothing that a model or a person wrote."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands import Project, here
from markscheme import load_exam, load_rubric
from markscheme.read.ratings import RatingScope, read_ratings
from markscheme.read.spreadsheets import guard_cell, unguard_cell
from markscheme.vocabulary import Rating
from markscheme.workflows.rating_file import RatingFile

if TYPE_CHECKING:
    from pathlib import Path

FORMULAS = ["=1+2", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\tx", "\r=x", "'=1", "''@x"]
PLAIN = ["yes", "-5", "+1.5e3", "'s Hertogenbosch", "a=b", "", "1-2", "–"]


@given(st.text("'=+-@\t\r1a", max_size=6))
def test_the_guard_can_be_taken_off_without_loss(text: str) -> None:
    assert unguard_cell(guard_cell(text)) == text


@pytest.mark.parametrize("text", FORMULAS)
def test_what_a_spreadsheet_would_compute_is_guarded(text: str) -> None:
    assert guard_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", PLAIN)
def test_other_texts_and_numbers_stay_as_they_are(text: str) -> None:
    assert guard_cell(text) == text


def written(project: Project, *words: str, said: list[str]) -> list[dict[str, str]]:
    path = project.folder / "out.csv"
    pairs = zip(project.items, said, strict=True)
    rows = [{"item": item, "output": text, "subject": "=s"} for item, text in pairs]
    file = project.write("answers.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    inputs = ("-r", project.rubric, "-e", project.exam, "-a", file)
    here("score", *inputs, "--store", project.store, "-o", path, *words)
    with path.open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


def test_a_breakdown_in_csv_holds_no_formula_unless_it_is_asked_for(tmp_path: Path) -> None:
    said = [text for text in FORMULAS if text.strip() == text] + ["-5", "yes"]
    project = Project(tmp_path, items=len(said))
    rows = written(project, said=said)
    cells = [cell for row in rows for cell in row.values()]
    assert [row["got"] for row in rows] == [*(f"'{text}" for text in said[:-2]), "-5", "yes"]
    assert {row["subject"] for row in rows} == {"'=s"}
    assert not [cell for cell in cells if cell.startswith(("=", "+", "@"))]
    raw = written(project, "--raw-csv", said=said)
    assert [row["got"] for row in raw] == said
    assert here("show", "latest", "--store", project.store, "-o", tmp_path / "s.csv").code != 2
    assert "'=1+2" in (tmp_path / "s.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize("words", [[], ["-o", "x.json"]])
def test_raw_csv_without_csv_is_wrong_usage(tmp_path: Path, words: list[str]) -> None:
    project = Project(tmp_path)
    done = project.score("yes", words=("--raw-csv", *words))
    assert (done.code, done.err) == (
        2,
        "Error: --raw-csv goes with an --output that ends in .csv\n",
    )


def test_notes_of_raters_are_guarded_in_the_file_and_read_back_as_they_were(
    tmp_path: Path,
) -> None:
    notes = [*(text for text in FORMULAS if text.strip() == text), "-5", "fine"]
    rubric = load_rubric("context-agent")
    exam = load_exam("context-queries", rubric=rubric)
    axis, item = rubric.notes[0].name, exam.items[0].id
    variants = tuple(f"v{number}" for number in range(len(notes)))
    scope = RatingScope(rubric=rubric, exam=exam, variants=variants, allow_gaps=True)
    path = tmp_path / "ratings.csv"
    ratings = {
        (item, variant, "anna", axis): Rating(
            item=item, variant=variant, rater="anna", axis=axis, score=None, note=note, line=0
        )
        for variant, note in zip(variants, notes, strict=True)
    }
    RatingFile(path, scope).merge_ratings(ratings, ratings)
    with path.open(encoding="utf-8", newline="") as opened:
        assert not [row for row in csv.reader(opened) for c in row if c.startswith(("=", "+", "@"))]
    assert [rating.note for rating in read_ratings(str(path), scope)] == notes
