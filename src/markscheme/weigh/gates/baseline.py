"""The baseline gate: compare a run with the run that it must not fall behind, item by item.

A limit on the mean alone is noisy if there are few items. A test of non-inferiority on the paired
differences adds an outcome for "not enough evidence": pass, fail or inconclusive. Sums are exact;
only the bounds are floats.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from markscheme.vocabulary import (
    Allowance,
    BaselineLimit,
    Evidence,
    FrozenDict,
    Gate,
    Outcome,
    ScoreBounds,
    format_decimal,
    format_distinct,
    sentence,
)
from markscheme.weigh.gates.metrics import GateContext
from markscheme.weigh.gates.outcomes import (
    AxisChange,
    BaselineReport,
    GateOutcome,
    ItemChange,
    ItemLoss,
    NonInferiority,
    get_failure_outcome,
)
from markscheme.weigh.stats import (
    ClusteredMean,
    SampleStatistics,
    compute_clustered_mean,
    compute_unseen_share,
    find_least_above,
    t_cdf,
    t_quantile,
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
    if not because and report.bounds is not None and report.floor is not None:
        return _judge_bounds(gate, limit, report, report.bounds, report.floor, context)
    if because or report.after is None or report.floor is None:
        return _build_baseline_outcome(gate, Outcome.UNDECIDED, because, report)
    because = _describe_baseline_change(limit, report, report.after, report.floor)
    if report.after < report.floor:
        return _build_baseline_outcome(gate, get_failure_outcome(gate), because, report)
    if limit.evidence_required and report.evidence is not None:
        because = _REQUIRED_EVIDENCE[report.evidence.outcome].format(because=because)
        return _build_baseline_outcome(
            gate,
            _OUTCOME_BY_EVIDENCE[report.evidence.outcome] or get_failure_outcome(gate),
            because,
            report,
        )
    return _build_baseline_outcome(gate, Outcome.PASS, because, report)


def _judge_bounds(
    gate: Gate,
    limit: BaselineLimit,
    report: BaselineReport,
    bounds: ScoreBounds,
    floor: Fraction,
    context: GateContext,
) -> GateOutcome:
    """Judge a run of which only the bounds of the score are known.

    Evidence would be that of the scored items alone, so where it is required, nothing passes.
    """
    because = sentence(
        "score is between {low} and {high}, the lowest that passes is {floor} (a drop of {limit})",
        low=format_distinct(bounds.low, floor),
        high=format_distinct(bounds.high, floor),
        floor=format_distinct(floor, bounds.low),
        limit=limit.max_drop,
    )
    outcome = Outcome.UNDECIDED
    if not context.run.marks.all_answered:
        because = explain_incomplete(context.run.marks)
    elif bounds.high < floor:
        outcome = get_failure_outcome(gate)
    elif bounds.low >= floor and not limit.evidence_required:
        outcome = Outcome.PASS
    return _build_baseline_outcome(gate, outcome, because, report)


_REQUIRED_EVIDENCE = {
    Evidence.PASS: sentence("{because}; evidence is required and passes"),
    Evidence.FAIL: sentence("{because}; evidence is required and fails"),
    Evidence.INCONCLUSIVE: sentence("{because}; evidence is required and is inconclusive"),
}
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
    bounds = context.unknown.sum_run(context.scale, ours).bounds
    if (
        context.run.rubric is None
        or context.run.rubric != baseline.rubric
        or ours.axes != theirs.axes
    ):
        return BaselineReport(
            baseline=baseline.name,
            before=None,
            after=now.mean,
            bounds=bounds,
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
        bounds=bounds,
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
        warning=_warn_suspicious_rise(limit, before, after)
        if comparable and bounds is None
        else None,
        evidence=evaluate_non_inferiority(pairs, limit.max_drop, _find_possible_scores(context))
        if comparable and needed and bounds is None
        else None,
    )


def _find_possible_scores(context: GateContext) -> tuple[Fraction, Fraction]:
    """Return the lowest and the highest score that an answer can get."""
    bounds = context.scale.weigh_answer(context.unknown.any_values).bounds
    return (Fraction(0), Fraction(1)) if bounds is None else (bounds.low, bounds.high)


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
    """Return by how much each axis moved, if it applies on both sides."""
    means = ((axis, then.axis_means[axis], now.axis_means[axis]) for axis in now.axes)
    return FrozenDict(
        {
            axis: after - before
            for axis, before, after in means
            if before is not None and after is not None and before != after
        }
    )


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


CONFIDENCE = 0.95
# More items than this are no useful advice.
_MAX_ITEMS = 10**9


def evaluate_non_inferiority(
    pairs: Sequence[tuple[Fraction, Fraction]],
    limit: Allowance,
    scores: tuple[Fraction, Fraction] = (Fraction(0), Fraction(1)),
    clusters: Sequence[Hashable] = (),
) -> NonInferiority:
    """Test pairs of (baseline, candidate) against the largest drop allowed, one-sided at 95 %.

    `scores` are the lowest and the highest possible score. `clusters` names the cluster of each
    pair: pairs in the same cluster are not independent, so the wider of the bounds by item and the
    bounds by cluster are used.
    """
    kept = 1 - Fraction(limit.amount) if limit.relative else Fraction(1)
    margin = Fraction(0) if limit.relative else -Fraction(limit.amount)
    differences = {pair: pair[1] - kept * pair[0] for pair in set(pairs)}
    values = [differences[pair] for pair in pairs]
    sample = SampleStatistics.from_values(values)
    if sample is None:
        return _build_inconclusive_evidence(len(pairs), margin)
    clustered = compute_clustered_mean(values, clusters) if clusters else None
    if clusters and clustered is None:
        because = sentence("all items are in one cluster: a spread needs at least two")
        return replace(_build_inconclusive_evidence(len(pairs), margin), because=because)
    if not sample.standard_error or len({after - before for before, after in differences}) == 1:
        low, high = scores
        by_item: _StudentBounds | _ConstantBounds = _ConstantBounds(
            centre=float(sample.mean),
            lowest=float(low - kept * high),
            highest=float(high - kept * low),
        )
    else:
        by_item = _StudentBounds(centre=float(sample.mean), sd=sample.sd)
    bounds = (
        by_item
        if clustered is None
        else _ClusteredBounds(by_item=by_item, clustered_mean=clustered, n=sample.n)
    )

    def classify(n: int) -> Evidence:
        lower, upper = (bound - float(margin) for bound in bounds.compute_bounds(n))
        if lower > 0:
            return Evidence.PASS
        return Evidence.FAIL if upper < 0 else Evidence.INCONCLUSIVE

    lower, upper = bounds.compute_bounds(sample.n)
    outcome, needed = classify(sample.n), None
    if outcome is Evidence.INCONCLUSIVE and sample.mean != margin:
        needed = find_least_above(
            sample.n, lambda n: classify(n) is not Evidence.INCONCLUSIVE, most=_MAX_ITEMS
        )
    return NonInferiority(
        outcome=outcome,
        n=sample.n,
        mean=sample.mean,
        margin=margin,
        lower=lower,
        upper=upper,
        p=_compute_p_value(sample, margin, clustered)
        if isinstance(by_item, _StudentBounds)
        else None,
        items_needed=needed,
        because=_explain_evidence(
            outcome, sample.n, _DropRange.from_bounds((lower, upper), pairs, limit), needed
        ),
    )


def _compute_p_value(
    sample: SampleStatistics, margin: Fraction, clustered: ClusteredMean | None
) -> float:
    """Return the p-value of the mean at the limit, by item or by cluster, whichever is larger."""
    by_item = t_cdf(-sample.compute_t(margin), sample.n - 1)
    if clustered is None or not clustered.standard_error:
        return by_item
    t = float(sample.mean - margin) / clustered.standard_error
    return max(by_item, t_cdf(-t, clustered.clusters - 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class _StudentBounds:
    """Bounds of the mean by Student's t, if the differences are not all equal."""

    centre: float
    sd: float

    def compute_bounds(self, n: int) -> tuple[float, float]:
        half = t_quantile(CONFIDENCE, n - 1) * self.sd / n**0.5
        return self.centre - half, self.centre + half


