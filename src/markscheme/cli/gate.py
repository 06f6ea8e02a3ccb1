"""`markscheme gate`: judge a run by the gates of its rubric."""

from __future__ import annotations

import json

import click

from markscheme.cli.exit_codes import VERDICT_EXIT_CODES, ExitCode, handle_errors
from markscheme.cli.options import add_judging_options, format_option, store_option

_EPILOG = """\b
Example:
  markscheme gate latest
  markscheme gate 3f2a --baseline release-1.4 --markdown comment.md

RUN is a stored run (the beginning of its id, `latest`, `latest~1`, a tag) or a result file of
`markscheme score`. The exit code is 0 when every hard gate is met, 1 when one is not, 4 when it
cannot be told; a soft gate only warns.

On GitHub Actions the job gets annotations, and a summary where GITHUB_STEP_SUMMARY names a file."""


@click.command(name="gate", epilog=_EPILOG)
@click.argument("run", metavar="RUN")
@add_judging_options
@click.option("--junit", metavar="FILE", help="Write gates and items as JUnit XML.")
@click.option("--markdown", metavar="FILE", help="Write a comment for a pull request.")
@store_option
@format_option
@handle_errors
def command(
    run: str,
    baseline: str | None,
    rubric: str | None,
    exams: tuple[str, ...],
    subject: str | None,
    junit: str | None,
    markdown: str | None,
    store: str | None,
    format_: str,
) -> ExitCode:
    """Judge a run by the hard, soft and baseline gates of its rubric."""
    from markscheme.cli.report_files import ReportFiles
    from markscheme.tell.verdicts import VerdictPage
    from markscheme.vocabulary import Outcome
    from markscheme.workflows.find_run import RunContext, RunFinder
    from markscheme.workflows.gate import judge_run, record_outcomes
    from markscheme.workflows.report import add_patterns, build_report

    inputs = tuple(name for name in (run, baseline, rubric, *exams) if name)
    outputs = ReportFiles.from_options(junit=junit, markdown=markdown, inputs=inputs)
    with RunFinder(store, RunContext(rubric=rubric, exams=exams, subject=subject)) as runs:
        judged = judge_run(runs, runs.find(run), baseline)
        report = build_report(runs, judged, reasons=outputs.needs_reasons)
        if report.gates.verdict is not Outcome.PASS:
            report = add_patterns(runs, judged, report, answers=outputs.needs_reasons)
        unrecorded = record_outcomes(runs, judged)
    outputs.write_reports(report)
    if format_ == "json":
        click.echo(json.dumps(report.to_dict(), ensure_ascii=False, indent=2))
    else:
        VerdictPage().print_report(report)
    outputs.print_annotations(report, err=format_ == "json")
    if unrecorded:
        click.echo(unrecorded, err=True)
    return VERDICT_EXIT_CODES[report.gates.verdict.value]
