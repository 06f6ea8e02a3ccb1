"""`markscheme init`: write a small working project to start from."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from markscheme.cli.exit_codes import ExitCode, handle_errors
from markscheme.cli.options import format_option
from markscheme.vocabulary import UsageError

_EPILOG = """\b
Example:
  markscheme init my-exam
  cd my-exam
  markscheme score -r rubric.yaml -e exam.yaml -a answers.jsonl"""
_PROJECT_FILES = ("README.md", "rubric.yaml", "exam.yaml", "answers.jsonl")
_SCHEMA_FILES = ("rubric.schema.json", "exam.schema.json")


@click.command(name="init", epilog=_EPILOG)
@click.argument("directory", metavar="DIR")
@click.option(
    "--from",
    "source",
    metavar="FILE",
    help="Start from the test cases of another tool: a promptfooconfig.yaml, or a dataset of "
    "pydantic-evals.",
)
@format_option
@handle_errors
def command(directory: str, source: str | None, format_: str) -> ExitCode:
    """Write a small working project to DIR, which must be new or empty."""
    import json

    from markscheme.tell.language import translate

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
    written = _write_project(folder)
    if format_ == "json":
        shown = directory.encode("utf-8", "replace").decode()
        click.echo(json.dumps({"directory": shown, "files": written}, indent=2))
        return ExitCode.OK
    for name in written:
        click.echo(translate("wrote {file}", file=folder / name))
    click.echo("\n" + translate("Now try:"))
    click.echo(f"  cd {shlex.quote(str(folder))}")
    click.echo("  markscheme score -r rubric.yaml -e exam.yaml -a answers.jsonl")
    return ExitCode.OK


def _write_project(folder: Path) -> list[str]:
    from markscheme.read.documents import BUILTIN_DIR

    if folder.exists() and not folder.is_dir():
        raise UsageError(f"`{folder}` is a file; name a new or empty folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise UsageError(f"`{folder}` is not empty; name a new or empty folder")
        for name in _PROJECT_FILES:
            (folder / name).write_bytes((BUILTIN_DIR / "project" / name).read_bytes())
        for name in _SCHEMA_FILES:
            (folder / name).write_bytes((BUILTIN_DIR / "schemas" / name).read_bytes())
    except OSError as error:
        raise UsageError(f"`{folder}` cannot be written: {error.strerror or error}") from None
    return [*_PROJECT_FILES, *_SCHEMA_FILES]
