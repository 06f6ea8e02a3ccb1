"""The outcome of two runs for people: why, what would settle it, and what speaks against it."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from markscheme.tell.language import translate, translate_stored
from markscheme.vocabulary import format_signed
from markscheme.weigh.compare import describe_attempts, describe_doubts
from markscheme.weigh.gates import Evidence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.weigh.compare import RunPair

_PLACES = (4, 6, 9)


def explain_outcome(pair: RunPair) -> str:
    """Say why the outcome is what it is: where the bounds lie beside the margin."""
    evidence, bounds = pair.statistics.non_inferiority, compute_bounds(pair)
    if bounds is None:
        return translate_stored(evidence.because)
    lower, upper = (_format_bound(Fraction(bound), -pair.statistics.margin) for bound in bounds)
    named = {"lower": lower, "upper": upper, "margin": format_margin(pair)}
    match evidence.outcome:
        case Evidence.PASS:
            return translate(
                "The true difference is above {lower} with 95 % confidence, and so within the "
                "margin of {margin}.",
                **named,
            )
        case Evidence.FAIL:
            return translate(
                "The true difference is below {upper} with 95 % confidence, and so beyond the "
                "margin of {margin}.",
                **named,
            )
        case Evidence.INCONCLUSIVE:
            return translate(
                "The true difference may be anything from {lower} to {upper}, and the margin of "
                "{margin} lies between.",
                **named,
            )


def explain_what_settles(pair: RunPair) -> str:
    """Say what would settle it, where it is open."""
    evidence = pair.statistics.non_inferiority
    if evidence.outcome is not Evidence.INCONCLUSIVE:
        return ""
    if evidence.mean is None:
        return translate("More items: one alone, or one cluster, shows no spread.")
    needed, alike = evidence.items_needed, pair.statistics.detectable.pairs_needed
    words = translate("No number of items like these: the difference lies at the margin itself.")
    if needed is not None:
        now = {"n": needed, "now": evidence.n}
        words = translate("About {n:,} items like these, where now there are {now:,}.", **now)
    if alike is None or alike <= evidence.n or pair.statistics.clustered is not None:
        return words
    return f"{words} " + translate(
        "If the two are truly alike, about {n:,} show it 4 times in 5.", n=alike
    )


def describe_pair_doubts(pair: RunPair) -> Iterator[str]:
    """Yield what to know before the outcome is relied on."""
    yield from map(translate_stored, describe_doubts(pair.statistics))
    if not pair.first.balanced:
        yield from map(translate_stored, pair.first.describe_order(pair.baseline, pair.candidate))
    if pair.attempts.baseline_only or pair.attempts.candidate_only:
        *_, left_out = describe_attempts(pair.attempts, pair.baseline, pair.candidate)
        yield translate_stored(left_out)


def compute_bounds(pair: RunPair) -> tuple[float, float] | None:
    """Return the bounds that decide, as differences of the score.

    With a relative margin they are of candidate - (1 - r) · baseline, which is the difference and
    the margin in points.
    """
    evidence = pair.statistics.non_inferiority
    if evidence.lower is None or evidence.upper is None:
        return None
    by = float(evidence.margin + pair.statistics.margin)
    return evidence.lower - by, evidence.upper - by


def _format_bound(bound: Fraction, margin: Fraction) -> str:
    """Return a bound with as many places as tell it from the margin."""
    told_apart = (p for p in _PLACES if format_signed(bound, p) != format_signed(margin, p))
    return format_signed(bound, next(told_apart, _PLACES[-1]))


def format_margin(pair: RunPair) -> str:
    """Return what may be lost, in points of the score."""
    return format_signed(-pair.statistics.margin)
