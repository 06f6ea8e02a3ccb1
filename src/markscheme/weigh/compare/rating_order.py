"""The order in which raters saw the answers, as far as it was recorded with their ratings."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from markscheme.vocabulary import Rating, sentence
from markscheme.weigh.compare.pairs import AskedFirstCounts, count_first, is_earlier


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedFirst:
    """How often one rater saw each variant first; `follow_up` tells the two rounds apart.

    Every round is rated, and balanced, by itself.
    """

    rater: str
    follow_up: bool
    counts: AskedFirstCounts


def count_rated_first(
    ratings: Sequence[Rating], variants: tuple[str, str], follow_ups: Collection[str]
) -> tuple[RatedFirst, ...]:
    """Count by rater and round which variant was seen first; raters in alphabetical order."""
    places: dict[tuple[str, str], dict[str, int | None]] = {}
    for rating in ratings:
        if rating.score is not None:
            seen = places.setdefault((rating.rater, rating.item), {})
            seen.setdefault(rating.variant, rating.order)
    firsts: dict[tuple[str, bool], list[bool | None]] = {}
    for (rater, item), seen in places.items():
        earlier = is_earlier(*(seen.get(variant) for variant in variants))
        firsts.setdefault((rater, item in follow_ups), []).append(earlier)
    return tuple(
        RatedFirst(rater=rater, follow_up=later, counts=count_first(firsts[rater, later]))
        for rater, later in sorted(firsts)
    )


def describe_rating_order(
    rated_first: Sequence[RatedFirst], baseline: str, candidate: str
) -> Iterator[str]:
    """Yield sentences on who saw which variant first, with a warning if that is unbalanced."""
    known = [rated for rated in rated_first if rated.counts.known]
    if not known:
        yield sentence(
            "In which order the answers were rated is not recorded; `markscheme rate` balances and "
            "records it."
        )
        return
    sums: Mapping[str, list[int]] = {rated.rater: [0, 0] for rated in known}
    for rated in known:
        sums[rated.rater][0] += rated.counts.baseline
        sums[rated.rater][1] += rated.counts.candidate
    yield sentence(
        "Rated first, {baseline} and {candidate}: {counts}.",
        baseline=baseline,
        candidate=candidate,
        counts=", ".join(f"{rater} {before}, {after}" for rater, (before, after) in sums.items()),
    )
    unknown = sum(rated.counts.unknown for rated in rated_first)
    if unknown:
        yield sentence("For {n} more the order of rating is not recorded.", n=unknown)
    unbalanced = dict.fromkeys(rated.rater for rated in known if not rated.counts.balanced)
    if unbalanced:
        yield sentence(
            "Not balanced for {raters}: a part of the difference may come of the order of rating.",
            raters=", ".join(unbalanced),
        )
