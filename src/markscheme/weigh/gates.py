"""Gates: a limit that a run meets or not, told with what was seen and by how much."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from markscheme.exact import show
from markscheme.vocabulary import GateOutcome, Level, Outcome

if TYPE_CHECKING:
    from markscheme.vocabulary import Exam, Gate, Rubric, Summary


def gate_outcomes(rubric: Rubric, exam: Exam, summary: Summary) -> tuple[GateOutcome, ...]:
    """Return the outcome of every gate that is bound to this exam or to none."""
    names = set(exam.names)
    bound = (gate for gate in rubric.gates if not gate.exams or names <= set(gate.exams))
    return tuple(_outcome(gate, summary) for gate in bound)


def _outcome(gate: Gate, summary: Summary) -> GateOutcome:
    outcome, because = _decided(gate, summary)
    return GateOutcome(gate=gate, outcome=outcome, observed=summary.score, because=because)


def _decided(gate: Gate, summary: Summary) -> tuple[Outcome, str]:
    """Decide on exact values; an incomplete run never passes."""
    if summary.score is None:
        return Outcome.UNDECIDED, "nothing was scored"
    if not summary.complete:
        parts = {
            "missing": len(summary.missing),
            "unscored": summary.unscored,
            "bad rows": summary.errors,
        }
        told = ", ".join(f"{count} {what}" for what, count in parts.items() if count)
        return Outcome.UNDECIDED, f"the run is incomplete ({told})"
    limit = Fraction(gate.at_least)
    margin = show(abs(summary.score - limit))
    seen, wanted = show(summary.score), gate.at_least
    if summary.score >= limit:
        return Outcome.PASS, f"score {seen} is at least {wanted}, by {margin}"
    failed = Outcome.FAIL if gate.level is Level.HARD else Outcome.WARN
    return failed, f"score {seen} is below {wanted}, by {margin}"


def verdict(outcomes: tuple[GateOutcome, ...]) -> bool | None:
    """Return whether every hard gate is met; `None` where one cannot tell and none has failed."""
    hard = [found.outcome for found in outcomes if found.gate.level is Level.HARD]
    if Outcome.FAIL in hard:
        return False
    return None if Outcome.UNDECIDED in hard else True
