"""The outcome of two runs for people: why, what would settle it, and what speaks against it."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from markscheme.exact import signed
from markscheme.tell.language import say, told
from markscheme.weigh.attempt_pairs import attempts_in_words
from markscheme.weigh.outcomes import Evidence
from markscheme.weigh.reach import doubts_in_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.weigh.paired_runs import RunPair

_PLACES = (4, 6, 9)


def because_of(pair: RunPair) -> str:
    """Say why the outcome is what it is: where the bounds lie beside the margin."""
    evidence, bounds = pair.statistics.non_inferiority, bounds_of(pair)
    if bounds is None:
        return told(evidence.because)
    lower, upper = (_beside(Fraction(bound), -pair.statistics.margin) for bound in bounds)
    named = {"lower": lower, "upper": upper, "margin": margin_of(pair)}
    match evidence.outcome:
        case Evidence.PASS:
            return say(
                "The true difference is above {lower} with 95 % confidence, and so within the "
                "margin of {margin}.",
                **named,
            )
        case Evidence.FAIL:
            return say(
                "The true difference is below {upper} with 95 % confidence, and so beyond the "
                "margin of {margin}.",
                **named,
            )
        case Evidence.INCONCLUSIVE:
            return say(
                "The true difference may be anything from {lower} to {upper}, and the margin of "
                "{margin} lies between.",
                **named,
            )


def settles_of(pair: RunPair) -> str:
    """Say what would settle it, where it is open."""
    evidence = pair.statistics.non_inferiority
    if evidence.outcome is not Evidence.INCONCLUSIVE:
        return ""
    if evidence.mean is None:
        return say("More items: one alone, or one cluster, shows no spread.")
    needed, alike = evidence.items_needed, pair.statistics.detectable.pairs_needed
    words = say("No number of items like these: the difference lies at the margin itself.")
    if needed is not None:
        now = {"n": needed, "now": evidence.n}
        words = say("About {n:,} items like these, where now there are {now:,}.", **now)
    if alike is None or alike <= evidence.n or pair.statistics.clustered is not None:
        return words
    return f"{words} " + say(
        "If the two are truly alike, about {n:,} show it 4 times in 5.", n=alike
    )


def doubts_of(pair: RunPair) -> Iterator[str]:
    """Yield what to know before the outcome is relied on."""
    yield from map(told, doubts_in_words(pair.statistics))
    if not pair.first.balanced:
        yield from map(told, pair.first.in_words(pair.baseline, pair.candidate))
    if pair.attempts.baseline_only or pair.attempts.candidate_only:
        *_, left_out = attempts_in_words(pair.attempts, pair.baseline, pair.candidate)
        yield told(left_out)


def bounds_of(pair: RunPair) -> tuple[float, float] | None:
    """Return the bounds that decide, as differences of the score.

    With a relative margin they are of candidate - (1 - r) · baseline, which is the difference and
    the margin in points.
    """
    evidence = pair.statistics.non_inferiority
    if evidence.lower is None or evidence.upper is None:
        return None
    by = float(evidence.margin + pair.statistics.margin)
    return evidence.lower - by, evidence.upper - by


def _beside(bound: Fraction, margin: Fraction) -> str:
    """Return a bound with as many places as tell it from the margin."""
    told_apart = (p for p in _PLACES if signed(bound, p) != signed(margin, p))
    return signed(bound, next(told_apart, _PLACES[-1]))


def margin_of(pair: RunPair) -> str:
    """Return what may be lost, in points of the score."""
    return signed(-pair.statistics.margin)
