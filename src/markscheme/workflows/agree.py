"""Measure how far the raters in files of ratings agree, with or without a rubric."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from markscheme.read.open_ratings import read_open_ratings
from markscheme.read.rating_rows import RatingSource
from markscheme.read.rating_scores import find_questions
from markscheme.vocabulary import Rubric, ScaleLevel, UsageError
from markscheme.weigh.rater_agreement import RaterAgreement, measure_rater_agreement
from markscheme.workflows.documents import load_rubric


def agree(
    ratings: RatingSource,
    rubric: Rubric | str | Path | None = None,
    *,
    level: str | Mapping[str, str] | None = None,
    judges: Collection[str] = (),
    seed: int = 0,
) -> RaterAgreement:
    """Measure the agreement of raters on each axis of a file, of several files, or of rows.

    With a rubric, its scales, choices and criteria say which axes and scores there are; without
    one, any are accepted.
    `level` (`nominal`, `ordinal` or `interval`), for all axes or by axis, says what scores mean.
    `judges` names raters that are models, besides those whose `source` is `judge`. `seed` is that
    of the intervals.

    >>> rows = [
    ...     {"item": item, "variant": "a", "rater": rater, "axis": "tone", "score": score}
    ...     for item, scores in {"q1": (4, 4), "q2": (2, 3)}.items()
    ...     for rater, score in zip(("ana", "ben"), scores)
    ... ]
    >>> agree(rows).axes["tone"].people.percent
    Fraction(1, 2)
    """
    if rubric is not None and not isinstance(rubric, Rubric):
        rubric = load_rubric(rubric)
    if rubric is not None and not find_questions(rubric):
        message = f"the rubric {rubric.name} has no scale, no choice and no criteria"
        raise UsageError(f"{message} that people rate")
    asked = {"": level} if isinstance(level, str) else level or {}
    levels = {axis: _parse_level(name) for axis, name in asked.items()}
    rated = read_open_ratings(ratings, rubric=rubric, levels=levels, judges=judges)
    return measure_rater_agreement(rated, seed)


def _parse_level(name: str) -> ScaleLevel:
    try:
        return ScaleLevel(name)
    except ValueError as error:
        raise UsageError(f"`{name}` is no level; levels: {', '.join(ScaleLevel)}") from error
