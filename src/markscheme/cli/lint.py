"""`markscheme lint`: a static check of rubrics, exams, judges and decision tables."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from markscheme import __version__
from markscheme.cli.exit_codes import ExitCode, handle_errors, warn_of_silent_change
from markscheme.cli.options import format_option
from markscheme.vocabulary import InputError, UsageError

_EPILOG = """\b
Example:
  markscheme lint rubric.yaml exam.yaml

FILE is a rubric, an exam or a judge, or the name of a built-in one. Exams are read by the axes of
the one rubric that is given with them. Every code is explained in docs/lint.md. The exit code is 1
when there is an error, 0 when there are only warnings and notes, 3 when a file is not there."""


@click.command(name="lint", epilog=_EPILOG)
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option(
    "--rubric",
    "-r",
    metavar="FILE|NAME",
    help="Check the exams against this rubric; the rubric itself is not checked.",
)
@click.option(
    "--exam",
    "-e",
    "exams",
    multiple=True,
    metavar="FILE|NAME",
    help="Check the gates of the rubric against this exam; the exam itself is not checked.",
)
@click.option(
    "--subject",
    "judged",
    multiple=True,
    metavar="NAME",
    help="Whose answers a judge will mark: a judge of the same maker is reported.",
)
@click.option("--fix", is_flag=True, help="Repair what can be repaired without changing a score.")
@click.option(
    "--level",
    type=click.Choice(["error", "warning", "note"]),
    default="note",
    show_default=True,
    help="Show only findings of at least this severity.",
)
@click.option("--sarif", metavar="FILE", help="Also write the findings as SARIF 2.1.0.")
@format_option
@handle_errors
def command(
    *,
    files: tuple[str, ...],
    rubric: str | None,
    exams: tuple[str, ...],
    judged: tuple[str, ...],
    fix: bool,
    level: str,
    sarif: str | None,
    format_: str,
) -> ExitCode:
    """Check rubrics, exams, judges and decision tables for mistakes."""
    from markscheme.tell import lint as page
    from markscheme.workflows.prove import lint

    report = lint(*files, rubric=rubric, exams=exams, judged=judged, fix=fix).at_least(level)
    if sarif is not None:
        _write_json_file(sarif, page.build_sarif_log(report, __version__), (*files, *exams, rubric))
    if format_ == "json":
        click.echo(_dump_json(page.build_lint_document(report)))
    else:
        click.echo("\n".join(page.format_lint_lines(report)))
    for name in files:
        _warn_of_changed_rubric(name)
    return ExitCode.OK if report.ok else ExitCode.FAILED


def _warn_of_changed_rubric(name: str) -> None:
    """Compare a rubric with the runs in the store, if there is one; other files are passed over."""
    from markscheme.workflows.documents import load_rubric

    with suppress(UsageError, InputError):
        warn_of_silent_change(load_rubric(name), None)


def _dump_json(document: dict[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, indent=2)


def _write_json_file(name: str, document: dict[str, Any], inputs: tuple[str | None, ...]) -> None:
    if name in inputs:
        raise UsageError(f"`{name}` is one of the inputs; write the findings somewhere else")
    try:
        Path(name).write_text(_dump_json(document) + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"`{name}` cannot be written: {error.strerror or error}") from None
