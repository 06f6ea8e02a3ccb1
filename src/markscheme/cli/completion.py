"""`markscheme completion`: commands, options, built-in names, runs and files in a shell."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem, get_completion_class

from markscheme.cli.exit_codes import ExitCode, handle_errors
from markscheme.cli.options import COMPLETION_VARIABLE, format_option

if TYPE_CHECKING:
    from collections.abc import Iterator

_EPILOG = """\b
Example:
  markscheme completion bash
  eval "$(markscheme completion bash)"

Put the second line into ~/.bashrc, or `eval "$(markscheme completion zsh)"` into ~/.zshrc. For
fish: `markscheme completion fish > ~/.config/fish/completions/markscheme.fish`."""
_RUN_ARGUMENTS = {"run", "runs", "baseline"}
_FOLDERS = {"rubric": "rubrics", "exams": "exams", "answers": "answers"}


@click.command(name="completion", epilog=_EPILOG)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@format_option
@handle_errors
def command(shell: str, format_: str) -> ExitCode:
    """Print the completion script of a shell."""
    from markscheme.cli.main import main

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"there is no completion for {shell}")
    script = kind(main, {}, "markscheme", COMPLETION_VARIABLE).source()
    click.echo(json.dumps({"shell": shell, "script": script}) if format_ == "json" else script)
    return ExitCode.OK


class CompletedText(click.types.StringParamType):
    """A text that names a document, a run or a file; a shell completes it."""

    def __init__(self, *, documents: str | None, runs: bool) -> None:
        self._documents = documents
        self._runs = runs

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the names that fit, with the files that fit; without names, the shell's own."""
        del param
        names = [name for name in self._list_names(ctx) if name.startswith(incomplete)]
        if not names:
            return [CompletionItem(incomplete, type="file")]
        return [CompletionItem(name) for name in (*names, *_list_files(incomplete))]

    def _list_names(self, ctx: click.Context) -> Iterator[str]:
        if self._documents is not None:
            from markscheme.read.documents import list_builtin_names

            suffix = ".jsonl" if self._documents == "answers" else ".yaml"
            yield from list_builtin_names(self._documents, suffix)
        if self._runs:
            yield from _list_runs(ctx.params.get("store"))


def _list_runs(store: str | None) -> list[str]:
    """Return `latest`, the tags and the newest ids of the store; nothing if there is none."""
    from markscheme.keep import open_store
    from markscheme.vocabulary import MarkschemeError

    with suppress(MarkschemeError, OSError), open_store(store, create=False) as opened:
        tags = [tag.name for tag in opened.list_tags()]
        return ["latest", *tags, *(run.id for run in opened.list_runs(limit=20))]
    return []


def _list_files(incomplete: str) -> list[str]:
    folder, _, name = incomplete.rpartition("/")
    with suppress(OSError):
        entries = sorted(os.scandir(f"{folder}/" if folder else "."), key=lambda e: e.name)
        prefix = f"{folder}/" if folder else ""
        return [
            f"{prefix}{entry.name}{'/' if entry.is_dir() else ''}"
            for entry in entries
            if entry.name.startswith(name) and (name or not entry.name.startswith("."))
        ]
    return []


def complete_values(command: click.Command) -> None:
    """Let the shell complete the values of a command, or of each command of a group."""
    commands = command.commands.values() if isinstance(command, click.Group) else [command]
    for inner in commands:
        for parameter in inner.params:
            metavar = parameter.metavar or ""
            runs = parameter.name in _RUN_ARGUMENTS and "RUN" in metavar
            documents = _FOLDERS.get(parameter.name or "") if "FILE" in metavar else None
            if runs or documents or "FILE" in metavar or "FOLDER" in metavar or "DIR" in metavar:
                parameter.type = CompletedText(documents=documents, runs=runs)
