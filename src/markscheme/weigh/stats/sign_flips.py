"""The exact sign-flip test of paired differences, counted in whole numbers.

If two variants are the same, every difference is as likely with the other sign. The sums over all
2ⁿ choices of signs are counted as the coefficients of a product of polynomials, all of them in one
long integer, or half against half where sums are far apart. Floats would see ties where there are
none, and miss those that there are.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random

_MAX_SHIFTED_BYTES = 400_000_000  # bytes that are shifted: well below a second
_MAX_HALVED_DIFFERENCES = 30  # differences: 2^15 sums in each half
_MAX_DRAWS = 19_999
_MAX_DRAWN_TERMS = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SignFlip:
    """The chance of a sum as far out as the one seen: either way, as low, or as high.

    `exact` is false where there are too many different differences to count every choice of signs;
    the chances are then those of so many seeded draws.
    """

    n: int
    two_sided: Fraction
    lower: Fraction
    upper: Fraction
    exact: bool = True


def run_sign_flip_test(differences: Sequence[Fraction]) -> SignFlip:
    """Test whether the differences have no direction.

    >>> run_sign_flip_test([Fraction(d, 6) for d in (-2, -2, -4, -4, -3, 2, -2)]).two_sided
    Fraction(5, 64)
    """
    whole = _scale_to_integers(differences)
    sizes = Counter(abs(value) for value in whole if value)
    seen = sum(whole)
    if _estimate_shifted_bytes(sizes) <= _MAX_SHIFTED_BYTES:
        return _build_exact_result(len(whole), sizes, *_count_by_polynomial(sizes, seen))
    if sum(sizes.values()) <= _MAX_HALVED_DIFFERENCES:
        return _build_exact_result(len(whole), sizes, *_count_by_halves(sizes, seen))
    return _simulate_sign_flips(len(whole), sizes, seen)


def _build_exact_result(n: int, sizes: Mapping[int, int], below: int, above: int) -> SignFlip:
    """Return the chances from how many choices have a sum as low and as high as the one seen."""
    choices = 1 << sum(sizes.values())
    return SignFlip(
        n=n,
        two_sided=Fraction(min(2 * min(below, above), choices), choices),
        lower=Fraction(below, choices),
        upper=Fraction(above, choices),
    )


def _scale_to_integers(differences: Sequence[Fraction]) -> list[int]:
    """Return the differences as the smallest whole numbers that are to each other as they are."""
    unit = math.lcm(*(value.denominator for value in differences))
    whole = [int(value * unit) for value in differences]
    common = math.gcd(*whole) or 1
    return [value // common for value in whole]


def _estimate_shifted_bytes(sizes: Mapping[int, int]) -> int:
    n, total = sum(sizes.values()), sum(size * count for size, count in sizes.items())
    return n * (total + 1) * (n // 8 + 1)


def _count_by_polynomial(sizes: Mapping[int, int], seen: int) -> tuple[int, int]:
    """Count the choices of signs by their sum; a difference of nothing changes no chance."""
    moved, total = sum(sizes.values()), sum(size * count for size, count in sizes.items())
    width = 8 * (moved // 8 + 1)  # bits for one coefficient, which is at most 2^moved
    product = 1
    for size, count in sizes.items():
        for _ in range(count):
            product += product << size * width
    below = _sum_first_coefficients((total + seen) // 2 + 1, product, width)
    above = _sum_first_coefficients((total - seen) // 2 + 1, product, width)
    return below, above


def _count_by_halves(sizes: Mapping[int, int], seen: int) -> tuple[int, int]:
    """Count them where the sums are few and far apart: those of one half against the other."""
    values = [size for size, count in sizes.items() for _ in range(count)]
    middle = len(values) // 2
    ours, theirs = _list_signed_sums(values[:middle]), sorted(_list_signed_sums(values[middle:]))
    below = sum(bisect_right(theirs, seen - one) for one in ours)
    above = sum(len(theirs) - bisect_left(theirs, seen - one) for one in ours)
    return below, above


def _list_signed_sums(values: Sequence[int]) -> list[int]:
    sums = [0]
    for value in values:
        sums = [one + signed for one in sums for signed in (value, -value)]
    return sums


def _sum_first_coefficients(coefficients: int, product: int, width: int) -> int:
    kept = product & ((1 << coefficients * width) - 1)
    size = width // 8
    data = kept.to_bytes(coefficients * size, "little")
    return sum(int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size))


def _simulate_sign_flips(n: int, sizes: Mapping[int, int], seen: int) -> SignFlip:
    """Draw choices of signs; what was seen counts as one of them, so that no chance is 0."""
    random = Random("sign flips")  # noqa: S311 - a simulation
    draws = max(999, min(_MAX_DRAWS, _MAX_DRAWN_TERMS // len(sizes)))
    groups = sorted(sizes.items())
    outside = below = above = 1
    for _ in range(draws):
        drawn = sum(
            size * (2 * random.getrandbits(count).bit_count() - count) for size, count in groups
        )
        outside += abs(drawn) >= abs(seen)
        below += drawn <= seen
        above += drawn >= seen
    return SignFlip(
        n=n,
        two_sided=Fraction(outside, draws + 1),
        lower=Fraction(below, draws + 1),
        upper=Fraction(above, draws + 1),
        exact=False,
    )


def compute_smallest_p(n: int) -> tuple[Fraction, Fraction]:
    """Return the smallest p that n pairs can reach at all, two-sided and one-sided."""
    return min(Fraction(1), Fraction(2, 2**n)), Fraction(1, 2**n)


def count_pairs_for_alpha(alpha: Fraction, tests: int = 1) -> int:
    """Return from how many pairs on a two-sided p can be at most alpha, over so many tests."""
    n = 1
    while compute_smallest_p(n)[0] * tests > alpha:
        n += 1
    return n
