"""Studies on the web for `markscheme rate`: make one, close it, make a new link for a rater."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from markscheme.cli.exit_codes import ExitCode, handle_errors
from markscheme.cli.options import format_option, store_option
from markscheme.vocabulary import UsageError

if TYPE_CHECKING:
    from markscheme.workflows.rate import AnswersToRate, RatingSources
    from markscheme.workflows.study import RatingStudy
    from markscheme.workflows.study_results import StudyProgress

DEFAULT_URL = "http://127.0.0.1:8020"
"""Where `markscheme serve` answers if no other port is named."""


def make_study(
    to_rate: AnswersToRate, asked: dict[str, Any], sources: RatingSources, format_: str
) -> ExitCode:
    """Store a study of these answers, and print a link for each rater."""
    from markscheme.keep import open_store
    from markscheme.workflows.study import StudyPlan, create_rater_link, create_study
    from markscheme.workflows.study_results import add_judge_ratings

    plan = StudyPlan(
        raters=asked["raters"].split(","),
        per_answer=asked["per_answer"],
        by=asked["by"] or "answer",
        sample=asked["sample"],
        seed=asked["seed"] or 0,
        name=asked["name"],
    )
    url = _check_url(asked["url"])
    with open_store(sources.store, create=True) as store, store.transaction():
        study = create_study(store, to_rate, plan)
        if asked["judged"]:
            add_judge_ratings(store, study, asked["judged"])
        links = {
            rater: f"{url}/enter/{create_rater_link(store, study, rater)}"
            for rater in study.stored.raters
        }
    _report_study(study, links, format_)
    return ExitCode.OK


def warn_of_names(items: list[str]) -> None:
    """Say which answers may tell the rater whose they are, without saying it."""
    from markscheme.tell.language import translate_plural

    if items:
        warning = translate_plural(
            "{n} answer names a variant or a family of models: {items}",
            "{n} answers name a variant or a family of models: {items}",
            len(items),
            items=", ".join(dict.fromkeys(items)),
        )
        click.echo(warning, err=True)


def _check_url(url: str | None) -> str:
    address = (url or DEFAULT_URL).rstrip("/")
    if not address.startswith(("http://", "https://")):
        raise UsageError(f"--url `{url}` is no address; it begins with http:// or https://")
    return address


def _report_study(study: RatingStudy, links: dict[str, str], format_: str) -> None:
    from markscheme.tell.language import translate, translate_plural

    answers = sum(map(len, study.variants.values()))
    revealing = [item for item, _, _ in study.revealing]
    if format_ == "json":
        document = {
            "study": study.stored.name,
            "id": study.id,
            "queries": len(study.variants),
            "answers": answers,
            "per_answer": study.per_answer,
            "by": study.stored.settings["by"],
            "seed": study.stored.settings["seed"],
            "sample": study.sample,
            "links": links,
            "revealing": revealing,
        }
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
    warn_of_names(revealing)
    if format_ == "json":
        return
    queries = translate_plural("{n} query", "{n} queries", len(study.variants))
    each = translate_plural("{n} rater for each", "{n} raters for each", study.per_answer)
    click.echo(
        translate(
            "study {name}: {queries} with {answers} answers, {each}",
            name=study.stored.name,
            queries=queries,
            answers=answers,
            each=each,
        )
    )
    if study.sample is not None:
        click.echo(translate("a random sample of {size} of {of}, seed {seed}", **study.sample))
    click.echo(translate("one link for each rater; it works once, within 30 days:"))
    for rater, link in links.items():
        click.echo(f"  {rater}  {link}")
    click.echo(
        translate(
            "next: `markscheme serve` answers these links; `markscheme rate close {name} -o"
            " ratings.csv` ends the study",
            name=study.stored.name,
        )
    )


_CLOSE_EPILOG = """\b
Example:
  markscheme rate close study-1 -o ratings.csv
  markscheme rate close study-1 -o ratings.csv --finish

