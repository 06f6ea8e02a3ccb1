"""`markscheme baseline`: set or show the run that new runs are compared with."""

from __future__ import annotations

import json

import click

from markscheme.cli.exit_codes import ExitCode, handle_errors
from markscheme.cli.options import format_option, store_option

_EPILOG = """\b
Example:
  markscheme baseline set latest --note "release 1.4, shipped"
  markscheme baseline show --format json"""


@click.group(name="baseline", epilog=_EPILOG)
def command() -> None:
    """Set or show the run that later runs are compared with."""


@command.command(name="set", epilog=_EPILOG)
@click.argument("run", metavar="RUN")
@click.option("--note", metavar="TEXT", help="Reason, stored with the baseline.")
@click.option("--by", metavar="NAME", help="Who decided, stored with the baseline.")
@click.option("--force", is_flag=True, help="Also if the run does not meet its hard gates.")
@store_option
@format_option
@handle_errors
def set_(
    run: str, note: str | None, by: str | None, *, force: bool, store: str | None, format_: str
) -> ExitCode:
    """Make a complete stored run the baseline of its rubric and exam."""
    from markscheme.tell.language import translate
    from markscheme.workflows.baseline import set_baseline
    from markscheme.workflows.find_run import RunFinder

    with RunFinder(store) as runs:
        baseline, former = set_baseline(runs, run, by=by, note=note, force=force)
    document = {"run": baseline.run, "rubric": baseline.rubric, "exam": baseline.exam}
    if format_ == "json":
        previous = None if former is None else former.run
        baselines = {"baseline": document, "former": previous}
        click.echo(json.dumps(baselines, ensure_ascii=False, indent=2))
        return ExitCode.OK
    click.echo(translate("run {run} is the baseline of {exam} under {rubric} now", **document))
    if former is None:
        click.echo(translate("there was none before"))
    else:
        when = f"{former.set_at:%Y-%m-%d %H:%M}"
        click.echo(translate("before it was {run}, set {when} UTC", run=former.run, when=when))
    click.echo(translate("next: `markscheme gate latest` compares the newest run with it"))
    return ExitCode.OK


@command.command(name="show", epilog=_EPILOG)
@click.option("--rubric", "-r", metavar="NAME", help="Only the baselines of this rubric.")
@click.option("--exam", "-e", metavar="NAME", help="Only the baselines of this exam.")
@click.option("--subject", metavar="NAME", help="Only the runs of this subject in the trend.")
@click.option(
    "--last",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="Number of recent runs in the trend.",
)
@store_option
@format_option
@handle_errors
def show(
    rubric: str | None,
    exam: str | None,
    subject: str | None,
    last: int,
    store: str | None,
    format_: str,
) -> ExitCode:
    """Describe the score distribution of the baseline: mean, interval, axes, tags, trend, drift."""
    from markscheme.tell.language import translate
    from markscheme.tell.verdicts import VerdictPage
    from markscheme.vocabulary import to_record
    from markscheme.workflows.baseline import find_standing_baselines
    from markscheme.workflows.find_run import RunFinder

    with RunFinder(store) as runs:
        filters = {"rubric": rubric, "exam": exam, "subject": subject}
        baselines = list(find_standing_baselines(runs, **filters, last=last))
    if format_ == "json":
        document = {"baselines": [to_record(standing) for standing in baselines]}
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        page = VerdictPage()
        for standing in baselines:
            page.print_baseline(standing.baseline, standing.distribution)
        if not baselines:
            click.echo(translate("no baseline is set; `markscheme baseline set RUN` sets one"))
    return ExitCode.OK if baselines else ExitCode.UNDECIDED
