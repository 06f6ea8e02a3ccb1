"""Measure how often `show --patterns` sees a pattern where there is only luck.

Every run of the simulation misses axes of the built-in capstone exam by chance alone: each item
misses each axis with the same probability. Latencies and wrong answers are random too. Prints, for
each rate of misses, the share of runs with a false alarm of any kind, and of a group (a row, or an
axis within a group). The exit code is 1 if more than one run of twenty has a false alarm.

    python scripts/false_alarms.py [--runs 400] [--seed 1]
"""

from __future__ import annotations

import argparse
import sys
from fractions import Fraction
from random import Random

from markscheme import load_exam, load_rubric
from markscheme.weigh.patterns import RowObservations, find_patterns
from markscheme.weigh.totals import Marks, Measures, Run

RUBRIC = load_rubric("tutor-capstone")
EXAM = load_exam("capstone", "capstone-extra", rubric=RUBRIC)
AXES = tuple(spec.name for spec in RUBRIC)
RATES = (0.02, 0.05, 0.1, 0.2, 0.5, 0.8)
ALLOWED = Fraction(1, 20)
ANSWERS = 12
LATENCIES_MS = (50, 500)


def main() -> int:
    """Print the table; return 1 if too many runs have a false alarm."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(f"{options.runs} random runs for each rate; allowed: 1 in {1 / ALLOWED}")
    print(f"{'rate':>5} {'any':>5} {'group':>6}")
    total = 0
    for rate in RATES:
        random = Random(f"{options.seed} {rate}")  # noqa: S311 - a seeded simulation
        kinds = [find_false_alarms(rate, random) for _ in range(options.runs)]
        alarms = sum(bool(found) for found in kinds)
        groups = sum(bool(found & {"row", "within"}) for found in kinds)
        total += alarms
        print(f"{rate:>5} {alarms:>5} {groups:>6}")
    runs = options.runs * len(RATES)
    print(f"{total} of {runs} random runs have a false alarm")
    return int(total > ALLOWED * runs)


def find_false_alarms(rate: float, random: Random) -> set[str]:
    """Return the kinds of the patterns that are found in one random run."""
    hits = {item.id: [random.random() < rate for _ in AXES] for item in EXAM.items}
    marks = Marks(
        axes=AXES,
        items={item: {tuple(Fraction(not hit) for hit in row): 1} for item, row in hits.items()},
    )
    run = Run(
        name="random",
        rubric=RUBRIC.fingerprint,
        exam=EXAM.fingerprint,
        marks=marks,
        measures=Measures(),
    )
    observed = RowObservations(
        latency_ms={item: Fraction(random.randrange(*LATENCIES_MS)) for item in hits},
        wrong={
            item: f"answer {random.randrange(ANSWERS)}"
            for item, row in hits.items()
            if row[AXES.index("correctness")]
        },
    )
    return {pattern.kind for pattern in find_patterns(RUBRIC, EXAM, run, observed)}


if __name__ == "__main__":
    sys.exit(main())
