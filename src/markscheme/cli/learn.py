"""`markscheme learn`: practise, sit exams, and see how answers are graded and scheduled."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from markscheme.cli.exit_codes import ExitCode, handle_errors
from markscheme.cli.options import format_option, store_option
from markscheme.vocabulary import UsageError

if TYPE_CHECKING:
    from markscheme.learn import PlannedReview
    from markscheme.vocabulary import Item

_EPILOG = """\b
Example:
  markscheme learn
  markscheme learn --terminal
  markscheme learn schedule --grades 4,4,3 --format json

Without a command, the learner portal opens in the browser; `markscheme learn open --help` lists
its options."""
_OPEN = "open"
_GRADE_EXAMS = ("practice", "capstone", "capstone-extra", "regression")


class PortalGroup(click.Group):
    """A group that opens the portal if its first argument names no command."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `open` in front of arguments that name exams, and of none at all."""
        if not args or not (args[0] in self.commands or args[0] in {"--help", "-h"}):
            args = [_OPEN, *args]
        return super().parse_args(ctx, args)


@click.group(name="learn", cls=PortalGroup, epilog=_EPILOG)
def command() -> None:
    """Practise with spaced repetition and sit exams, marked by a rubric."""


@command.command(name=_OPEN, epilog=_EPILOG)
@click.argument("exams", nargs=-1, metavar="[EXAM]...")
@click.option(
    "--rubric",
    "-r",
    metavar="FILE|NAME",
    help="The rubric that marks. Default: tutor-capstone.",
)
@click.option("--terminal", is_flag=True, help="Practise here, without a browser.")
@click.option("--port", type=click.IntRange(0, 65535), default=8020, show_default=True)
@click.option("--no-open", is_flag=True, help="Print the link and do not open a browser.")
@store_option
@format_option
@handle_errors
def open_(
    *,
    exams: tuple[str, ...],
    rubric: str | None,
    terminal: bool,
    port: int,
    no_open: bool,
    store: str | None,
    format_: str,
) -> ExitCode:
    """Open the learner portal; with exams, practise and sit those."""
    from markscheme.workflows.portal import load_portal

    portal = load_portal(exams, rubric)
    if terminal:
        if format_ == "json":
            raise UsageError("--terminal talks to a person; leave out --format json")
        from markscheme.cli.learn_terminal import practise

        return practise(portal.practice, store)
    from markscheme.cli.serve import serve_app
    from markscheme.tell.language import get_language
    from markscheme.web import ServeOptions

    options = ServeOptions(
        store=store, port=port, landing="/learn/card", language=get_language(), portal=portal
    )
    return serve_app(options, open_browser=not no_open, format_=format_)


def _parse_grades(ctx: click.Context, parameter: click.Parameter, text: str) -> list[int]:
    del ctx, parameter
    try:
        return [int(part) for part in text.split(",") if part.strip()]
    except ValueError as error:
        message = f"{text!r} is no list of grades; give whole numbers from 0 to 5, as in 4,4,3"
        raise click.BadParameter(message) from error


@command.command(name="schedule", epilog=_EPILOG)
@click.option(
    "--grades",
    required=True,
    callback=_parse_grades,
    metavar="G,G,…",
    help="The grades of one card, from 0 to 5, each on the day it is due.",
)
@click.option(
    "--scheduler",
    type=click.Choice(["sm2", "sm2-delphi", "fsrs"]),
    default="sm2",
    show_default=True,
    help="SM-2 by its text, as SuperMemo's Delphi source has it, or FSRS (an extra).",
)
@format_option
@handle_errors
def schedule(grades: list[int], scheduler: str, format_: str) -> ExitCode:
    """Show when a card with these grades comes again."""
    from markscheme.learn import SchedulerName, plan_reviews

    planned = plan_reviews(grades, SchedulerName(scheduler))
    if format_ == "json":
        document = {"reviews": list(map(_build_review_record, planned))}
        click.echo(json.dumps(document, indent=2))
        return ExitCode.OK
    from markscheme.tell.language import translate, translate_plural

    for review in planned:
        days = translate_plural("in {n} day", "in {n} days", review.interval_days)
        ease = "" if review.ease is None else f", EF {review.ease / 100:.2f}"
        click.echo(translate("grade {grade}: again {days}", grade=review.grade, days=days) + ease)
    return ExitCode.OK


def _build_review_record(review: PlannedReview) -> dict[str, Any]:
    return {
        "grade": review.grade,
        "interval_days": review.interval_days,
        "ease": None if review.ease is None else review.ease / 100,
    }


