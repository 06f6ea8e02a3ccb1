"""`markscheme baseline`: the run that new ones are held against; it never moves by itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from markscheme.cli.exits import Exit, command_body
from markscheme.cli.options import format_option, store_option

if TYPE_CHECKING:
    from typing import Any

    from markscheme.history.baselines import Standing

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
@command_body
def set_(run: str, note: str | None, by: str | None, store: str | None, format_: str) -> Exit:
    """Make a complete stored run the baseline of its rubric and exam."""
    from markscheme.history.baselines import set_baseline
    from markscheme.history.runs import Runs
    from markscheme.tell.language import say

    with Runs(store) as runs:
        baseline = set_baseline(runs, run, by=by, note=note)
    if format_ == "json":
        document = {"run": baseline.run, "rubric": baseline.rubric, "exam": baseline.exam}
        click.echo(json.dumps({"baseline": document}, ensure_ascii=False, indent=2))
    else:
        what = {"run": baseline.run, "exam": baseline.exam, "rubric": baseline.rubric}
        click.echo(say("run {run} is the baseline of {exam} under {rubric} now", **what))
    return Exit.OK


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
@command_body
def show(
    rubric: str | None,
    exam: str | None,
    subject: str | None,
    last: int,
    store: str | None,
    format_: str,
) -> Exit:
    """Describe the score distribution of the baseline: mean, interval, axes, tags, trend, drift."""
    from markscheme.history.baselines import standing_baselines
    from markscheme.history.runs import Runs
    from markscheme.tell.language import say
    from markscheme.tell.verdicts import VerdictPage

    with Runs(store) as runs:
        wanted = {"rubric": rubric, "exam": exam, "subject": subject}
        found = list(standing_baselines(runs, **wanted, last=last))
    if format_ == "json":
        document = {"baselines": list(map(_record, found))}
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        page = VerdictPage()
        for standing in found:
            page.standing(standing.baseline, standing.distribution)
        if not found:
            click.echo(say("no baseline is set; `markscheme baseline set RUN` sets one"))
    return Exit.OK if found else Exit.UNDECIDED


def _record(standing: Standing) -> dict[str, Any]:
    from markscheme.weigh.records import distribution_record

    baseline, distribution = standing.baseline, standing.distribution
    return {
        "run": baseline.run,
        "rubric": baseline.rubric,
        "exam": baseline.exam,
        "set_at": baseline.set_at.isoformat(),
        "set_by": baseline.set_by,
        "note": baseline.note,
        "distribution": None if distribution is None else distribution_record(distribution),
    }
