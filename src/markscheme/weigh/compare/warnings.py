"""Warnings beside a decision: what it rests on is thin, or what stands beside it speaks against it.

A warning changes neither the decision nor the exit code. A rubric that wants them to count states
`blocking` and `agreement`.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from markscheme.vocabulary import format_decimal, sentence
from markscheme.weigh.compare.result import CheckSummary, Comparison

# The method that the built-in rubric follows takes five queries.
_FEW_QUERIES = 5
# Krippendorff: below this alpha, ratings support no conclusion.
_POOR_AGREEMENT = Fraction(667, 1000)


def find_warnings(comparison: Comparison) -> Iterator[str]:
    """Yield the warnings: the number of queries, raters and their agreement, failing checks."""
    yield from _describe_queries(comparison)
    yield from _describe_weights(comparison)
    yield from _describe_raters(comparison)
    for check in comparison.structural:
        if check.failed[1]:
            yield _describe_check(check, comparison)


def _describe_queries(comparison: Comparison) -> Iterator[str]:
    table = comparison.rubric.decision_table
    counts = {mode: part.queries for mode, part in comparison.by_mode.items()}
    rated = comparison.statistics.paired.n
    if rated < _FEW_QUERIES and comparison.decision.outcome is not None:
        yield sentence("The decision rests on few queries: {n}; one more could turn it.", n=rated)
    if table is None or table.find_lacking(counts) or table.is_meant_for(counts):
        return
    yield sentence(
        "The decision table is made for {meant} queries and decides here on {counts}; "
        "`markscheme lint` with the exam proves it for these.",
        meant=", ".join(f"{n} {mode}" for mode, n in table.queries.items()),
        counts=", ".join(f"{n} {mode}" for mode, n in counts.items()),
    )


def _describe_weights(comparison: Comparison) -> Iterator[str]:
    """Say that the averages are plain means, if the rubric gives its scales different weights."""
    scales = {scale.name for scale in comparison.rubric.scales}
    if len({spec.weight for spec in comparison.rubric.axes if spec.name in scales}) > 1:
        yield sentence(
            "Here each scale counts equally; the weights of the rubric count in `markscheme score` "
            "alone."
        )


def _describe_raters(comparison: Comparison) -> Iterator[str]:
    agreed = comparison.statistics.agreement
    if comparison.rated_by == "judges":
        yield sentence(
            "Only judge models rated ({raters}); whether people would agree is not known.",
            raters=", ".join(comparison.raters),
        )
    if len(comparison.raters) == 1:
        yield sentence(
            "Only {rater} rated, so it is not known whether anybody else would agree.",
            rater=comparison.raters[0],
        )
    elif agreed is None or agreed.alpha is None:
        yield sentence(
            "How far the raters agree cannot be computed: no two rated the same, or all scores are "
            "equal."
        )
    elif agreed.alpha < _POOR_AGREEMENT:
        yield sentence(
            "raters agree too little to build on (alpha {alpha}; random scores have 0): "
            "go through the anchors together",
            alpha=format_decimal(agreed.alpha, 2),
        )


def _describe_check(check: CheckSummary, comparison: Comparison) -> str:
    """Say whether a check that the candidate fails is a problem of both variants or of one."""
    (judged_b, judged_c), (failed_b, failed_c) = check.judged, check.failed
    if failed_b and 2 * (failed_b + failed_c) >= judged_b + judged_c:
        return sentence(
            "{axis} fails for both variants in {failed} of {judged}: "
            "a prompt problem, not a model problem",
            axis=check.axis,
            failed=failed_b + failed_c,
            judged=judged_b + judged_c,
        )
    if not failed_b:
        return sentence(
            "{axis} fails only for {candidate}, in {failed} of {judged}: the same prompt works for "
            "{baseline}",
            axis=check.axis,
            candidate=comparison.candidate,
            failed=failed_c,
            judged=judged_c,
            baseline=comparison.baseline,
        )
    return describe_failures(check, comparison)


def describe_failures(check: CheckSummary, comparison: Comparison) -> str:
    """Say how many answers of each variant fail a check."""
    (judged_b, judged_c), (failed_b, failed_c) = check.judged, check.failed
    return sentence(
        "{axis} fails in {failed_b} of {judged_b} for {baseline} and in {failed_c} of "
        "{judged_c} for {candidate}",
        axis=check.axis,
        failed_b=failed_b,
        judged_b=judged_b,
        baseline=comparison.baseline,
        failed_c=failed_c,
        judged_c=judged_c,
        candidate=comparison.candidate,
    )
