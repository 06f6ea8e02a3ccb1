"""The sentences that follow from the numbers of a comparison: what is known, what to do and watch.

They are stored in English; pages translate them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from markscheme.vocabulary import DecisionTable, format_decimal, format_signed, sentence
from markscheme.weigh.compare.operating_characteristic import OperatingCharacteristic
from markscheme.weigh.compare.pairs import AttemptPairs
from markscheme.weigh.compare.rating_order import describe_rating_order
from markscheme.weigh.compare.result import Comparison, RunPair
from markscheme.weigh.compare.statistics import ALPHA, Statistics
from markscheme.weigh.compare.warnings import describe_failures
from markscheme.weigh.gates import Evidence

_LARGE_RATIO = Fraction(5, 4)
# Smaller differences would be shown as 0.00 with two places.
_SMALL_POINTS = 0.01


def find_monitoring_points(comparison: Comparison) -> Iterator[str]:
    """Yield what to watch: weak queries, modes, axes, checks of the baseline, measurements."""
    yield from _describe_watched_queries(comparison)
    yield from _describe_widest_mode(comparison)
    yield from _describe_weakest_axis(comparison)
    for check in comparison.structural:
        if check.failed[0] and not check.failed[1]:
            yield describe_failures(check, comparison)
    for metric in comparison.operational:
        before, after = metric.mean.baseline, metric.mean.candidate
        if before and after is not None and after >= before * _LARGE_RATIO:
            yield sentence(
                "{metric} is {times} times that of {baseline}",
                metric=metric.metric,
                times=format_decimal(after / before, 2),
                baseline=comparison.baseline,
            )


def _describe_watched_queries(comparison: Comparison) -> Iterator[str]:
    for query in comparison.queries:
        if query.baseline_below_floor:
            yield sentence(
                "{item}: {baseline} itself is below the floor ({mean}): look at the query",
                item=query.item,
                baseline=comparison.baseline,
                mean=format_decimal(query.mean.baseline, 2),
            )
        if query.meaningful_axes:
            yield sentence(
                "{item} ({mode}): 2 points or more apart on {axes}",
                item=query.item,
                mode=query.mode,
                axes=", ".join(
                    f"{axis} ({format_signed(query.axes[axis].difference or Fraction(0), 2)})"
                    for axis in query.meaningful_axes
                ),
            )


def _describe_widest_mode(comparison: Comparison) -> Iterator[str]:
    gaps = {mode: part.mean.difference for mode, part in comparison.by_mode.items()}
    known = {mode: gap for mode, gap in gaps.items() if gap is not None}
    if len(known) < 2:  # noqa: PLR2004 - the widest of several
        return
    widest = min(known, key=lambda mode: known[mode])
    if known[widest] < 0 and list(known.values()).count(known[widest]) == 1:
        yield sentence(
            "{mode} shows the widest gap: {gap} on average",
            mode=widest,
            gap=format_signed(known[widest], 2),
        )


def _describe_weakest_axis(comparison: Comparison) -> Iterator[str]:
    gaps = {axis: sides.difference for axis, sides in comparison.overall.axes.items()}
    known = {axis: gap for axis, gap in gaps.items() if gap is not None and gap < 0}
    if not known:
        return
    weakest = min(known, key=lambda axis: known[axis])
    titles = {scale.name: scale.title for scale in comparison.rubric.scales}
    gap = format_signed(known[weakest], 2)
    if title := titles[weakest]:
        yield sentence(
            "{axis} ({title}) loses most: {gap} on average", axis=weakest, title=title, gap=gap
        )
    else:
        yield sentence("{axis} loses most: {gap} on average", axis=weakest, gap=gap)


def describe_comparison(comparison: Comparison) -> Iterator[str]:
    """Yield what the numbers of two rated variants can and cannot show, for non-statisticians."""
    if comparison.further is not None:
        yield sentence(
            "These figures are about the main round; only the agreement of raters and single "
            "ratings that would change the decision include the follow-up."
        )
    yield from _describe_conclusions(
        comparison.statistics, comparison.candidate, comparison.baseline
    )
    sides = comparison.baseline, comparison.candidate
    yield from comparison.first.describe_order(*sides)
    yield from describe_rating_order(comparison.rated_first, *sides)
    statistics = comparison.statistics
    if statistics.operating is not None:
        yield from _describe_operating(statistics.operating, comparison.rubric.decision_table)
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
            verdict=comparison.rubric.verdict_rules.verdicts[-1]
            if comparison.rubric.verdict_rules
            else "",
            upper=_format_percent(Fraction(upper)),
        )
    deciding = [flip for flip in statistics.sensitivity if flip.decides]
    if deciding:
        yield sentence(
            "The decision hangs on single ratings: {n} of them, changed by one point, would "
            "change it.",
            n=len(deciding),
        )
    elif comparison.decision.outcome is not None:
        yield sentence("No single rating, changed by one point, would change the decision.")


def _describe_operating(
    operating: OperatingCharacteristic, table: DecisionTable | None
) -> Iterator[str]:
    """Say what the table would decide for two identical variants, and how that was computed."""
    yield sentence(
        "With this noise, two identical variants would get {chances}; two repeats would "
        "disagree {disagree} of the time.",
        chances=", ".join(
            f"{outcome.value} {_format_percent(chance)}"
            for outcome, chance in operating.identical.items()
            if outcome is not None and (chance or table is None or outcome in table.outcomes)
        ),
        disagree=_format_percent(operating.repeats_disagree),
    )
    drawn = {"draws": f"{operating.simulated.draws:,}", "seed": operating.simulated.seed}
    yield (
        sentence(
            "That is exact; a simulation of {draws} comparisons (seed {seed}) differs by at most "
            "{apart} percentage points.",
            **drawn,
            apart=format_decimal(100 * operating.apart, 2),
        )
        if operating.exact
        else sentence("That is from a simulation of {draws} comparisons (seed {seed}).", **drawn)
    )


def _format_percent(share: Fraction) -> str:
    """Return a share in percent; only exact 0 and 1 are shown as 0 % and 100 %."""
    whole = round(100 * share)
    if share and not whole:
        return "< 1 %"
    return "> 99 %" if share < 1 and whole == 100 else f"{whole} %"  # noqa: PLR2004


def _describe_conclusions(statistics: Statistics, candidate: str, baseline: str) -> Iterator[str]:
    """Yield what this number of pairs can conclude, and what the evidence says."""
    n = statistics.paired.n
    if not n:
        yield sentence("Nothing is in pairs; nothing can be said.")
        return
    yield from _describe_directional(statistics)
    evidence = statistics.non_inferiority
    named = {
        "candidate": candidate,
        "margin": format_decimal(statistics.margin),
        "baseline": baseline,
    }
    match evidence.outcome:
        case Evidence.PASS:
            yield sentence(
                "The t interval shows that {candidate} is at most {margin} below {baseline} "
                "on average.",
                **named,
            )
        case Evidence.FAIL:
            yield sentence(
                "The t interval shows that {candidate} is more than {margin} below {baseline} "
                "on average.",
                **named,
            )
        case Evidence.INCONCLUSIVE:
            yield sentence(
                "Whether {candidate} is at most {margin} below {baseline} on average cannot be "
                "told from these pairs.",
                **named,
            )
    yield from _describe_unconfirmed(statistics)
    needed = evidence.items_needed
    if evidence.outcome is Evidence.INCONCLUSIVE and needed is not None:
        yield (
            sentence("About {n} items like these would settle it.", n=needed)
            if statistics.paired.repeated
            else sentence("About {n} pairs like these would settle it.", n=needed)
        )
    points = statistics.detectable.two_sided_points
    if points is not None:
        yield sentence(
            "A true difference of {points} points or more would be noticed 4 times in 5; "
            "smaller ones are often missed.",
            points=format_decimal(Fraction(points), 2 if points >= _SMALL_POINTS else 6),
        )


def describe_doubts(statistics: Statistics) -> Iterator[str]:
    """Yield the sentences that speak against relying on the outcome."""
    yield from _describe_directional(statistics)
    yield from _describe_unconfirmed(statistics)


def _describe_unconfirmed(statistics: Statistics) -> Iterator[str]:
    """Warn if the exact test does not confirm what the t interval shows."""
    exact = statistics.non_inferiority_p
    passed = statistics.non_inferiority.outcome is Evidence.PASS
    if passed and exact is not None and exact > ALPHA:
        yield sentence(
            "The exact test, which assumes less than the t interval, does not confirm it (p {p}).",
            p=format_decimal(exact, 6),
        )


def _describe_directional(statistics: Statistics) -> Iterator[str]:
    """Warn if no test of so few pairs can reach significance."""
    if not statistics.descriptive_only:
        return
    two_sided, one_sided = statistics.smallest_p
    pairs, holm = statistics.pairs_for_p
    named = {
        "n": statistics.paired.n,
        "two": format_decimal(two_sided, 6),
        "one": format_decimal(one_sided, 6),
        "pairs": pairs,
        "holm": holm,
    }
    if statistics.paired.repeated:
        yield sentence(
            "With {n} items, statistical significance cannot be reached: the smallest two-sided p "
            "is {two} (one-sided {one}), whatever the scores. This is directional evidence, not "
            "proof; 0.05 needs {pairs} items, {holm} if each axis is tested.",
            **named,
        )
        return
    yield sentence(
        "With {n} pairs, statistical significance cannot be reached: the smallest two-sided p "
        "is {two} (one-sided {one}), whatever the scores. This is directional evidence, not "
        "proof; 0.05 needs {pairs} pairs, {holm} if each axis is tested.",
        **named,
    )


def describe_run_pair(pair: RunPair) -> Iterator[str]:
    """Yield what the numbers of two runs can and cannot show."""
    yield from describe_attempts(pair.attempts, pair.baseline, pair.candidate)
    yield from _describe_conclusions(pair.statistics, pair.candidate, pair.baseline)
    yield from pair.first.describe_order(pair.baseline, pair.candidate)


def describe_attempts(attempts: AttemptPairs, baseline: str, candidate: str) -> Iterator[str]:
    """Yield how several attempts are counted, and which attempts are left out."""
    if attempts.count > len(attempts.items):
        yield sentence(
            "{pairs} pairs of attempts on {items} items are won, lost or tied; the attempts of one "
            "item are not independent, so the interval and the tests go by item, with the mean of "
            "its pairs.",
            pairs=attempts.count,
            items=len(attempts.items),
        )
    if attempts.baseline_only or attempts.candidate_only:
        yield sentence(
            "Attempts that only one of the runs has are not compared: {before} of {baseline}, "
            "{after} of {candidate}.",
            before=attempts.baseline_only,
            baseline=baseline,
            after=attempts.candidate_only,
            candidate=candidate,
        )


def decide_outcome(pairs: Sequence[RunPair], first: str) -> tuple[Evidence, str]:
    """Return whether any run is worse than the first by more than the margin, and a sentence."""
    candidates: Mapping[Evidence, list[str]] = {outcome: [] for outcome in Evidence}
    for pair in pairs:
        if pair.baseline == first:
            candidates[pair.statistics.non_inferiority.outcome].append(pair.candidate)
    named = {outcome: ", ".join(names) for outcome, names in candidates.items()}
    if named[Evidence.FAIL]:
        return Evidence.FAIL, sentence(
            "worse than {first} by more than the margin: {named}",
            first=first,
            named=named[Evidence.FAIL],
        )
    if named[Evidence.INCONCLUSIVE]:
        return Evidence.INCONCLUSIVE, sentence(
            "it cannot be told whether worse than {first} by more than the margin: {named}",
            first=first,
            named=named[Evidence.INCONCLUSIVE],
        )
    if named[Evidence.PASS]:
        return Evidence.PASS, sentence(
            "not worse than {first} by more than the margin: {named}",
            first=first,
            named=named[Evidence.PASS],
        )
    return Evidence.INCONCLUSIVE, ""
