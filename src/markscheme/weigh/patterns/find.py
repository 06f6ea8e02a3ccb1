"""Finding patterns: every kind is asked, nothing is told twice, the worst comes first."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from markscheme.vocabulary import sentence
from markscheme.weigh.gates import mismatch_reason
from markscheme.weigh.patterns.answers import find_answer_clusters, find_outliers
from markscheme.weigh.patterns.breakdowns import (
    add_missing_steps,
    find_group_patterns,
    find_missing_columns,
)
from markscheme.weigh.patterns.observed import RowObservations
from markscheme.weigh.patterns.operations import find_operational_patterns
from markscheme.weigh.patterns.pattern import PATTERN_KINDS, Pattern
from markscheme.weigh.patterns.runs import find_jump, find_trends
from markscheme.weigh.patterns.table import PatternContext, build_miss_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from fractions import Fraction

    from markscheme.vocabulary import Exam, Rubric
    from markscheme.weigh.distribution import Drift
    from markscheme.weigh.gates import BaselineReport
    from markscheme.weigh.totals import Run

_COVERED_TENTHS = 9  # of ten


def find_patterns(
    rubric: Rubric,
    exam: Exam,
    run: Run,
    observed: RowObservations | None = None,
    *,
    history: tuple[Sequence[Drift], int] = ((), 0),
    comparison: BaselineReport | None = None,
) -> tuple[Pattern, ...]:
    """Return the patterns of a run, the most telling first.

    What the marks alone show is always found; clusters, outliers and latency need what was
    `observed` in the rows, a trend the drifts of a `history` and its number of runs, and a jump the
    `comparison` with the baseline.
    """
    if mismatch_reason(rubric, exam, run):
        return ()
    reading = PatternContext(
        rubric=rubric, exam=exam, run=run, observed=observed or RowObservations()
    )
    found = [
        *_find_cell_patterns(reading),
        *find_operational_patterns(reading),
        *find_trends(reading, *history),
        *find_jump(comparison),
    ]
    return tuple(sorted(found, key=_get_pattern_sort_key))


def _find_cell_patterns(reading: PatternContext) -> Iterator[Pattern]:
    columns = build_miss_columns(reading.run.marks)
    near = {item: dict(axes) for item, axes in reading.observed.near_misses.items()}
    wide = [*find_missing_columns(reading, columns), *find_group_patterns(reading, columns)]
    yield from _merge_covered_patterns(
        [*add_missing_steps(wide, near), *find_answer_clusters(reading)]
    )
    yield from find_outliers(reading, columns)


def _merge_covered_patterns(patterns: list[Pattern]) -> Iterator[Pattern]:
    """Yield patterns, without those that a larger one covers, which tells of them as evidence."""
    kept: list[Pattern] = []
    for pattern in sorted(patterns, key=lambda one: (-len(one.items), -len(one.tags))):
        wider = next((one for one in kept if _is_covering(one, pattern)), None)
        if wider is None:
            kept.append(pattern)
            continue
        told = (*wider.evidence, sentence("within it: {pattern}", pattern=pattern.sentence))
        kept[kept.index(wider)] = dataclasses.replace(wider, evidence=told)
    yield from kept


def _is_covering(wider: Pattern, pattern: Pattern) -> bool:
    """Whether a cluster of answers and a pattern of cells are about the same items."""
    if (wider.kind == "cluster") == (pattern.kind == "cluster"):
        return False
    shared = set(wider.items) & set(pattern.items)
    return 10 * len(shared) >= _COVERED_TENTHS * len(pattern.items)


def _get_pattern_sort_key(pattern: Pattern) -> tuple[bool, Fraction, Fraction | int, int, str]:
    """Return the order: doubt about the score first, then by the points it takes, then by luck."""
    p = 0 if pattern.p is None else pattern.p
    kind = PATTERN_KINDS.index(pattern.kind)
    return pattern.kind != "jump", -pattern.lost, p, kind, pattern.sentence
