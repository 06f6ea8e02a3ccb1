"""`markscheme rate`: a person scores answers, blind."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from markscheme.cli.exits import Exit, command_body
from markscheme.cli.options import exam_option, format_option, rubric_option
from markscheme.errors import UsageError

_EPILOG = """\b
Example:
  markscheme rate -r context-agent -e context-queries -a answers.jsonl -o ratings.csv --rater anna

The variant of an answer is its `subject`; the rater never sees it. The order is random, and the
same for the same seed and rater. Every score is on the disk before the next question; start the
command again to go on. The exit code is 0 when everything is rated and 4 when something is left."""


@click.command(name="rate", epilog=_EPILOG)
@rubric_option
@exam_option
@click.option(
    "--answers", "-a", required=True, metavar="FILE", help="The answers, .jsonl, .parquet or .csv."
)
@click.option(
    "--output", "-o", required=True, metavar="FILE", help="The ratings, a .csv to add to."
)
@click.option("--rater", required=True, metavar="NAME", help="Who rates.")
@click.option("--seed", type=int, default=0, show_default=True, help="Decides the order.")
@format_option
@command_body
def command(
    rubric: str,
    exams: tuple[str, ...],
    answers: str,
    output: str,
    rater: str,
    seed: int,
    format_: str,
) -> Exit:
    """Rate answers at the terminal, blind and in random order, with the anchors in view."""
    from markscheme.library.comparing import answers_to_rate
    from markscheme.library.documents import load_exam, load_rubric
    from markscheme.read.composed import composed
    from markscheme.read.ratings import Raters, RatingBook
    from markscheme.tell.files import check_destination
    from markscheme.tell.language import say
    from markscheme.tell.sittings import Sitting, blind_order

    path = Path(check_destination(output, (rubric, answers, *exams), suffixes=(".csv",)))
    if not rater.strip() or not rater.isprintable():
        raise UsageError("--rater needs a name that can be printed")
    name = composed(rater.strip())
    loaded = load_rubric(rubric)
    exam = load_exam(*exams, rubric=loaded)
    shown = answers_to_rate(loaded, exam, answers)
    variants = tuple(sorted({answer.variant for answer in shown}))
    book = RatingBook(path, Raters(rubric=loaded, exam=exam, variants=variants, gaps=True))
    to_stderr = format_ == "json"

    def tell(text: str) -> None:
        click.echo(text, err=to_stderr)

    def ask(prompt: str) -> str | None:
        click.echo(prompt, nl=False, err=to_stderr)
        line = sys.stdin.readline() if sys.stdin else ""
        typed = line.encode(errors="replace").decode().replace("\0", "")  # no CSV holds a NUL
        return typed.rstrip("\r\n") if line else None

    sitting = Sitting(loaded, book, name, ask=ask, tell=tell)
    ordered = blind_order(shown, name, seed)
    if book.torn:
        tell(say("the last row of the file was not whole and is cut off"))
    sitting.run(ordered)
    left = len(sitting.left(ordered))
    done = len(ordered) - left
    if to_stderr:
        document = {"file": output, "rater": name, "answers": len(ordered), "left": left}
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        tell(
            say(
                "\n{done} of {many} answers are rated, in {file}",
                done=done,
                many=len(ordered),
                file=output,
            )
        )
    return Exit.UNDECIDED if left else Exit.OK
