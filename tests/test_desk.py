"""At the desk: defaults of a project, schemas for editors, completion in a real shell."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
import time
from pathlib import Path

import jsonschema_rs
import pytest

from commands import here, markscheme
from markscheme.cli.schema import NAMES
from terminals import is_readable

SETTINGS = '[tool.markscheme]\nrubric = "rubric.yaml"\nexam = ["exam.yaml"]\nlang = "es"\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    here("init", str(tmp_path / "project"))
    (tmp_path / "project" / "pyproject.toml").write_text(SETTINGS)
    (tmp_path / "project" / "sub").mkdir()
    return tmp_path / "project"


def test_a_project_states_what_commands_need(project: Path) -> None:
    done = markscheme("score", "-a", "../answers.jsonl", "--no-store", cwd=project / "sub")
    assert done.code == 0
    assert "Dónde se perdieron puntos" in done.out
    done = markscheme("score", "-a", "../answers.jsonl", "--lang", "en", cwd=project / "sub")
    assert "Where points were lost" in done.out
    other = markscheme("score", "-a", "answers.jsonl", "-e", "capstone", cwd=project)
    assert "e-39-01" in other.out, "what is written on the command line wins"


def test_the_store_of_a_project_is_a_file_beside_it(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "pyproject.toml").write_text(f'{SETTINGS}store = "kept.db"\n')
    monkeypatch.delenv("MARKSCHEME_STORE")
    assert markscheme("score", "-a", "../answers.jsonl", cwd=project / "sub").code == 0
    assert (project / "kept.db").exists()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("plugin = 'a.py'", "tool.markscheme.plugin: unknown key; allowed: rubric, exam, store"),
        ("store = 'postgresql://a/b'", "a URL belongs in the variable MARKSCHEME_STORE"),
        ("lang = 'fr'", "must be one of en, es"),
        ("rubric = 7", "must be a text, not the number 7"),
        ("exam = []", "must be a text or a list of texts"),
        ("exam = [", "not TOML"),
    ],
)
def test_a_wrong_setting_is_refused(
    project: Path, line: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "pyproject.toml").write_text(f"[tool.markscheme]\n{line}\n")
    monkeypatch.chdir(project)
    done = here("score", "-a", "answers.jsonl")
    assert done.code == 3
    assert message in done.err


def test_another_table_or_none_changes_nothing(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    for text in ("[tool.other]\nrubric = 7\n", "# [tool.markscheme]\n"):
        (project / "pyproject.toml").write_text(text)
        done = here("score", "-a", "answers.jsonl")
        assert done.code == 2
        assert "Missing option '--rubric'" in done.err


def test_schemas_are_printed_for_editors() -> None:
    schema = here("schema", "rubric").json
    rubric = {"rubric": "r", "axes": [{"name": "a", "kind": "max_words", "limit": 3}]}
    assert jsonschema_rs.is_valid(schema, rubric)
    assert not jsonschema_rs.is_valid(schema, rubric | {"axis": 1})
    assert set(here("schema").json) == set(NAMES)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_script(shell: str) -> None:
    assert "_MARKSCHEME_COMPLETE" in here("completion", shell).out
    assert here("completion", shell, "--format", "json").json["shell"] == shell


def complete(folder: Path, words: str) -> list[str]:
    """Return what the shell is offered, by the protocol of its script."""
    parts = words.split(" ")
    done = markscheme(
        cwd=folder,
        _MARKSCHEME_COMPLETE="bash_complete",
        COMP_WORDS=words,
        COMP_CWORD=str(len(parts) - 1),
    )
    return done.out.splitlines()


def test_names_runs_and_files_are_completed(project: Path) -> None:
    assert complete(project, "markscheme sco") == ["plain,score"]
    assert "plain,tutor-capstone" in complete(project, "markscheme score -r tut")
    assert complete(project, "markscheme score -r ru") == ["file,ru"]
    markscheme("score", "-a", "answers.jsonl", "--tag", "release", cwd=project)
    assert {"plain,latest", "plain,release"} <= set(complete(project, "markscheme gate "))
    (project / "tutor-mine.yaml").write_text("")
    offered = complete(project, "markscheme lint --rubric tutor-")
    assert {"plain,tutor-capstone", "plain,tutor-mine.yaml"} <= set(offered)


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes_names_and_keeps_its_own_files(project: Path) -> None:
    script = project / "completion.sh"
    script.write_text(markscheme("completion", "bash").out)
    (project / "bin").mkdir()
    program = project / "bin" / "markscheme"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m markscheme "$@"\n')
    program.chmod(0o755)
    typed = "markscheme score -r tutor-capstone-s\t -a answ\t"
    assert "markscheme score -r tutor-capstone-strict  -a answers.jsonl" in type_in_bash(
        project, script, typed
    )


def type_in_bash(folder: Path, script: Path, typed: str) -> str:
    """Type in an interactive bash with the completion script; return what its line shows."""
    leader, follower = pty.openpty()
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    bash = subprocess.Popen(
        ["bash", "--norc", "--noprofile", "-i"],  # noqa: S607 - the user's shell
        cwd=folder,
        env={**os.environ, "PATH": path, "PS1": "$ ", "TERM": "dumb", "COLUMNS": "200"},
        stdin=follower,
        stdout=follower,
        stderr=follower,
        start_new_session=True,
    )
    try:
        os.write(leader, f"source {script}; echo loa''ded\n".encode())
        read_until(leader, "loaded")
        shown = ""
        for piece in typed.split("\t")[:-1]:
            os.write(leader, f"{piece}\t".encode())
            shown += read_for(leader, quiet=1.5)
        return shown
    finally:
        bash.kill()
        bash.wait()
        os.close(leader)
        os.close(follower)


def read_until(leader: int, wanted: str) -> None:
    shown, end = "", time.monotonic() + 60
    while wanted not in shown and time.monotonic() < end:
        shown += read_for(leader, quiet=0.2)
    assert wanted in shown


def read_for(leader: int, quiet: float) -> str:
    """Return what is shown until nothing comes for a while; the first piece may take long."""
    shown = b""
    while is_readable(leader, quiet if shown else 30):
        shown += os.read(leader, 4096)
    return shown.decode()


def test_the_settings_are_looked_for_without_loading_a_parser(tmp_path: Path) -> None:
    probe = """
import atexit, sys
atexit.register(lambda: print("tomllib" in sys.modules))
from markscheme.cli.main import run
sys.argv = ["m", "runs", "--help"]
run()
"""
    done = subprocess.run(
        [sys.executable, "-c", probe], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert done.stdout.endswith("False\n")
    assert json.loads(markscheme("schema", "exam", cwd=tmp_path).out)["title"]
