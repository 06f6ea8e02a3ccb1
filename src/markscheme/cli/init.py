"""`markscheme init`: write a small working project to start from."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

import click

from markscheme.cli.exit_codes import ExitCode, handle_errors
from markscheme.cli.options import format_option
from markscheme.vocabulary import UsageError

_EPILOG = """\b
Example:
  markscheme init my-exam
  cd my-exam
  markscheme score -r rubric.yaml -e exam.yaml -a answers.jsonl

With --judge, the project has criteria, a scale and a choice, and a recorded judge that marks them
without a key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Project:
    """A built-in project: its folder, its files, the schemas it comes with, what to try first."""

    folder: str
    files: tuple[str, ...]
    schemas: tuple[str, ...]
    commands: tuple[str, ...]


_SCORE = "markscheme score -r rubric.yaml -e exam.yaml -a answers.jsonl"
_PLAIN_PROJECT = _Project(
    folder="project",
    files=("README.md", "rubric.yaml", "exam.yaml", "answers.jsonl", "cases/capitals.yaml"),
    schemas=("rubric.schema.json", "exam.schema.json"),
    commands=(
        _SCORE,
        "markscheme gate latest",
        "markscheme audit rubric.yaml -e exam.yaml -c cases/capitals.yaml",
    ),
)
_JUDGED_PROJECT = _Project(
    folder="judged_project",
    files=(*_PLAIN_PROJECT.files[:-1], "judge.yaml", "replies.jsonl", "people.csv"),
    schemas=(*_PLAIN_PROJECT.schemas, "judge.schema.json", "panel.schema.json"),
    commands=(f"{_SCORE} -j judge.yaml",),
)


@click.command(name="init", epilog=_EPILOG)
@click.argument("directory", metavar="DIR")
@click.option("--judge", is_flag=True, help="A project whose answers a judge marks.")
@click.option(
    "--from",
    "source",
    metavar="FILE",
    help="Start from the test cases of another tool: a promptfooconfig.yaml, or a dataset of "
    "pydantic-evals.",
)
@format_option
@handle_errors
def command(directory: str, *, judge: bool, source: str | None, format_: str) -> ExitCode:
    """Write a small working project to DIR, which must be new or empty."""
    import json

    from markscheme.tell.language import translate

    if judge and source is not None:
        raise UsageError("give --judge or --from, not both")
    if source is not None:
        from markscheme.cli.import_ import print_outcome, to_plain
        from markscheme.workflows.import_documents import import_test_cases

        outcome = import_test_cases(source, directory)
        if format_ == "json":
            click.echo(json.dumps(to_plain(outcome), indent=2))
        else:
            print_outcome(outcome)
        return ExitCode.OK
    folder = Path(directory)
    project = _JUDGED_PROJECT if judge else _PLAIN_PROJECT
    written = _write_project(project, folder)
    if format_ == "json":
        shown = directory.encode("utf-8", "replace").decode()
        click.echo(json.dumps({"directory": shown, "files": written}, indent=2))
        return ExitCode.OK
    for name in written:
        click.echo(translate("wrote {file}", file=folder / name))
    click.echo("\n" + translate("Now try:"))
    click.echo(f"  cd {shlex.quote(str(folder))}")
    for line in project.commands:
        click.echo(f"  {line}")
    return ExitCode.OK


def _write_project(project: _Project, folder: Path) -> list[str]:
    from markscheme.read.documents import BUILTIN_DIR

    if folder.exists() and not folder.is_dir():
        raise UsageError(f"`{folder}` is a file; name a new or empty folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise UsageError(f"`{folder}` is not empty; name a new or empty folder")
        for name in project.files:
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes((BUILTIN_DIR / project.folder / name).read_bytes())
        for name in project.schemas:
            (folder / name).write_bytes((BUILTIN_DIR / "schemas" / name).read_bytes())
    except OSError as error:
        raise UsageError(f"`{folder}` cannot be written: {error.strerror or error}") from None
    return [*project.files, *project.schemas]
