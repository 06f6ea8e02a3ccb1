"""`markscheme report`: write a run as an HTML page, a Markdown comment or JUnit XML."""

from __future__ import annotations

import json

import click

from markscheme.cli.exit_codes import ExitCode, handle_errors
from markscheme.cli.options import add_judging_options, format_option, store_option

_EPILOG = """\b
Example:
  markscheme report latest -o report.html
  markscheme report result.json -o comment.md

RUN is a stored run (the beginning of its id, `latest`, `latest~1`, a tag) or a result file of
`markscheme score`. The ending decides: .html is one file that needs no other and no network, .md
is a comment for a pull request, .xml is JUnit. The exit code of `report` does not depend on the
gates; `markscheme gate` says whether the run may ship."""


@click.command(name="report", epilog=_EPILOG)
@click.argument("run", metavar="RUN")
@click.option(
    "--output", "-o", required=True, metavar="FILE", help="Where to write it: .html, .md or .xml."
)
@add_judging_options
@store_option
@format_option
@handle_errors
def command(
    run: str,
    output: str,
    baseline: str | None,
    rubric: str | None,
    exams: tuple[str, ...],
    subject: str | None,
    store: str | None,
    format_: str,
) -> ExitCode:
    """Write a run as one self-contained HTML page, as Markdown, or as JUnit XML."""
    from markscheme.cli.report_files import REPORT_SUFFIXES, write_report
    from markscheme.tell.language import translate
    from markscheme.workflows.find_run import RunContext, RunFinder
    from markscheme.workflows.gate import judge_run
    from markscheme.workflows.output_files import check_destination
    from markscheme.workflows.report import add_patterns, build_full_report, build_report

    inputs = tuple(name for name in (run, baseline, rubric, *exams) if name)
    path = check_destination(output, inputs, suffixes=REPORT_SUFFIXES)
    with RunFinder(store, RunContext(rubric=rubric, exams=exams, subject=subject)) as runs:
        judged = judge_run(runs, runs.find(run), baseline)
        if path.suffix.lower() == ".html":
            report = build_full_report(runs, judged)
        else:
            report = build_report(runs, judged, reasons=True)
            report = add_patterns(runs, judged, report, answers=True)
    size = write_report(path, report)
    if format_ == "json":
        document = {"run": report.past.run.name, "file": str(path), "bytes": size}
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        from markscheme.tell.words import format_run_title

        click.echo(format_run_title(report.past, report.stored))
        click.echo(translate("written to {file}", file=path))
    return ExitCode.OK
