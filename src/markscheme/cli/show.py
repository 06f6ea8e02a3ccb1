"""`markscheme show`: print a stored run as `score` did, with its gates; or explain some items."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import TYPE_CHECKING, Any

import click

from markscheme.cli.exit_codes import ExitCode, buffer_stdout, handle_errors
from markscheme.cli.options import (
    add_judging_options,
    all_rows_option,
    format_option,
    raw_csv_option,
    store_option,
)
from markscheme.vocabulary import UsageError, format_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import polars as pl

    from markscheme.weigh.result import Result
    from markscheme.workflows.find_run import FoundRun, RunFinder

_EPILOG = """\b
Example:
  markscheme show latest
  markscheme show latest --item e-39-24
  markscheme show 3f2a -o breakdown.csv
  markscheme show result.json --patterns

RUN is a stored run (the beginning of its id, `latest`, `latest~1`, a tag) or a result file of
`markscheme score`. Whether it may ship is what `markscheme gate` says; `show` applies no gates, so
its exit code is 0, and 4 for a run that is not complete."""


@click.command(name="show", epilog=_EPILOG)
@click.argument("run", metavar="RUN")
@click.option(
    "--item", "items", multiple=True, metavar="ID", help="Explain only this item; may be repeated."
)
@click.option(
    "--output",
    "-o",
    metavar="FILE",
    help="Write every breakdown to .json, .jsonl, .parquet or .csv.",
)
@raw_csv_option
@click.option(
    "--patterns",
    is_flag=True,
    help="Name systematic faults across items, and what to do about them.",
)
@all_rows_option
@add_judging_options
@store_option
@format_option
@handle_errors
def command(
    run: str,
    items: tuple[str, ...],
    output: str | None,
    raw_csv: bool,
    patterns: bool,
    every: bool,
    baseline: str | None,
    rubric: str | None,
    exams: tuple[str, ...],
    subject: str | None,
    store: str | None,
    format_: str,
) -> ExitCode:
    """Show one run: breakdown, losses, totals, gates."""
    from markscheme.tell.live_run import LivePage
    from markscheme.tell.text import ShownRows
    from markscheme.tell.verdicts import PatternPage, VerdictPage
    from markscheme.tell.words import format_run_title
    from markscheme.vocabulary import to_record
    from markscheme.weigh.patterns import FrameObserver
    from markscheme.workflows.find_run import RunContext, RunFinder, is_open_run
    from markscheme.workflows.gate import judge_run
    from markscheme.workflows.output_files import check_destination, check_raw_csv
    from markscheme.workflows.report import find_run_patterns
    from markscheme.workflows.run_rows import open_rows
    from markscheme.workflows.sinks import FileSink, JsonStream, Preview, RowSink, write_rows

    if items and output:
        raise UsageError("--item explains, --output writes every breakdown; give one of them")
    inputs = tuple(name for name in (run, baseline, rubric, *exams) if name)
    destination = None if output is None else check_destination(output, inputs)
    check_raw_csv(destination, raw_csv=raw_csv)
    context = RunContext(rubric=rubric, exams=exams, subject=subject)
    with RunFinder(store, context) as runs, buffer_stdout() as stream:
        found = runs.find(run)
        rows = open_rows(runs, found)
        gates = judge_run(runs, found, baseline).gates
        preview, observer = Preview(), FrameObserver(found.past.rubric)
        frames = observer.observe_frames(rows.read_frames()) if patterns else rows.read_frames()
        frames = _filter_items(frames, _check_items(found, items))
        find_patterns = cache(
            lambda: find_run_patterns(runs, found, gates, observer.build_observations())
        )
        live = rows.read_live_record()

        def build_tail() -> dict[str, Any]:
            shown = {"patterns": [*map(to_record, find_patterns())]} if patterns else {}
            return {**shown, "live": live} if live else shown

        sinks: list[RowSink] = [preview]
        if format_ == "json":
            sinks.append(JsonStream(stream, build_tail))
        if destination is not None:
            sinks.append(FileSink(destination, raw_csv=raw_csv))
        write_rows(frames, sinks, rows.build_result)
        result = rows.build_result(preview.frames)
        found_patterns = find_patterns() if patterns else ()
        explained = "\n".join(_explain_items(runs, found, result, items))
    if format_ == "text":
        VerdictPage().print_line(format_run_title(found.past, found.stored), style="bold")
        if items:
            VerdictPage().print_line(explained)
        if patterns:
            PatternPage().print_all(found_patterns)
        elif not items:
            shown = ShownRows(every=every, hidden=preview.hidden, written=destination)
            LivePage(result.rubric, live).print_live_run(result, gates.outcomes, shown)
    return ExitCode.OK if result.summary.complete and not is_open_run(found) else ExitCode.UNDECIDED


def _check_items(found: FoundRun, items: tuple[str, ...]) -> tuple[str, ...]:
    """Return the items; refuse one that the exam does not have, and suggest similar ones."""
    from difflib import get_close_matches

    known = [item.id for item in found.past.exam.items]
    for item in items:
        if item not in known:
            near = get_close_matches(item, known, n=3, cutoff=0.5) or known[:3]
            suggested = ", ".join(f"`{name}`" for name in near)
            raise UsageError(f"the exam has no item {format_value(item)}; there is {suggested}")
    return items


def _filter_items(frames: Iterable[pl.DataFrame], items: tuple[str, ...]) -> Iterator[pl.DataFrame]:
    """Keep the rows of the given items; all rows if there are none."""
    for frame in frames:
        yield frame.filter(frame["item"].is_in(list(items))) if items else frame


def _explain_items(
    runs: RunFinder, found: FoundRun, result: Result, items: tuple[str, ...]
) -> Iterator[str]:
    """Yield the lines that explain some items: each answer with the reason of every cell."""
    from markscheme.tell.text import explain_item
    from markscheme.workflows.report import build_item_reports
    from markscheme.workflows.run_rows import select_item_rows

    past = dataclasses.replace(found.past, run=next(result.runs))
    reports = (
        build_item_reports(past, select_item_rows(runs, found, items), every=True) if items else ()
    )
    known = {item.id: item for item in past.exam.items}
    for report in reports:
        if report.item in items:
            yield from explain_item(known[report.item], report, past.rubric)