Until then nothing names a variant together with a rating. The exit code is 4, and the study stays
open, while something is left to rate; --finish closes it all the same. A study that is closed stays
closed; its ratings can be written again."""


@click.command(name="close", epilog=_CLOSE_EPILOG)
@click.argument("study", metavar="STUDY")
@click.option(
    "--output", "-o", required=True, metavar="FILE", help="Where the ratings go, .csv or .jsonl."
)
@click.option("--finish", is_flag=True, help="Close the study although something is left to rate.")
@click.option("--by", metavar="NAME", help="Who closed it, stored with the study.")
@store_option
@format_option
@handle_errors
def close(
    study: str, output: str, *, finish: bool, by: str | None, store: str | None, format_: str
) -> ExitCode:
    """End a study for good, and write its ratings with the names of the variants."""
    from markscheme.keep import open_store
    from markscheme.workflows.judge_files import RATING_SUFFIXES, write_ratings
    from markscheme.workflows.output_files import check_destination
    from markscheme.workflows.study import load_study
    from markscheme.workflows.study_results import (
        close_study,
        collect_study_ratings,
        measure_progress,
    )

    path = Path(check_destination(output, (), suffixes=RATING_SUFFIXES))
    with open_store(store, create=False) as opened:
        is_closed = close_study(opened, study, by=by, finish=finish)
        loaded = load_study(opened, study)
        progress = measure_progress(opened, loaded)
        ratings = collect_study_ratings(opened, loaded) if is_closed else ()
    if is_closed:
        write_ratings(path, ratings)
    _report_closing(loaded, progress, len(ratings), output, format_)
    return ExitCode.OK if is_closed and progress.is_complete else ExitCode.UNDECIDED


def _report_closing(
    study: RatingStudy, progress: StudyProgress, ratings: int, output: str, format_: str
) -> None:
    from markscheme.tell.language import translate, translate_plural

    is_closed = study.stored.closed is not None
    left = progress.wanted - progress.done
    if format_ == "json":
        document = {
            "study": study.stored.name,
            "closed": is_closed,
            "file": output if is_closed else None,
            "ratings": ratings,
            "left": left,
            "set_aside": progress.set_aside,
            "sample": study.sample,
        }
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
        return
    if is_closed:
        click.echo(
            translate_plural(
                "the study {name} is closed; {n} rating is in {file}",
                "the study {name} is closed; {n} ratings are in {file}",
                ratings,
                name=study.stored.name,
                file=output,
            )
        )
    else:
        click.echo(translate("the study {name} stays open", name=study.stored.name))
    if left:
        done = translate(
            "rated: {done} of {wanted} (queries × raters)",
            done=progress.done,
            wanted=progress.wanted,
        )
        click.echo(done)
        if not is_closed:
            click.echo(translate("--finish closes it without the rest"))
    if progress.set_aside:
        click.echo(
            translate_plural(
                "{n} mark does not count: its rater left the query, and another one rated it",
                "{n} marks do not count: their raters left the query, and others rated it",
                progress.set_aside,
            )
        )


_LINK_EPILOG = """\b
Example:
  markscheme rate link study-1 --rater anna

A link works once. Whoever lost the browser session, or rates on another machine, needs a new
one; what was rated is there."""


@click.command(name="link", epilog=_LINK_EPILOG)
@click.argument("study", metavar="STUDY")
@click.option("--rater", required=True, metavar="NAME", help="Whose link it is.")
@click.option("--url", metavar="URL", help=f"The address of `markscheme serve`.  [{DEFAULT_URL}]")
@store_option
@format_option
@handle_errors
def link(study: str, rater: str, url: str | None, store: str | None, format_: str) -> ExitCode:
    """Make a new link for a rater of a study."""
    from markscheme.keep import open_store
    from markscheme.workflows.study import create_rater_link, load_study

    url = _check_url(url)
    with open_store(store, create=False) as opened:
        loaded = load_study(opened, study)
        address = f"{url}/enter/{create_rater_link(opened, loaded, rater)}"
    if format_ == "json":
        document = {"study": loaded.stored.name, "rater": rater, "link": address}
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        click.echo(address)
    return ExitCode.OK