@dataclass(frozen=True, slots=True, kw_only=True)
class _ConstantBounds:
    """Bounds of the mean if every pair differs by the same; a t-test would be certain of that.

    n equal items leave a share of unseen items possible (at most `compute_unseen_share`). Those may
    differ by as much as scores can: by the lowest or the highest difference.
    """

    centre: float
    lowest: float
    highest: float

    def compute_bounds(self, n: int) -> tuple[float, float]:
        unseen = compute_unseen_share(n, 1 - CONFIDENCE)
        seen = (1 - unseen) * self.centre
        return seen + unseen * self.lowest, seen + unseen * self.highest


@dataclass(frozen=True, slots=True, kw_only=True)
class _ClusteredBounds:
    """Bounds by cluster, or by item if those are wider."""

    by_item: _StudentBounds | _ConstantBounds
    clustered_mean: ClusteredMean
    n: int

    def compute_bounds(self, n: int) -> tuple[float, float]:
        groups = max(2, n * self.clustered_mean.clusters // self.n)
        error = self.clustered_mean.standard_error * (self.clustered_mean.clusters / groups) ** 0.5
        half = t_quantile(CONFIDENCE, groups - 1) * error
        lower, upper = self.by_item.compute_bounds(n)
        centre = float(self.clustered_mean.mean)
        return min(lower, centre - half), max(upper, centre + half)


def _build_inconclusive_evidence(n: int, margin: Fraction) -> NonInferiority:
    return NonInferiority(
        outcome=Evidence.INCONCLUSIVE,
        n=n,
        mean=None,
        margin=margin,
        lower=None,
        upper=None,
        p=None,
        items_needed=None,
        because=sentence("{n} item in pairs: a spread needs at least two", n=n)
        if n == 1
        else sentence("{n} items in pairs: a spread needs at least two", n=n),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _DropRange:
    """The bounds of the true drop in the unit of the limit: a share of the baseline, or points.

    A drop below 0 is a rise.
    """

    lowest: float
    highest: float
    limit: Allowance

    @classmethod
    def from_bounds(
        cls,
        bounds: tuple[float, float],
        pairs: Sequence[tuple[Fraction, Fraction]],
        limit: Allowance,
    ) -> _DropRange:
        """Convert the bounds of the mean difference.

        With a relative limit r the differences are candidate - (1 - r) · baseline, so the drop as a
        share of the baseline is r - difference / baseline, and r where the difference is 0.
        """
        lower, upper = bounds
        if not limit.relative:
            return cls(lowest=-upper, highest=-lower, limit=limit)
        allowed = float(limit.amount)
        baseline = float(sum((pair[0] for pair in pairs), Fraction(0)) / len(pairs))
        if baseline <= 0:
            return cls(lowest=allowed - upper, highest=allowed - lower, limit=limit)
        return cls(
            lowest=allowed - upper / baseline, highest=allowed - lower / baseline, limit=limit
        )

    def describe(self) -> str:
        """Say between which values the true drop is, and which is allowed."""
        low, high = self._format(self.lowest), self._format(self.highest)
        values = {"limit": str(self.limit), "low": low, "high": high}
        if self.highest <= 0:
            values = {**values, "low": high, "high": low}
            return sentence(
                "the true rise is between {low} and {high}; a drop of {limit} is allowed", **values
            )
        if self.lowest < 0:
            return sentence(
                "the true change is between a rise of {low} and a drop of {high}; a drop of "
                "{limit} is allowed",
                **values,
            )
        return sentence("the true drop is between {low} and {high}; allowed is {limit}", **values)

    def _format(self, drop: float) -> str:
        """Return the size of a drop with enough digits to differ from the limit."""
        scale = 100 if self.limit.relative else 1
        size, unit = abs(drop) * scale, "%" if self.limit.relative else ""
        allowed = float(self.limit.amount) * scale
        places = 1 if self.limit.relative else 3
        while places < _MAX_PLACES and round(size, places) == round(allowed, places):
            places += 1
        return f"{size:.{places}f}{unit}"


# A bound is shown with more digits than usual if it is as near as that to the limit.
_MAX_PLACES = 6


def _explain_evidence(outcome: Evidence, n: int, drop: _DropRange, needed: int | None) -> str:
    values = {"drop": drop.describe(), "n": n}
    if outcome is Evidence.PASS:
        return sentence("{drop}: shown by {n:,} pairs (one-sided 95 % bounds)", **values)
    if outcome is Evidence.FAIL:
        return sentence(
            "{drop}: more than that is shown by {n:,} pairs (one-sided 95 % bounds)", **values
        )
    settle = sentence("no number of items like these")
    if needed is not None:
        settle = sentence("about {n:,} items", n=needed)
    return sentence(
        "{drop}: {n:,} pairs cannot tell (one-sided 95 % bounds); {settle} would settle it",
        **values,
        settle=settle,
    )
