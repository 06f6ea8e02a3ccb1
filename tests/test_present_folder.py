"""No module of the present folder is imported instead of ours or of those that we need."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from commands import FULL, Project
from test_ci_files import act

COMMAND = Path(sysconfig.get_path("scripts")) / "markscheme"
SHADOWS = ("click", "polars", "json", "signal", "typing", "orjson", "rich", "csv", "sqlite3")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project among modules that give themselves away when they are imported."""
    project = Project(tmp_path)
    project.result(*[FULL] * 4)
    for name in SHADOWS:
        project.write(f"{name}.py", f"raise SystemExit('imported {name}')\n")
    return project


@pytest.mark.parametrize(
    "words",
    [
        "--version",
        "lint rubric.yaml exam.yaml",
        "score -r rubric.yaml -e exam.yaml -a answers.jsonl --store store.db",
        "gate result.json -r rubric.yaml -e exam.yaml",
        "runs --store store.db",
        "show latest --store store.db",
        "verify result.json -r rubric.yaml -e exam.yaml",
    ],
)
@pytest.mark.parametrize("path", ["", ":", "."])
def test_modules_of_the_present_folder_are_never_imported(
    project: Project, words: str, path: str
) -> None:
    if not path:
        start = [sys.executable, "-m", "markscheme"]
    elif COMMAND.exists():
        # An empty entry of PYTHONPATH is the present folder.
        start = [str(COMMAND)]
    else:
        pytest.skip("the command is not installed")
    for shadow in ("signal", "typing", "json", "csv") if path else ():
        # Python itself or its site may import these before the command begins.
        (project.folder / f"{shadow}.py").unlink()
    done = subprocess.run(
        [*start, *words.split()],
        cwd=project.folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, "imported" in done.stdout + done.stderr) == (0, False), done.stderr


def test_the_action_judges_also_beside_modules_named_like_ours(project: Project) -> None:
    if not COMMAND.exists():
        pytest.skip("the command is not installed")
    for name in ("markscheme", "pip", "secrets", "shutil"):
        project.write(f"{name}.py", f"raise SystemExit(print('imported {name}'))\n")
    ended, out, _ = act(project, FULL, FULL)
    assert ended == 4
    assert "imported" not in out
    assert "verdict: " in out
