"""Erase random marks of random exams: do the bounds contain the true scores, and do gates hold?

Each run marks a small exam in full, erases some of the marks, and compares: the score of the run,
of each subject, group, axis and item must be the true one or lie within its bounds, and no gate may
pass or fail that does otherwise with all marks. The exit code is 1 if anything is wrong.

    python scripts/try_erasures.py [--runs 10000] [--seed 1]
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from erasures import MOST_RUBRICS, erase, find_faults, make_case, make_rubric


def main() -> int:
    """Run the erasures; print what is wrong, and return 1 if anything is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    random = Random(options.seed)  # noqa: S311 - not a secret
    rubrics = [make_rubric(random) for _ in range(MOST_RUBRICS)]
    found: Counter[str] = Counter()
    for run in range(options.runs):
        case = make_case(random, random.choice(rubrics))
        for fault in find_faults(case, erase(random, case)):
            found[fault.split(":")[0]] += 1
            print(f"run {run}: {fault}")
    print(f"{options.runs} random erasures: {sum(found.values())} wrong values or verdicts")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
