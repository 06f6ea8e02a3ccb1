"""Finding patterns: every kind is asked, nothing is told twice, the worst comes first."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from markscheme.sentences import sentence
from markscheme.weigh.gates import stranger
from markscheme.weigh.patterns.answers import clusters, outliers
from markscheme.weigh.patterns.breakdowns import explained, gathered, missing_columns
from markscheme.weigh.patterns.observed import Observed
from markscheme.weigh.patterns.operations import operational
from markscheme.weigh.patterns.pattern import KINDS, Pattern
from markscheme.weigh.patterns.reading import Reading
from markscheme.weigh.patterns.runs import jump, trending
from markscheme.weigh.patterns.table import columns_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from fractions import Fraction

    from markscheme.vocabulary import Exam, Rubric
    from markscheme.weigh.outcomes import BaselineReport
    from markscheme.weigh.runs import Run
    from markscheme.weigh.trends import Drift

_COVERED = 9  # of ten


def find(
    rubric: Rubric,
    exam: Exam,
    run: Run,
    observed: Observed | None = None,
    *,
    history: tuple[Sequence[Drift], int] = ((), 0),
    comparison: BaselineReport | None = None,
) -> tuple[Pattern, ...]:
    """Return the patterns of a run, the most telling first.

    What the marks alone show is always found; clusters, outliers and latency need what was
    `observed` in the rows, a trend the drifts of a `history` and its number of runs, and a jump the
    `comparison` with the baseline.
    """
    if stranger(rubric, exam, run):
        return ()
    reading = Reading(rubric=rubric, exam=exam, run=run, observed=observed or Observed())
    found = [
        *_of_cells(reading),
        *operational(reading),
        *trending(reading, *history),
        *jump(comparison),
    ]
    return tuple(sorted(found, key=_telling))


def _of_cells(reading: Reading) -> Iterator[Pattern]:
    columns = columns_of(reading.run.marks)
    near = {item: dict(axes) for item, axes in reading.observed.near_misses.items()}
    wide = [*missing_columns(reading, columns), *gathered(reading, columns)]
    yield from _subsumed([*explained(wide, near), *clusters(reading)])
    yield from outliers(reading, columns)


def _subsumed(patterns: list[Pattern]) -> Iterator[Pattern]:
    """Yield patterns, without those that a larger one covers, which tells of them as evidence."""
    kept: list[Pattern] = []
    for pattern in sorted(patterns, key=lambda one: (-len(one.items), -len(one.tags))):
        wider = next((one for one in kept if _covers(one, pattern)), None)
        if wider is None:
            kept.append(pattern)
            continue
        told = (*wider.evidence, sentence("within it: {pattern}", pattern=pattern.sentence))
        kept[kept.index(wider)] = dataclasses.replace(wider, evidence=told)
    yield from kept


def _covers(wider: Pattern, pattern: Pattern) -> bool:
    """Whether a cluster of answers and a pattern of cells are about the same items."""
    if (wider.kind == "cluster") == (pattern.kind == "cluster"):
        return False
    shared = set(wider.items) & set(pattern.items)
    return 10 * len(shared) >= _COVERED * len(pattern.items)


def _telling(pattern: Pattern) -> tuple[bool, Fraction, Fraction | int, int, str]:
    """Return the order: doubt about the score first, then by the points it takes, then by luck."""
    p = 0 if pattern.p is None else pattern.p
    kind = KINDS.index(pattern.kind)
    return pattern.kind != "jump", -pattern.lost, p, kind, pattern.sentence
