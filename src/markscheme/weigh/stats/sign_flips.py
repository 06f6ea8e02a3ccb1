"""The exact sign-flip test of paired differences, counted in whole numbers.

If two variants are the same, every difference is as likely with the other sign. So the p-value is
the share of all 2ⁿ choices of signs whose sum is at least as far out as the observed one.

The sums are counted in one of two ways: as the coefficients of a product of polynomials, all packed
into one long integer; or, if the sums are few and far apart, by combining the sums of two halves.
Everything is an integer: floats would see ties that are none, and miss real ones.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random

# Shifting so many bytes takes well below a second.
_MAX_SHIFTED_BYTES = 400_000_000
# So many differences make 2^15 sums in each half.
_MAX_HALVED_DIFFERENCES = 30
_MAX_DRAWS = 19_999
_MAX_DRAWN_TERMS = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SignFlip:
    """The p-values of a sign-flip test: two-sided, for a sum as low, and for a sum as high.

    `exact` is false if there are too many distinct differences to count every choice of signs. The
    p-values then come from random draws with a fixed seed.
    """

    n: int
    two_sided: Fraction
    lower: Fraction
    upper: Fraction
    exact: bool = True


def run_sign_flip_test(differences: Sequence[Fraction]) -> SignFlip:
    """Test the hypothesis that the differences have no direction.

    >>> run_sign_flip_test([Fraction(d, 6) for d in (-2, -2, -4, -4, -3, 2, -2)]).two_sided
    Fraction(5, 64)
    """
    whole = _scale_to_integers(differences)
    sizes = Counter(abs(value) for value in whole if value)
    observed = sum(whole)
    if _estimate_shifted_bytes(sizes) <= _MAX_SHIFTED_BYTES:
        return _build_exact_result(len(whole), sizes, *_count_by_polynomial(sizes, observed))
    if sum(sizes.values()) <= _MAX_HALVED_DIFFERENCES:
        return _build_exact_result(len(whole), sizes, *_count_by_halves(sizes, observed))
    return _simulate_sign_flips(len(whole), sizes, observed)


def _build_exact_result(n: int, sizes: Mapping[int, int], below: int, above: int) -> SignFlip:
    """Return the p-values, from the number of choices with a sum as low or as high as observed."""
    choices = 1 << sum(sizes.values())
    return SignFlip(
        n=n,
        two_sided=Fraction(min(2 * min(below, above), choices), choices),
        lower=Fraction(below, choices),
        upper=Fraction(above, choices),
    )


def _scale_to_integers(differences: Sequence[Fraction]) -> list[int]:
    """Return the differences as the smallest integers in the same proportion."""
    unit = math.lcm(*(value.denominator for value in differences))
    whole = [int(value * unit) for value in differences]
    common = math.gcd(*whole) or 1
    return [value // common for value in whole]


def _estimate_shifted_bytes(sizes: Mapping[int, int]) -> int:
    n, total = sum(sizes.values()), sum(size * count for size, count in sizes.items())
    return n * (total + 1) * (n // 8 + 1)


def _count_by_polynomial(sizes: Mapping[int, int], observed: int) -> tuple[int, int]:
    """Count the choices of signs with a sum as low and as high as observed, by polynomials."""
    moved, total = sum(sizes.values()), sum(size * count for size, count in sizes.items())
    # Bits for one coefficient, which is at most 2^moved.
    width = 8 * (moved // 8 + 1)
    product = 1
    for size, count in sizes.items():
        for _ in range(count):
            product += product << size * width
    below = _sum_first_coefficients((total + observed) // 2 + 1, product, width)
    above = _sum_first_coefficients((total - observed) // 2 + 1, product, width)
    return below, above


def _count_by_halves(sizes: Mapping[int, int], observed: int) -> tuple[int, int]:
    """Count the same choices by pairing each sum of one half with the sums of the other."""
    values = [size for size, count in sizes.items() for _ in range(count)]
    middle = len(values) // 2
    ours, theirs = _list_signed_sums(values[:middle]), sorted(_list_signed_sums(values[middle:]))
    below = sum(bisect_right(theirs, observed - own) for own in ours)
    above = sum(len(theirs) - bisect_left(theirs, observed - own) for own in ours)
    return below, above


def _list_signed_sums(values: Sequence[int]) -> list[int]:
    sums = [0]
    for value in values:
        sums = [total + signed for total in sums for signed in (value, -value)]
    return sums


def _sum_first_coefficients(coefficients: int, product: int, width: int) -> int:
    kept = product & ((1 << coefficients * width) - 1)
    size = width // 8
    data = kept.to_bytes(coefficients * size, "little")
    return sum(int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size))


def _simulate_sign_flips(n: int, sizes: Mapping[int, int], observed: int) -> SignFlip:
    """Draw choices of signs; the observed one counts as drawn, so that no p-value is 0."""
    random = Random("sign flips")  # noqa: S311 - a simulation
    draws = max(999, min(_MAX_DRAWS, _MAX_DRAWN_TERMS // len(sizes)))
    groups = sorted(sizes.items())
    outside = below = above = 1
    for _ in range(draws):
        drawn = sum(
            size * (2 * random.getrandbits(count).bit_count() - count) for size, count in groups
        )
        outside += abs(drawn) >= abs(observed)
        below += drawn <= observed
        above += drawn >= observed
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
    """Return the least number of pairs whose two-sided p can be at most alpha, over all tests."""
    n = 1
    while compute_smallest_p(n)[0] * tests > alpha:
        n += 1
    return n
