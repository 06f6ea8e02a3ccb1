"""Prove verdict rules for every pair of averages, by exhaustive enumeration.

Two sets of pairs (baseline, candidate) are tried:

1. every pair that one rater can give: they are few, and they are counted;
2. one point of each region into which the bounds of all rules cut the plane (corners, edges and
   areas). Several raters give averages between those of one rater, and all points of a region
   match the same rules, so this covers every average there can be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from markscheme.vocabulary import HitPolicy, VerdictRule, VerdictRules

AveragePair = tuple[Fraction, Fraction]
"""The averages of the baseline and of the candidate on one query."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictAmbiguity:
    """A pair for which rules match that give different verdicts."""

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
    """The result of the proof: counts over the pairs of one rater, and an example of each flaw.

    `dead` are the indexes of rules that never decide.
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
        flaws = self.gap or self.ambiguity or self.drop or self.dead or self.unreachable
        return not flaws


def prove_scale(rules: VerdictRules) -> ScaleProof:
    """Prove verdict rules: no gaps, no conflicts, monotone, no dead rule, no unused verdict."""
    averages = rules.scores.averages
    grid = [(b, c) for b in averages for c in averages]
    on_grid = {pair: rules.matching(*pair) for pair in grid}
    in_regions = {pair: rules.matching(*pair) for pair in _generate_region_points(rules)}
    everywhere = {**on_grid, **in_regions}
    gaps = [pair for pair, matching in everywhere.items() if not matching]
    conflicts = [pair for pair, matching in everywhere.items() if _is_conflict(rules, matching)]
    ambiguity = None
    if (pair := _find_plainest_pair(conflicts, averages)) is not None:
        verdicts = dict.fromkeys(rule.verdict for rule in everywhere[pair])
        ambiguity = VerdictAmbiguity(pair=pair, verdicts=tuple(verdicts))
    reached = {rules.verdict_of(matching) for matching in everywhere.values()}
    return ScaleProof(
        pairs=len(grid),
        uncovered=sum(not on_grid[pair] for pair in grid),
        ambiguous=sum(_is_conflict(rules, on_grid[pair]) for pair in grid),
        gap=_find_plainest_pair(gaps, averages),
        ambiguity=ambiguity,
        drop=_find_smallest_drop(rules, everywhere),
        dead=_find_dead_rules(rules, everywhere.values()),
        unreachable=tuple(verdict for verdict in rules.verdicts if verdict not in reached),
    )


def _is_conflict(rules: VerdictRules, matching: tuple[VerdictRule, ...]) -> bool:
    return bool(matching) and rules.verdict_of(matching) is None


def _find_plainest_pair(
    pairs: list[AveragePair], averages: tuple[Fraction, ...]
) -> AveragePair | None:
    """Return the pair that is easiest to read.

    Prefer pairs that one rater can give, then short fractions, then the middle of the scale.
    """
    middle = (averages[0] + averages[-1]) / 2

    def key(pair: AveragePair) -> tuple[bool, int, Fraction, AveragePair]:
        distance = abs(pair[0] - middle) + abs(pair[1] - middle)
        on_grid = pair[0] in averages and pair[1] in averages
        return not on_grid, pair[0].denominator * pair[1].denominator, distance, pair

    return min(pairs, key=key, default=None)


def _find_smallest_drop(
    rules: VerdictRules, matching_by_pair: dict[AveragePair, tuple[VerdictRule, ...]]
) -> VerdictDrop | None:
    """Return the smallest rise of a candidate that makes its verdict worse, if there is one."""
    rank = {verdict: place for place, verdict in enumerate(rules.verdicts)}
    rows: dict[Fraction, list[tuple[Fraction, str]]] = {}
    for (baseline, candidate), matching in matching_by_pair.items():
        verdict = rules.verdict_of(matching)
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
    rules: VerdictRules, matches: Iterable[tuple[VerdictRule, ...]]
) -> tuple[int, ...]:
    """Return the indexes of rules that never match, or only behind another that decides."""
    deciding = 1 if rules.policy is HitPolicy.FIRST else None
    alive = {id(rule) for matching in matches for rule in matching[:deciding]}
    return tuple(index for index, rule in enumerate(rules.rules) if id(rule) not in alive)


def _generate_region_points(rules: VerdictRules) -> Iterator[AveragePair]:
    """Yield a point of every region into which the bounds cut the plane of pairs."""
    ends = [rules.scores.averages[0], rules.scores.averages[-1]]
    baselines = {limit for rule in rules.rules for limit in rule.baseline.limits}
    candidates = {limit for rule in rules.rules for limit in rule.candidate.limits} | set(ends)
    differences = {limit for rule in rules.rules for limit in rule.difference.limits}
    # Where a line of constant difference meets a line of constant candidate average.
    crossings = {c - d for c in candidates for d in differences}
    for baseline in _generate_cuts(ends, baselines | crossings):
        for candidate in _generate_cuts(ends, candidates | {baseline + d for d in differences}):
            yield baseline, candidate


def _generate_cuts(ends: list[Fraction], cuts: Iterable[Fraction]) -> Iterator[Fraction]:
    """Yield the ends, the cuts between them, and the midpoint of each two neighbours."""
    inside = sorted({*ends, *(cut for cut in cuts if ends[0] < cut < ends[1])})
    yield from inside
    yield from ((low + high) / 2 for low, high in pairwise(inside))
