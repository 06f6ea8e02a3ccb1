"""`markscheme rate`: people score answers, blind, at the terminal or in a study on the web."""

from __future__ import annotations

import json
import signal
import sys
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

import click

from markscheme.cli.exit_codes import ExitCode, handle_errors
from markscheme.cli.options import format_option, store_option
from markscheme.cli.rating_studies import DEFAULT_URL, close, link, make_study, warn_of_names
from markscheme.vocabulary import UnescapedWriter, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markscheme.tell.rating_session import RatingView
    from markscheme.vocabulary import RowError
    from markscheme.workflows.rate import AnswersToRate
    from markscheme.workflows.sitting import RatingSitting

_EPILOG = """\b
Example:
  markscheme rate -r context-agent -e context-queries -a answers.jsonl -o ratings.csv --rater anna
  markscheme rate -r context-agent -e context-queries --logs logs/ -o ratings.csv --rater anna
  markscheme rate big small -r my-rubric.yaml -o ratings.csv --rater anna
  markscheme rate --web -r context-agent -e context-queries -a answers.jsonl --raters anna,ben
  markscheme rate close study-1 -o ratings.csv

On a terminal one key gives a score and goes on; ? shows all keys. The rater never sees the variant
of an answer: the subject of an answer or run, or the folder or name of a log. The order is
balanced between the variants, and the same for the same seed and rater.

While somebody rates, scores are kept in a file beside --output that names no variant
(ratings.anna.sitting.jsonl), each on the disk before the next question; start the command again
to go on or to correct. The ratings are written to --output when everything is rated. The exit code
is 0 then, and 4 while something is left.

With --web nothing is asked here: a study is stored, and each rater gets a link to `markscheme
serve`. `rate close STUDY` ends it and writes the ratings, `rate link STUDY` makes a new link."""


class _RateGroup(click.Group):
    """`rate close` and `rate link` are about studies; `rate` with anything else rates answers."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Return the context of the group, or of the command that has no name of its own."""
        if args and args[0] in self.commands:
            return super().make_context(info_name, args, parent, **extra)
        return self.commands[""].make_context(info_name, args, parent, **extra)


@click.group(name="rate", cls=_RateGroup)
def command() -> None:
    """Rate answers, or end a study in which several people rated them."""


command.add_command(close)
command.add_command(link)


@command.command(name="", epilog=_EPILOG)
@click.argument("runs", nargs=-1, metavar="[RUN…]")
@click.option(
    "--rubric",
    "-r",
    metavar="FILE|NAME",
    help="The rubric with the scales. Default: that of the first run.",
)
@click.option(
    "--exam",
    "-e",
    "exams",
    multiple=True,
    metavar="FILE|NAME",
    help="The exam; several merge. Default: that of the first run.",
)
@click.option("--answers", "-a", metavar="FILE", help="The answers, .jsonl, .parquet or .csv.")
@click.option("--logs", metavar="DIR", help="Session logs; what the agents did is shown as well.")
@click.option(
    "--log-map",
    metavar="FILE",
    help="Map logs to items and variants: a .csv, .jsonl or .yaml file.",
)
@click.option(
    "--output",
    "-o",
    metavar="FILE",
    help="The .csv file to which ratings are added.",
)
@click.option("--rater", metavar="NAME", help="Who rates.")
@click.option("--seed", type=int, metavar="N", help="Decides the order, and the sample.  [0]")
@click.option(
    "--finish",
    is_flag=True,
    help="Ask nothing: write what is rated, although something is left.",
)
@click.option("--web", is_flag=True, help="Make a study that several people rate in the web app.")
@click.option("--raters", metavar="NAME,NAME…", help="With --web: who rates.")
@click.option(
    "--per-answer",
    type=int,
    metavar="N",
    help="With --web: how many raters each query gets.  [all]",
)
@click.option(
    "--sample",
    type=int,
    metavar="N",
    help="With --web: rate a random sample of N queries; which ones is recorded.",
)
@click.option(
    "--by",
    type=click.Choice(["answer", "axis"]),
    help="With --web: all questions about one answer, or one question about all answers to a query."
    "  [answer]",
)
@click.option("--name", metavar="NAME", help="With --web: the name of the study.  [study-N]")
@click.option(
    "--judged",
    metavar="FILE",
    help="With --web: a judge's ratings, shown beside those of people after closing.",
)
@click.option(
    "--url",
    metavar="URL",
    help=f"With --web: the address of `markscheme serve`.  [{DEFAULT_URL}]",
)
@store_option
@format_option
@handle_errors
def rate(rubric: str | None, exams: tuple[str, ...], format_: str, **options: Any) -> ExitCode:
    """Rate answers at the terminal, blind and in balanced order, with the anchors in view."""
    from markscheme.workflows.rate import RatingSources, load_answers_to_rate

    web = options.pop("web")
    asked = _take_mode_options(options, web=web)
    sources = RatingSources(**options)
    if sources.log_map and not sources.logs:
        raise UsageError("--log-map goes with --logs")
    inputs = (rubric or "", str(sources.answers or ""), *exams, *sources.runs)
    if web:
        to_rate = load_answers_to_rate(sources, rubric, exams, scales_only=False)
        _report_bad_logs(to_rate.bad_logs)
        return make_study(to_rate, asked, sources, format_)
    to_rate = load_answers_to_rate(sources, rubric, exams)
    _report_bad_logs(to_rate.bad_logs)
    return _rate_at_terminal(to_rate, inputs, format_, **asked)


