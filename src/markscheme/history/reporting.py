"""Reports: a judged run with its items, as much of them as somebody will read."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from markscheme.history.baselines import history_of, own_history
from markscheme.history.patterns import patterns_of
from markscheme.history.rows import bad_rows_of, is_live, rows_of_items, rows_with_outputs
from markscheme.history.runs import is_open
from markscheme.tell.reports import ItemStatus, Report, item_reports
from markscheme.weigh.distribution import describe
from markscheme.weigh.patterns import Observed, find
from markscheme.weigh.patterns.observed import Observer, observe
from markscheme.weigh.recalibration import Past

if TYPE_CHECKING:
    from collections.abc import Mapping

    from markscheme.history.judging import Judged
    from markscheme.history.runs import Found, Runs
    from markscheme.tell.reports import ItemReport
    from markscheme.weigh.results import Result
    from markscheme.weigh.runs import Run


def report_on(runs: Runs, judged: Judged, *, reasons: bool) -> Report:
    """Return what every output draws; answers are read only for the `reasons` of lost points."""
    found = judged.found
    items = () if is_open(found) else item_reports(found.past)
    if reasons:
        lost = {item.item for item in items if item.status is not ItemStatus.PASSED}
        items = item_reports(found.past, rows_of_items(runs, found, lost)) if lost else items
    return _report(runs, judged, items)


def with_patterns(runs: Runs, judged: Judged, report: Report, *, answers: bool) -> Report:
    """Return the report of a run with what to look at first.

    Without its `answers`, which many runs have many of, that is what the marks show.
    """
    observed = None if answers else Observed()
    patterns = patterns_of(runs, judged.found, judged.gates, observed)
    return dataclasses.replace(report, patterns=patterns)


def whole_report(runs: Runs, judged: Judged) -> Report:
    """Return all that is known: every answer with its output, distribution, trend, patterns."""
    found = judged.found
    if is_open(found):
        return _report(runs, judged, ())
    past, observer = found.past, Observer(found.past.rubric)
    rows = rows_with_outputs(runs, found, observer)
    items = item_reports(past, rows, every=True)
    observed = None if found.stored is None else observer.observed()
    return dataclasses.replace(
        _report(runs, judged, items),
        distribution=describe(past.rubric, past.exam, past.run, *_before(runs, found))
        if items
        else None,
        patterns=patterns_of(runs, found, judged.gates, observed),
    )


def _before(runs: Runs, found: Found) -> tuple[list[Run], list[Run]]:
    """Return the last runs of all subjects and of this one, up to this run where it is stored."""
    past, stored = found.past, found.stored
    if stored is None and not runs.has_store:
        return [], []
    history = history_of(runs, past)
    if stored is not None:
        names = [run.name for run in history]
        history = history[: names.index(found.name) + 1] if found.name in names else []
    return history, own_history(runs, past, past.run.subject, until=stored)


def _report(runs: Runs, judged: Judged, items: tuple[ItemReport, ...]) -> Report:
    found, beside = judged.found, judged.baseline
    return Report(
        past=found.past,
        gates=judged.gates,
        items=items,
        bad_rows=bad_rows_of(runs, found),
        is_live=is_live(runs, found),
        stored=found.stored,
        baseline=beside.stored if beside else None,
    )


def report_of_result(result: Result, outputs: Mapping[str, str | None]) -> Report:
    """Return all that is known of a run of one subject that was just scored."""
    run = next(result.runs)
    past = Past(run=run, rubric=result.rubric, exam=result.exam)
    rows = (
        {**row, "output": outputs.get(row["item"])} for row in result.frame.iter_rows(named=True)
    )
    return Report(
        past=past,
        gates=result.judge(),
        items=item_reports(past, rows, every=True),
        bad_rows=result.errors,
        distribution=describe(result.rubric, result.exam, run),
        patterns=find(result.rubric, result.exam, run, observe(result.rubric, [result.frame])),
    )
