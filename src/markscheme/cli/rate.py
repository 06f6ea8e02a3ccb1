"""`markscheme rate`: a person scores answers, blind."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

import click

from markscheme.cli.exit_codes import ExitCode, handle_errors
from markscheme.cli.options import exam_option, format_option, rubric_option
from markscheme.vocabulary import UsageError

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
    "--output",
    "-o",
    required=True,
    metavar="FILE",
    help="The .csv file to which ratings are added.",
)
@click.option("--rater", required=True, metavar="NAME", help="Who rates.")
@click.option("--seed", type=int, default=0, show_default=True, help="Decides the order.")
@format_option
@handle_errors
def command(
    rubric: str,
    exams: tuple[str, ...],
    answers: str,
    output: str,
    rater: str,
    seed: int,
    format_: str,
) -> ExitCode:
    """Rate answers at the terminal, blind and in random order, with the anchors in view."""
    from markscheme.read.nfc import to_nfc
    from markscheme.read.rating_file import RatingFile
    from markscheme.read.ratings import RatingScope
    from markscheme.tell.language import translate
    from markscheme.tell.rating_session import RatingSession
    from markscheme.workflows.documents import load_exam, load_rubric
    from markscheme.workflows.output_files import check_destination
    from markscheme.workflows.rate import load_answers_to_rate, shuffle_blind

    path = Path(check_destination(output, (rubric, answers, *exams), suffixes=(".csv",)))
    if not rater.strip() or not rater.isprintable():
        raise UsageError("--rater needs a name that can be printed")
    name = to_nfc(rater.strip())
    loaded = load_rubric(rubric)
    exam = load_exam(*exams, rubric=loaded)
    shown = load_answers_to_rate(loaded, exam, answers)
    variants = tuple(sorted({answer.variant for answer in shown}))
    book = RatingFile(
        path, RatingScope(rubric=loaded, exam=exam, variants=variants, allow_gaps=True)
    )
    to_stderr = format_ == "json"

    def tell(text: str) -> None:
        click.echo(text, err=to_stderr)

    def ask(prompt: str) -> str | None:
        click.echo(prompt, nl=False, err=to_stderr)
        line = sys.stdin.readline() if sys.stdin else ""
        # A CSV file cannot hold a NUL character.
        typed = line.encode(errors="replace").decode().replace("\0", "")
        return typed.rstrip("\r\n") if line else None

    session = RatingSession(loaded, book, name, ask=ask, tell=tell)
    ordered = shuffle_blind(shown, name, seed)
    # A library has set SA_RESTART; setting the handler again lets Ctrl-C interrupt a read.
    signal.signal(signal.SIGINT, signal.getsignal(signal.SIGINT))
    if book.had_torn_row:
        tell(translate("the last row of the file was not whole and is cut off"))
    session.rate_answers(ordered)
    left = len(session.list_unrated(ordered))
    done = len(ordered) - left
    if to_stderr:
        document = {"file": output, "rater": name, "answers": len(ordered), "left": left}
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        tell(
            translate(
                "\n{done} of {many} answers are rated, in {file}",
                done=done,
                many=len(ordered),
                file=output,
            )
        )
    return ExitCode.UNDECIDED if left else ExitCode.OK
