"""Gates: a limit that a run meets or not, told with what was seen, by how much, and what to fix."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from markscheme.vocabulary import ZERO, Level, Outcome, format_plain, sentence
from markscheme.weigh.gates.baseline import evaluate_baseline_gate
from markscheme.weigh.gates.metrics import GateContext, describe_gate_metric, format_metric_value
from markscheme.weigh.gates.outcomes import GateOutcome, GateReport, get_failure_outcome
from markscheme.weigh.totals import explain_incomplete

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markscheme.vocabulary import Exam, Gate, Rubric
    from markscheme.weigh.gates.metrics import MetricObservation
    from markscheme.weigh.gates.outcomes import ItemLoss
    from markscheme.weigh.totals import Run

_MAX_NAMED_ITEMS = 3  # so many items to mend are named in a sentence


def evaluate_gates(
    rubric: Rubric, exam: Exam, run: Run, baseline: Run | None = None, *, detailed: bool = True
) -> GateReport:
    """Return what every gate that is bound to the exam says of a run, and what follows.

    Without detail the outcomes are the same, but no item is named: for a look at many runs.
    """
    outcomes = _evaluate_applicable_gates(
        GateContext(rubric, exam, run, detailed=detailed), baseline
    )
    verdict, because = _decide_verdict(outcomes, complete=run.marks.complete)
    return GateReport(run=run.name, outcomes=outcomes, verdict=verdict, because=because)


def build_undecided_report(rubric: Rubric, exam: Exam, run: str, because: str) -> GateReport:
    """Return that no gate can tell anything of the run of this name."""
    gates = (gate for gate in rubric.gates if gate.applies_to(exam))
    return GateReport(
        run=run,
        outcomes=tuple(build_undecided_outcome(gate, because) for gate in gates),
        verdict=Outcome.UNDECIDED,
        because=because,
    )


def _evaluate_applicable_gates(case: GateContext, baseline: Run | None) -> tuple[GateOutcome, ...]:
    gates = [gate for gate in case.rubric.gates if gate.applies_to(case.exam)]
    because = mismatch_reason(case.rubric, case.exam, case.run)
    if because:
        return tuple(build_undecided_outcome(gate, because) for gate in gates)
    return tuple(
        _evaluate_gate(gate, case)
        if gate.baseline is None
        else evaluate_baseline_gate(gate, case, baseline)
        for gate in gates
    )


def build_undecided_outcome(
    gate: Gate, because: str, seen: MetricObservation | None = None
) -> GateOutcome:
    """Return the outcome of a gate that cannot tell, with what could be seen nevertheless."""
    return GateOutcome(
        gate=gate,
        outcome=Outcome.UNDECIDED,
        observed=seen.value if seen else None,
        because=because,
        fix_first=seen.losses if seen else (),
    )


def mismatch_reason(rubric: Rubric, exam: Exam, run: Run) -> str:
    """Say that the run is not one of this rubric and exam, where it is not."""
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


def _evaluate_gate(gate: Gate, case: GateContext) -> GateOutcome:
    """Decide on exact values; an incomplete run never passes, but what is too many stays so."""
    seen, marks = case.observe_metric(gate), case.run.marks
    side = None if seen.value is None else _find_nearest_limit(gate, seen.value)
    too_many = gate.metric in {"errors", "missing"} and side is not None and side.margin < 0
    if not marks.complete and not too_many:
        return build_undecided_outcome(gate, explain_incomplete(marks), seen)
    if seen.value is None or side is None:
        return build_undecided_outcome(gate, seen.why)
    because = _describe_margin(gate, seen.value, side)
    if side.margin < 0:
        because = _add_remedy(because, seen.losses, -side.margin)
    return GateOutcome(
        gate=gate,
        outcome=Outcome.PASS if side.margin >= 0 else get_failure_outcome(gate),
        observed=seen.value,
        margin=side.margin,
        because=because,
        fix_first=seen.losses,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _GateLimit:
    """One limit of a gate and how far inside it a value is."""

    limit: Decimal
    margin: Fraction
    templates: tuple[str, str]


def _find_nearest_limit(gate: Gate, value: Fraction) -> _GateLimit:
    """Return the limit that a value is nearest to, or furthest beyond."""
    sides = []
    if (low := gate.at_least) is not None:
        words = (
            sentence("{what} {seen} is at least {limit}, {by}"),
            sentence("{what} {seen} is below {limit}, {by}"),
        )
        sides.append(_GateLimit(limit=low, margin=value - Fraction(low), templates=words))
    if (high := gate.at_most) is not None:
        words = (
            sentence("{what} {seen} is at most {limit}, {by}"),
            sentence("{what} {seen} is above {limit}, {by}"),
        )
        sides.append(_GateLimit(limit=high, margin=Fraction(high) - value, templates=words))
    return min(sides, key=lambda side: side.margin)


def _describe_margin(gate: Gate, value: Fraction, side: _GateLimit) -> str:
    """Say how a value stands to a limit."""
    margin = format_metric_value(gate, abs(side.margin), ZERO)
    by = sentence("by {margin}", margin=margin) if side.margin else sentence("exactly")
    seen, limit = format_metric_value(gate, value, side.limit), format_plain(side.limit)
    return side.templates[side.margin < 0].format(
        what=describe_gate_metric(gate), seen=seen, limit=limit, by=by
    )


def _add_remedy(because: str, losses: Sequence[ItemLoss], shortfall: Fraction) -> str:
    """Add which items, mended, would meet the limit, where items can."""
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


def _decide_verdict(outcomes: Sequence[GateOutcome], *, complete: bool) -> tuple[Outcome, str]:
    """Say what follows from all gates: a soft gate never blocks, and nothing judged is no pass."""
    hard = {found.gate.name: found.outcome for found in outcomes if found.gate.level is Level.HARD}
    for outcome, words in (
        (Outcome.FAIL, sentence("not met: {gates}")),
        (Outcome.UNDECIDED, sentence("undecided: {gates}")),
    ):
        names = [name for name, found in hard.items() if found is outcome]
        if names:
            return outcome, words.format(gates=", ".join(names))
    judged = [found for found in outcomes if found.outcome in _DECIDED_OUTCOMES]
    if not judged:
        return (
            Outcome.UNDECIDED,
            sentence("nothing was judged: no gate applies to this run, or none can tell"),
        )
    if not complete:
        return Outcome.UNDECIDED, sentence("the run is incomplete")
    return Outcome.PASS, _explain_pass(judged, blocking=Outcome.PASS in hard.values())


def _explain_pass(judged: Sequence[GateOutcome], *, blocking: bool) -> str:
    """Say why a run passes, and that it could not have failed where no hard gate judged it."""
    warned = [found.gate.name for found in judged if found.outcome is Outcome.WARN]
    because = sentence("met")
    if warned:
        because = sentence("met, with warnings: {gates}", gates=", ".join(warned))
    if blocking:
        return because
    return sentence(
        "{because}; no hard gate judged this run, so nothing could have failed", because=because
    )


_DECIDED_OUTCOMES = (Outcome.PASS, Outcome.WARN, Outcome.FAIL)
