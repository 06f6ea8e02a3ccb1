"""Find the patterns of a stored run, from its marks, its rows, its history and its baseline."""

from __future__ import annotations

from collections.abc import Sequence

from markscheme.weigh.distribution import DRIFT_WINDOW, Drift, build_trend, find_recent_drifts
from markscheme.weigh.gates import BaselineReport, GateReport, mismatch_reason
from markscheme.weigh.patterns import Pattern, RowObservations, find_patterns, observe_rows
from markscheme.workflows.baseline import load_subject_history
from markscheme.workflows.find_run import FoundRun, RunFinder, is_open_run
from markscheme.workflows.gate import judge_run
from markscheme.workflows.run_rows import open_rows


def find_run_patterns(
    runs: RunFinder,
    found: FoundRun,
    gates: GateReport | None = None,
    observed: RowObservations | None = None,
) -> tuple[Pattern, ...]:
    """Return the patterns of a run, the most important first; none if it cannot be judged.

    `gates` and `observed` are computed unless they are known already.
    """
    past = found.past
    if is_open_run(found) or mismatch_reason(past.rubric, past.exam, past.run):
        return ()
    gates = judge_run(runs, found).gates if gates is None else gates
    observed = (
        observe_rows(past.rubric, open_rows(runs, found).read_frames())
        if observed is None
        else observed
    )
    return find_patterns(
        past.rubric,
        past.exam,
        past.run,
        observed,
        history=_load_drifts(runs, found),
        comparison=_find_baseline_report(gates),
    )


def _find_baseline_report(gates: GateReport) -> BaselineReport | None:
    """Return the baseline report that warns of a rise, or else the first one."""
    reports = [outcome.baseline for outcome in gates.outcomes if outcome.baseline]
    warning = next((report for report in reports if report.warning), None)
    return warning or next(iter(reports), None)


def _load_drifts(runs: RunFinder, found: FoundRun) -> tuple[Sequence[Drift], int]:
    """Return the drifts of the same subject up to this run, and the number of runs."""
    past, stored = found.past, found.stored
    if stored is None or not past.run.marks.complete:
        return (), 0
    history = load_subject_history(runs, past, stored.subject, until=stored, last=DRIFT_WINDOW)
    trend = build_trend(past.rubric, past.run, history)
    return find_recent_drifts(trend), len(trend)
