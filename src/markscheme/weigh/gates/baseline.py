"""The baseline gate: compare a run with the run that it must not fall behind, item by item."""

from __future__ import annotations

from fractions import Fraction

from markscheme.vocabulary import (
    BaselineLimit,
    Evidence,
    FrozenDict,
    Gate,
    Outcome,
    format_decimal,
    format_distinct,
    sentence,
)
from markscheme.weigh.gates.evidence import evaluate_non_inferiority
from markscheme.weigh.gates.metrics import GateContext
from markscheme.weigh.gates.outcomes import (
    AxisChange,
    BaselineReport,
    GateOutcome,
    ItemChange,
    ItemLoss,
    get_failure_outcome,
)
from markscheme.weigh.totals import Marks, Run, ScoreTotals, explain_incomplete


def evaluate_baseline_gate(gate: Gate, context: GateContext, baseline: Run | None) -> GateOutcome:
    """Compare a run with its baseline; undecided if the two runs cannot be compared."""
    limit = gate.baseline
    if limit is None:
        raise ValueError(f"`{gate.name}` is no baseline gate")
    if baseline is None:
        because = sentence("there is no baseline to compare with")
        return GateOutcome(
            gate=gate, outcome=Outcome.NOT_APPLICABLE, observed=None, because=because
        )
    because = _explain_baseline_mismatch(context, baseline)
    report = _build_baseline_report(context, baseline, limit, comparable=not because)
    if because or report.after is None or report.floor is None:
        return _build_baseline_outcome(gate, Outcome.UNDECIDED, because, report)
    because = _describe_baseline_change(limit, report, report.after, report.floor)
    if report.after < report.floor:
        return _build_baseline_outcome(gate, get_failure_outcome(gate), because, report)
    if limit.evidence_required and report.evidence is not None:
        because = sentence(
            "{because}; evidence is required and is {outcome}",
            because=because,
            outcome=sentence(report.evidence.outcome.value),
        )
        return _build_baseline_outcome(
            gate,
            _OUTCOME_BY_EVIDENCE[report.evidence.outcome] or get_failure_outcome(gate),
            because,
            report,
        )
    return _build_baseline_outcome(gate, Outcome.PASS, because, report)


_OUTCOME_BY_EVIDENCE = {
    Evidence.PASS: Outcome.PASS,
    Evidence.FAIL: None,
    Evidence.INCONCLUSIVE: Outcome.UNDECIDED,
}


def _build_baseline_outcome(
    gate: Gate, outcome: Outcome, because: str, report: BaselineReport
) -> GateOutcome:
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


def _explain_baseline_mismatch(context: GateContext, baseline: Run) -> str:
    """Return why the two runs cannot be compared, or "" if they can."""
    run = context.run
    for what, ours, theirs in (
        (sentence("rubric"), run.rubric, baseline.rubric),
        (sentence("exam"), run.exam, baseline.exam),
    ):
        if ours is None or theirs is None:
            return sentence(
                "{whose} does not say under which {what} it was scored; recalibrate or set a new "
                "baseline",
                whose=sentence("the run") if ours is None else sentence("the baseline"),
                what=what,
            )
        if ours != theirs:
            return sentence(
                "the baseline `{baseline}` has another {what} fingerprint; recalibrate or set a "
                "new baseline",
                baseline=baseline.name,
                what=what,
            )
    if not run.marks.complete:
        return explain_incomplete(run.marks)
    if not baseline.marks.complete:
        whose = sentence("the baseline `{baseline}`", baseline=baseline.name)
        return explain_incomplete(baseline.marks, whose)
    return ""


