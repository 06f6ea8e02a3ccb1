"""Patterns across items: what a breakdown shows once many are read together, named and tested.

Items are the unit: tags say nothing about luck if an item may as well have had another item's
answer, so every chance is exact, over all ways to hand the misses out. Each family of questions is
adjusted by Holm and told at one in a hundred.
"""

from markscheme.weigh.patterns.find import find_patterns
from markscheme.weigh.patterns.observed import RowObservations
from markscheme.weigh.patterns.pattern import PATTERN_KINDS, Pattern, build_pattern_record

__all__ = ["PATTERN_KINDS", "RowObservations", "Pattern", "find_patterns", "build_pattern_record"]
