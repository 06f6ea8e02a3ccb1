"""`markscheme baseline`: the run that new ones are held against; it never moves by itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from markscheme.cli.exit_codes import ExitCode, handle_errors
from markscheme.cli.options import format_option, store_option

if TYPE_CHECKING:
    from typing import Any

    from markscheme.workflows.baseline import StandingBaseline

_EPILOG = """\b
Example:
  markscheme baseline set latest --note "release 1.4, shipped"
  markscheme baseline show --format json"""


@click.group(name="baseline", epilog=_EPILOG)
def command() -> None:
    """Set or show the run that new runs are held against."""


@command.command(name="set", epilog=_EPILOG)
@click.argument("run", metavar="RUN")
@click.option("--note", metavar="TEXT", help="Why; kept with the record.")
@click.option("--by", metavar="NAME", help="Who decided; kept with the record.")
@store_option
@format_option
@handle_errors
def set_(run: str, note: str | None, by: str | None, store: str | None, format_: str) -> ExitCode:
    """Make a complete stored run the baseline of its rubric and exam."""
    from markscheme.tell.language import translate
    from markscheme.workflows.baseline import set_baseline
    from markscheme.workflows.find_run import RunFinder

    with RunFinder(store) as runs:
        baseline = set_baseline(runs, run, by=by, note=note)
    if format_ == "json":
        document = {"run": baseline.run, "rubric": baseline.rubric, "exam": baseline.exam}
        click.echo(json.dumps({"baseline": document}, ensure_ascii=False, indent=2))
    else:
        what = {"run": baseline.run, "exam": baseline.exam, "rubric": baseline.rubric}
        click.echo(translate("run {run} is the baseline of {exam} under {rubric} now", **what))
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
    help="How many of the last runs make the trend.",
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
    from markscheme.workflows.baseline import find_standing_baselines
    from markscheme.workflows.find_run import RunFinder

    with RunFinder(store) as runs:
        wanted = {"rubric": rubric, "exam": exam, "subject": subject}
        found = list(find_standing_baselines(runs, **wanted, last=last))
    if format_ == "json":
        document = {"baselines": list(map(_build_baseline_record, found))}
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        page = VerdictPage()
        for standing in found:
            page.print_baseline(standing.baseline, standing.distribution)
        if not found:
            click.echo(translate("no baseline is set; `markscheme baseline set RUN` sets one"))
    return ExitCode.OK if found else ExitCode.UNDECIDED


def _build_baseline_record(standing: StandingBaseline) -> dict[str, Any]:
    from markscheme.weigh.records import build_distribution_record

    baseline, distribution = standing.baseline, standing.distribution
    return {
        "run": baseline.run,
        "rubric": baseline.rubric,
        "exam": baseline.exam,
        "set_at": baseline.set_at.isoformat(),
        "set_by": baseline.set_by,
        "note": baseline.note,
        "distribution": None if distribution is None else build_distribution_record(distribution),
    }
