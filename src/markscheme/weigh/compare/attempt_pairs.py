"""Attempts in pairs: attempt k of an item in one run beside attempt k of it in another.

The attempts of one item are not independent of each other. Wins, losses and ties count the pairs;
what is inferred goes by item, each with the mean difference of its pairs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING, TypeAlias

from markscheme.vocabulary import FrozenDict, compute_mean, sentence
from markscheme.weigh.compare.result import Sides
from markscheme.weigh.compare.statistics import summarise_pairs
from markscheme.weigh.stats import McNemar, run_mcnemar_test
from markscheme.weigh.totals import AxisValues

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from markscheme.weigh.compare.statistics import PairedSummary
    from markscheme.weigh.totals import Marks

AttemptValues: TypeAlias = Mapping[str, Mapping[int, AxisValues]]
"""The axis values of each answer, by item and attempt."""


def extract_single_attempts(marks: Marks) -> AttemptValues | None:
    """Return the answers of a run that has one to each item, as its first; else nothing."""
    found = {}
    for item, counts in marks.items.items():
        if sum(counts.values()) != 1:
            return None
        found[item] = {1: next(iter(counts))}
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptPairs:
    """The pairs of two runs by item, and how many attempts only one of them has.

    `items` holds every item, one without a pair too.
    """

    items: Mapping[str, Mapping[int, tuple[AxisValues, AxisValues]]]
    baseline_only: int
    candidate_only: int

    @classmethod
    def from_attempts(cls, baseline: AttemptValues, candidate: AttemptValues) -> AttemptPairs:
        """Pair the attempts that both have."""
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
        """How many pairs there are."""
        return sum(map(len, self.items.values()))

    def list_keys(self) -> Iterator[tuple[str, int]]:
        """Yield the item and the attempt of every pair."""
        return ((item, attempt) for item, pairs in self.items.items() for attempt in pairs)

    @property
    def lacking(self) -> tuple[str, ...]:
        """The items without a pair."""
        return tuple(item for item, pairs in self.items.items() if not pairs)

    def compute_axis_changes(self, item: str) -> list[Fraction]:
        """Return by how much each axis moved on an item, as a mean over its pairs."""
        pairs = self.items[item].values()
        moved = ([(c or 0) - (b or 0) for b, c in zip(*pair, strict=True)] for pair in pairs)
        return [Fraction(sum(by)) / len(pairs) for by in zip(*moved, strict=True)]

    def compute_differences(self, value: Callable[[AxisValues], Fraction]) -> PairedDifferences:
        """Return a number of each answer, side by side."""
        numbers = {
            item: [(value(before), value(after)) for before, after in pairs.values()]
            for item, pairs in self.items.items()
        }
        return PairedDifferences(
            items=FrozenDict({item: _average_pairs(pairs) for item, pairs in numbers.items()}),
            pairs=FrozenDict(
                {item: tuple(c - b for b, c in pairs) for item, pairs in numbers.items()}
            ),
        )


def _average_pairs(pairs: Sequence[tuple[Fraction, Fraction]]) -> Sides:
    return Sides(
        baseline=compute_mean(sum((b for b, _ in pairs), Fraction(0)), len(pairs)),
        candidate=compute_mean(sum((c for _, c in pairs), Fraction(0)), len(pairs)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleRunNoise:
    """The noise of a difference with one attempt each; `within` is what comes anew with every one.

    Both are standard deviations.
    """

    noise: float
    within: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifferences:
    """One number of two runs: its mean on each item, and the difference in every pair."""

    items: Mapping[str, Sides]
    pairs: Mapping[str, tuple[Fraction, ...]]

    def summarise_items(self, items: Iterable[str] | None = None) -> PairedSummary:
        """Return what the items show, all of them or those that are named."""
        named = list(self.items) if items is None else list(items)
        return summarise_pairs(
            [self.items[item].difference or Fraction(0) for item in named],
            [by for item in named for by in self.pairs[item]],
        )

    def estimate_single_run(self) -> SingleRunNoise | None:
        """Return the noise of one attempt each, where items with several pairs show it.

        The mean of k pairs has the part that comes anew with every attempt only to a k-th.
        """
        sizes = [len(pairs) for pairs in self.pairs.values()]
        left, sample = sum(sizes) - len(sizes), self.summarise_items()
        if not left or sample.sd is None:
            return None
        centred = (
            by - Fraction(self.items[item].difference or 0)
            for item, pairs in self.pairs.items()
            for by in pairs
        )
        within = sum((by**2 for by in centred), Fraction(0)) / left
        kept = sum((Fraction(1, size) for size in sizes), Fraction(0)) / len(sizes)
        return SingleRunNoise(
            noise=sqrt(sample.sd**2 + float(within * (1 - kept))), within=sqrt(float(within))
        )

    def compute_mcnemar(self) -> McNemar:
        """Test whether one of the runs has more ones than the other; the numbers are 0 or 1.

        Where every item has one pair, this is McNemar's exact test. It flips the sign of each item
        that differs; with several pairs on an item they are flipped together.
        """
        every = [by for pairs in self.pairs.values() for by in pairs]
        before, after = every.count(Fraction(-1)), every.count(Fraction(1))
        if len(every) == len(self.pairs):
            return run_mcnemar_test(before, after, len(every))
        found = self.summarise_items()
        known = found.lower is not None and found.upper is not None
        return McNemar(
            baseline_only=before,
            candidate_only=after,
            two_sided=found.flips.two_sided if found.flips else Fraction(1),
            worse=found.flips.lower if found.flips else Fraction(1),
            interval=(found.lower or 0.0, found.upper or 0.0) if known else None,
        )


def describe_attempts(attempts: AttemptPairs, baseline: str, candidate: str) -> Iterator[str]:
    """Yield what is to be said where items have several attempts, or one run has more of them."""
    if attempts.count > len(attempts.items):
        yield sentence(
            "{pairs} pairs of attempts on {items} items are won, lost or tied; the attempts of one "
            "item are not independent, so the interval and the tests go by item, with the mean of "
            "its pairs.",
            pairs=attempts.count,
            items=len(attempts.items),
        )
    if attempts.baseline_only or attempts.candidate_only:
        yield sentence(
            "Attempts that only one of the runs has are not compared: {before} of {baseline}, "
            "{after} of {candidate}.",
            before=attempts.baseline_only,
            baseline=baseline,
            after=attempts.candidate_only,
            candidate=candidate,
        )