@command.command(name="grade", epilog=_EPILOG)
@click.argument("item", metavar="ITEM")
@click.option(
    "--answer",
    required=True,
    metavar="JSON",
    help="The answer: a JSON object with the fields of the rubric, or a text.",
)
@click.option("--rubric", "-r", default="tutor-capstone", metavar="FILE|NAME", show_default=True)
@click.option(
    "--exam",
    "-e",
    "exams",
    multiple=True,
    metavar="FILE|NAME",
    help="Where the item stands. Default: the built-in exams of the verb table.",
)
@click.option(
    "--first-key-ms",
    type=click.IntRange(min=0),
    metavar="N",
    help="Milliseconds until the first key; more than 10,000 is hesitation.",
)
@click.option("--hint", is_flag=True, help="A hint was shown.")
@format_option
@handle_errors
def grade(
    *,
    item: str,
    answer: str,
    rubric: str,
    exams: tuple[str, ...],
    first_key_ms: int | None,
    hint: bool,
    format_: str,
) -> ExitCode:
    """Show what an answer to an item is worth: the score, and the quality of recall."""
    from markscheme.learn import grade_answer
    from markscheme.tell.language import translate, translate_stored
    from markscheme.vocabulary import format_decimal, to_float
    from markscheme.workflows.documents import load_exam, load_rubric

    loaded = load_rubric(rubric)
    found = _find_item(load_exam(*(exams or _GRADE_EXAMS), rubric=loaded).items, item)
    graded = grade_answer(loaded, found, answer, first_key_ms=first_key_ms, hint=hint)
    score = graded.breakdown.score
    if format_ == "json":
        document = {
            "score": to_float(score),
            "quality": graded.quality,
            "because": graded.because,
        }
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
        return ExitCode.OK
    click.echo(translate("score {score}", score=format_decimal(score)))
    because = translate_stored(graded.because)
    click.echo(translate("quality {n} of 5: {because}", n=graded.quality, because=because))
    return ExitCode.OK


def _find_item(items: tuple[Item, ...], id_: str) -> Item:
    from markscheme.read.documents import suggest_match
    from markscheme.vocabulary import format_value

    for item in items:
        if item.id == id_:
            return item
    hint = suggest_match(id_, [item.id for item in items]) or "; --exam names where it stands"
    raise UsageError(f"there is no item {format_value(id_)}{hint}")


@command.command(name="export", epilog=_EPILOG)
@click.argument("paper", metavar="PAPER")
@click.option("--output", "-o", required=True, metavar="FILE", help="The .jsonl file to write.")
@store_option
@format_option
@handle_errors
def export(paper: str, output: str, store: str | None, format_: str) -> ExitCode:
    """Write a paper as recorded answers, which `score` reads."""
    from markscheme.cli.exit_codes import print_note
    from markscheme.keep import open_store
    from markscheme.tell.language import translate
    from markscheme.workflows.output_files import check_destination, create_file_atomically
    from markscheme.workflows.papers import (
        export_paper,
        format_answers,
        load_paper,
        load_paper_documents,
    )

    path = Path(check_destination(output, (), suffixes=(".jsonl",)))
    with open_store(store, create=False) as opened:
        found = load_paper(opened, paper)
        rows = export_paper(opened, found)
        rubric, exam = load_paper_documents(opened, found)
    with create_file_atomically(path) as partial:
        partial.write_text(format_answers(rows), encoding="utf-8")
    if format_ == "json":
        document = {"paper": paper, "file": str(path), "answers": len(rows)}
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
        return ExitCode.OK
    names = " ".join(f"-e {name}" for name in exam.names)
    print_note(
        translate(
            "{n} answers are in {file}; score them with `markscheme score -r {rubric} {exams} -a"
            " {file}`",
            n=len(rows),
            file=str(path),
            rubric=rubric.name,
            exams=names,
        )
    )
    return ExitCode.OK


@command.command(name="import", epilog=_EPILOG)
@click.argument("file", metavar="FILE")
@store_option
@format_option
@handle_errors
def import_(file: str, store: str | None, format_: str) -> ExitCode:
    """Store reviews that were exported as JSON lines; those that are stored stay as they are."""
    from markscheme.cli.exit_codes import print_note
    from markscheme.keep import open_store
    from markscheme.tell.language import translate_plural
    from markscheme.workflows.review_files import import_reviews

    with open_store(store, create=True) as opened:
        added = import_reviews(opened, Path(file))
    if format_ == "json":
        click.echo(json.dumps({"file": file, "added": added}, ensure_ascii=False, indent=2))
        return ExitCode.OK
    print_note(translate_plural("{n} new review is stored", "{n} new reviews are stored", added))
    return ExitCode.OK
