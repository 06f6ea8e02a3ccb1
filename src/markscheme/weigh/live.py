"""Figures of a live run beside its final scores: latency, errors, tries, cost, the score so far.

Latencies are measured in whole microseconds and told as exact percentiles, with a histogram whose
bins grow in steps of 1, 2, 5.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from markscheme.ask.replies import Reply
from markscheme.ask.runner import AskedQuestion
from markscheme.vocabulary import sum_amounts, to_float

if TYPE_CHECKING:
    from markscheme.weigh.totals import AxisValues, RunTally

PERCENTILES = (50, 90, 95, 99)
_BIN_LIMITS_US = tuple(step * 10**power for power in range(3, 9) for step in (1, 2, 5))
_US_PER_MS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningScore:
    """The mean score of the answers that are marked so far, and of each axis.

    `interval` is the 95 % interval of the mean; fewer than two answers have none.
    """

    mean: Fraction | None
    interval: tuple[float, float] | None
    axes: Mapping[str, Fraction | None]


def compute_running_score(tally: RunTally) -> RunningScore:
    """Return the score of a run that is still going on."""
    # Late: these load polars, and a run observer needs only the class above.
    from markscheme.weigh.stats import SampleStatistics
    from markscheme.weigh.totals import WeightScale

    counts: Counter[AxisValues] = Counter()
    for (_, _, number), n in tally.counts.count_by_key().items():
        counts[tally.counts.distinct_values[number]] += n
    scale = WeightScale(tally.rubric)
    scores = Counter[Fraction]()
    for values, n in counts.items():
        score = scale.score(values)
        if score is not None:
            scores[score] += n
    sample = SampleStatistics.from_counts(scores)
    totals = scale.sum_answers(counts.items())
    return RunningScore(
        mean=totals.overall.known_mean,
        interval=None if sample is None else sample.compute_interval(),
        axes={axis: total.known_mean for axis, total in totals.axes.items()},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyBin:
    """How many answers took at most `up_to` ms and more than the bin before; None is no limit."""

    up_to: int | None
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencySummary:
    """Percentiles, maximum and histogram of latencies, in exact milliseconds."""

    n: int
    percentiles: dict[int, Fraction]
    longest: Fraction
    histogram: tuple[LatencyBin, ...]

    @classmethod
    def from_measured(cls, measured: Iterable[int | None]) -> LatencySummary | None:
        """Summarise measured microseconds; None where nothing was measured."""
        known = sorted(value for value in measured if value is not None)
        if not known:
            return None
        return cls(
            n=len(known),
            percentiles={at: _compute_latency_percentile(known, at) for at in PERCENTILES},
            longest=Fraction(known[-1], _US_PER_MS),
            histogram=_build_latency_histogram(known),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data in milliseconds."""
        percentiles = {f"p{at}": to_float(value) for at, value in self.percentiles.items()}
        bins = [{"up_to": counted.up_to, "n": counted.n} for counted in self.histogram]
        return {"n": self.n, **percentiles, "max": to_float(self.longest), "histogram": bins}


def _compute_latency_percentile(ordered: Sequence[int], percent: int) -> Fraction:
    """Return a percentile by linear interpolation, as the gates do, in exact arithmetic."""
    rank, part = divmod((len(ordered) - 1) * percent, 100)
    low, high = ordered[rank], ordered[min(rank + 1, len(ordered) - 1)]
    return Fraction(low * (100 - part) + high * part, 100 * _US_PER_MS)


def _build_latency_histogram(known: Iterable[int]) -> tuple[LatencyBin, ...]:
    """Count latencies by bin, from the first bin that is not empty to the last."""
    counts = Counter(bisect_left(_BIN_LIMITS_US, value) for value in known)
    limits = [*(limit // _US_PER_MS for limit in _BIN_LIMITS_US), None]
    bins = range(min(counts), max(counts) + 1)
    return tuple(LatencyBin(up_to=limits[at], n=counts[at]) for at in bins)


N = TypeVar("N", int, Decimal)


@dataclass(frozen=True, kw_only=True)
class LiveRunSummary:
    """How the asking of a live run went.

    `beside` names the sittings of the subjects that were asked in turns with this one. `alias_of`
    is what was asked, where `subject` is a name that the user chose.
    """

    subject: str
    sitting: str | None
    seed: int
    asked: tuple[AskedQuestion, ...]
    questions: int
    stopped: str | None
    beside: tuple[str, ...] = ()
    alias_of: str | None = None

    @property
    def answered(self) -> int:
        """How many questions have an answer."""
        return sum(asked.reply.text is not None for asked in self.asked)

    @property
    def faults(self) -> Counter[str]:
        """How many questions ended with each kind of error."""
        return Counter(asked.reply.fault.value for asked in self.asked if asked.reply.fault)

    @cached_property
    def latency(self) -> LatencySummary | None:
        """How long answers took."""
        return LatencySummary.from_measured(asked.reply.latency_us for asked in self.asked)

    @cached_property
    def first_token(self) -> LatencySummary | None:
        """How long the first token took, where answers were streamed."""
        return LatencySummary.from_measured(asked.reply.first_token_us for asked in self.asked)

    @property
    def cost(self) -> Decimal | None:
        """What the answers cost; None unless the cost of every new answer is known.

        Answers from the cache cost nothing. Where all came from it, the cost is unknown.
        """
        return _sum_if_complete([reply.cost for reply in self._uncached_replies], sum_amounts)

    @property
    def tokens_in(self) -> int | None:
        """How many tokens were sent; None unless it is known of every new answer."""
        return _sum_if_complete([reply.tokens_in for reply in self._uncached_replies], sum)

    @property
    def tokens_out(self) -> int | None:
        """How many tokens the answers have; None unless it is known of every new answer."""
        return _sum_if_complete([reply.tokens_out for reply in self._uncached_replies], sum)

    @property
    def _uncached_replies(self) -> list[Reply]:
        """The answers that were not taken from the cache."""
        replies = (asked.reply for asked in self.asked)
        return [reply for reply in replies if reply.text is not None and not reply.cached]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return dict(self._plain_data)

    @cached_property
    def _plain_data(self) -> dict[str, Any]:
        replies = [asked.reply for asked in self.asked]
        reasons = Counter(reply.finish_reason for reply in replies if reply.finish_reason)
        latency, first = self.latency, self.first_token
        return {
            "subject": self.subject,
            "sitting": self.sitting,
            "beside": list(self.beside),
            "seed": self.seed,
            "questions": self.questions,
            "answered": self.answered,
            "cached": sum(reply.cached for reply in replies),
            "faults": dict(sorted(self.faults.items())),
            "not_asked": self.questions - len(replies),
            "tries": sum(asked.tries for asked in self.asked),
            "finish_reasons": dict(sorted(reasons.items())),
            "latency_ms": latency and latency.to_dict(),
            "first_token_ms": first and first.to_dict(),
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "cost": None if self.cost is None else format(self.cost, "f"),
            "stopped": self.stopped,
            "alias_of": self.alias_of,
        }


def _sum_if_complete(values: list[N | None], add: Callable[[list[N]], N]) -> N | None:
    """Return the sum of the values; None where there are none or one is unknown."""
    known = [value for value in values if value is not None]
    return add(known) if known and len(known) == len(values) else None
