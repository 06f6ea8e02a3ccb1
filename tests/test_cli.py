"""The commands from outside: what is refused, a new project, and streams that are closed."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from commands import markscheme
from small_exam import EXAM, score

if TYPE_CHECKING:
    from pathlib import Path


def test_an_unknown_name_is_wrong_usage_and_names_what_is_built_in(exam_folder: Path) -> None:
    done = markscheme("score", "-r", "tutor-capston", "-e", "capstone", "-a", "-", cwd=exam_folder)
    assert done.code == 2
    assert "did you mean `tutor-capstone`?" in done.err


def test_an_invalid_document_is_exit_3_with_file_line_and_field(exam_folder: Path) -> None:
    (exam_folder / "exam.yaml").write_text(EXAM.replace("    prompt: C", "    promt: C", 1))
    done = score(exam_folder)
    assert done.code == 3
    assert "exam.yaml:4: items.0.promt: unknown key" in done.err
    assert done.out == ""
    as_json = score(exam_folder, "--format", "json")
    assert as_json.code == 3
    assert as_json.json["error"]["exit_code"] == 3
    assert {"file", "line", "field", "message"} == set(as_json.json["error"]["problems"][0])


@pytest.mark.parametrize(
    "arguments",
    [
        ("score",),
        ("score", "-r", "tutor-capstone"),
        ("nonsense",),
        ("demo", "--wrong"),
        ("score", "-r", "tutor-capstone", "-e", "capstone", "-a", "x.jsonl", "--format", "xml"),
        ("score", "-r", "tutor-capstone", "-e", "capstone", "-a", "-", "-o", "out.txt"),
        ("score", "-r", "tutor-capstone", "-e", "capstone", "-a", "-", "-o", "no/such/out.json"),
        ("init",),
    ],
)
def test_wrong_usage_is_exit_2(arguments: tuple[str, ...], tmp_path: Path) -> None:
    done = markscheme(*arguments, cwd=tmp_path)
    assert done.code == 2
    assert done.err
    assert done.out == ""


@pytest.mark.parametrize("words", [("score", "--format", "json"), ("demo", "-x", "--format=json")])
def test_wrong_usage_is_a_document_too_where_json_was_asked_for(words: tuple[str, ...]) -> None:
    done = markscheme(*words)
    assert done.code == 2
    assert done.json["error"]["exit_code"] == 2


def test_init_writes_a_project_that_works(tmp_path: Path) -> None:
    done = markscheme("init", "mine", cwd=tmp_path)
    assert done.code == 0
    folder = tmp_path / "mine"
    scored = markscheme(
        "score", "-r", "rubric.yaml", "-e", "exam.yaml", "-a", "answers.jsonl", cwd=folder
    )
    assert scored.code == 0
    assert "it would pass if accents were ignored" in scored.out
    again = markscheme("init", "mine", cwd=tmp_path)
    assert again.code == 2
    assert "is not empty" in again.err


def test_closed_full_and_narrow_streams_do_not_crash(exam_folder: Path) -> None:
    command = f"{sys.executable} -m markscheme"
    inputs = f"-r tutor-capstone -e {exam_folder / 'exam.yaml'}"
    for line, code in (
        (f"{command} score {inputs} -a - <&-", 3),
        (f"{command} demo >&-", 0),
        (f"{command} demo >/dev/full", 4),
        (f"{command} --help >/dev/full", 4),
        (f"PYTHONIOENCODING=ascii {command} demo --flawed >/dev/null", 1),
    ):
        done = subprocess.run(
            ["bash", "-c", line],  # noqa: S607
            capture_output=True,
            check=False,
            timeout=300,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == code, (line, done.stderr)
        assert b"Traceback" not in done.stderr


def test_a_closed_pipe_is_no_verdict() -> None:
    for words in ("demo", "demo --flawed --format json"):
        line = f"{sys.executable} -m markscheme {words} | true; exit ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", line], capture_output=True, check=False, timeout=300)  # noqa: S607
        assert done.returncode == 141, (words, done.stderr)
