"""Patterns across items: what a breakdown shows once many are read together, named and tested.

Items are the unit: tags say nothing about luck if an item may as well have had another item's
answer, so every chance is exact, over all ways to hand the misses out. Each family of questions is
adjusted by Holm and told at one in a hundred.
"""

from markscheme.weigh.patterns.chance import (
    compute_dice_tail,
    compute_hypergeometric_tail,
    compute_smallest_tail,
    count_testable_questions,
)
from markscheme.weigh.patterns.find import find_patterns
from markscheme.weigh.patterns.observed import FrameObserver, RowObservations, observe_rows
from markscheme.weigh.patterns.pattern import PATTERN_KINDS, Pattern, build_pattern_record
from markscheme.weigh.patterns.table import (
    build_failing_column,
    build_miss_columns,
    compute_item_axis_means,
)

__all__ = [
    "PATTERN_KINDS",
    "FrameObserver",
    "Pattern",
    "RowObservations",
    "build_failing_column",
    "build_miss_columns",
    "build_pattern_record",
    "compute_dice_tail",
    "compute_hypergeometric_tail",
    "compute_item_axis_means",
    "compute_smallest_tail",
    "count_testable_questions",
    "find_patterns",
    "observe_rows",
]
