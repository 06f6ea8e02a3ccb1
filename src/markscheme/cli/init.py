"""`markscheme init`: a small working project to start from."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from markscheme.cli.exits import Exit, command_body
from markscheme.cli.options import format_option
from markscheme.errors import UsageError

_EPILOG = """\b
Example:
  markscheme init my-exam
  cd my-exam
  markscheme score -r rubric.yaml -e exam.yaml -a answers.jsonl"""
_PROJECT = ("README.md", "rubric.yaml", "exam.yaml", "answers.jsonl")
_SCHEMAS = ("rubric.schema.json", "exam.schema.json")


@click.command(name="init", epilog=_EPILOG)
@click.argument("directory", metavar="DIR")
@format_option
@command_body
def command(directory: str, format_: str) -> Exit:
    """Write a small working project to DIR, which must be new or empty."""
    import json

    from markscheme.tell.language import say

    folder = Path(directory)
    written = _write(folder)
    if format_ == "json":
        shown = directory.encode("utf-8", "replace").decode()
        click.echo(json.dumps({"directory": shown, "files": written}, indent=2))
        return Exit.OK
    for name in written:
        click.echo(say("wrote {file}", file=folder / name))
    click.echo("\n" + say("Now try:"))
    click.echo(f"  cd {shlex.quote(str(folder))}")
    click.echo("  markscheme score -r rubric.yaml -e exam.yaml -a answers.jsonl")
    return Exit.OK


def _write(folder: Path) -> list[str]:
    from markscheme.read.sources import BUILT_IN

    if folder.exists() and not folder.is_dir():
        raise UsageError(f"`{folder}` is a file; name a new or empty folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise UsageError(f"`{folder}` is not empty; name a new or empty folder")
        for name in _PROJECT:
            (folder / name).write_bytes((BUILT_IN / "project" / name).read_bytes())
        for name in _SCHEMAS:
            (folder / name).write_bytes((BUILT_IN / "schemas" / name).read_bytes())
    except OSError as error:
        raise UsageError(f"`{folder}` cannot be written: {error.strerror or error}") from None
    return [*_PROJECT, *_SCHEMAS]
