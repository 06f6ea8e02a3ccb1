"""The exact value of criteria, and its bounds as long as some of them are not known.

The value is Σ points · score ÷ Σ points above 0, over the criteria that apply. If none of these has
points above 0, it is 1 + Σ points · score ÷ Σ |points|. A group of criteria is one criterion whose
score is the value of the group.

What is known of a criterion is a range of scores, and whether it may turn out not to apply. Exact
scores are ranges of one number, so the same arithmetic gives values and bounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct

from markscheme.vocabulary import (
    UNKNOWN_SCORE,
    Criteria,
    CriterionGroup,
    ScoreBounds,
    iterate_criteria,
)

_ZERO, _HALF = Fraction(0), Fraction(1, 2)


class ScoreRange(Struct, frozen=True, kw_only=True):
    """What is known of a score: its bounds, `None` if it does not apply, and whether it may not."""

    bounds: ScoreBounds | None
    may_not_apply: bool = False

    @classmethod
    def exactly(cls, score: Fraction) -> ScoreRange:
        """Return the range of a score that is known."""
        return cls(bounds=ScoreBounds(low=score, high=score))


UNKNOWN_RANGE = ScoreRange(bounds=UNKNOWN_SCORE, may_not_apply=True)
"""What is known of a criterion that nobody marked."""
NO_RANGE = ScoreRange(bounds=None, may_not_apply=True)
"""What is known of a criterion that does not apply."""

_Entry = tuple[Fraction, ScoreRange]


def compute_criteria_value(
    criteria: Criteria, ranges: Mapping[str, ScoreRange], *, keeps_negatives: bool
) -> ScoreRange:
    """Return the value of an axis of criteria, from what is known of each of them by its id.

    A criterion that must be met and has at most half of its score makes the value 0.
    """
    musts = {criterion.id for criterion in iterate_criteria(criteria) if criterion.must}
    known = {name: ranges[name].bounds for name in musts}
    if any(bounds is not None and bounds.high <= _HALF for bounds in known.values()):
        return ScoreRange.exactly(_ZERO)
    # Unless a criterion that must be met is not, it has more than half of its score.
    raised = {name: _raise_to_half(ranges[name]) for name in musts}
    value = _compute_value(criteria, {**ranges, **raised}, keeps_negatives=keeps_negatives)
    if value.bounds is None or all(b is None or b.low > _HALF for b in known.values()):
        return value
    low, high = min(value.bounds.low, _ZERO), max(value.bounds.high, _ZERO)
    return ScoreRange(bounds=ScoreBounds(low=low, high=high), may_not_apply=value.may_not_apply)


def list_unmet_musts(criteria: Criteria, ranges: Mapping[str, ScoreRange]) -> list[str]:
    """Return the criteria that must be met and certainly are not."""
    musts = (criterion.id for criterion in iterate_criteria(criteria) if criterion.must)
    bounds = ((name, ranges[name].bounds) for name in musts)
    return [name for name, known in bounds if known is not None and known.high <= _HALF]


def sum_points(
    criteria: Criteria, ranges: Mapping[str, ScoreRange], *, keeps_negatives: bool
) -> tuple[Fraction, Fraction, bool]:
    """Return the points that are certain so far, those that count as all, and if all are penalties.

    Only the criteria and groups of the top level count; penalties that are not known are left out.
    """
    entries = list(_measure_entries(criteria, ranges, keeps_negatives=keeps_negatives))
    applying = [(points, known.bounds) for points, known in entries if known.bounds is not None]
    earned = sum((points * bounds.low for points, bounds in applying), _ZERO)
    positive = sum((points for points, _ in applying if points > 0), _ZERO)
    if positive:
        return earned, positive, False
    return -earned, -sum((points for points, _ in applying), _ZERO), True


def _compute_value(
    criteria: Criteria, ranges: Mapping[str, ScoreRange], *, keeps_negatives: bool
) -> ScoreRange:
    """Return the value of a list of criteria, cut at 0 unless negative values are kept."""
    entries = list(_measure_entries(criteria, ranges, keeps_negatives=keeps_negatives))
    gains = [(points, known) for points, known in entries if points > 0]
    losses = [(-points, known) for points, known in entries if points < 0]
    found = [*_bound_gains(gains, losses)]
    if all(known.may_not_apply for _, known in gains):
        found += _bound_losses(losses)
    if not found:
        return NO_RANGE
    low, high = min(bounds.low for bounds in found), max(bounds.high for bounds in found)
    if not keeps_negatives:
        low, high = max(low, _ZERO), max(high, _ZERO)
    return ScoreRange(
        bounds=ScoreBounds(low=low, high=high),
        may_not_apply=all(known.may_not_apply for _, known in entries),
    )


def _measure_entries(
    criteria: Criteria, ranges: Mapping[str, ScoreRange], *, keeps_negatives: bool
) -> Iterator[_Entry]:
    """Yield the points of each criterion and group, and what is known of its score."""
    for entry in criteria:
        if isinstance(entry, CriterionGroup):
            # A share of a loss is never below 0: it would be a gain.
            keeps = keeps_negatives and entry.points > 0
            yield entry.points, _compute_value(entry.criteria, ranges, keeps_negatives=keeps)
        else:
            yield entry.points, ranges[entry.id]


def _raise_to_half(known: ScoreRange) -> ScoreRange:
    if known.bounds is None:
        return known
    raised = ScoreBounds(low=max(known.bounds.low, _HALF), high=known.bounds.high)
    return ScoreRange(bounds=raised, may_not_apply=known.may_not_apply)


def _bound_gains(gains: Sequence[_Entry], losses: Sequence[_Entry]) -> Iterator[ScoreBounds]:
    """Yield the bounds of the value if at least one criterion with points above 0 applies."""
    if any(known.bounds is not None for _, known in gains):
        # A penalty that does not apply costs as little as one that is not met.
        worst = sum((points * b.high for points, b in _list_bounds(losses)), _ZERO)
        surely = [entry for entry in losses if not entry[1].may_not_apply]
        least = sum((points * b.low for points, b in _list_bounds(surely)), _ZERO)
        yield ScoreBounds(
            low=_find_lowest_share(gains, worst), high=_find_highest_share(gains, least)
        )


def _bound_losses(losses: Sequence[_Entry]) -> Iterator[ScoreBounds]:
    """Yield the bounds of the value if only penalties apply."""
    if any(known.bounds is not None for _, known in losses):
        highest, lowest = _find_highest_share(losses, _ZERO), _find_lowest_share(losses, _ZERO)
        yield ScoreBounds(low=1 - highest, high=1 - lowest)


def _find_lowest_share(entries: Sequence[_Entry], lost: Fraction) -> Fraction:
    """Return the lowest (Σ points · score - lost) ÷ Σ points, over all that may apply or not."""
    return min(_list_shares(entries, lost, highest=False))


def _find_highest_share(entries: Sequence[_Entry], lost: Fraction) -> Fraction:
    """Return the highest (Σ points · score - lost) ÷ Σ points, over all that may apply or not."""
    return max(_list_shares(entries, lost, highest=True))


def _list_shares(entries: Sequence[_Entry], lost: Fraction, *, highest: bool) -> Iterator[Fraction]:
    """Yield shares among which the extreme one is.

    What may not apply moves a share towards its own score if it does apply. So the extreme share
    has all of these with a score beyond a certain one, or, if nothing applies for certain, perhaps
    just one of them.
    """

    def score(entry: _Entry) -> Fraction:
        bounds = entry[1].bounds or UNKNOWN_SCORE
        return bounds.high if highest else bounds.low

    known = [entry for entry in entries if entry[1].bounds is not None]
    certain = [entry for entry in known if not entry[1].may_not_apply]
    total = sum((points for points, _ in certain), _ZERO)
    earned = sum((entry[0] * score(entry) for entry in certain), _ZERO) - lost
    if certain:
        yield earned / total
    for entry in sorted((e for e in known if e[1].may_not_apply), key=score, reverse=highest):
        if not certain:
            yield score(entry) - lost / entry[0]
        total, earned = total + entry[0], earned + entry[0] * score(entry)
        yield earned / total


def _list_bounds(entries: Iterable[_Entry]) -> Iterator[tuple[Fraction, ScoreBounds]]:
    return ((points, known.bounds) for points, known in entries if known.bounds is not None)
