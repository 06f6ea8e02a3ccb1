"""Order effects: which side was asked first, so that its influence is not taken for quality."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from markscheme.vocabulary import sentence

AskedPlaces: TypeAlias = Mapping[tuple[str, int], Any]
"""When each answer was asked, by item and attempt: a position in one order, or a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedFirstCounts:
    """How often each side was asked first, and for how many pairs that is not recorded."""

    baseline: int
    candidate: int
    unknown: int

    @property
    def known(self) -> int:
        """The number of pairs whose order is recorded."""
        return self.baseline + self.candidate

    @property
    def balanced(self) -> bool | None:
        """Whether both were first equally often, up to one; `None` if no order is recorded."""
        return abs(self.baseline - self.candidate) <= 1 if self.known else None

    def describe_order(self, baseline: str, candidate: str) -> Iterator[str]:
        """Yield sentences on how often each side was asked first, with a warning if unbalanced."""
        if not self.known:
            yield sentence(
                "Which of the two was asked first is not recorded; the first should alternate."
            )
            return
        yield sentence(
            "Asked first: {baseline} in {before} of {known}, {candidate} in {after}.",
            baseline=baseline,
            before=self.baseline,
            known=self.known,
            candidate=candidate,
            after=self.candidate,
        )
        if self.unknown:
            yield sentence("Of {n} more the order is not recorded.", n=self.unknown)
        if not self.balanced:
            often = baseline if self.baseline > self.candidate else candidate
            yield sentence(
                "{often} was first more often, so a part of the difference may come of the order.",
                often=often,
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedOrder:
    """The positions at which one run asked its questions, and the runs it took turns with."""

    sitting: str
    other_sittings: tuple[str, ...]
    places: AskedPlaces


def count_first_in_pairs(
    baseline: AskedOrder | None, candidate: AskedOrder | None, pairs: Iterable[tuple[str, int]]
) -> AskedFirstCounts:
    """Count which side was asked first in each pair; known only for runs that took turns."""
    ours: AskedPlaces = {}
    theirs: AskedPlaces = {}
    if baseline and candidate and candidate.sitting in baseline.other_sittings:
        places = [*baseline.places.values(), *candidate.places.values()]
        # A position that occurs twice shows that the two runs did not share one order.
        if len(set(places)) == len(places):
            ours, theirs = baseline.places, candidate.places
    return count_first(is_earlier(ours.get(pair), theirs.get(pair)) for pair in pairs)


def count_first(firsts: Iterable[bool | None]) -> AskedFirstCounts:
    """Count whether the baseline was asked first; `None` stands for not known."""
    known = list(firsts)
    return AskedFirstCounts(
        baseline=known.count(True), candidate=known.count(False), unknown=known.count(None)
    )


def is_earlier(baseline: Any, candidate: Any) -> bool | None:
    """Return whether the baseline was asked earlier; `None` if that cannot be told.

    Equal places cannot be ordered, nor can a time with a zone and one without.
    """
    if baseline is None or candidate is None or baseline == candidate:
        return None
    try:
        return bool(baseline < candidate)
    except TypeError:
        return None


def find_first_asked(
    places: Mapping[tuple[str, str, int], Any], variants: tuple[str, str]
) -> dict[str, str]:
    """Return by item which of two variants was asked first, judged by the first attempt of both.

    `places` holds positions in one order, or times, by item, variant and attempt.
    """
    first_asked: dict[str, str] = {}
    for item, variant, attempt in sorted(places):
        if variant == variants[0] and item not in first_asked:
            first = is_earlier(
                places[item, variant, attempt], places.get((item, variants[1], attempt))
            )
            if first is not None:
                first_asked[item] = variants[0] if first else variants[1]
    return first_asked
