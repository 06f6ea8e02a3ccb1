"""`markscheme runs`: list the stored runs."""

from __future__ import annotations

import json

import click

from markscheme.cli.exit_codes import ExitCode, handle_errors
from markscheme.cli.options import format_option, store_option

_EPILOG = """\b
Example:
  markscheme runs --exam capstone+capstone-extra --limit 5

The newest run comes first. A run is named by the beginning of its id, `latest`, `latest~1`, or a
tag (`markscheme score --tag NAME`)."""


@click.command(name="runs", epilog=_EPILOG)
@click.option("--rubric", "-r", metavar="NAME", help="Only runs under this rubric.")
@click.option("--exam", "-e", metavar="NAME", help="Only runs of this exam.")
@click.option("--subject", metavar="NAME", help="Only runs of this subject.")
@click.option(
    "--limit", "-n", type=click.IntRange(min=1), default=20, show_default=True, help="How many."
)
@store_option
@format_option
@handle_errors
def command(
    rubric: str | None,
    exam: str | None,
    subject: str | None,
    limit: int,
    store: str | None,
    format_: str,
) -> ExitCode:
    """List the stored runs, the newest first."""
    from markscheme.keep import open_store
    from markscheme.tell.text import print_run_list
    from markscheme.workflows.stored_runs import build_run_list_record

    with open_store(store, create=False) as opened:
        runs = opened.list_runs(rubric=rubric, exam=exam, subject=subject, limit=limit)
        document = build_run_list_record(runs, opened.list_tags(), opened.list_current_baselines())
    if format_ == "json":
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        print_run_list(document)
    return ExitCode.OK
