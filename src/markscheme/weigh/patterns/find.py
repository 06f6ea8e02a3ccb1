"""Find the patterns of a run: run every detector, merge patterns of the same items, sort them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from fractions import Fraction

from markscheme.vocabulary import Exam, Rubric, sentence
from markscheme.weigh.distribution import Drift
from markscheme.weigh.gates import BaselineReport, mismatch_reason
from markscheme.weigh.patterns.detectors import (
    add_missing_steps,
    find_answer_clusters,
    find_group_patterns,
    find_jump,
    find_missing_columns,
    find_operational_patterns,
    find_outliers,
    find_trends,
)
from markscheme.weigh.patterns.pattern import PATTERN_KINDS, Pattern
from markscheme.weigh.patterns.table import PatternContext, RowObservations, build_miss_columns
from markscheme.weigh.totals import Run

# A pattern is covered if so many tenths of its items are in the larger one.
_COVERED_TENTHS = 9


def find_patterns(
    rubric: Rubric,
    exam: Exam,
    run: Run,
    observed: RowObservations | None = None,
    *,
    history: tuple[Sequence[Drift], int] = ((), 0),
    comparison: BaselineReport | None = None,
) -> tuple[Pattern, ...]:
    """Return the patterns of a run, the most important first.

    Patterns of the marks are always looked for. Clusters, outliers and latency need what was
    `observed` in the rows; a trend needs the drifts of a `history` and its number of runs; a jump
    needs the `comparison` with the baseline.
    """
    if mismatch_reason(rubric, exam, run):
        return ()
    context = PatternContext(
        rubric=rubric, exam=exam, run=run, observed=observed or RowObservations()
    )
    patterns = [
        *_find_cell_patterns(context),
        *find_operational_patterns(context),
        *find_trends(context, *history),
        *find_jump(comparison),
    ]
    return tuple(sorted(patterns, key=_get_pattern_sort_key))


def _find_cell_patterns(context: PatternContext) -> Iterator[Pattern]:
    columns = build_miss_columns(context.run.marks)
    near = {item: dict(axes) for item, axes in context.observed.near_misses.items()}
    wide = [*find_missing_columns(context, columns), *find_group_patterns(context, columns)]
    yield from _merge_covered_patterns(
        [*add_missing_steps(wide, near), *find_answer_clusters(context)]
    )
    yield from find_outliers(context, columns)


def _merge_covered_patterns(patterns: list[Pattern]) -> Iterator[Pattern]:
    """Yield patterns; one that a larger pattern covers becomes evidence of the larger one."""
    kept: list[Pattern] = []
    for pattern in sorted(patterns, key=lambda pattern: (-len(pattern.items), -len(pattern.tags))):
        wider = next((larger for larger in kept if _is_covering(larger, pattern)), None)
        if wider is None:
            kept.append(pattern)
            continue
        evidence = (*wider.evidence, sentence("within it: {pattern}", pattern=pattern.sentence))
        kept[kept.index(wider)] = dataclasses.replace(wider, evidence=evidence)
    yield from kept


def _is_covering(wider: Pattern, pattern: Pattern) -> bool:
    """Return whether one is a cluster of answers, the other is not, and they share their items."""
    if (wider.kind == "cluster") == (pattern.kind == "cluster"):
        return False
    shared = set(wider.items) & set(pattern.items)
    return 10 * len(shared) >= _COVERED_TENTHS * len(pattern.items)


def _get_pattern_sort_key(pattern: Pattern) -> tuple[bool, Fraction, Fraction | int, int, str]:
    """Sort jumps first (they cast doubt on the score), then by points lost, then by chance."""
    p = 0 if pattern.p is None else pattern.p
    kind = PATTERN_KINDS.index(pattern.kind)
    return pattern.kind != "jump", -pattern.lost, p, kind, pattern.sentence
