"""Judging: what the gates of its rubric say of a run, beside its baseline."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from markscheme.errors import StoreUnavailableError, UsageError
from markscheme.history.baselines import history_of
from markscheme.history.rows import rows_of_items, rows_with_outputs
from markscheme.history.runs import Context, Found, Runs, is_open
from markscheme.sentences import sentence
from markscheme.tell.reports import ItemStatus, Report, item_reports
from markscheme.weigh.distribution import describe
from markscheme.weigh.gates import cannot_judge, judge
from markscheme.weigh.outcomes import GateReport
from markscheme.weigh.patterns import find
from markscheme.weigh.patterns.observed import observe
from markscheme.weigh.recalibration import Past
from markscheme.weigh.records import report_record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from markscheme.tell.reports import ItemReport
    from markscheme.vocabulary import Rubric
    from markscheme.weigh.distribution import Distribution
    from markscheme.weigh.results import Result
    from markscheme.weigh.runs import Run

_OPEN = sentence("the run is not finished: it is still being written, or its process was ended")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A run, the baseline it was judged beside, and what the gates said."""

    found: Found
    baseline: Found | None
    gates: GateReport


def judge_run(runs: Runs, found: Found, baseline: str | None = None) -> Judged:
    """Judge a run by the gates of its rubric, beside the baseline that is named or set.

    A run that was never finished cannot be judged, and a named baseline must be there.
    """
    past = found.past
    beside = _named(runs, found, baseline) if baseline is not None else _set(runs, found)
    if is_open(found):
        report = cannot_judge(past.rubric, past.exam, past.run.name, _OPEN)
    else:
        report = judge(past.rubric, past.exam, past.run, beside.past.run if beside else None)
    return Judged(found=found, baseline=beside, gates=report)


def _named(runs: Runs, found: Found, baseline: str) -> Found:
    past = found.past
    if not any(gate.baseline and gate.applies_to(past.exam) for gate in past.rubric.gates):
        what = f"the rubric `{past.rubric.name}` has no gate `metric: baseline` for this exam"
        raise UsageError(f"{what}; there is nothing to compare with `{baseline}`")
    return runs.find(baseline, beside=past)


def _set(runs: Runs, found: Found) -> Found | None:
    """Return the baseline of the run's rubric and exam, where there is a store with one."""
    if found.stored is None and not runs.has_store:
        return None
    rubric, exam = found.past.rubric.name, found.past.exam.name
    baseline = runs.store.baseline(rubric, exam)
    return None if baseline is None else runs.find(baseline.run, beside=found.past)


def record_outcomes(runs: Runs, judged: Judged) -> str:
    """Keep what the gates said of a stored run; return why where the store cannot be written."""
    found, beside = judged.found, judged.baseline
    if found.stored is None:
        return ""
    against = beside.stored.id if beside and beside.stored else None
    try:
        outcomes = report_record(judged.gates)
        runs.store.add_outcomes(found.stored.id, baseline=against, outcomes=outcomes)
    except StoreUnavailableError as error:
        return f"the outcome is not recorded: {error}"
    return ""


def report_on(runs: Runs, judged: Judged, *, reasons: bool) -> Report:
    """Return what every output draws; answers are read only for the `reasons` of lost points."""
    found = judged.found
    items = () if is_open(found) else item_reports(found.past)
    if reasons:
        lost = {item.item for item in items if item.status is not ItemStatus.PASSED}
        items = item_reports(found.past, rows_of_items(runs, found, lost)) if lost else items
    return _report(judged, items)


def whole_report(runs: Runs, judged: Judged) -> Report:
    """Return all that is known: every answer with its output, the distribution, the trend."""
    found = judged.found
    if is_open(found):
        return _report(judged, ())
    items = item_reports(found.past, rows_with_outputs(runs, found), every=True)
    past = found.past
    known = describe(past.rubric, past.exam, past.run, _before(runs, found)) if items else None
    return _report(judged, items, known)


def _before(runs: Runs, found: Found) -> list[Run]:
    """Return the last runs of the same rubric and exam, up to this one where it is stored."""
    if found.stored is None:
        return history_of(runs, found.past) if runs.has_store else []
    history = history_of(runs, found.past)
    names = [run.name for run in history]
    return history[: names.index(found.name) + 1] if found.name in names else []


def _report(
    judged: Judged, items: tuple[ItemReport, ...], distribution: Distribution | None = None
) -> Report:
    found, beside = judged.found, judged.baseline
    return Report(
        past=found.past,
        gates=judged.gates,
        items=items,
        stored=found.stored,
        baseline=beside.stored if beside else None,
        distribution=distribution,
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
        distribution=describe(result.rubric, result.exam, run),
        patterns=find(result.rubric, result.exam, run, observe(result.rubric, [result.frame])),
    )


def gate(
    run: str | Path,
    *,
    baseline: str | Path | None = None,
    rubric: Rubric | str | Path | None = None,
    exam: str | Path | Sequence[str | Path] = (),
    subject: str | None = None,
    store: str | Path | None = None,
) -> GateReport:
    """Judge a stored run (an id, `latest`, a tag) or a result file by the gates of its rubric.

    `exam` and `subject` are for a result file: its exam, where that is not built in, and which of
    its subjects. The outcome is recorded in the store, as the command does.
    """
    exams = (exam,) if isinstance(exam, str | Path) else tuple(exam)
    with Runs(store, Context(rubric=rubric, exams=exams, subject=subject)) as runs:
        found = runs.find(str(run))
        judged = judge_run(runs, found, None if baseline is None else str(baseline))
        record_outcomes(runs, judged)
    return judged.gates