_TERMINAL_OPTIONS = ("output", "rater", "finish")
_WEB_OPTIONS = ("raters", "per_answer", "sample", "by", "name", "judged", "url")
_NEEDED = {True: ("raters",), False: ("output", "rater")}


def _take_mode_options(options: dict[str, Any], *, web: bool) -> dict[str, Any]:
    """Take the options of `rate` out, those for the web or those for the terminal, and the seed."""
    own, others = (_WEB_OPTIONS, _TERMINAL_OPTIONS) if web else (_TERMINAL_OPTIONS, _WEB_OPTIONS)
    for name in others:
        if options.pop(name):
            option = f"--{name.replace('_', '-')}"
            raise UsageError(f"{option} {'does not go' if web else 'goes'} with --web")
    asked = {name: options.pop(name) for name in (*own, "seed")}
    missing = [f"--{name}" for name in _NEEDED[web] if not asked[name]]
    if missing:
        raise UsageError(f"missing: {', '.join(missing)}")
    return asked


def _rate_at_terminal(
    to_rate: AnswersToRate,
    inputs: Sequence[str],
    format_: str,
    *,
    output: str,
    rater: str,
    seed: int | None,
    finish: bool,
) -> ExitCode:
    from markscheme.read.nfc import to_nfc
    from markscheme.workflows.output_files import check_destination
    from markscheme.workflows.rate import find_revealing_names
    from markscheme.workflows.sitting import RatingSitting

    path = Path(check_destination(output, inputs, suffixes=(".csv",)))
    name = to_nfc(rater.strip())
    if not name or not name.isprintable():
        raise UsageError("--rater needs a name that can be printed")
    revealing = find_revealing_names(to_rate.answers)
    warn_of_names([answer.item for answer, _ in revealing])
    with closing(RatingSitting(to_rate, path, name, seed=seed)) as sitting:
        if not finish:
            _rate(sitting, to_stderr=format_ == "json")
        if finish or not sitting.list_unrated():
            sitting.write_ratings()
        return _report_sitting(sitting, output, format_)


def _rate(sitting: RatingSitting, *, to_stderr: bool) -> None:
    """Ask the rater, on the whole screen if there is one, else line by line."""
    from markscheme.tell.language import translate
    from markscheme.tell.rating_session import LineView, RatingSession

    out = sys.stderr if to_stderr else sys.stdout
    if sitting.had_torn_row:
        click.echo(translate("the last row of the file was not whole and is cut off"), file=out)
    # A library has set SA_RESTART; setting the handler again lets Ctrl-C interrupt a read.
    signal.signal(signal.SIGINT, signal.getsignal(signal.SIGINT))
    with ExitStack() as stack:
        view: RatingView
        from markscheme.tell.keyboard import Keyboard, is_key_terminal

        if is_key_terminal(sys.stdin, out):
            from markscheme.tell.rating_screen import ScreenView

            # The screen masks the texts that it draws.
            screen = cast("TextIO", UnescapedWriter(out))
            view = ScreenView(stack.enter_context(Keyboard(sys.stdin, screen)), screen)
        else:
            view = LineView(
                lambda prompt: _read_line(prompt, to_stderr=to_stderr),
                lambda text: click.echo(text, err=to_stderr),
            )
        RatingSession(sitting, view).rate_answers()


def _read_line(prompt: str, *, to_stderr: bool) -> str | None:
    click.echo(prompt, nl=False, err=to_stderr)
    line = sys.stdin.readline() if sys.stdin else ""
    # A CSV file cannot hold a NUL character.
    typed = line.encode(errors="replace").decode().replace("\0", "")
    return typed.rstrip("\r\n") if line else None


def _report_bad_logs(errors: tuple[RowError, ...]) -> None:
    """Say which logs are not rated, and why."""
    from markscheme.tell.language import translate_plural, translate_stored

    if not errors:
        return
    click.echo(
        translate_plural(
            "{n} log is no answer and is not rated:",
            "{n} logs are no answers and are not rated:",
            len(errors),
        ),
        err=True,
    )
    for error in errors:
        click.echo(f"  {error.file or ''}: {translate_stored(error.reason)}", err=True)


def _report_sitting(sitting: RatingSitting, output: str, format_: str) -> ExitCode:
    from markscheme.tell.language import translate, translate_plural

    left, many = len(sitting.list_unrated()), len(sitting.answers)
    written = sitting.is_written
    if format_ == "json":
        document = {
            "file": output,
            "rater": sitting.rater,
            "answers": many,
            "left": left,
            "sitting": str(sitting.sitting_path),
            "written": written,
        }
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
        return ExitCode.UNDECIDED if left else ExitCode.OK
    done = translate("{done} of {many} answers are rated", done=many - left, many=many)
    if written:
        where = translate("the ratings are in {file}", file=output)
    else:
        where = translate(
            "what you rated is kept in {file}; start again to go on, or add --finish to write it",
            file=str(sitting.sitting_path),
        )
    click.echo(f"\n{done}; {where}")
    if sitting.set_aside:
        click.echo(
            translate_plural(
                "{n} answer of earlier sittings is not in these sources and stays as it is",
                "{n} answers of earlier sittings are not in these sources and stay as they are",
                sitting.set_aside,
            )
        )
    return ExitCode.UNDECIDED if left else ExitCode.OK
