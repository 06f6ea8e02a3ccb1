"""`markscheme gate`: may this release ship?"""

from __future__ import annotations

import json

import click

from markscheme.cli.exits import EXIT_OF, Exit, command_body
from markscheme.cli.options import format_option, judged_options, store_option

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
@judged_options
@click.option("--junit", metavar="FILE", help="Write gates and items as JUnit XML.")
@click.option("--markdown", metavar="FILE", help="Write a comment for a pull request.")
@store_option
@format_option
@command_body
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
) -> Exit:
    """Judge a run by the hard, soft and baseline gates of its rubric."""
    from markscheme.cli.outputs import Outputs
    from markscheme.history.judging import judge_run, record_outcomes
    from markscheme.history.reporting import report_on, with_patterns
    from markscheme.history.runs import Context, Runs
    from markscheme.tell.verdicts import VerdictPage
    from markscheme.vocabulary import Outcome

    inputs = tuple(name for name in (run, baseline, rubric, *exams) if name)
    outputs = Outputs.checked(junit=junit, markdown=markdown, inputs=inputs)
    with Runs(store, Context(rubric=rubric, exams=exams, subject=subject)) as runs:
        judged = judge_run(runs, runs.find(run), baseline)
        report = report_on(runs, judged, reasons=outputs.reasons)
        if report.gates.verdict is not Outcome.PASS:
            report = with_patterns(runs, judged, report, answers=outputs.reasons)
        unrecorded = record_outcomes(runs, judged)
    outputs.write(report)
    if format_ == "json":
        click.echo(json.dumps(report.to_dict(), ensure_ascii=False, indent=2))
    else:
        VerdictPage().judged(report)
    outputs.annotate(report, err=format_ == "json")
    if unrecorded:
        click.echo(unrecorded, err=True)
    return EXIT_OF[report.gates.verdict.value]
