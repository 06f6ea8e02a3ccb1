"""Recordings: those that are built in, those that a run writes, and those that are refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from commands import here
from markscheme import load_exam, load_rubric, score
from markscheme.read.documents import locate_document
from sittings import faults

if TYPE_CHECKING:
    from sittings import Sitting

RECORDED = (
    ('{"item": "i0", "output": "yes"}', "line 1 holds"),
    ('{"item": "i1", "subject": "b", "output": "yes"}', "of `b`"),
    ('{"item": "i1", "subject": "a", "outp', "not JSON"),
    ('{"item": "i1", "subject": "a", "output": null}', "`output` must be text"),
    ('{"item": "i1", "subject": "a", "output": "yes", "cost": "much"}', "`cost`"),
    ('{"item": "i1", "subject": "a", "output": "yes", "latency_ms": 1e308}', "`latency_ms`"),
    ('{"item": "i1", "subject": "a", "output": "yes", "latency_ms": -5}', "`latency_ms`"),
    ('{"item": "i1", "subject": "a", "output": "yes", "tokens_in": "3"}', "`tokens_in`"),
    ('{"item": "i1", "subject": "a", "output": "yes", "first_token_ms": "3"}', "`first_token_ms`"),
    ('{"item": "i1", "subject": "a", "output": "yes", "finish_reason": 7}', "`finish_reason`"),
    ('{"item": "i1", "subject": "a", "output": "yes", "tries": -1}', "`tries`"),
    ('{"item": "i1", "subject": "a", "output": "yes", "cached": "no"}', "`cached`"),
    ('{"item": "i1", "subject": "a", "error": "timeout"}', "`error`"),
    ('{"item": "i1", "subject": "a", "error": {"kind": "odd", "why": ""}}', "`error`"),
    ('["i1", "yes"]', "an object"),
)


def test_every_row_that_cannot_be_replayed_is_told_before_anything_is_asked(
    sitting: Sitting,
) -> None:
    first = '{"item": "i0", "subject": "a", "output": "yes"}'
    rows = sitting.write("said.jsonl", "\n".join([first, *(row for row, _ in RECORDED)]))
    done = sitting.asks("x", "y").run(subject=f"replay:{rows}")
    assert done.code == 3
    told = done.err.splitlines()
    assert len(told) == len(RECORDED)
    for number, (line, (_, wrong)) in enumerate(zip(told, RECORDED, strict=True), start=2):
        assert line.startswith(f"{rows}:{number}: ")
        assert wrong in line


def test_a_file_of_rubbish_is_not_told_line_by_line(sitting: Sitting) -> None:
    rows = sitting.write("said.jsonl", "rubbish\n" * 5_000)
    done = sitting.asks("x").run(subject=f"replay:{rows}")
    assert (done.code, done.err.count("\n")) == (3, 21)
    assert done.err.endswith(f"{rows}:21: 4,980 more lines from here on cannot be replayed\n")


def test_a_recording_of_two_subjects_is_the_answers_of_neither(sitting: Sitting) -> None:
    said = sitting.folder / "said.jsonl"
    words = ("-s", "cmd:echo no", "--record", said)
    assert sitting.asks("x").run(*words, subject="cmd:echo yes").code == 0
    done = sitting.run(subject=f"replay:{said}")
    assert done.code == 3
    assert "`cmd:echo no`" in done.err


def test_a_recording_scores_the_same_again(sitting: Sitting) -> None:
    said = sitting.folder / "said.jsonl"
    sitting.asks("fine 1", "down 2", "refuse 3").run("--retries", "0", "--record", said)
    live = sitting.json("--resume", "--retries", "0")["summary"]
    again = sitting.run("--format", "json", subject=f"replay:{said}")
    assert again.code == 4
    assert again.json["summary"]["score"] == live["score"]
    assert faults(again.json) == {"server-error": 1}


def test_a_record_of_a_run_that_is_not_whole_scores_as_one_that_is_not(sitting: Sitting) -> None:
    mine = sitting.folder / "mine.jsonl"
    spent = ("--price", "1000000:0", "--max-cost", "0.5", "--concurrency", "1")
    done = sitting.asks("fine 1").run("--attempts", "3", *spent, "--record", mine)
    assert done.code == 4
    rows = [json.loads(line) for line in mine.read_text(encoding="utf-8").splitlines()]
    assert [row.get("error", {}).get("why") for row in rows] == [None, *["it was not asked"] * 2]
    scored = here("score", "-r", sitting.rubric, "-e", sitting.exam, "-a", mine, "--no-store")
    assert scored.code == 4


@pytest.mark.parametrize("words", [(), ("--format", "json")], ids=["text", "json"])
def test_a_record_that_cannot_be_written_hides_nothing_of_the_run(
    sitting: Sitting, words: tuple[str, ...]
) -> None:
    folder = sitting.folder / "gone"
    folder.mkdir()
    record = ("--record", folder / "said.jsonl")
    done = sitting.asks("fine 1").run(*record, *words, subject=f"cmd:rmdir {folder}")
    assert done.code == 2
    assert done.err.index("stored as run") < done.err.index("said.jsonl` cannot be written")
    assert done.json["items"] if words else "right" in done.out


@pytest.mark.parametrize("option", ["--template", "--examples", "--subject"])
def test_a_record_does_not_replace_what_is_read(sitting: Sitting, option: str) -> None:
    text = '{"prompt": "{prompt}", "item": "i0", "output": "yes"}\n'
    mine = sitting.write("mine.jsonl", text)
    named = f"replay:{mine}" if option == "--subject" else mine
    done = sitting.asks("fine 1").run(option, named, "--record", mine)
    assert done.code == 2
    assert "mine.jsonl` is an input of this run" in done.err
    assert mine.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("way", ["free", "schema", "examples"])
def test_the_recorded_answers_of_the_model_are_whole(way: str) -> None:
    rubric = load_rubric("tutor-capstone")
    exam = load_exam("capstone", "capstone-extra", "regression", rubric=rubric)
    path, _ = locate_document(f"smollm2-{way}", "answers", ".jsonl")
    result = score(rubric, exam, str(path))
    assert result.summary.complete
    assert result.summary.n == len(exam.items)


def test_the_scores_told_of_the_recordings_are_true() -> None:
    path, _ = locate_document("README", "answers", ".md")
    lines = [line.strip("|\n ") for line in path.read_text(encoding="utf-8").splitlines()]
    told = [line.replace("`", "").split(" | ") for line in lines if line.startswith("`smollm2")]
    assert len(told) == 6
    rubric = load_rubric("tutor-capstone")
    for name, of, n, *numbers in told:
        exams = ["capstone", "capstone-extra"] if of == "capstone" else [of]
        exam = load_exam(*exams, rubric=rubric)
        file, _ = locate_document(name, "answers", ".jsonl")
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        ids = {item.id for item in exam.items}
        summary = score(rubric, exam, [row for row in rows if row["item"] in ids]).summary
        found = [summary.score, *summary.axes.values()]
        assert [f"{round(10_000 * (value or 0)) / 10_000:.4f}" for value in found] == numbers
        assert summary.n == int(n)


def test_a_built_in_recording_is_a_subject() -> None:
    words = ("-r", "tutor-capstone", "-e", "capstone", "--subject", "replay:smollm2-schema")
    done = here("run", *words, "--format", "json")
    assert done.code == 0
    assert done.json["summary"]["axes"]["schema"] > 0.9
    assert done.json["live"]["latency_ms"]["n"] == 60
