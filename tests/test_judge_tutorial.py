"""The tutorial about judges: followed from an empty folder, its commands print what it shows."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

import markscheme
from commands import here

PAGE = Path(__file__).parent.parent / "docs" / "score-with-a-judge.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


def replace_sentence(command: str) -> None:
    """Do what `sed -i 's/OLD/NEW/' FILE` does."""
    _, _, script, file = shlex.split(command)
    _, old, new, _ = script.split("/")
    path = Path(file)
    assert old in path.read_text(encoding="utf-8")
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")


def test_the_tutorial_is_true_from_the_first_command_to_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    commands = 0
    done = None
    for language, text in BLOCK.findall(TEXT):
        if language == "console":
            command, _, wanted = text.removeprefix("$ markscheme ").partition("\n")
            done = here(*shlex.split(command))
            # The reply that is not read is shown as JSON, which holds more than the page does.
            is_json = command.endswith("--format json")
            assert done.code == (4 if is_json else 0), command
            if not is_json:
                assert [line.rstrip() for line in done.out.splitlines()] == wanted.splitlines()
            commands += 1
        elif text.startswith("cd "):
            monkeypatch.chdir(tmp_path / text.split()[1])
        elif text.startswith("sed "):
            replace_sentence(text.strip())
        elif language == "json":
            assert done is not None
            stated = json.loads(text)
            summary = done.json["summary"]
            assert {key: summary[key] for key in stated} == stated
        elif language == "csv":
            rows = Path("judged.csv").read_text(encoding="utf-8").splitlines()
            assert rows[: len(text.splitlines())] == text.splitlines()
        elif language == "yaml":
            assert set(text.splitlines()) <= set(Path("judge.yaml").read_text().splitlines())
    assert commands == 7


def test_the_project_with_a_judge_works_as_its_readme_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "desk"
    made = here("init", folder, "--judge", "--format", "json")
    assert made.code == 0
    assert sorted(made.json["files"]) == sorted(path.name for path in folder.iterdir())
    monkeypatch.chdir(folder)
    commands = re.findall(r"^    markscheme (.*)$", Path("README.md").read_text(), re.MULTILINE)
    assert len(commands) == 3
    assert [here(*shlex.split(command)).code for command in commands] == [0, 0, 0]
    assert here("lint", "rubric.yaml", "exam.yaml", "judge.yaml").out == "3 files: nothing found\n"


def test_the_project_with_a_judge_says_what_to_try_first(tmp_path: Path) -> None:
    done = here("init", tmp_path / "desk", "--judge")
    assert done.out.endswith("score -r rubric.yaml -e exam.yaml -a answers.jsonl -j judge.yaml\n")


def test_the_library_judges_as_the_command_does(tmp_path: Path) -> None:
    folder = tmp_path / "desk"
    here("init", folder, "--judge")
    rubric, exam, answers = (
        folder / name for name in ("rubric.yaml", "exam.yaml", "answers.jsonl")
    )
    judged = markscheme.judge(rubric, exam, answers, folder / "judge.yaml")
    assert judged.is_complete
    result = markscheme.score(rubric, exam, answers, ratings=judged.ratings)
    files = ("-r", rubric, "-e", exam, "-a", answers, "-j", folder / "judge.yaml")
    done = here("score", *files, "--no-store", "--format", "json")
    assert str(result.summary.score) == done.json["summary"]["exact"]["score"]


def test_a_row_that_is_no_answer_makes_judging_incomplete(tmp_path: Path) -> None:
    folder = tmp_path / "desk"
    here("init", folder, "--judge")
    with (folder / "answers.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"item": "unknown", "output": "?"}\n')
    files = {"-r": "rubric.yaml", "-e": "exam.yaml", "-a": "answers.jsonl", "-j": "judge.yaml"}
    named = [word for option, name in files.items() for word in (option, folder / name)]
    done = here("judge", *named, "--no-store", "--format", "json")
    assert done.code == 4
    summary = done.json["summary"]
    assert (summary["bad_rows"], summary["unread"], summary["complete"]) == (1, 0, False)
    judged = markscheme.judge(*(folder / name for name in files.values()))
    assert [error.reason for error in judged.errors] != []
    assert not judged.is_complete
