"""Sentences that follow from the numbers of a comparison: what to do, what to watch, what is known.

They are English and kept; pages translate them.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from markscheme.vocabulary import DecisionOutcome, format_decimal, sentence
from markscheme.weigh.compare.conclusions import describe_conclusions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markscheme.weigh.compare.operating_characteristic import OperatingCharacteristic
    from markscheme.weigh.compare.result import CheckSummary, Comparison, Query, Ruling
    from markscheme.weigh.compare.rules import ComparisonRules

_ADDITIONAL_QUERIES = 3
_POOR_AGREEMENT = Fraction(667, 1000)  # below it Krippendorff draws no conclusion at all
_LARGE_RATIO = Fraction(5, 4)


def describe_next_step(contest: ComparisonRules, ruling: Ruling, queries: Sequence[Query]) -> str:
    """Return what the table says to do, with the modes in which more queries would tell most."""
    if ruling.outcome is not DecisionOutcome.CONDITIONAL:
        return ruling.next
    worst = contest.rules.verdicts[-1]
    modes = dict.fromkeys(query.mode for query in queries if query.verdict == worst)
    return sentence(
        "{next} Run the {n} additional queries in: {modes}.",
        next=ruling.next,
        n=_ADDITIONAL_QUERIES,
        modes=", ".join(modes),
    )


def format_difference(value: Fraction) -> str:
    """Return a difference with its sign."""
    return f"{'+' if value > 0 else '−' if value < 0 else '±'}{format_decimal(abs(value), 2)}"


def find_monitoring_points(found: Comparison) -> Iterator[str]:
    """Yield what to watch: what is weak in these numbers."""
    yield from _describe_watched_queries(found)
    yield from _describe_widest_mode(found)
    yield from _describe_weakest_axis(found)
    for check in found.structural:
        yield from _describe_check(check, found)
    for metric in found.operational:
        before, after = metric.mean.baseline, metric.mean.candidate
        if before and after is not None and after >= before * _LARGE_RATIO:
            yield sentence(
                "{metric} is {times} times that of {baseline}",
                metric=metric.metric,
                times=format_decimal(after / before, 2),
                baseline=found.baseline,
            )
    agreed = found.statistics.agreement
    if agreed is not None and agreed.alpha is not None and agreed.alpha < _POOR_AGREEMENT:
        yield sentence(
            "raters agree too little to build on (alpha {alpha}): go through the anchors together",
            alpha=format_decimal(agreed.alpha, 2),
        )


def _describe_watched_queries(found: Comparison) -> Iterator[str]:
    for query in found.queries:
        if query.baseline_below_floor:
            yield sentence(
                "{item}: {baseline} itself is below the floor ({mean}): look at the query",
                item=query.item,
                baseline=found.baseline,
                mean=format_decimal(query.mean.baseline, 2),
            )
        if query.meaningful_axes:
            yield sentence(
                "{item} ({mode}): 2 points or more apart on {axes}",
                item=query.item,
                mode=query.mode,
                axes=", ".join(
                    f"{axis} ({format_difference(query.axes[axis].difference or Fraction(0))})"
                    for axis in query.meaningful_axes
                ),
            )


def _describe_widest_mode(found: Comparison) -> Iterator[str]:
    gaps = {mode: part.mean.difference for mode, part in found.by_mode.items()}
    known = {mode: gap for mode, gap in gaps.items() if gap is not None}
    if len(known) < 2:  # noqa: PLR2004 - the widest of several
        return
    widest = min(known, key=lambda mode: known[mode])
    if known[widest] < 0 and list(known.values()).count(known[widest]) == 1:
        yield sentence(
            "{mode} shows the widest gap: {gap} on average",
            mode=widest,
            gap=format_difference(known[widest]),
        )


def _describe_weakest_axis(found: Comparison) -> Iterator[str]:
    gaps = {axis: sides.difference for axis, sides in found.overall.axes.items()}
    known = {axis: gap for axis, gap in gaps.items() if gap is not None and gap < 0}
    if not known:
        return
    weakest = min(known, key=lambda axis: known[axis])
    titles = {scale.name: scale.title for scale in found.rubric.scales}
    yield sentence(
        "{axis} ({title}) loses most: {gap} on average",
        axis=weakest,
        title=titles[weakest],
        gap=format_difference(known[weakest]),
    )


def _describe_check(check: CheckSummary, found: Comparison) -> Iterator[str]:
    """Say whose problem a failing check is: that of both, or that of one variant."""
    (judged_b, judged_c), (failed_b, failed_c) = check.judged, check.failed
    if failed_b and failed_c and 2 * (failed_b + failed_c) >= judged_b + judged_c:
        yield sentence(
            "{axis} fails for both variants in {failed} of {judged}: "
            "a prompt problem, not a model problem",
            axis=check.axis,
            failed=failed_b + failed_c,
            judged=judged_b + judged_c,
        )
    elif failed_c and not failed_b:
        yield sentence(
            "{axis} fails only for {candidate}, in {failed} of {judged}: the same prompt works for "
            "{baseline}",
            axis=check.axis,
            candidate=found.candidate,
            failed=failed_c,
            judged=judged_c,
            baseline=found.baseline,
        )
    elif failed_b or failed_c:
        yield sentence(
            "{axis} fails in {failed_b} of {judged_b} for {baseline} and in {failed_c} of "
            "{judged_c} for {candidate}",
            axis=check.axis,
            failed_b=failed_b,
            judged_b=judged_b,
            baseline=found.baseline,
            failed_c=failed_c,
            judged_c=judged_c,
            candidate=found.candidate,
        )


def describe_comparison(found: Comparison) -> Iterator[str]:
    """Yield what these numbers can and cannot show, in words for those who do not do statistics."""
    yield from _describe_query_mismatch(found)
    yield from describe_conclusions(found.statistics, found.candidate, found.baseline)
    yield from found.first.describe_order(found.baseline, found.candidate)
    statistics = found.statistics
    if statistics.operating is not None:
        yield from _describe_operating(statistics.operating)
    elif statistics.paired.sd == 0:
        yield sentence(
            "All differences are equal, so no noise was seen; what it would do to the decision "
            "cannot be told."
        )
    if statistics.guarantee is not None and statistics.paired.n:
        worst, _, upper = statistics.guarantee
        yield sentence(
            "{worst} of {n} queries are {verdict}; among all queries like these the share could be "
            "as high as {upper}.",
            worst=worst,
            n=statistics.paired.n,
            verdict=found.rubric.verdict_rules.verdicts[-1] if found.rubric.verdict_rules else "",
            upper=format_percent(Fraction(upper)),
        )
    deciding = [flip for flip in statistics.sensitivity if flip.decides]
    if deciding:
        yield sentence(
            "The decision hangs on single ratings: {n} of them, changed by one point, would "
            "change it.",
            n=len(deciding),
        )
    elif found.decision.outcome is not None:
        yield sentence("No single rating, changed by one point, would change the decision.")


def _describe_operating(found: OperatingCharacteristic) -> Iterator[str]:
    """Say what the table would do to two identical variants, and how that is known."""
    yield sentence(
        "With this noise, two identical variants would get {chances}; two repeats would "
        "disagree {disagree} of the time.",
        chances=", ".join(
            f"{outcome.value} {format_percent(chance)}"
            for outcome, chance in found.identical.items()
            if outcome is not None
        ),
        disagree=format_percent(found.repeats_disagree),
    )
    drawn = {"draws": f"{found.simulated.draws:,}", "seed": found.simulated.seed}
    yield (
        sentence(
            "That is exact; a simulation of {draws} comparisons (seed {seed}) differs by at most "
            "{apart} percentage points.",
            **drawn,
            apart=format_decimal(100 * found.apart, 2),
        )
        if found.exact
        else sentence("That is from a simulation of {draws} comparisons (seed {seed}).", **drawn)
    )


def _describe_query_mismatch(found: Comparison) -> Iterator[str]:
    """Say that the table was made for other numbers of queries, where it was."""
    table = found.rubric.decision_table
    counts = {mode: part.queries for mode, part in found.by_mode.items()}
    if table is not None and counts != dict(table.queries):
        yield sentence(
            "The decision table is made for {meant} queries and decides here on {counts}; "
            "`markscheme lint` with the exam proves it for these.",
            meant=", ".join(f"{n} {mode}" for mode, n in table.queries.items()),
            counts=", ".join(f"{n} {mode}" for mode, n in counts.items()),
        )


def format_percent(share: Fraction) -> str:
    """Return a share in percent; what is not 0 or 1 is never shown as if it were."""
    whole = round(100 * share)
    if share and not whole:
        return "< 1 %"
    return "> 99 %" if share < 1 and whole == 100 else f"{whole} %"  # noqa: PLR2004
