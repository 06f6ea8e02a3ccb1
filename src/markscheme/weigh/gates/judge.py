"""Evaluate the gates of a rubric on one run, and decide the verdict.

`evaluate_gates` is the entry. Each gate ends as pass, fail (or warn, if the gate is soft),
undecided, or not applicable. A gate is undecided, never passed, if

- the run was scored under another rubric or is of another exam (`mismatch_reason`);
- answers without a score could still move its metric to the other side of a limit: it passes only
  if the worst possible value does, and fails only if the best possible one does (`_evaluate_gate`);
- an item is missing or a row is an error. Only a limit on errors or missing items that is already
  exceeded still fails;
- its metric has no value, for example because no latency was recorded (`metrics`);
- it is a baseline gate and the two runs cannot be compared, or evidence is required and is
  inconclusive (`baseline`);
- it rests on marks of a judge that no calibration allows (`calibration`).

The verdict on the run follows from the hard gates: fail if one fails, else undecided if one is
undecided (`_decide_verdict`). Every outcome says in `because` what was seen and why it follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from markscheme.vocabulary import (
    ZERO,
    Exam,
    Gate,
    Level,
    Outcome,
    Rubric,
    ScoreBounds,
    format_plain,
    sentence,
)
from markscheme.weigh.gates.baseline import evaluate_baseline_gate
from markscheme.weigh.gates.calibration import require_calibration
from markscheme.weigh.gates.metrics import (
    GateContext,
    MetricObservation,
    describe_gate_metric,
    format_metric_value,
)
from markscheme.weigh.gates.outcomes import GateOutcome, GateReport, ItemLoss, get_failure_outcome
from markscheme.weigh.totals import Run, explain_incomplete

_DECIDED_OUTCOMES = (Outcome.PASS, Outcome.WARN, Outcome.FAIL)
_COUNTS_OF_FAULTS = frozenset({"errors", "missing"})
# How many items to mend a message names.
_MAX_NAMED_ITEMS = 3


def evaluate_gates(
    rubric: Rubric, exam: Exam, run: Run, baseline: Run | None = None, *, detailed: bool = True
) -> GateReport:
    """Evaluate every gate that applies to the exam, and decide the verdict on the run.

    With `detailed=False` the outcomes are the same, but no item is named; that is faster for a look
    at many runs.
    """
    context = GateContext(rubric, exam, run, detailed=detailed)
    gates = [gate for gate in rubric.gates if gate.applies_to(exam)]
    mismatch = mismatch_reason(rubric, exam, run)
    outcomes = []
    for gate in gates:
        if mismatch:
            outcomes.append(build_undecided_outcome(gate, mismatch))
            continue
        if gate.baseline is not None:
            outcome = evaluate_baseline_gate(gate, context, baseline)
        else:
            outcome = _evaluate_gate(gate, context)
        outcomes.append(require_calibration(outcome, run, baseline))
    verdict, because = _decide_verdict(outcomes, all_answered=run.marks.all_answered)
    return GateReport(run=run.name, outcomes=tuple(outcomes), verdict=verdict, because=because)


def build_undecided_report(rubric: Rubric, exam: Exam, run: str, because: str) -> GateReport:
    """Return a report in which every gate is undecided, for the same reason."""
    gates = (gate for gate in rubric.gates if gate.applies_to(exam))
    return GateReport(
        run=run,
        outcomes=tuple(build_undecided_outcome(gate, because) for gate in gates),
        verdict=Outcome.UNDECIDED,
        because=because,
    )


def build_undecided_outcome(
    gate: Gate, because: str, observed: MetricObservation | None = None
) -> GateOutcome:
    """Return the outcome of an undecided gate, with what was observed nevertheless."""
    return GateOutcome(
        gate=gate,
        outcome=Outcome.UNDECIDED,
        observed=observed.value if observed else None,
        bounds=observed.bounds if observed else None,
        because=because,
        fix_first=observed.losses if observed else (),
    )


def mismatch_reason(rubric: Rubric, exam: Exam, run: Run) -> str:
    """Return why the run does not belong to this rubric and exam, or "" if it does."""
    axes, items = tuple(spec.name for spec in rubric), {item.id for item in exam.items}
    if run.rubric not in {None, rubric.fingerprint} or run.marks.axes != axes:
        return sentence(
            "the run was scored under another rubric than this `{rubric}`; score it anew",
            rubric=rubric.name,
        )
    if run.exam not in {None, exam.fingerprint} or run.marks.items.keys() != items:
        return sentence(
            "the run is of another exam than this `{exam}`; score it anew", exam=exam.name
        )
    return ""


def _evaluate_gate(gate: Gate, context: GateContext) -> GateOutcome:
    """Compare the metric of a gate with its limits, in exact numbers.

    Where only its bounds are known, the worse one must be inside the limits to pass, and the better
    one outside to fail. A run with missing items or errors is undecided. But too many errors or
    missing items stay too many, whatever the rest of the run would bring, so those gates fail.
    """
    observed, marks = context.observe_metric(gate), context.run.marks
    known = observed.range
    if known is None:
        why = observed.why if marks.all_answered else explain_incomplete(marks)
        return build_undecided_outcome(gate, why)
    worst, best = _find_worst_limit(gate, known), _find_best_limit(gate, known)
    if best.margin < 0 and (marks.all_answered or gate.metric in _COUNTS_OF_FAULTS):
        because = _add_remedy(_describe_margin(gate, best), observed.losses, -best.margin)
        return _build_decided_outcome(gate, get_failure_outcome(gate), observed, best, because)
    if not marks.all_answered:
        return build_undecided_outcome(gate, explain_incomplete(marks), observed)
    if worst.margin < 0:
        return build_undecided_outcome(gate, _explain_bounds(gate, known, worst), observed)
    because = _describe_margin(gate, worst)
    return _build_decided_outcome(gate, Outcome.PASS, observed, worst, because)


def _build_decided_outcome(
    gate: Gate, outcome: Outcome, observed: MetricObservation, limit: _GateLimit, because: str
) -> GateOutcome:
    if observed.bounds is not None:
        because = sentence(
            "{because}, whatever the answers without a score would get", because=because
        )
    return GateOutcome(
        gate=gate,
        outcome=outcome,
        observed=observed.value,
        bounds=observed.bounds,
        margin=limit.margin,
        because=because,
        fix_first=observed.losses,
    )


def _explain_bounds(gate: Gate, known: ScoreBounds, worst: _GateLimit) -> str:
    """Say that a limit lies between the bounds of a metric."""
    return sentence(
        "{what} is between {low} and {high}, because some answers have no score; the limit {limit} "
        "is met or not when they have one",
        what=describe_gate_metric(gate),
        low=format_metric_value(gate, known.low, worst.limit),
        high=format_metric_value(gate, known.high, worst.limit),
        limit=format_plain(worst.limit),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _GateLimit:
    """One limit of a gate, the margin of a value to it, and the sentences for inside and outside.

    The margin is negative if the value is outside the limit.
    """

    limit: Decimal
    value: Fraction
    margin: Fraction
    templates: tuple[str, str]


def _find_worst_limit(gate: Gate, known: ScoreBounds) -> _GateLimit:
    """Return the limit with the smallest margin, taking the worse bound for each limit."""
    limits = _list_limits(gate, at_least=known.low, at_most=known.high)
    return min(limits, key=lambda limit: limit.margin)


def _find_best_limit(gate: Gate, known: ScoreBounds) -> _GateLimit:
    """Return the limit with the smallest margin, taking the better bound for each limit."""
    limits = _list_limits(gate, at_least=known.high, at_most=known.low)
    return min(limits, key=lambda limit: limit.margin)


def _list_limits(gate: Gate, *, at_least: Fraction, at_most: Fraction) -> list[_GateLimit]:
    """Return the limits of a gate, with the margin of one value to each."""
    limits = []
    if (low := gate.at_least) is not None:
        templates = (
            sentence("{what} {seen} is at least {limit}, {by}"),
            sentence("{what} {seen} is below {limit}, {by}"),
        )
        margin = at_least - Fraction(low)
        limits.append(_GateLimit(limit=low, value=at_least, margin=margin, templates=templates))
    if (high := gate.at_most) is not None:
        templates = (
            sentence("{what} {seen} is at most {limit}, {by}"),
            sentence("{what} {seen} is above {limit}, {by}"),
        )
        margin = Fraction(high) - at_most
        limits.append(_GateLimit(limit=high, value=at_most, margin=margin, templates=templates))
    return limits


def _describe_margin(gate: Gate, nearest: _GateLimit) -> str:
    """Say on which side of a limit a value is, and by how much."""
    margin = format_metric_value(gate, abs(nearest.margin), ZERO)
    return nearest.templates[nearest.margin < 0].format(
        what=describe_gate_metric(gate),
        seen=format_metric_value(gate, nearest.value, nearest.limit),
        limit=format_plain(nearest.limit),
        by=sentence("by {margin}", margin=margin) if nearest.margin else sentence("exactly"),
    )


def _add_remedy(because: str, losses: Sequence[ItemLoss], shortfall: Fraction) -> str:
    """Add which items, if mended, would meet the limit; nothing if no items would."""
    gained, worst = Fraction(0), []
    for loss in losses:
        if gained >= shortfall:
            break
        gained += loss.lost
        worst.append(loss.item)
    if gained < shortfall or not worst:
        return because
    items, more = ", ".join(worst[:_MAX_NAMED_ITEMS]), len(worst) - _MAX_NAMED_ITEMS
    if more > 0:
        return sentence(
            "{because}; mending {items} and {n:,} more would meet it",
            because=because,
            items=items,
            n=more,
        )
    return sentence("{because}; mending {items} would meet it", because=because, items=items)


def _decide_verdict(outcomes: Sequence[GateOutcome], *, all_answered: bool) -> tuple[Outcome, str]:
    """Return the verdict on a run and the reason, from the outcomes of all gates.

    A soft gate never blocks. A run on which no gate decided anything does not pass.
    """
    hard = [result for result in outcomes if result.gate.level is Level.HARD]
    for verdict, template in (
        (Outcome.FAIL, sentence("not met: {gates}")),
        (Outcome.UNDECIDED, sentence("undecided: {gates}")),
    ):
        names = [result.gate.name for result in hard if result.outcome is verdict]
        if names:
            return verdict, template.format(gates=", ".join(names))
    decided = [result for result in outcomes if result.outcome in _DECIDED_OUTCOMES]
    if not decided:
        because = sentence("nothing was judged: no gate applies to this run, or none can tell")
        return Outcome.UNDECIDED, because
    if not all_answered:
        return Outcome.UNDECIDED, sentence("the run is incomplete")
    warned = [result.gate.name for result in decided if result.outcome is Outcome.WARN]
    because = sentence("met")
    if warned:
        because = sentence("met, with warnings: {gates}", gates=", ".join(warned))
    because = _add_what_is_open(because, outcomes)
    if not any(result.outcome is Outcome.PASS for result in hard):
        because = sentence(
            "{because}; no hard gate judged this run, so nothing could have failed", because=because
        )
    return Outcome.PASS, because


def _add_what_is_open(because: str, outcomes: Sequence[GateOutcome]) -> str:
    """Add the soft gates that could not tell, and the targets that are not reached."""
    open_gates = [
        result.gate.name
        for result in outcomes
        if result.gate.level is Level.SOFT and result.outcome is Outcome.UNDECIDED
    ]
    if open_gates:
        because = sentence(
            "{because}; cannot tell: {gates}", because=because, gates=", ".join(open_gates)
        )
    missed = [
        f"{result.gate.name} ({result.gate.target})"
        for result in outcomes
        if _has_missed_target(result)
    ]
    if missed:
        because = sentence(
            "{because}; target not reached: {gates}", because=because, gates=", ".join(missed)
        )
    return because


def _has_missed_target(result: GateOutcome) -> bool:
    """Return whether a gate passed, but its target is not reached for certain."""
    target, known = result.gate.target, result.range
    if target is None or known is None or result.outcome is not Outcome.PASS:
        return False
    if result.gate.at_least is None:
        return known.high > Fraction(target)
    return known.low < Fraction(target)
