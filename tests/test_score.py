"""`markscheme score`: what it prints, writes and exits with."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import TYPE_CHECKING

import polars as pl
import pytest

from breakdowns import SEED
from commands import markscheme
from markscheme import load_exam, load_rubric
from markscheme.workflows.demo import generate_tutor_answers
from small_exam import GOOD, answers, row, score

if TYPE_CHECKING:
    from pathlib import Path


def test_the_seeds_example_scores_0_75_with_the_seeds_keys_in_the_seeds_order(
    exam_folder: Path,
) -> None:
    silent = json.dumps({**GOOD, "spanish_gloss": ""})
    file = answers(exam_folder, row("e-39-01", silent), row("e-39-02", silent))
    done = score(exam_folder, "--format", "json", file=file)
    first = done.json["items"][0]
    assert list(first)[:7] == list(SEED)
    assert {key: first[key] for key in list(SEED)} == {**SEED, "score": 0.75}
    assert done.json["summary"]["n"] == 2
    assert list(done.json["rubric"]) == ["name", "version", "fingerprint"]
    assert done.code == 0


def test_means_are_exact_and_per_axis(exam_folder: Path) -> None:
    file = answers(exam_folder, row("e-39-01", GOOD), row("e-39-02", "He went."))
    summary = score(exam_folder, "--format", "json", file=file).json["summary"]
    assert summary["score"] == 0.825
    assert Fraction(summary["exact"]["score"]) == Fraction(33, 40)
    assert summary["axes"] == {
        "correctness": 1.0,
        "spanish_gloss": 0.5,
        "schema": 0.5,
        "conciseness": 1.0,
    }


def test_a_missing_item_is_listed_shown_and_makes_the_run_incomplete(exam_folder: Path) -> None:
    done = score(exam_folder, "--format", "json", file=answers(exam_folder, row("e-39-01", GOOD)))
    assert done.code == 4
    assert done.json["summary"]["missing"] == ["e-39-02"]
    assert done.json["summary"]["score"] == 1.0
    missing = done.json["items"][1]
    assert (missing["item"], missing["status"], missing["score"]) == ("e-39-02", "missing", None)
    text = score(exam_folder, file=answers(exam_folder, row("e-39-01", GOOD)))
    assert text.code == 4
    assert "missing (1): e-39-02" in text.out


def test_nothing_scored_is_never_0(exam_folder: Path) -> None:
    done = score(exam_folder, "--format", "json", stdin="")
    assert done.code == 4
    assert done.json["summary"]["score"] is None
    assert done.json["summary"]["n"] == 0


def test_a_bad_row_is_counted_and_shown_and_stops_nothing(exam_folder: Path) -> None:
    rows = [
        "{not json",
        row("e-39-01", GOOD),
        row("e-39-99", GOOD),
        {"output": "x"},
        row("e-39-01", GOOD),
        row("e-39-02", "a\x00b"),
        '{"item": "e-39-02", "output": "\\ud800"}',
        row("e-39-02", "He went. Fue."),
    ]
    done = score(exam_folder, "--format", "json", file=answers(exam_folder, *rows))
    assert done.code == 4
    assert [error["line"] for error in done.json["errors"]] == [1, 3, 4, 5, 6, 7]
    assert done.json["summary"]["errors"] == 6
    assert done.json["summary"]["n"] == 2
    text = score(exam_folder, file=answers(exam_folder, *rows))
    assert "6 bad rows" in text.out
    assert "line 3: unknown item `e-39-99`" in text.out


@pytest.mark.parametrize("suffix", ["json", "jsonl", "parquet", "csv"])
def test_breakdowns_are_written_by_extension_and_say_the_same(
    exam_folder: Path, suffix: str
) -> None:
    file = answers(exam_folder, row("e-39-01", GOOD), "{bad", row("e-39-02", "He went."))
    target = exam_folder / f"out.{suffix}"
    done = score(exam_folder, "-o", target, file=file)
    assert done.code == 4
    assert f"written to {target}" in done.out
    if suffix == "json":
        rows = json.loads(target.read_text())["items"]
    elif suffix == "jsonl":
        rows = [json.loads(line) for line in target.read_text().splitlines()]
    elif suffix == "parquet":
        rows = pl.read_parquet(target).rows(named=True)
    else:
        rows = pl.read_csv(target).rows(named=True)
    scores = {r["item"]: r["score"] for r in rows if r["status"] == "scored"}
    assert scores == {"e-39-01": 1.0, "e-39-02": 0.65}
    if suffix != "json":
        assert [r["line"] for r in rows if r["status"] == "error"] == [2]
    if suffix == "csv":
        assert [r["breakdown.schema"] for r in rows if r["status"] == "scored"] == [1.0, 0.0]
    else:
        assert [r["breakdown"]["schema"] for r in rows if r["status"] == "scored"] == [1.0, 0.0]


def test_the_same_inputs_give_the_same_bytes(exam_folder: Path) -> None:
    file = answers(exam_folder, row("e-39-01", GOOD), row("e-39-02", "He went."))
    outputs = {score(exam_folder, "--format", "json", file=file).out for _ in range(2)}
    assert len(outputs) == 1


def test_answers_come_from_csv_and_parquet_too(exam_folder: Path) -> None:
    frame = pl.DataFrame({"item": ["e-39-01", "e-39-02"], "output": ["He ate.", "Fue: went"]})
    frame.write_csv(exam_folder / "a.csv")
    frame.write_parquet(exam_folder / "a.parquet")
    lines = "\n".join(json.dumps(r) for r in frame.rows(named=True))
    wanted = score(exam_folder, "--format", "json", stdin=lines).json["summary"]
    for name in ("a.csv", "a.parquet"):
        assert (
            score(exam_folder, "--format", "json", file=exam_folder / name).json["summary"]
            == wanted
        )


def test_the_text_output_reads_at_a_glance(exam_folder: Path) -> None:
    file = answers(
        exam_folder, row("e-39-01", {**GOOD, "spanish_gloss": "Comio."}), row("e-39-02", "He went.")
    )
    out = score(exam_folder, file=file).out
    assert "spanish_gloss" in out
    assert '"comio" lacks the accent of "comió"; it would pass if accents were ignored' in out
    assert "score 0.70" in out
    assert "Worst groups" in out
    assert "verb: go 0.65" in out


def test_worst_groups_begin_with_those_that_lose_most_points(tmp_path: Path) -> None:
    rubric = load_rubric("tutor-capstone")
    items = load_exam("capstone", "capstone-extra", rubric=rubric).items
    rows = generate_tutor_answers(load_exam("capstone", "capstone-extra", rubric=rubric))
    for item, answer in zip(items, rows, strict=True):
        if item.tags["verb"] in {"go", "arrive", "break", "buy"}:
            answer["output"] = "I do not know."
    exams = ("-e", "capstone", "-e", "capstone-extra")
    file = answers(tmp_path, *rows)
    out = markscheme("score", "-r", "tutor-capstone", *exams, "-a", file, cwd=tmp_path).out
    assert "verb: go 0.05 (3, correctness 0.00), arrive 0.05 (1, correctness 0.00)" in out


def test_a_large_run_shows_its_losses_and_says_what_is_hidden(exam_folder: Path) -> None:
    rows = [row("e-39-01", GOOD, attempt=n) for n in range(1, 400)]
    out = score(exam_folder, file=answers(exam_folder, *rows, row("e-39-02", "He went."))).out
    assert "399 more rows are not shown" in out
    assert "He went." in out


def test_several_subjects_are_told_apart_and_each_must_answer_everything(exam_folder: Path) -> None:
    rows = [row("e-39-01", GOOD, subject="a"), row("e-39-02", "He went.", subject="a")]
    file = answers(exam_folder, *rows, row("e-39-01", "x", subject="b"))
    done = score(exam_folder, "--format", "json", file=file)
    assert done.code == 4
    subjects = {found["subject"]: found for found in done.json["summary"]["subjects"]}
    assert subjects["a"]["missing"] == []
    assert subjects["b"]["missing"] == ["e-39-02"]
    assert subjects["a"]["score"] == 0.825
    text = score(exam_folder, file=file).out
    assert "subject b: 0.05 (1 answer, 1 missing)" in text
    assert "b/e-39-01" in text


def test_an_output_that_is_an_input_is_refused(exam_folder: Path) -> None:
    file = answers(exam_folder, row("e-39-01", GOOD), row("e-39-02", "He went."))
    before = file.read_bytes()
    done = score(exam_folder, "-o", file, file=file)
    assert done.code == 2
    assert "is an input of this run" in done.err
    assert file.read_bytes() == before


def test_a_file_of_answers_that_is_not_there_is_exit_3(exam_folder: Path) -> None:
    done = score(exam_folder, file=exam_folder / "no.jsonl")
    assert done.code == 3
    assert "no.jsonl:1:" in done.err


def test_json_output_is_one_document_even_if_the_answers_are_refused_late(
    exam_folder: Path,
) -> None:
    (exam_folder / "a.csv").write_text("name,text\ne-39-01,Ate.\n")
    done = score(exam_folder, "--format", "json", file=exam_folder / "a.csv")
    assert done.code == 3
    assert done.json["error"]["exit_code"] == 3


def test_verify_accepts_what_score_writes_and_notices_a_changed_number(exam_folder: Path) -> None:
    file = answers(exam_folder, row("e-39-01", GOOD), row("e-39-02", "He went."))
    score(exam_folder, "-o", exam_folder / "out.json", file=file)
    assert markscheme("verify", exam_folder / "out.json").code == 0
    text = (exam_folder / "out.json").read_text()
    (exam_folder / "out.json").write_text(text.replace('"score":0.825', '"score":0.826'))
    done = markscheme("verify", exam_folder / "out.json")
    assert done.code == 1
    assert "summary.score: 0.826 is published, 0.825 is right" in done.out
