"""`markscheme show`: one run, as `score` printed it, with what its gates say; or one item of it."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import TYPE_CHECKING, Any

import click

from markscheme.cli.exits import Exit, command_body, whole_document
from markscheme.cli.options import format_option, judged_options, store_option
from markscheme.errors import UsageError, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import polars as pl

    from markscheme.history.runs import Found, Runs
    from markscheme.weigh.results import Result

_EPILOG = """\b
Example:
  markscheme show latest
  markscheme show latest --item e-39-24
  markscheme show 3f2a -o breakdown.csv
  markscheme show result.json --patterns

RUN is a stored run (the beginning of its id, `latest`, `latest~1`, a tag) or a result file of
`markscheme score`. Whether it may ship is what `markscheme gate` says; `show` judges nothing, so
its exit code is 0, and 4 for a run that is not complete."""


@click.command(name="show", epilog=_EPILOG)
@click.argument("run", metavar="RUN")
@click.option(
    "--item", "items", multiple=True, metavar="ID", help="Explain this item only; several are."
)
@click.option(
    "--output",
    "-o",
    metavar="FILE",
    help="Write every breakdown to .json, .jsonl, .parquet or .csv.",
)
@click.option(
    "--patterns",
    is_flag=True,
    help="Name what the breakdowns have in common, with what to do about it.",
)
@judged_options
@store_option
@format_option
@command_body
def command(
    run: str,
    items: tuple[str, ...],
    output: str | None,
    patterns: bool,
    baseline: str | None,
    rubric: str | None,
    exams: tuple[str, ...],
    subject: str | None,
    store: str | None,
    format_: str,
) -> Exit:
    """Show one run: breakdown, losses, totals, gates."""
    from markscheme.history.judging import judge_run
    from markscheme.history.patterns import patterns_of
    from markscheme.history.rows import rows_of
    from markscheme.history.runs import Context, Runs, is_open
    from markscheme.tell.files import check_destination, drain, passing_json, write_frames
    from markscheme.tell.live import LivePage
    from markscheme.tell.patterns import PatternPage
    from markscheme.tell.reports import title_of
    from markscheme.tell.terminal import Glimpse
    from markscheme.tell.verdicts import VerdictPage
    from markscheme.weigh.patterns import pattern_record
    from markscheme.weigh.patterns.observed import Observer

    if items and output:
        raise UsageError("--item explains, --output writes every breakdown; give one of them")
    inputs = tuple(name for name in (run, baseline, rubric, *exams) if name)
    destination = None if output is None else check_destination(output, inputs)
    context = Context(rubric=rubric, exams=exams, subject=subject)
    with Runs(store, context) as runs, whole_document() as stream:
        found = runs.find(run)
        rows = rows_of(runs, found)
        gates = judge_run(runs, found, baseline).gates
        glimpse, observer = Glimpse(), Observer(found.past.rubric)
        frames = observer.watch(rows.frames()) if patterns else rows.frames()
        frames = glimpse.watch(_only(frames, _checked(found, items)))
        seen = cache(lambda: patterns_of(runs, found, gates, observer.observed()))
        live = rows.live()

        def more() -> dict[str, Any]:
            named = {"patterns": [*map(pattern_record, seen())]} if patterns else {}
            return {**named, "live": live} if live else named

        if format_ == "json":
            frames = passing_json(frames, stream, rows.result, more)
        if destination is None:
            drain(frames)
        else:
            write_frames(frames, destination, rows.schema, rows.result)
        result = rows.result(glimpse.frames)
        found_patterns = seen() if patterns else ()
        explained = "\n".join(_explained(runs, found, result, items))
    if format_ == "text":
        VerdictPage().line(title_of(found.past, found.stored), style="bold")
        if items:
            VerdictPage().line(explained)
        else:
            page = LivePage(result.rubric, live)
            page.run(result, hidden=glimpse.hidden, written=destination)
            page.live()
            page.gates(gates.outcomes)
        if patterns:
            PatternPage().every(found_patterns)
    return Exit.OK if result.summary.complete and not is_open(found) else Exit.UNDECIDED


def _checked(found: Found, items: tuple[str, ...]) -> tuple[str, ...]:
    """Return the items, or refuse one that the exam does not have, with those that are like it."""
    from difflib import get_close_matches

    known = [item.id for item in found.past.exam.items]
    for item in items:
        if item not in known:
            near = get_close_matches(item, known, n=3, cutoff=0.5) or known[:3]
            told = ", ".join(f"`{one}`" for one in near)
            raise UsageError(f"the exam has no item {shown(item)}; there is {told}")
    return items


def _only(frames: Iterable[pl.DataFrame], items: tuple[str, ...]) -> Iterator[pl.DataFrame]:
    """Yield the rows of some items, or all."""
    for frame in frames:
        yield frame.filter(frame["item"].is_in(list(items))) if items else frame


def _explained(runs: Runs, found: Found, result: Result, items: tuple[str, ...]) -> Iterator[str]:
    """Yield some items of a run, each with its answers and the reason of every cell."""
    from markscheme.history.rows import rows_of_items
    from markscheme.tell.explained import explained
    from markscheme.tell.reports import item_reports

    past = dataclasses.replace(found.past, run=next(result.runs))
    told = item_reports(past, rows_of_items(runs, found, items), every=True) if items else ()
    known = {item.id: item for item in past.exam.items}
    for one in told:
        if one.item in items:
            yield from explained(known[one.item], one, past.rubric)
