"""Patterns across items: what a breakdown shows once many are read together, named and tested.

Items are the unit: tags say nothing about luck if an item may as well have had another item's
answer, so every chance is exact, over all ways to hand the misses out. Each family of questions is
adjusted by Holm and told at one in a hundred.
"""

from markscheme.weigh.patterns.finding import find
from markscheme.weigh.patterns.observed import Observed
from markscheme.weigh.patterns.pattern import KINDS, Pattern, pattern_record

__all__ = ["KINDS", "Observed", "Pattern", "find", "pattern_record"]
