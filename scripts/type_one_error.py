"""Simulate the type I error of the non-inferiority test: how often does a bad candidate pass?

The candidate is worse by exactly the margin, so at most 5 % may pass. Averages are sixths, as six
scores from 1 to 5 give them, and the noise is that of two variants. Prints the share of passes by
Student's t and by the exact sign-flip test. The exit code is 1 if a share is above 0.05 by more
than two standard errors.

    python scripts/type_one_error.py [--runs 4000] [--seed 1]
"""

from __future__ import annotations

import argparse
import math
import sys
from decimal import Decimal
from fractions import Fraction
from random import Random

from markscheme.vocabulary import Allowance
from markscheme.weigh.compare import compute_non_inferiority_p
from markscheme.weigh.gates import Evidence, evaluate_non_inferiority

MARGIN = Fraction(1, 2)
NOISES = (0.3, 0.6, 1.0)
SIZES = (5, 10, 20, 50)
ALPHA = 0.05


def main() -> int:
    """Print the table; return 1 if a share of passes is too high."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    limit = ALPHA + 2 * math.sqrt(ALPHA * (1 - ALPHA) / options.runs)
    print(f"{options.runs} simulated comparisons each; allowed: {limit:.4f}")
    print(f"{'queries':>7} {'noise':>6} {'t':>8} {'exact':>8}")
    too_high = False
    for n in SIZES:
        for noise in NOISES:
            random = Random(f"{options.seed} {n} {noise}")  # noqa: S311
            by_t, exactly = simulate_passes(n, noise, options.runs, random)
            too_high |= by_t > limit or exactly > limit
            print(f"{n:>7} {noise:>6} {by_t:>8.4f} {exactly:>8.4f}")
    return int(too_high)


def simulate_passes(n: int, noise: float, runs: int, random: Random) -> tuple[float, float]:
    """Return the shares of comparisons that pass, by Student's t and by the exact test."""
    allowed = Allowance(amount=Decimal("0.5"), relative=False)
    by_t = exactly = 0
    for _ in range(runs):
        differences = [-MARGIN + Fraction(round(6 * random.gauss(0, noise)), 6) for _ in range(n)]
        pairs = [(Fraction(4), 4 + difference) for difference in differences]
        evidence = evaluate_non_inferiority(pairs, allowed, (Fraction(1), Fraction(5)))
        by_t += evidence.outcome is Evidence.PASS
        p = compute_non_inferiority_p(differences, MARGIN)
        exactly += p is not None and p <= ALPHA
    return by_t / runs, exactly / runs


if __name__ == "__main__":
    sys.exit(main())
