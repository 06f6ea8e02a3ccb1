"""Verdict rules, proved for every pair of averages.

The pairs that one rater can give are gone through one by one, and counted. Several raters give
averages in between; so the plane of all pairs is cut along every bound of every rule, and one point
of each piece (corner, edge, field) is tried: the rules say the same on all of a piece.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from markscheme.vocabulary import HitPolicy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markscheme.vocabulary import VerdictRule, VerdictRules

AveragePair = tuple[Fraction, Fraction]
"""The averages of the baseline and of the candidate on one query."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictAmbiguity:
    """A pair for which rules hold that disagree."""

    pair: AveragePair
    verdicts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictDrop:
    """A candidate that scores higher against the same baseline, and gets a worse verdict."""

    baseline: Fraction
    lower: Fraction
    higher: Fraction
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleProof:
    """What was found: counts over the pairs of one rater, and a witness of each flaw anywhere.

    `dead` are the places of rules that never decide.
    """

    pairs: int
    uncovered: int
    ambiguous: int
    gap: AveragePair | None
    ambiguity: VerdictAmbiguity | None
    drop: VerdictDrop | None
    dead: tuple[int, ...]
    unreachable: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong with the rules."""
        found = self.gap or self.ambiguity or self.drop or self.dead or self.unreachable
        return not found


def prove_scale(rules: VerdictRules) -> ScaleProof:
    """Go through every pair of averages."""
    averages = rules.scores.averages
    grid = [(b, c) for b in averages for c in averages]
    seen = {pair: rules.matching(*pair) for pair in grid}
    everywhere = {**seen, **{pair: rules.matching(*pair) for pair in _generate_pieces(rules)}}
    gaps = [pair for pair, found in everywhere.items() if not found]
    torn = [pair for pair, found in everywhere.items() if _has_disagreement(rules, found)]
    given = {rules.verdict_of(found) for found in everywhere.values()}
    return ScaleProof(
        pairs=len(grid),
        uncovered=sum(not seen[pair] for pair in grid),
        ambiguous=sum(_has_disagreement(rules, seen[pair]) for pair in grid),
        gap=_find_plainest_pair(gaps, averages),
        ambiguity=_build_ambiguity(_find_plainest_pair(torn, averages), everywhere),
        drop=_find_smallest_drop(rules, everywhere),
        dead=_find_dead_rules(rules, everywhere.values()),
        unreachable=tuple(verdict for verdict in rules.verdicts if verdict not in given),
    )


def _has_disagreement(rules: VerdictRules, found: tuple[VerdictRule, ...]) -> bool:
    return bool(found) and rules.verdict_of(found) is None


def _find_plainest_pair(
    pairs: list[AveragePair], averages: tuple[Fraction, ...]
) -> AveragePair | None:
    """Return a pair that one rater can give, in short numbers, the nearest to the middle."""
    middle = (averages[0] + averages[-1]) / 2

    def key(pair: AveragePair) -> tuple[bool, int, Fraction, AveragePair]:
        away = abs(pair[0] - middle) + abs(pair[1] - middle)
        given = pair[0] in averages and pair[1] in averages
        return not given, pair[0].denominator * pair[1].denominator, away, pair

    return min(pairs, key=key, default=None)


def _build_ambiguity(
    pair: AveragePair | None, seen: dict[AveragePair, tuple[VerdictRule, ...]]
) -> VerdictAmbiguity | None:
    if pair is None:
        return None
    verdicts = dict.fromkeys(rule.verdict for rule in seen[pair])
    return VerdictAmbiguity(pair=pair, verdicts=tuple(verdicts))


def _find_smallest_drop(
    rules: VerdictRules, seen: dict[AveragePair, tuple[VerdictRule, ...]]
) -> VerdictDrop | None:
    """Return the smallest rise of a candidate that makes its verdict worse."""
    rank = {verdict: place for place, verdict in enumerate(rules.verdicts)}
    rows: dict[Fraction, list[tuple[Fraction, str]]] = {}
    for (baseline, candidate), found in seen.items():
        verdict = rules.verdict_of(found)
        if verdict is not None:
            rows.setdefault(baseline, []).append((candidate, verdict))
    drops = [
        VerdictDrop(baseline=baseline, lower=lower, higher=higher, before=before, after=after)
        for baseline, row in rows.items()
        for (lower, before), (higher, after) in pairwise(sorted(row))
        if rank[after] > rank[before]
    ]

    def key(drop: VerdictDrop) -> tuple[int, Fraction, Fraction]:
        numbers = drop.baseline, drop.lower, drop.higher
        return sum(n.denominator for n in numbers), drop.higher - drop.lower, drop.baseline

    return min(drops, key=key, default=None)


def _find_dead_rules(
    rules: VerdictRules, found: Iterable[tuple[VerdictRule, ...]]
) -> tuple[int, ...]:
    """Return the rules that never hold, or that another always goes before."""
    first = 1 if rules.policy is HitPolicy.FIRST else None
    alive = {id(rule) for matching in found for rule in matching[:first]}
    return tuple(place for place, rule in enumerate(rules.rules) if id(rule) not in alive)


def _generate_pieces(rules: VerdictRules) -> Iterator[AveragePair]:
    """Yield a point of every piece into which the bounds cut the plane of pairs."""
    ends = [rules.scores.averages[0], rules.scores.averages[-1]]
    own = {limit for rule in rules.rules for limit in rule.baseline.limits}
    candidate = {limit for rule in rules.rules for limit in rule.candidate.limits} | set(ends)
    apart = {limit for rule in rules.rules for limit in rule.difference.limits}
    crossings = {c - d for c in candidate for d in apart}
    for baseline in _generate_cuts(ends, own | crossings):
        for at in _generate_cuts(ends, candidate | {baseline + d for d in apart}):
            yield baseline, at


def _generate_cuts(ends: list[Fraction], cuts: Iterable[Fraction]) -> Iterator[Fraction]:
    """Yield the cuts within the ends, the ends, and a number between each two."""
    inside = sorted({*ends, *(cut for cut in cuts if ends[0] < cut < ends[1])})
    yield from inside
    yield from ((low + high) / 2 for low, high in pairwise(inside))
