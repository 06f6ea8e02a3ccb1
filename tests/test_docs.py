"""The docs cannot drift: commands, axes, steps and gates have sections, links have targets."""

from __future__ import annotations

import doctest
import importlib
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from commands import here
from markscheme import load_rubric
from markscheme.cli.main import COMMANDS, main
from markscheme.mark import STEPS
from markscheme.mark.axes import AXES, EXPECTATIONS
from markscheme.read.documents import GATE_MODELS
from markscheme.read.transcripts import list_format_names
from markscheme.weigh.patterns import PATTERN_KINDS

ROOT = Path(__file__).parent.parent


def headings(name: str) -> set[str]:
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    return {line.lstrip("# ") for line in text.splitlines() if line.startswith("#")}


def test_every_command_has_a_section() -> None:
    assert set(COMMANDS) <= headings("commands.md")


def test_every_option_of_a_command_is_in_its_section() -> None:
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    sections = {part.split("\n", 1)[0]: part for part in text.split("\n## ")[1:]}
    everywhere = {"--format", "--store", "--help", "--lang", "--plugin"}
    for name in COMMANDS:
        command = main.get_command(click.Context(main), name)
        assert command is not None
        inner = list(command.commands.values()) if isinstance(command, click.Group) else [command]
        for parameter in (parameter for one in inner for parameter in one.params):
            option = max(parameter.opts, key=len)
            if option.startswith("--") and option not in everywhere:
                assert option in sections[name], f"{name} does not say what {option} is"


def test_every_axis_has_a_section_that_names_its_parameters() -> None:
    assert set(AXES) <= headings("axes.md")
    text = (ROOT / "docs" / "axes.md").read_text(encoding="utf-8")
    sections = {part.split("\n", 1)[0]: part for part in text.split("\n## ")[1:]}
    for kind, axis in AXES.items():
        fields = set(axis.__dataclass_fields__) - {"kind", "version", "accepts", "reads", "traces"}  # type: ignore[attr-defined]
        for name in fields:
            assert f"`{name}`" in sections[kind], f"{kind} does not say what `{name}` is"


def test_every_axis_is_listed_under_its_kind_with_the_key_that_it_reads() -> None:
    assert {kind: axis.kind for kind, axis in AXES.items()} == {kind: kind for kind in AXES}
    fields = [axis.__dataclass_fields__ for axis in AXES.values()]  # type: ignore[attr-defined]
    assert [of["expects"].default for of in fields if "expects" in of] == list(EXPECTATIONS)


def test_every_normalisation_step_has_a_section() -> None:
    assert set(STEPS) <= headings("rubrics.md")


def test_every_metric_of_a_gate_has_a_section() -> None:
    assert set(GATE_MODELS) <= headings("gates.md")


def test_every_gate_of_the_built_in_rubric_has_a_section() -> None:
    assert {gate.name for gate in load_rubric("tutor-capstone").gates} <= headings("gates.md")


def test_the_gates_in_the_docs_are_gates(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "gates.md").read_text(encoding="utf-8")
    examples = [part.partition("```")[0] for part in text.split("```yaml\n")[1:]]
    stated = [part if "gates:" in part else f"gates:\n{part}" for part in examples]
    axis = "{name: spanish_gloss, kind: max_words, weight: 1, limit: 1}"
    for example in stated:
        path = tmp_path / "r.yaml"
        path.write_text(f"rubric: r\naxes: [{axis}]\n{example}", encoding="utf-8")
        assert load_rubric(path).gates


def test_every_kind_of_pattern_has_a_section() -> None:
    assert set(PATTERN_KINDS) <= headings("patterns.md")


def test_every_log_format_has_a_section() -> None:
    assert set(list_format_names()) <= headings("transcripts.md")


def test_the_readme_is_short_and_every_link_leads_somewhere() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(readme.splitlines()) <= 150
    for document in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        text = document.read_text(encoding="utf-8")
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", text):
            assert (document.parent / target).exists(), f"{document.name}: {target}"


def test_every_decision_is_listed() -> None:
    folder = ROOT / "docs" / "decisions"
    listed = re.findall(r"\]\((\d{4}-[^)]+)\)", (folder / "index.md").read_text(encoding="utf-8"))
    assert listed == sorted(path.name for path in folder.glob("[0-9]*.md"))


