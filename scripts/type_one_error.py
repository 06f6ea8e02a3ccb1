"""How often is a candidate passed that is worse by exactly the margin? At most 5 % is promised.

Simulates the gate of non-inferiority at its boundary: the true difference is the margin, averages
are sixths as six scores from 1 to 5 give them, and the noise is that of two variants. Prints the
share of passes by Student's t and by the exact sign-flip test, and leaves with 1 where one of them
is above 0.05 by more than two standard errors.

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
    """Print the table; return 1 where the promise is broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    limit = ALPHA + 2 * math.sqrt(ALPHA * (1 - ALPHA) / asked.runs)
    print(f"{asked.runs} simulated comparisons each; allowed: {limit:.4f}")
    print(f"{'queries':>7} {'noise':>6} {'t':>8} {'exact':>8}")
    broken = False
    for n in SIZES:
        for noise in NOISES:
            by_t, exactly = passed(n, noise, asked.runs, Random(f"{asked.seed} {n} {noise}"))  # noqa: S311
            broken |= by_t > limit or exactly > limit
            print(f"{n:>7} {noise:>6} {by_t:>8.4f} {exactly:>8.4f}")
    return int(broken)


def passed(n: int, noise: float, runs: int, random: Random) -> tuple[float, float]:
    """Return the shares of comparisons that pass, by t and exactly."""
    allowed = Allowance(amount=Decimal("0.5"), relative=False)
    by_t = exactly = 0
    for _ in range(runs):
        differences = [-MARGIN + Fraction(round(6 * random.gauss(0, noise)), 6) for _ in range(n)]
        pairs = [(Fraction(4), 4 + difference) for difference in differences]
        found = evaluate_non_inferiority(pairs, allowed, (Fraction(1), Fraction(5)))
        by_t += found.outcome is Evidence.PASS
        p = compute_non_inferiority_p(differences, MARGIN)
        exactly += p is not None and p <= ALPHA
    return by_t / runs, exactly / runs


if __name__ == "__main__":
    sys.exit(main())
