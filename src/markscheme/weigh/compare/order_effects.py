"""Who was asked first: what comes of the order must not be taken for what comes of the variant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from markscheme.vocabulary import sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

AskedPlaces: TypeAlias = Mapping[tuple[str, int], Any]
"""Where in one order each answer was asked, by item and attempt: a number or a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedFirstCounts:
    """How often each of two was asked first, and of how many pairs that is not recorded."""

    baseline: int
    candidate: int
    unknown: int

    @property
    def known(self) -> int:
        """Of how many pairs the order is recorded."""
        return self.baseline + self.candidate

    @property
    def balanced(self) -> bool | None:
        """Whether each was first as often as the other, as nearly as the number allows."""
        return abs(self.baseline - self.candidate) <= 1 if self.known else None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "baseline": self.baseline,
            "candidate": self.candidate,
            "unknown": self.unknown,
            "balanced": self.balanced,
        }

    def describe_order(self, baseline: str, candidate: str) -> Iterator[str]:
        """Yield who was asked first how often, and what is wrong with that."""
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
    """Where in the order of one sitting each answer was asked, and who else was asked in turns."""

    sitting: str
    other_sittings: tuple[str, ...]
    places: AskedPlaces


def count_first_in_pairs(
    baseline: AskedOrder | None, candidate: AskedOrder | None, pairs: Iterable[tuple[str, int]]
) -> AskedFirstCounts:
    """Count who was asked first in these pairs; known only of two that were asked in turns."""
    ours: AskedPlaces = {}
    theirs: AskedPlaces = {}
    if baseline and candidate and candidate.sitting in baseline.other_sittings:
        places = [*baseline.places.values(), *candidate.places.values()]
        if len(set(places)) == len(places):  # else the numbers are of different orders
            ours, theirs = baseline.places, candidate.places
    return count_first(is_earlier(ours.get(pair), theirs.get(pair)) for pair in pairs)


def count_first(firsts: Iterable[bool | None]) -> AskedFirstCounts:
    """Count whether the baseline was first; `None` where that is not known."""
    found = list(firsts)
    return AskedFirstCounts(
        baseline=found.count(True), candidate=found.count(False), unknown=found.count(None)
    )


def is_earlier(baseline: Any, candidate: Any) -> bool | None:
    """Return whether the baseline has the earlier place; not known of places that do not differ.

    A time with a zone and one without cannot be compared.
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
    """Return which of two variants was asked first on each item, by the first attempt of both.

    `places` are by item, variant and attempt, in one order.
    """
    found: dict[str, str] = {}
    for item, variant, attempt in sorted(places):
        if variant == variants[0] and item not in found:
            first = is_earlier(
                places[item, variant, attempt], places.get((item, variants[1], attempt))
            )
            if first is not None:
                found[item] = variants[0] if first else variants[1]
    return found