def _describe_baseline_change(
    limit: BaselineLimit, report: BaselineReport, after: Fraction, floor: Fraction
) -> str:
    change = report.change or Fraction(0)
    by = format_decimal(abs(change))
    moved = sentence("unchanged")
    if change:
        moved = sentence("up {by}", by=by) if change > 0 else sentence("down {by}", by=by)
    templates = (
        sentence(
            "score {after} is {moved} from {before}, below {floor} (a drop of {limit})",
        ),
        sentence(
            "score {after} is {moved} from {before}, at or above {floor} (a drop of {limit})",
        ),
    )
    because = templates[after >= floor].format(
        after=format_distinct(after, floor),
        moved=moved,
        before=format_decimal(report.before),
        floor=format_distinct(floor, after),
        limit=limit.max_drop,
    )
    lost = len(report.regressed)
    if not lost:
        return because
    if lost == 1:
        return sentence("{because}; {n:,} item went from pass to fail", because=because, n=lost)
    return sentence("{because}; {n:,} items went from pass to fail", because=because, n=lost)


def _build_baseline_report(
    context: GateContext, baseline: Run, limit: BaselineLimit, *, comparable: bool
) -> BaselineReport:
    """Compare a run with its baseline: added and removed items always, scores if comparable."""
    ours, theirs = context.run.marks, baseline.marks
    added = tuple(item for item in ours.items if item not in theirs.items)
    removed = tuple(item for item in theirs.items if item not in ours.items)
    now = context.scale.sum_answers(ours.counts())
    if (
        context.run.rubric is None
        or context.run.rubric != baseline.rubric
        or ours.axes != theirs.axes
    ):
        return BaselineReport(
            baseline=baseline.name,
            before=None,
            after=now.mean,
            floor=None,
            added=added,
            removed=removed,
        )
    then = context.scale.sum_answers(theirs.counts())
    before, after = then.mean, now.mean
    needed = context.detailed or limit.evidence_required
    changes = _compute_item_changes(context, theirs) if needed else []
    pairs = [(change.before, change.after) for change in changes]
    moved = sorted((c for c in changes if c.change), key=lambda change: change.change)
    return BaselineReport(
        baseline=baseline.name,
        before=before,
        after=after,
        floor=None if before is None else before - limit.max_drop.points(before),
        axes=tuple(
            AxisChange(axis=axis, before=then.axis_means[axis], after=now.axis_means[axis])
            for axis in context.scale.axes
        ),
        regressed=tuple(c for c in moved if c.after < context.pass_mark <= c.before),
        recovered=tuple(c for c in moved if c.before < context.pass_mark <= c.after),
        moved=tuple(moved),
        unmoved=len(changes) - len(moved),
        added=added,
        removed=removed,
        warning=_warn_suspicious_rise(limit, before, after) if comparable else None,
        evidence=evaluate_non_inferiority(pairs, limit.max_drop) if comparable and needed else None,
    )


def _compute_item_changes(context: GateContext, theirs: Marks) -> list[ItemChange]:
    """Return the change of each item that both runs have scored, as means over its attempts."""
    changes = []
    for item, counts in context.run.marks.items.items():
        now, then = (context.scale.sum_item(c) for c in (counts, theirs.items.get(item, {})))
        if now.mean is not None and then.mean is not None:
            axes = FrozenDict() if now is then else _compute_axis_moves(then, now)
            changes.append(ItemChange(item=item, before=then.mean, after=now.mean, axes=axes))
    return changes


def _compute_axis_moves(then: ScoreTotals, now: ScoreTotals) -> FrozenDict:
    moved = {axis: now.axes[axis] / now.n - then.axes[axis] / then.n for axis in now.axes}
    return FrozenDict({axis: by for axis, by in moved.items() if by})


def _warn_suspicious_rise(
    limit: BaselineLimit, before: Fraction | None, after: Fraction | None
) -> str | None:
    """Return a warning about a rise that is larger than the rubric finds plausible, or None."""
    if before is None or after is None or after - before <= limit.suspicious_rise.points(before):
        return None
    return sentence(
        "a rise from {before} to {after} is more than {limit}: it may be real, or a fault in the "
        "rubric; audit the rubric first (`markscheme audit`), and look at the items that moved",
        before=format_decimal(before),
        after=format_decimal(after),
        limit=limit.suspicious_rise,
    )
