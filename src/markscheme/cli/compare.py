"""`markscheme compare`: may this variant replace that one?"""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

import click

from markscheme.cli.exits import Exit, command_body
from markscheme.cli.options import format_option, store_option
from markscheme.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from markscheme.weigh.comparison import Comparison

_EPILOG = """\b
Examples:
  markscheme compare -r context-agent -e context-queries --baseline big --candidate small \\
    --ratings ratings.csv --markdown decision.md
  markscheme compare release-1.4 latest
  markscheme compare --plan --margin 0.5 --noise 0.6

With ratings the exit code is 0 for GO (with monitoring too), 1 for NO-GO, 4 for CONDITIONAL or no
decision. RUN RUN compares stored runs or result files in pairs: 0 when no run is worse than the
first by more than the margin, 1 when one is, 4 when that cannot be told."""


class _Number(click.ParamType[Decimal]):
    name = "number"

    def convert(self, value: Any, param: Any, ctx: Any) -> Decimal:
        try:
            number = Decimal(value)
        except InvalidOperation:
            self.fail(f"{value!r} is no number", param, ctx)
        if not number.is_finite() or number <= 0:
            self.fail(f"{value!r} is not above 0", param, ctx)
        return number


@click.command(name="compare", epilog=_EPILOG)
@click.argument("runs", nargs=-1, metavar="[RUN RUN…]")
@click.option("--rubric", "-r", metavar="FILE|NAME", help="The rubric, a file or a built-in name.")
@click.option(
    "--exam", "-e", "exams", multiple=True, metavar="FILE|NAME", help="The exam; several merge."
)
@click.option("--baseline", "-b", metavar="NAME", help="The variant in production.")
@click.option("--candidate", "-c", metavar="NAME", help="The variant that may replace it.")
@click.option("--ratings", metavar="FILE", help="What people scored: .csv or .jsonl.")
@click.option(
    "--answers", "-a", metavar="FILE", help="Answers of both, marked and shown side by side."
)
@click.option("--margin", type=_Number(), metavar="N", help="A loss up to which nobody is worse.")
@click.option("--allow-gaps", is_flag=True, help="Let cells be missing; such queries do not count.")
@click.option("--cluster", metavar="TAG", help="Items with the same tag are not independent.")
@click.option("--markdown", metavar="FILE", help="Write the comparison as Markdown.")
@store_option
@format_option
@command_body
def command(format_: str, **asked: Any) -> Exit:
    """Compare variants: verdicts on queries, a decision, and what the numbers can show."""
    if asked["runs"]:
        raise UsageError("not yet")
    return _by_ratings(format_, **asked)


def _by_ratings(format_: str, **asked: Any) -> Exit:
    from markscheme.library import compare, load_exam, load_rubric
    from markscheme.tell.comparisons import ComparisonPage, comparison_markdown
    from markscheme.weigh.comparison_records import comparison_record

    _require(asked, "rubric", "exams", "baseline", "candidate", "ratings")
    inputs = (asked["rubric"], asked["ratings"], asked["answers"], *asked["exams"])
    destination = _destination(asked["markdown"], inputs)
    rubric = load_rubric(asked["rubric"])
    found = compare(
        rubric,
        load_exam(*asked["exams"], rubric=rubric),
        asked["ratings"],
        baseline=asked["baseline"],
        candidate=asked["candidate"],
        answers=asked["answers"],
        margin=asked["margin"],
        allow_gaps=asked["allow_gaps"],
    )
    _write(destination, lambda: comparison_markdown(found))
    if format_ == "json":
        click.echo(json.dumps(comparison_record(found), ensure_ascii=False, indent=2))
    else:
        ComparisonPage().compared(found)
    return _exit_of(found)


def _require(asked: dict[str, Any], *names: str) -> None:
    missing = [
        f"--{name.removesuffix('s') if name == 'exams' else name}"
        for name in names
        if not asked[name]
    ]
    if missing:
        told = "name two runs, or compare by ratings"
        raise UsageError(f"{told}; missing: {', '.join(missing)}")


def _destination(name: str | None, inputs: tuple[str | None, ...]) -> Path | None:
    from markscheme.tell.files import check_destination

    if name is None:
        return None
    return check_destination(name, [one for one in inputs if one], suffixes=())


def _write(destination: Path | None, text: Any) -> None:
    from markscheme.tell.files import write_whole

    if destination is not None:
        write_whole(destination, text().encode())


def _exit_of(found: Comparison) -> Exit:
    from markscheme.verdicts import Decided

    exits = {
        Decided.GO: Exit.OK,
        Decided.GO_WITH_MONITORING: Exit.OK,
        Decided.NO_GO: Exit.FAILED,
        Decided.CONDITIONAL: Exit.UNDECIDED,
    }
    outcome = found.decision.outcome
    return Exit.UNDECIDED if outcome is None else exits[outcome]
