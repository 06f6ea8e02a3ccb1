"""The baseline gate: a run beside the run that it must not fall behind, item by item."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from markscheme.exact import show, show_beside
from markscheme.vocabulary import Frozen, Outcome
from markscheme.weigh.evidence import non_inferiority
from markscheme.weigh.outcomes import (
    AxisChange,
    BaselineReport,
    Evidence,
    GateOutcome,
    ItemChange,
    ItemLoss,
    failure,
)
from markscheme.weigh.runs import incomplete

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markscheme.vocabulary import BaselineLimit, Gate
    from markscheme.weigh.marks import Marks
    from markscheme.weigh.metrics import Case
    from markscheme.weigh.runs import Run

RECALIBRATE = "recalibrate or set a new baseline"


def baseline_outcome(gate: Gate, case: Case, baseline: Run | None) -> GateOutcome:
    """Compare a run with its baseline; where the two cannot be compared, the gate cannot tell."""
    limit = gate.baseline
    if limit is None:
        raise ValueError(f"`{gate.name}` is no baseline gate")
    if baseline is None:
        because = "there is no baseline to compare with"
        return GateOutcome(
            gate=gate, outcome=Outcome.NOT_APPLICABLE, observed=None, because=because
        )
    report = compare_runs(case, baseline, limit)
    because = _incomparable(case, baseline)
    if because or report.after is None or report.floor is None:
        return _outcome(gate, Outcome.UNDECIDED, because, report)
    because = _compared(limit, report, report.after, report.floor)
    if report.after < report.floor:
        return _outcome(gate, failure(gate), because, report)
    if limit.evidence_required and report.evidence is not None:
        because = f"{because}; evidence is required and is {report.evidence.outcome.value}"
        return _outcome(gate, _REQUIRED[report.evidence.outcome] or failure(gate), because, report)
    return _outcome(gate, Outcome.PASS, because, report)


_REQUIRED = {
    Evidence.PASS: Outcome.PASS,
    Evidence.FAIL: None,
    Evidence.INCONCLUSIVE: Outcome.UNDECIDED,
}


def _outcome(gate: Gate, outcome: Outcome, because: str, report: BaselineReport) -> GateOutcome:
    items = len(report.moved) + report.unmoved
    losses = (ItemLoss(item=c.item, lost=-c.change / items) for c in report.moved if c.change < 0)
    return GateOutcome(
        gate=gate,
        outcome=outcome,
        observed=report.after,
        margin=report.margin if outcome is not Outcome.UNDECIDED else None,
        because=because,
        fix_first=tuple(losses),
        baseline=report,
    )


def _incomparable(case: Case, baseline: Run) -> str:
    """Say why the two runs cannot be compared, where they cannot."""
    run = case.run
    for what, ours, theirs in (
        ("rubric", run.rubric, baseline.rubric),
        ("exam", run.exam, baseline.exam),
    ):
        if ours is None or theirs is None:
            whose = "the run" if ours is None else "the baseline"
            return f"{whose} does not say under which {what} it was scored; {RECALIBRATE}"
        if ours != theirs:
            return f"the baseline `{baseline.name}` has another {what} fingerprint; {RECALIBRATE}"
    if not run.marks.complete:
        return incomplete(run.marks)
    if not baseline.marks.complete:
        return incomplete(baseline.marks, f"the baseline `{baseline.name}`")
    return ""


def _compared(
    limit: BaselineLimit, report: BaselineReport, after: Fraction, floor: Fraction
) -> str:
    change = report.change or Fraction(0)
    moved = "unchanged" if not change else f"{'up' if change > 0 else 'down'} {show(abs(change))}"
    side = "at or above" if after >= floor else "below"
    lost = f"; {_items(report.regressed)} went from pass to fail" if report.regressed else ""
    told = f"score {show_beside(after, floor)} is {moved} from {show(report.before)}"
    return f"{told}, {side} {show_beside(floor, after)} (a drop of {limit.max_drop}){lost}"


def _items(changes: Sequence[ItemChange]) -> str:
    return f"{len(changes):,} item{'' if len(changes) == 1 else 's'}"


def compare_runs(case: Case, baseline: Run, limit: BaselineLimit) -> BaselineReport:
    """Return a run beside its baseline: scores where the rubric is the same, items always."""
    ours, theirs = case.run.marks, baseline.marks
    added = tuple(item for item in ours.items if item not in theirs.items)
    removed = tuple(item for item in theirs.items if item not in ours.items)
    now = case.scale.totals(ours.counts())
    if case.run.rubric is None or case.run.rubric != baseline.rubric or ours.axes != theirs.axes:
        return BaselineReport(
            baseline=baseline.name,
            before=None,
            after=now.mean,
            floor=None,
            added=added,
            removed=removed,
        )
    then = case.scale.totals(theirs.counts())
    before, after = then.mean, now.mean
    comparable = before is not None and not _incomparable(case, baseline)
    changes = _changes(case, theirs) if case.details or limit.evidence_required else []
    pairs = [(change.before, change.after) for change in changes]
    moved = sorted((c for c in changes if c.change), key=lambda change: change.change)
    return BaselineReport(
        baseline=baseline.name,
        before=before,
        after=after,
        floor=None if before is None else before - limit.max_drop.points(before),
        axes=tuple(
            AxisChange(axis=axis, before=then.axis_means[axis], after=now.axis_means[axis])
            for axis in case.scale.axes
        ),
        regressed=tuple(c for c in moved if c.after < case.pass_mark <= c.before),
        recovered=tuple(c for c in moved if c.before < case.pass_mark <= c.after),
        moved=tuple(moved),
        unmoved=len(changes) - len(moved),
        added=added,
        removed=removed,
        warning=_warning(limit, before, after) if comparable else None,
        evidence=non_inferiority(pairs, limit.max_drop) if comparable and changes else None,
    )


def _changes(case: Case, theirs: Marks) -> list[ItemChange]:
    """Return the items that both runs have scored, each as a mean over its attempts."""
    found = []
    for item, counts in case.run.marks.items.items():
        now, then = (case.scale.totals(c.items()) for c in (counts, theirs.items.get(item, {})))
        if now.mean is None or then.mean is None:
            continue
        axes = {axis: now.axes[axis] / now.n - then.axes[axis] / then.n for axis in now.axes}
        by_axis = Frozen({axis: by for axis, by in axes.items() if by})
        found.append(ItemChange(item=item, before=then.mean, after=now.mean, axes=by_axis))
    return found


def _warning(limit: BaselineLimit, before: Fraction | None, after: Fraction | None) -> str | None:
    """Say that a rise looks too good, where it is larger than the rubric finds plausible."""
    if before is None or after is None or after - before <= limit.suspicious_rise.points(before):
        return None
    return (
        f"a rise from {show(before)} to {show(after)} is more than {limit.suspicious_rise}: it may "
        "be real, or a fault in the rubric; audit the rubric first (`markscheme audit`), and look "
        "at the items that moved"
    )
