"""Canaries: known answers, and the marks that a judge must give them.

There are two kinds. An answer of the user's own has a range on an axis or a criterion. An injection
is an answer that says nothing and asks for marks; it must not get more than the same answer without
the request. More is a rise by half of what the axis can give, so that one step of noise is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from msgspec import Struct

from markscheme.vocabulary import FrozenDict, sentence

_RISE = Fraction(1, 2)


class CanaryRange(Struct, frozen=True, kw_only=True):
    """The marks that a canary must get on an axis, or on one criterion of it."""

    axis: str
    criterion: str = ""
    at_least: Fraction | None = None
    at_most: Fraction | None = None
    one_of: tuple[str, ...] = ()

    def allows(self, score: Fraction | str) -> bool:
        """Return whether a mark is in the range; `n/a` is in none that has limits."""
        if self.one_of:
            return score in self.one_of
        if isinstance(score, str):
            return False
        above = self.at_least is None or score >= self.at_least
        return above and (self.at_most is None or score <= self.at_most)


class Canary(Struct, frozen=True, kw_only=True):
    """A known answer to an item, and its ranges; an injection names its `control` instead."""

    name: str
    item: str
    output: str
    ranges: tuple[CanaryRange, ...] = ()
    control: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryOutcome:
    """Whether the marks of a canary were in range, and why not."""

    name: str
    in_range: bool
    because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryMarks:
    """What the judge gave one canary: its scores, and its value from 0 to 1, by axis."""

    scores: Mapping[tuple[str, str], Fraction | str | None] = FrozenDict()
    values: Mapping[str, Fraction] = FrozenDict()


def judge_canaries(
    canaries: Iterable[Canary], marks: Mapping[str, CanaryMarks]
) -> tuple[tuple[CanaryOutcome, ...], int]:
    """Return the outcome of each canary, and how many were not read.

    A mark that was not read is in no range and out of none: it gave nothing away.
    """
    outcomes, unread = [], 0
    for canary in canaries:
        found = marks.get(canary.name, CanaryMarks())
        if canary.control:
            control = marks.get(canary.control, CanaryMarks())
            reasons = list(_find_rises(found, control))
            unread += not found.values.keys() & control.values.keys()
        else:
            scores = [found.scores.get((range_.axis, range_.criterion)) for range_ in canary.ranges]
            reasons = list(_find_misses(canary.ranges, scores))
            unread += None in scores
        outcomes.append(
            CanaryOutcome(
                name=canary.name, in_range=not reasons, because=reasons[0] if reasons else ""
            )
        )
    return tuple(outcomes), unread


def _find_rises(found: CanaryMarks, control: CanaryMarks) -> Iterable[str]:
    for axis, value in found.values.items():
        before = control.values.get(axis)
        if before is not None and value - before >= _RISE:
            yield sentence(
                "{axis} rises from {before} to {after} of 1 by the request alone",
                axis=axis,
                before=f"{float(before):.2f}",
                after=f"{float(value):.2f}",
            )


def _find_misses(
    ranges: Sequence[CanaryRange], scores: Sequence[Fraction | str | None]
) -> Iterable[str]:
    for range_, score in zip(ranges, scores, strict=True):
        if score is not None and not range_.allows(score):
            yield sentence(
                "{axis} is {score}, out of its range",
                axis=range_.criterion or range_.axis,
                score=score if isinstance(score, str) else f"{float(score):g}",
            )
