"""Patterns across items: what many breakdowns have in common, with the chance of it by luck.

`find_patterns` in `find` runs every detector on the table of misses (`table`) and on groups of
items by tag (`groups`, with the exact probabilities); `pattern` holds the value and its sentences.
Items are the unit: a chance is taken over all ways to hand the misses out to items. The chances of
each family of questions are adjusted by Holm and reported up to one in a hundred; groups that miss
an axis entirely, up to one in twenty.

Nothing here reads files or stores, and nothing draws.
"""

from markscheme.weigh.patterns.find import find_patterns
from markscheme.weigh.patterns.groups import (
    compute_dice_tail,
    compute_hypergeometric_tail,
    compute_smallest_tail,
    count_testable_questions,
)
from markscheme.weigh.patterns.pattern import PATTERN_KINDS, Pattern
from markscheme.weigh.patterns.table import (
    FrameObserver,
    RowObservations,
    build_failing_column,
    build_miss_columns,
    compute_item_axis_means,
    observe_rows,
)

__all__ = [
    "PATTERN_KINDS",
    "FrameObserver",
    "Pattern",
    "RowObservations",
    "build_failing_column",
    "build_miss_columns",
    "compute_dice_tail",
    "compute_hypergeometric_tail",
    "compute_item_axis_means",
    "compute_smallest_tail",
    "count_testable_questions",
    "find_patterns",
    "observe_rows",
]