def test_the_site_is_built_without_a_broken_link_and_lists_every_page(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    shutil.copy(ROOT / "zensical.toml", tmp_path)
    program = str(Path(sys.executable).with_name("zensical"))
    build = [program, "build", "--strict"]
    done = subprocess.run(build, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    settings = (ROOT / "zensical.toml").read_text(encoding="utf-8")
    for page in (path.relative_to(tmp_path) for path in (tmp_path / "docs").rglob("*.md")):
        assert (tmp_path / "site" / Path(*page.parts[1:])).with_suffix(".html").exists()
        if "decisions" not in page.parts:
            assert f'"{"/".join(page.parts[1:])}"' in settings, f"{page} is not in zensical.toml"


def test_no_file_names_a_package_host() -> None:
    for path in (ROOT / "requirements").iterdir():
        assert "://" not in path.read_text(encoding="utf-8")


def test_the_example_of_the_readme_is_what_the_command_prints(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    command, _, wanted = readme.partition("```console\n$ ")[2].partition("```")[0].partition("\n")
    python = [sys.executable, "-m"]
    subprocess.run([*python, "markscheme", "init", tmp_path / "x"], check=True, capture_output=True)
    done = subprocess.run(
        [*python, *command.split()], cwd=tmp_path / "x", check=False, capture_output=True
    )
    printed = [line.rstrip() for line in done.stdout.decode().splitlines()]
    assert printed == wanted.splitlines()


def test_the_story_of_the_readme_is_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARKSCHEME_STORE", str(tmp_path / "store.db"))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = readme.split("```console\n")[2].partition("```")[0].splitlines()
    commands = [line.removeprefix("$ markscheme ") for line in lines if line.startswith("$ ")]
    done = [here(*shlex.split(command)) for command in commands]
    assert [one.code for one in done] == [0, 0, 1, 1]
    printed = iter(re.sub(r"\b[0-9a-f]{12}\b", "ID", done[-1].out).splitlines())
    for line in lines[len(commands) :]:
        if line != "…":
            assert re.sub(r"\b[0-9a-f]{12}\b", "ID", line) in printed, line


def test_the_comparison_in_the_readme_is_what_the_command_prints(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(ROOT)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    command, *lines = readme.split("```console\n")[3].partition("```")[0].splitlines()
    done = here(*shlex.split(command.removeprefix("$ markscheme ")))
    assert done.code == 1
    assert set(lines) - {"…"} <= {line.rstrip() for line in done.out.splitlines()}


def test_the_error_in_the_readme_is_what_the_command_prints(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    wanted = readme.partition("```text\n")[2].partition("```")[0]
    markscheme = [sys.executable, "-m", "markscheme"]
    subprocess.run([*markscheme, "init", tmp_path / "x"], check=True, capture_output=True)
    rubric = tmp_path / "x" / "rubric.yaml"
    rubric.write_text(rubric.read_text().replace("weight: 0.10", "weight: 0.15"))
    command = ["score", "-r", "rubric.yaml", "-e", "exam.yaml", "-a", "answers.jsonl"]
    done = subprocess.run(
        [*markscheme, *command], cwd=tmp_path / "x", check=False, capture_output=True
    )
    assert done.stderr.decode() == wanted


@pytest.mark.parametrize(
    "module",
    [
        "markscheme",
        "markscheme.rewards",
        "markscheme.testing",
        "markscheme.weigh.result",
        "markscheme.workflows.agree",
        "markscheme.workflows.compare",
        "markscheme.workflows.documents",
        "markscheme.workflows.gate",
        "markscheme.workflows.logs",
        "markscheme.workflows.mark",
        "markscheme.workflows.prove",
        "markscheme.workflows.judge",
        "markscheme.workflows.score",
        "markscheme.ask.subjects.tutor",
        "markscheme.workflows.run",
        "markscheme.workflows.verify",
        "markscheme.mark.axes.base",
        "markscheme.mark.normalise",
        "markscheme.mark.response",
        "markscheme.prove.audit.equivalent_mutants",
        "markscheme.read.documents.fingerprint",
        "markscheme.read.documents.validation",
        "markscheme.read.documents.yaml",
        "markscheme.read.nfc",
        "markscheme.read.verbs",
        "markscheme.vocabulary.cell",
        "markscheme.vocabulary.decision",
        "markscheme.vocabulary.digest",
        "markscheme.vocabulary.errors",
        "markscheme.vocabulary.exam",
        "markscheme.vocabulary.frozen",
        "markscheme.vocabulary.gate",
        "markscheme.vocabulary.numbers",
    ],
)
def test_the_examples_in_docstrings_are_true(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = doctest.testmod(importlib.import_module(module))
    assert found.attempted > 0
    assert found.failed == 0
