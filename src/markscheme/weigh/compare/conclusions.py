"""What the number of pairs allows to conclude, in plain words."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from markscheme.vocabulary import format_decimal, sentence
from markscheme.weigh.compare.statistics import ALPHA
from markscheme.weigh.gates import Evidence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.weigh.compare.statistics import Statistics

_SMALL_POINTS = 0.01  # below that, two places would say nothing


def describe_conclusions(statistics: Statistics, candidate: str, baseline: str) -> Iterator[str]:
    """Yield what the number of pairs allows, and what the evidence says."""
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
    """Yield of what is said what speaks against relying on the outcome."""
    yield from _describe_directional(statistics)
    yield from _describe_unconfirmed(statistics)


def _describe_unconfirmed(statistics: Statistics) -> Iterator[str]:
    """Say that the exact test does not confirm what the t interval shows, where that is so."""
    exact = statistics.non_inferiority_p
    passed = statistics.non_inferiority.outcome is Evidence.PASS
    if passed and exact is not None and exact > ALPHA:
        yield sentence(
            "The exact test, which assumes less than the t interval, does not confirm it (p {p}).",
            p=format_decimal(exact, 6),
        )


def _describe_directional(statistics: Statistics) -> Iterator[str]:
    """Say that no test of so few can reach significance, whatever the scores."""
    if not statistics.descriptive_only:
        return
    two, one = statistics.smallest_p
    pairs, holm = statistics.pairs_for_p
    named = {
        "n": statistics.paired.n,
        "two": format_decimal(two, 6),
        "one": format_decimal(one, 6),
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
