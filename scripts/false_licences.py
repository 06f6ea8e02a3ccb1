"""Measure how often `calibrate` would pass a judge that is not good enough.

Each simulated judge has exactly the kappa that is needed, 0.6, so passing it is a mistake; worse
judges pass less often. Kinds of marks: yes and no in equal parts, mostly yes, scales from 1 to 5,
three options, and criteria in clusters (2 to 12 of one answer, on which the judge is careful or
careless as a whole). Prints, for each kind and number of answers, how often the bound that decides
reaches 0.6, and how often the usual bound (kappa minus 1.645 standard errors) does. The exit code
is 1 if the bound that decides passes more than one judge of twenty in any row; with few runs, more
than chance explains.

Then it prints both bounds of a judge whose kappa is 0.8 on yes and no in equal parts: the usual
ones are .66, .70 and .73.

    python scripts/false_licences.py [--runs 2000] [--draws 1000] [--seed 1]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from fractions import Fraction
from math import sqrt
from random import Random

from markscheme.weigh.stats import KappaBounds, ScoredAnswer, compute_kappa_bounds

NEEDED = Fraction(3, 5)
SIZES = (50, 100, 200)
ALLOWED = 0.05
_SCALE_SHARES = (10, 20, 30, 25, 15)
_HIGH_SHARES = (2, 5, 13, 40, 40)
_OPTION_SHARES = (50, 30, 20)

Draw = Callable[[Random, int], list[ScoredAnswer]]


def main() -> int:
    """Print both tables; return 1 if too many bad judges pass."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--draws", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    # Three standard errors of a share of 5 %: what few runs show by chance.
    slack = 3 * sqrt(ALLOWED * (1 - ALLOWED) / options.runs)
    worst = 0.0
    print(f"{options.runs} judges with kappa {float(NEEDED)} in each row; share that passes, in %")
    print(f"{'marks':<22} {'answers':>7} {'decides':>8} {'usual':>6}")
    for kind, (draw, span) in KINDS.items():
        for size in SIZES:
            random = Random(f"{options.seed} {kind} {size}")  # noqa: S311 - a simulation
            decides = usual = 0
            for run in range(options.runs):
                bounds = compute_kappa_bounds(
                    draw(random, size), span=span, seed=run, draws=options.draws
                )
                decides += bounds.lower is not None and bounds.lower >= NEEDED
                usual += bounds.usual_lower is not None and bounds.usual_lower >= NEEDED
            shares = decides / options.runs, usual / options.runs
            worst = max(worst, shares[0])
            print(f"{kind:<22} {size:>7} {shares[0]:>8.1%} {shares[1]:>6.1%}", flush=True)
    print()
    print("a judge with kappa 0.8 on yes and no in equal parts: its lower 95 % bound")
    print(f"{'answers':>7} {'decides':>8} {'usual':>6}")
    for size in SIZES:
        bounds = measure_good_judge(size)
        print(f"{size:>7} {float(bounds.lower or 0):>8.2f} {bounds.usual_lower or 0:>6.2f}")
    return int(worst > ALLOWED + slack)


def draw_yes_no(yes: Fraction) -> Draw:
    """Return a judge of yes and no with the kappa that is needed; both say yes equally often."""
    apart = float((1 - NEEDED) * 2 * yes * (1 - yes))
    both = float(yes) - apart / 2

    def draw(random: Random, size: int) -> list[ScoredAnswer]:
        pairs = random.choices(
            [(1, 1), (1, 0), (0, 1), (0, 0)],
            [both, apart / 2, apart / 2, 1 - both - apart],
            k=size,
        )
        return [ScoredAnswer(pairs=(pair,)) for pair in pairs]

    return draw


def draw_copy(shares: tuple[int, ...]) -> Draw:
    """Return a judge that says what people say with chance 0.6, else anything: kappa is 0.6."""

    def draw(random: Random, size: int) -> list[ScoredAnswer]:
        scores = range(1, len(shares) + 1)
        people = random.choices(scores, shares, k=size)
        guesses = random.choices(scores, shares, k=size)
        return [
            ScoredAnswer(pairs=((own, own if random.random() < NEEDED else guess),))
            for own, guess in zip(people, guesses, strict=True)
        ]

    return draw


def draw_clusters(random: Random, size: int) -> list[ScoredAnswer]:
    """Return criteria in clusters: right on half of the answers, with kappa 0.2 on the others."""
    careless = float(2 * NEEDED - 1)
    return [
        ScoredAnswer(
            pairs=tuple(
                (own, own if random.random() < trust else int(random.random() < NEEDED))
                for own in random.choices((1, 0), (60, 40), k=random.randint(2, 12))
            )
        )
        for trust in random.choices((1.0, careless), k=size)
    ]


KINDS: dict[str, tuple[Draw, int | None]] = {
    "yes and no, 50 : 50": (draw_yes_no(Fraction(1, 2)), None),
    "yes and no, 80 : 20": (draw_yes_no(Fraction(4, 5)), None),
    "yes and no, 90 : 10": (draw_yes_no(Fraction(9, 10)), None),
    "scale from 1 to 5": (draw_copy(_SCALE_SHARES), 4),
    "scale, mostly 4 and 5": (draw_copy(_HIGH_SHARES), 4),
    "three options": (draw_copy(_OPTION_SHARES), None),
    "criteria in clusters": (draw_clusters, None),
}


def measure_good_judge(size: int) -> KappaBounds:
    """Return the bounds of a judge that agrees with people on 90 % of yes and no, equally often."""
    wrong = size // 10
    pairs = [(0, 1)] * (wrong // 2) + [(1, 0)] * (wrong - wrong // 2)
    right = size - wrong
    pairs += [(0, 0)] * (right // 2) + [(1, 1)] * (right - right // 2)
    return compute_kappa_bounds([ScoredAnswer(pairs=(pair,)) for pair in pairs], span=None, seed=0)


if __name__ == "__main__":
    sys.exit(main())
