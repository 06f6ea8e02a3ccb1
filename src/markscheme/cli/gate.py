"""`markscheme gate`: may this release ship?"""

from __future__ import annotations

import json

import click

from markscheme.cli.exits import EXIT_OF, Exit, command_body
from markscheme.cli.options import format_option, store_option

_EPILOG = """\b
Examples:
  markscheme gate latest
  markscheme gate 3f2a --baseline release-1.4 --markdown comment.md

RUN is a stored run (the beginning of its id, `latest`, `latest~1`, a tag) or a result file of
`markscheme score`. The exit code is 0 when every hard gate is met, 1 when one is not, 4 when it
cannot be told; a soft gate only warns."""


@click.command(name="gate", epilog=_EPILOG)
@click.argument("run", metavar="RUN")
@click.option(
    "--baseline",
    "-b",
    metavar="RUN",
    help="Compare with this run. Default: the baseline that was set for the rubric and the exam.",
)
@click.option(
    "--rubric",
    "-r",
    metavar="FILE|NAME",
    help="Take the gates from here; its axes and weights must be those of the run.",
)
@click.option(
    "--exam",
    "-e",
    "exams",
    multiple=True,
    metavar="FILE|NAME",
    help="The exam of a result file, where it is not a built-in one.",
)
@click.option("--subject", metavar="NAME", help="Which subject of a result file that has several.")
@store_option
@format_option
@command_body
def command(
    run: str,
    baseline: str | None,
    rubric: str | None,
    exams: tuple[str, ...],
    subject: str | None,
    store: str | None,
    format_: str,
) -> Exit:
    """Judge a run by the hard, soft and baseline gates of its rubric."""
    from markscheme.history.judging import judge_run
    from markscheme.history.runs import Context, Runs
    from markscheme.library import load_rubric
    from markscheme.tell.verdicts import VerdictPage, judged_record

    loaded = None if rubric is None else load_rubric(rubric)
    context = Context(rubric=loaded, exams=exams, subject=subject)
    with Runs(store, context) as runs:
        judged = judge_run(runs, run, baseline)
    found, beside = judged.found, judged.baseline
    if format_ == "json":
        baseline_run = beside.stored if beside else None
        document = judged_record(found.past, found.stored, baseline_run, judged.report)
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        VerdictPage().judged(found.past, found.stored, judged.report)
    return EXIT_OF[judged.report.verdict.value]
