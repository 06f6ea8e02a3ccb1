"""Build the report of a judged run, with as many of its answers as the output shows."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from markscheme.vocabulary import ItemStatus, restore_row_messages
from markscheme.weigh.distribution import describe_distribution
from markscheme.weigh.patterns import FrameObserver, RowObservations, find_patterns, observe_rows
from markscheme.weigh.recalibrate import PastRun
from markscheme.workflows.baseline import load_history, load_subject_history
from markscheme.workflows.find_run import is_open_run
from markscheme.workflows.patterns import find_run_patterns
from markscheme.workflows.run_report import RunReport, build_item_reports
from markscheme.workflows.run_rows import (
    is_live_run,
    load_bad_rows,
    read_rows_with_outputs,
    select_item_rows,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from markscheme.vocabulary import ItemReport
    from markscheme.weigh.result import Result
    from markscheme.weigh.totals import Run
    from markscheme.workflows.find_run import FoundRun, RunFinder
    from markscheme.workflows.gate import JudgedRun


def build_report(runs: RunFinder, judged: JudgedRun, *, reasons: bool) -> RunReport:
    """Build the report of a run; its answers are read only for the `reasons` of lost points."""
    found = judged.found
    items = () if is_open_run(found) else build_item_reports(found.past)
    if reasons:
        lost = {item.item for item in items if item.status is not ItemStatus.PASSED}
        items = (
            build_item_reports(found.past, select_item_rows(runs, found, lost)) if lost else items
        )
    return _assemble_report(runs, judged, items)


def add_patterns(
    runs: RunFinder, judged: JudgedRun, report: RunReport, *, answers: bool
) -> RunReport:
    """Add the patterns of the run to its report.

    Without `answers` only its marks are looked at, because reading all answers can take long.
    """
    observed = None if answers else RowObservations()
    patterns = find_run_patterns(runs, judged.found, judged.gates, observed)
    return dataclasses.replace(report, patterns=patterns)


def build_full_report(runs: RunFinder, judged: JudgedRun) -> RunReport:
    """Build the report for the HTML page: answers with outputs, distribution, trend, patterns."""
    found = judged.found
    if is_open_run(found):
        return _assemble_report(runs, judged, ())
    past, observer = found.past, FrameObserver(found.past.rubric)
    rows = read_rows_with_outputs(runs, found, observer)
    items = build_item_reports(past, rows, every=True)
    observed = None if found.stored is None else observer.build_observations()
    return dataclasses.replace(
        _assemble_report(runs, judged, items),
        distribution=describe_distribution(
            past.rubric, past.exam, past.run, *_load_earlier_runs(runs, found)
        )
        if items
        else None,
        patterns=find_run_patterns(runs, found, judged.gates, observed),
    )


def _load_earlier_runs(runs: RunFinder, found: FoundRun) -> tuple[list[Run], list[Run]]:
    """Return the last runs of all subjects and of this subject, up to this run if it is stored."""
    past, stored = found.past, found.stored
    if stored is None and not runs.has_store:
        return [], []
    history = load_history(runs, past)
    if stored is not None:
        names = [run.name for run in history]
        history = history[: names.index(found.name) + 1] if found.name in names else []
    return history, load_subject_history(runs, past, past.run.subject, until=stored)


def _assemble_report(
    runs: RunFinder, judged: JudgedRun, items: tuple[ItemReport, ...]
) -> RunReport:
    found, baseline = judged.found, judged.baseline
    return RunReport(
        past=found.past,
        gates=judged.gates,
        items=items,
        bad_rows=load_bad_rows(runs, found),
        is_live=is_live_run(runs, found),
        stored=found.stored,
        baseline=baseline.stored if baseline else None,
    )


def build_result_report(result: Result, outputs: Mapping[str, str | None]) -> RunReport:
    """Build the report of a run of one subject that was just scored."""
    run = next(result.runs)
    past = PastRun(run=run, rubric=result.rubric, exam=result.exam)
    rows = (
        {**row, "output": outputs.get(row["item"])}
        for row in restore_row_messages(result.frame.iter_rows(named=True))
    )
    return RunReport(
        past=past,
        gates=result.judge(),
        items=build_item_reports(past, rows, every=True),
        bad_rows=result.errors,
        distribution=describe_distribution(result.rubric, result.exam, run),
        patterns=find_patterns(
            result.rubric, result.exam, run, observe_rows(result.rubric, [result.frame])
        ),
    )
