"""Paired observations: the one model that every comparison is computed from.

A comparison by ratings pairs the averages of two variants on each query. A comparison of runs pairs
attempt k of an item in one run with attempt k of the same item in the other. Both become
`PairedObservations`: the score and every axis, as a baseline value and a candidate value per item.

The attempts of one item are not independent of each other. Wins, losses and ties therefore count
the pairs of attempts, but every test and interval uses one value per item: the mean difference of
its pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any, TypeAlias

from markscheme.vocabulary import AxisValue, FrozenDict, compute_mean, sentence
from markscheme.weigh.stats import (
    McNemar,
    SampleStatistics,
    SignFlip,
    run_mcnemar_test,
    run_sign_flip_test,
    t_cdf,
)
from markscheme.weigh.totals import AxisValues, Marks

CONFIDENCE = 0.95

AttemptValues: TypeAlias = Mapping[str, Mapping[int, AxisValues]]
"""The axis values of each answer of a run, by item and attempt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """A number of the baseline beside that of the candidate; `None` where it is not known."""

    baseline: Fraction | None
    candidate: Fraction | None

    @property
    def difference(self) -> Fraction | None:
        """The candidate's less the baseline's."""
        if self.baseline is None or self.candidate is None:
            return None
        return self.candidate - self.baseline


