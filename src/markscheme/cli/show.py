"""`markscheme show`: one stored run, as `score` printed it, with what its gates say."""

from __future__ import annotations

from functools import cache
from typing import Any

import click

from markscheme.cli.exits import Exit, command_body, whole_document
from markscheme.cli.options import format_option, store_option

_EPILOG = """\b
Example:
  markscheme show latest
  markscheme show 3f2a -o breakdown.csv
  markscheme show latest --patterns

RUN is the beginning of an id, `latest`, `latest~1`, or a tag. Whether it may ship is what
`markscheme gate` says; `show` judges nothing, so its exit code is 0, and 4 for a run that is not
complete."""


@click.command(name="show", epilog=_EPILOG)
@click.argument("run", metavar="RUN")
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
@store_option
@format_option
@command_body
def command(run: str, output: str | None, patterns: bool, store: str | None, format_: str) -> Exit:
    """Show one stored run: breakdown, losses, totals, gates."""
    from markscheme.history.judging import judge_run
    from markscheme.history.patterns import patterns_of
    from markscheme.history.rows import StoredRows
    from markscheme.history.runs import Runs, is_open
    from markscheme.tell.files import check_destination, drain, passing_json, write_frames
    from markscheme.tell.live import LivePage
    from markscheme.tell.patterns import PatternPage
    from markscheme.tell.reports import title_of
    from markscheme.tell.terminal import Glimpse
    from markscheme.tell.verdicts import VerdictPage
    from markscheme.weigh.patterns import pattern_record
    from markscheme.weigh.patterns.observed import Observer

    destination = None if output is None else check_destination(output, (run,))
    with Runs(store) as runs, whole_document() as stream:
        found = runs.find(run)
        stored = StoredRows(found, runs.store)
        gates = judge_run(runs, found).gates
        glimpse, observer = Glimpse(), Observer(found.past.rubric)
        frames = glimpse.watch(stored.frames())
        if patterns:
            frames = observer.watch(frames)
        seen = cache(lambda: patterns_of(runs, found, gates, observer.observed()))
        live = stored.live()

        def more() -> dict[str, Any]:
            named = {"patterns": [*map(pattern_record, seen())]} if patterns else {}
            return {**named, "live": live} if live else named

        if format_ == "json":
            frames = passing_json(frames, stream, stored.result, more)
        if destination is None:
            drain(frames)
        else:
            write_frames(frames, destination, stored.schema, stored.result)
        result = stored.result(glimpse.frames)
        found_patterns = seen() if patterns else ()
    if format_ == "text":
        VerdictPage().line(title_of(found.past, found.stored), style="bold")
        page = LivePage(result.rubric)
        page.run(result, hidden=glimpse.hidden, written=destination)
        if live:
            page.live(live)
        page.gates(gates.outcomes)
        if patterns:
            PatternPage().every(found_patterns)
    return Exit.OK if result.summary.complete and not is_open(found) else Exit.UNDECIDED
