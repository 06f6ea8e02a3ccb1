"""`markscheme agree`: how far do raters agree?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from markscheme.cli.exit_codes import ExitCode, handle_errors
from markscheme.cli.options import format_option, store_option
from markscheme.vocabulary import UsageError

if TYPE_CHECKING:
    from markscheme.weigh.rater_agreement import RaterAgreement

_EPILOG = """\b
Example:
  markscheme agree --ratings ana.csv --ratings ben.csv
  markscheme agree --ratings ratings.csv --level tone=nominal --html agreement.html
  markscheme agree --study study-1

Ratings have the columns item, variant, rater, axis and score, or one column for each axis. Any axes
and scores are accepted without a rubric: numbers, decimals or words. Raters whose `source` is judge
are kept apart from the people. The exit code is 0 when anything could be computed, 4 when
nothing could."""


def _parse_levels(
    context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> dict[str, str]:
    """Return the level of each axis; an entry without an axis is that of all others."""
    del context, parameter
    levels: dict[str, str] = {}
    for value in values:
        axis, _, level = value.rpartition("=")
        if axis in levels:
            of = f"of the axis {axis} " if axis else ""
            raise click.BadParameter(f"the level {of}is given twice")
        levels[axis] = level
    return levels


@click.command(name="agree", epilog=_EPILOG)
@click.option(
    "--ratings",
    multiple=True,
    metavar="FILE",
    help="A .csv, .xlsx or .jsonl file of ratings; may be repeated, the files are read as one.",
)
@click.option(
    "--study",
    metavar="NAME",
    help="The ratings of a closed study, and of its judge; see `markscheme rate --web`.",
)
@click.option(
    "--rubric",
    "-r",
    metavar="FILE|NAME",
    help="A rubric whose scales say which axes and scores there are. Default: any.",
)
@click.option(
    "--level",
    "levels",
    multiple=True,
    metavar="[AXIS=]LEVEL",
    callback=_parse_levels,
    help="What scores mean: nominal, ordinal or interval. Default: ordinal for up to 11 whole "
    "numbers, interval for more or for decimals, nominal for words.",
)
@click.option(
    "--judge",
    "judges",
    multiple=True,
    metavar="RATER",
    help="This rater is a model, though its ratings do not say so; may be repeated.",
)
@click.option("--seed", type=int, default=0, metavar="N", help="Random seed of the intervals.  [0]")
@click.option("--html", metavar="FILE", help="Write the agreement as one HTML page.")
@store_option
@format_option
@handle_errors
def command(
    ratings: tuple[str, ...],
    study: str | None,
    rubric: str | None,
    levels: dict[str, str],
    judges: tuple[str, ...],
    seed: int,
    html: str | None,
    store: str | None,
    format_: str,
) -> ExitCode:
    """Measure how far raters agree: alpha, AC2, kappa, correlations, per axis and per pair."""
    from markscheme.workflows.agree import agree
    from markscheme.workflows.output_files import check_destination, write_file_atomically

    inputs = [*ratings, *filter(None, [rubric])]
    page = None if html is None else check_destination(html, inputs, suffixes=())
    if bool(ratings) is bool(study):
        raise UsageError("name ratings: --ratings FILE, or --study NAME")
    if study:
        if rubric or levels:
            raise UsageError("--rubric and --level do not go with --study, which has its rubric")
        agreement = _agree_in_study(study, judges, seed, store)
    else:
        agreement = agree(ratings, rubric, level=levels, judges=judges, seed=seed)
    if page is not None:
        from markscheme import __version__
        from markscheme.tell.agreement_html import render_agreement_html

        write_file_atomically(page, render_agreement_html(agreement, __version__).encode())
    if format_ == "json":
        click.echo(json.dumps(agreement.to_dict(), ensure_ascii=False, indent=2))
    else:
        from markscheme.tell.agreement import print_agreement

        print_agreement(agreement)
    return ExitCode.OK if agreement.is_computed else ExitCode.UNDECIDED


def _agree_in_study(
    name: str, judges: tuple[str, ...], seed: int, place: str | None
) -> RaterAgreement:
    from markscheme.keep import open_store
    from markscheme.workflows.study import load_study
    from markscheme.workflows.study_results import measure_study_agreement

    with open_store(place, create=False) as store:
        study = load_study(store, name)
        return measure_study_agreement(store, study, judges=judges, seed=seed)