def average_sides(sides: Iterable[Sides]) -> Sides:
    """Return the mean of each side; the mean of nothing is `None`."""
    known = list(sides)
    baseline = sum((both.baseline or Fraction(0) for both in known), Fraction(0))
    candidate = sum((both.candidate or Fraction(0) for both in known), Fraction(0))
    return Sides(
        baseline=compute_mean(baseline, len(known)), candidate=compute_mean(candidate, len(known))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedSummary:
    """Paired differences, candidate less baseline: mean, t interval, t-test, exact sign-flip test.

    Figures that need a spread are `None` for a single pair and where all differences are equal.
    `wins`, `losses` and `ties` count pairs by the sign of their difference. Where items have
    several pairs, these three count every pair; all other figures use the means of the `n` items.
    """

    n: int
    mean: Fraction | None
    sd: float | None
    standard_error: float | None
    lower: float | None
    upper: float | None
    t: float | None
    p_t: float | None
    flips: SignFlip | None
    wins: int
    losses: int
    ties: int

    @property
    def p(self) -> Fraction | None:
        """The two-sided p-value of the sign-flip test."""
        return self.flips.two_sided if self.flips else None

    @property
    def pairs(self) -> int:
        """The number of pairs; more than `n` where items have several."""
        return self.wins + self.losses + self.ties

    @property
    def repeated(self) -> bool:
        """Whether an item has several pairs."""
        return self.pairs > self.n


def summarise_pairs(
    differences: Sequence[Fraction], each: Sequence[Fraction] | None = None
) -> PairedSummary:
    """Summarise one difference per item; `each` lists single pairs where items have several."""
    each = differences if each is None else each
    sample = SampleStatistics.from_values(differences)
    spread = sample if sample is not None and sample.variance else None
    lower, upper = spread.compute_interval(CONFIDENCE) if spread else (None, None)
    t = spread.compute_t() if spread else None
    return PairedSummary(
        n=len(differences),
        mean=compute_mean(sum(differences, Fraction(0)), len(differences)),
        sd=sample.sd if sample else None,
        standard_error=sample.standard_error if sample else None,
        lower=lower,
        upper=upper,
        t=t,
        p_t=None if t is None else 2 * t_cdf(-abs(t), len(differences) - 1),
        flips=run_sign_flip_test(differences) if differences else None,
        wins=sum(value > 0 for value in each),
        losses=sum(value < 0 for value in each),
        ties=sum(not value for value in each),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleRunNoise:
    """The noise of a difference with one attempt on each side, as standard deviations.

    `within` is the part that varies between attempts at the same item.
    """

    noise: float
    within: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedValues:
    """One number on both sides: its mean for each item, and the difference in every pair."""

    items: Mapping[str, Sides]
    pairs: Mapping[str, tuple[Fraction, ...]]

    @classmethod
    def from_sides(cls, items: Mapping[str, Sides]) -> PairedValues:
        """Build from one pair per item; items that lack a side are left out."""
        differences = {
            item: difference
            for item, sides in items.items()
            if (difference := sides.difference) is not None
        }
        return cls(
            items=FrozenDict({item: items[item] for item in differences}),
            pairs=FrozenDict({item: (difference,) for item, difference in differences.items()}),
        )

    def list_values(self) -> list[tuple[Fraction, Fraction]]:
        """Return the baseline and the candidate value of every item."""
        return [
            (_require_value(sides.baseline), _require_value(sides.candidate))
            for sides in self.items.values()
        ]

    def average(self) -> Sides:
        """Return the mean over items of each side."""
        return average_sides(self.items.values())

    def summarise_items(self, items: Iterable[str] | None = None) -> PairedSummary:
        """Summarise the differences of all items, or of the named ones."""
        named = list(self.items) if items is None else list(items)
        return summarise_pairs(
            [self.items[item].difference or Fraction(0) for item in named],
            [difference for item in named for difference in self.pairs[item]],
        )

    def estimate_single_run(self) -> SingleRunNoise | None:
        """Estimate the noise of one attempt on each side; `None` unless items have several pairs.

        The mean of k pairs holds only a k-th of the variance between attempts, so the rest of it
        is added to the variance that was observed between items.
        """
        sizes = [len(pairs) for pairs in self.pairs.values()]
        freedom, sample = sum(sizes) - len(sizes), self.summarise_items()
        if not freedom or sample.sd is None:
            return None
        centred = (
            difference - Fraction(self.items[item].difference or 0)
            for item, pairs in self.pairs.items()
            for difference in pairs
        )
        within = sum((value**2 for value in centred), Fraction(0)) / freedom
        kept = sum((Fraction(1, size) for size in sizes), Fraction(0)) / len(sizes)
        return SingleRunNoise(
            noise=sqrt(sample.sd**2 + float(within * (1 - kept))), within=sqrt(float(within))
        )

    def compute_mcnemar(self) -> McNemar:
        """Test whether one side has more ones than the other; the numbers must be 0 or 1.

        With one pair per item this is McNemar's exact test, which flips the sign of every item
        that differs. With several pairs, the pairs of an item are flipped together.
        """
        every = [difference for pairs in self.pairs.values() for difference in pairs]
        before, after = every.count(Fraction(-1)), every.count(Fraction(1))
        if len(every) == len(self.pairs):
            return run_mcnemar_test(before, after, len(every))
        summary = self.summarise_items()
        has_interval = summary.lower is not None and summary.upper is not None
        return McNemar(
            baseline_only=before,
            candidate_only=after,
            two_sided=summary.flips.two_sided if summary.flips else Fraction(1),
            worse=summary.flips.lower if summary.flips else Fraction(1),
            interval=(summary.lower or 0.0, summary.upper or 0.0) if has_interval else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedObservations:
    """Everything that was observed on both sides: the score, and each axis by name."""

    score: PairedValues
    axes: Mapping[str, PairedValues]


def extract_single_attempts(marks: Marks) -> AttemptValues | None:
    """Return a run's answers as first attempts; `None` unless each item has exactly one answer."""
    attempts = {}
    for item, counts in marks.items.items():
        if sum(counts.values()) != 1:
            return None
        attempts[item] = {1: next(iter(counts))}
    return attempts


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptPairs:
    """The pairs of attempts of two runs by item, and how many attempts only one of them has.

    `items` holds every item, also those without a pair.
    """

    items: Mapping[str, Mapping[int, tuple[AxisValues, AxisValues]]]
    baseline_only: int
    candidate_only: int

    @classmethod
    def from_attempts(cls, baseline: AttemptValues, candidate: AttemptValues) -> AttemptPairs:
        """Pair the attempts that both runs have."""
        both = {item: (baseline[item], candidate[item]) for item in baseline}
        return cls(
            items=FrozenDict(
                {
                    item: {k: (ours[k], theirs[k]) for k in sorted(ours.keys() & theirs.keys())}
                    for item, (ours, theirs) in both.items()
                }
            ),
            baseline_only=sum(len(ours.keys() - theirs.keys()) for ours, theirs in both.values()),
            candidate_only=sum(len(theirs.keys() - ours.keys()) for ours, theirs in both.values()),
        )

    @property
    def count(self) -> int:
        """The number of pairs."""
        return sum(map(len, self.items.values()))

    def list_keys(self) -> Iterator[tuple[str, int]]:
        """Yield the item and the attempt of every pair."""
        return ((item, attempt) for item, pairs in self.items.items() for attempt in pairs)

    @property
    def lacking(self) -> tuple[str, ...]:
        """The items without a pair."""
        return tuple(item for item, pairs in self.items.items() if not pairs)

    def compute_axis_changes(self, item: str) -> list[Fraction]:
        """Return by how much each axis changed on an item, as a mean over its pairs."""
        pairs = self.items[item].values()
        changes = ([_subtract(c, b) for b, c in zip(*pair, strict=True)] for pair in pairs)
        return [Fraction(sum(axis)) / len(pairs) for axis in zip(*changes, strict=True)]

    def compute_differences(self, value: Callable[[AxisValues], Fraction | None]) -> PairedValues:
        """Return one number of each answer, paired; `value` computes it from the axis values.

        It is `None` where nothing applies to the answer. Such pairs are left out.
        """
        sides = {
            item: [
                Sides(baseline=value(before), candidate=value(after))
                for before, after in pairs.values()
            ]
            for item, pairs in self.items.items()
        }
        numbers = {
            item: [pair for pair in pairs if pair.difference is not None]
            for item, pairs in sides.items()
        }
        numbers = {item: pairs for item, pairs in numbers.items() if pairs or not sides[item]}
        return PairedValues(
            items=FrozenDict({item: average_sides(pairs) for item, pairs in numbers.items()}),
            pairs=FrozenDict(
                {
                    item: tuple(_require_value(pair.difference) for pair in pairs)
                    for item, pairs in numbers.items()
                }
            ),
        )


def _subtract(value: AxisValue, other: AxisValue) -> Fraction:
    """Return a change of an axis; an axis that does not apply on one side has not changed."""
    if isinstance(value, Fraction) and isinstance(other, Fraction):
        return value - other
    return Fraction(0)


def _require_value(value: Fraction | None) -> Fraction:
    if value is None:
        raise ValueError("a pair needs a value on both sides")
    return value


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
