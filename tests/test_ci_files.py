"""The files that others call by name: the action and the pre-commit hooks do what they say."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from commands import FULL, WRONG, Project, here
from markscheme.cli.main import COMMANDS, main

ROOT = Path(__file__).parent.parent
ACTION = YAML(typ="safe").load(ROOT / "action.yml")
HOOKS = YAML(typ="safe").load(ROOT / ".pre-commit-hooks.yaml")
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
JUDGE = STEPS["Score and judge"]
DOCS = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")


def options_of(command: str) -> set[str]:
    found = main.get_command(None, command)  # type: ignore[arg-type]
    assert found is not None
    return {option for parameter in found.params for option in parameter.opts}


def test_the_action_uses_its_inputs_and_no_others() -> None:
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    assert set(re.findall(r"inputs\.([a-z]+)", text)) == set(ACTION["inputs"])
    assert ACTION["runs"]["using"] == "composite"
    assert all(step["shell"] == "bash" for step in STEPS.values() if "run" in step)
    assert STEPS["Keep downloaded wheels"]["uses"].startswith("actions/cache@")
    assert all(entry["description"] for entry in ACTION["inputs"].values())
    for step in STEPS.values():
        assert "${{" not in step.get("run", ""), "an input in a script would be code"


@pytest.mark.parametrize(
    ("version", "wanted"), [("", "/the/action[postgres]"), ("0.2.0", "markscheme[postgres]==0.2.0")]
)
def test_the_action_installs_a_wheel_where_a_version_is_named(
    tmp_path: Path, version: str, wanted: str
) -> None:
    program = tmp_path / "python"
    program.write_text('#!/bin/sh\necho "$@"\n')
    program.chmod(0o755)
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", STEPS["Install markscheme"]["run"]],  # noqa: S607
        env={"PYTHON": str(program), "VERSION": version, "SOURCE": "/the/action"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split()[-1] == wanted


def test_the_gitlab_job_in_the_docs_calls_what_there_is() -> None:
    text = DOCS.partition("## GitLab CI")[2].partition("```yaml\n")[2].partition("```")[0]
    (job,) = YAML(typ="safe").load(text).values()
    assert job["artifacts"]["when"] == "always"
    for line in job["script"]:
        program, *words = shlex.split(line)
        if program == "markscheme":
            given = {word for word in words if word.startswith("--")}
            assert given <= options_of(words[0])


def test_the_action_calls_what_there_is() -> None:
    calls = re.findall(r'"\$markscheme" (\w+)((?:.|\\\n)*)', JUDGE["run"])
    assert [command for command, _ in calls] == ["score", "gate"]
    for command, words in calls:
        given = set(re.findall(r"(?<!\S)--[a-z-]+", words))
        assert given
        assert given <= options_of(command)


INPUTS: dict[str, Any] = ACTION["inputs"]


def act(project: Project, *outputs: str, **inputs: str) -> tuple[int, str, Path]:
    """Run the script of the action as the runner does."""
    defaults = {name.upper(): str(entry.get("default", "")) for name, entry in INPUTS.items()}
    given = {
        "RUBRIC": str(project.rubric),
        "EXAM": str(project.exam),
        "ANSWERS": str(project.answers(*outputs)),
        "PYTHON": sys.executable,
    }
    output = project.folder / "output"
    github = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_OUTPUT": str(output),
        "GITHUB_STEP_SUMMARY": str(project.folder / "summary.md"),
    }
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", JUDGE["run"]],  # noqa: S607
        env={**os.environ, **defaults, **given, **inputs, **github},
        cwd=project.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, output


@pytest.mark.parametrize(("outputs", "code"), [([FULL] * 4, 0), ([WRONG] * 4, 1), ([FULL] * 2, 4)])
def test_the_action_scores_judges_and_ends_as_the_gate_does(
    tmp_path: Path, outputs: list[str], code: int
) -> None:
    project = Project(tmp_path)
    ended, out, output = act(project, *outputs)
    assert ended == code
    assert output.read_text(encoding="utf-8") == f"exit-code={code}\n"
    for name in ("result", "junit", "markdown"):
        assert (tmp_path / INPUTS[name]["default"]).exists()
    assert "markscheme: " in (tmp_path / "summary.md").read_text(encoding="utf-8")
    word = re.search(r"::stop-commands::(\w{32})\n", out)
    assert word
    scored, _, judged = out.partition(f"\n::{word[1]}::\n")
    assert "score" in scored
    assert "verdict: " in judged


def test_the_action_stores_where_it_is_told_and_compares_with_the_baseline_there(
    tmp_path: Path,
) -> None:
    project = Project(tmp_path)
    project.stored(*[FULL] * 4)
    project.run("baseline", "set", "latest")
    ended, out, _ = act(project, *[WRONG] * 4, STORE=str(project.store))
    assert ended == 1
    assert "Since the baseline" in out
    assert len(project.run("runs", "--format", "json").json["runs"]) == 2
    refused, _, output = act(project, FULL, RUBRIC="no-such-rubric")
    assert refused == 2
    assert "exit-code=2" in output.read_text(encoding="utf-8")


def test_every_hook_calls_a_command_that_takes_many_files() -> None:
    assert {hook["id"] for hook in HOOKS} == {"markscheme-lint", "markscheme-verify"}
    for hook in HOOKS:
        program, command = shlex.split(hook["entry"])
        assert program == "markscheme"
        assert hook["language"] == "python"
        re.compile(hook["files"])
        assert command in COMMANDS
        if command in COMMANDS:
            found = main.get_command(None, command)  # type: ignore[arg-type]
            assert found is not None
            assert any(parameter.nargs == -1 for parameter in found.params)


@pytest.mark.parametrize(
    ("hook", "names", "others"),
    [
        ("markscheme-lint", ["rubric.yaml", "a/my-exam.yml"], ["x.yaml", "rubric.json"]),
        ("markscheme-verify", ["breakdown.json", "b/q1-breakdown.jsonl"], ["package.json"]),
    ],
)
def test_a_hook_is_given_the_files_it_is_for(
    hook: str, names: list[str], others: list[str]
) -> None:
    (pattern,) = (entry["files"] for entry in HOOKS if entry["id"] == hook)
    assert all(re.search(pattern, name) for name in names)
    assert not any(re.search(pattern, name) for name in others)


def test_the_docs_name_every_input_and_every_hook() -> None:
    assert all(f"`{name}`" in DOCS for name in [*INPUTS, *ACTION["outputs"]])
    assert all(hook["id"] in DOCS for hook in HOOKS)


def test_the_examples_in_the_docs_are_yaml_with_known_inputs() -> None:
    examples = [part.partition("```")[0] for part in DOCS.split("```yaml\n")[1:]]
    assert len(examples) >= 2
    for example in examples:
        document = YAML(typ="safe").load(example)
        for job in document.get("jobs", {}).values():
            for step in job["steps"]:
                if "markscheme" in step.get("uses", ""):
                    assert set(step["with"]) <= set(INPUTS)
        for repository in document.get("repos", []):
            assert {hook["id"] for hook in repository["hooks"]} <= {hook["id"] for hook in HOOKS}


def test_verify_takes_several_files(tmp_path: Path) -> None:
    project = Project(tmp_path)
    good = project.result(*[FULL] * 4, name="good.json")
    text = good.read_text(encoding="utf-8")
    wrong = project.write("wrong.json", text.replace('"score":1.0', '"score":0.9', 1))
    rubric = ("--rubric", project.rubric)
    assert here("verify", good, good, *rubric).code == 0
    done = here("verify", good, wrong, *rubric)
    assert done.code == 1
    assert f"{good}: 4 breakdowns checked: all follow from each other" in done.out
    document = here("verify", good, wrong, *rubric, "--format", "json").json
    assert [file["ok"] for file in document["files"]] == [True, False]
