"""Scores of ratings, looked up by what was rated."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markscheme.vocabulary import Rating

ScoresByRater = dict[tuple[str, str, str], dict[str, int]]
"""The scores of each (item, variant, axis) by rater."""


def index_scores(ratings: Iterable[Rating]) -> ScoresByRater:
    """Return the scores by item, variant and axis; notes have none."""
    scores: ScoresByRater = defaultdict(dict)
    for rating in ratings:
        if rating.score is not None:
            scores[rating.item, rating.variant, rating.axis][rating.rater] = rating.score
    return scores
