"""What a rubric requires beside its table: blocking checks, and raters who agree.

A requirement never makes a decision better. A check that the candidate fails makes it no-go; what
cannot be told (a check that was not judged, raters who do not agree) leaves nothing decided.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from markscheme.vocabulary import (
    DecisionOutcome,
    DecisionRequirements,
    format_decimal,
    join_messages,
    sentence,
)
from markscheme.weigh.compare.result import CheckSummary
from markscheme.weigh.compare.ruling import RequirementOutcome, Ruling
from markscheme.weigh.stats import Agreement


def judge_requirements(
    requirements: DecisionRequirements | None,
    candidate: str,
    items: Sequence[str],
    checks: Sequence[CheckSummary],
    agreement: Agreement | None,
) -> tuple[RequirementOutcome, ...]:
    """Return whether each requirement is met; `items` are the queries on which checks must hold."""
    if requirements is None:
        return ()
    summaries = {check.axis: check for check in checks}
    outcomes = [
        _judge_check(name, summaries.get(name), candidate, items) for name in requirements.checks
    ]
    return (*outcomes, *_judge_agreement(requirements, agreement))


def _judge_check(
    name: str, check: CheckSummary | None, candidate: str, items: Sequence[str]
) -> RequirementOutcome:
    values = {
        item: sides.candidate if check and (sides := check.pairs.get(item)) else None
        for item in items
    }
    failed = [item for item, value in values.items() if value is not None and value < 1]
    unknown = [item for item, value in values.items() if value is None]
    named = {"check": name, "candidate": candidate}
    if failed:
        because = sentence(
            "{check} is blocking, and {candidate} fails it on {items}",
            **named,
            items=", ".join(failed),
        )
        return RequirementOutcome(requirement=name, met=False, because=because)
    if unknown or not items:
        because = sentence(
            "{check} is blocking, and it was not judged for {candidate} on {items}",
            **named,
            items=", ".join(unknown) or "–",
        )
        return RequirementOutcome(requirement=name, met=None, because=because)
    because = sentence("{candidate} passes {check} on every query", **named)
    return RequirementOutcome(requirement=name, met=True, because=because)


def _judge_agreement(
    requirements: DecisionRequirements, agreement: Agreement | None
) -> Iterator[RequirementOutcome]:
    if requirements.alpha is None:
        return
    alpha = agreement.alpha if agreement else None
    least = format_decimal(requirements.alpha, 3)
    if alpha is None:
        because = sentence(
            "raters must agree with an alpha of at least {least}, and it cannot be computed",
            least=least,
        )
    else:
        because = sentence(
            "raters must agree with an alpha of at least {least}, and it is {alpha}",
            least=least,
            alpha=format_decimal(alpha, 3),
        )
    met = None if alpha is None else alpha >= requirements.alpha
    yield RequirementOutcome(requirement="agreement", met=met, because=because)


def limit_outcome(
    outcome: DecisionOutcome | None, requirements: Sequence[RequirementOutcome]
) -> DecisionOutcome | None:
    """Return the decision that requirements leave of one that the table made."""
    if outcome is None or outcome is DecisionOutcome.NO_GO:
        return outcome
    if any(_is_failed_check(one) for one in requirements):
        return DecisionOutcome.NO_GO
    return outcome if all(one.met for one in requirements) else None


def _is_failed_check(requirement: RequirementOutcome) -> bool:
    # Raters who disagree do not show that the candidate is bad, only that nothing is known.
    return requirement.met is False and requirement.requirement != "agreement"


def apply_requirements(ruling: Ruling, requirements: Sequence[RequirementOutcome]) -> Ruling:
    """Return the decision with its requirements; one that is not met is a reason or a warning."""
    unmet = [one.because for one in requirements if not one.met]
    outcome = limit_outcome(ruling.outcome, requirements)
    ruling = replace(ruling, requirements=tuple(requirements))
    if outcome is ruling.outcome:
        return replace(ruling, warnings=(*unmet, *ruling.warnings))
    then = sentence(
        "Without this the decision would be {outcome}. Give the answers or the session logs, or "
        "rate again after going through the anchors together.",
        outcome=ruling.outcome.value if ruling.outcome else "",
    )
    if outcome is DecisionOutcome.NO_GO:
        then = sentence(
            "Go back to the baseline, or mend what makes the check fail. Without this the decision "
            "would be {outcome}.",
            outcome=ruling.outcome.value if ruling.outcome else "",
        )
    return replace(
        ruling,
        outcome=outcome,
        rule=None,
        rules=(),
        because=join_messages("; ", [*unmet, ruling.because]),
        next=then,
    )
