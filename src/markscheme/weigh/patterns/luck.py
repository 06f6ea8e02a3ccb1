"""Luck: exact chances in whole numbers, and which questions could be answered at all."""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def drawn(hits: int, of: int, marked: int, among: int) -> Fraction:
    """Return the chance that a draw of `of` holds at least `hits` of those that are marked.

    Hypergeometric: `marked` of `among` things are marked, and every draw is as likely.
    """
    most = min(of, marked)
    if hits > most:
        return Fraction(0)
    term = comb(marked, most) * comb(among - marked, of - most)
    total = 0
    for count in range(most, hits - 1, -1):
        total += term
        left = among - marked - of + count
        term = term * count * left // ((marked - count + 1) * (of - count + 1))
    return Fraction(total, comb(among, of))


def tossed(hits: int, of: int, sides: int = 2) -> Fraction:
    """Return the chance that at least `hits` of so many fair dice show one given side."""
    ways = sum(comb(of, count) * (sides - 1) ** (of - count) for count in range(hits, of + 1))
    return Fraction(ways, sides**of)


def answerable(least: Sequence[Fraction], level: Fraction) -> int:
    """Return how many questions count when adjusting: those that luck would let us answer.

    `least` holds the smallest chance that each question could ever give; it follows from the sizes
    of the groups alone. One that stays above the adjusted level whatever is seen cannot raise a
    false alarm, so it is no part of the family (Tarone 1990).
    """
    ordered = sorted(least)
    for count in range(1, len(ordered) + 1):
        if bisect_right(ordered, level / count) <= count:
            return count
    return max(1, len(ordered))
