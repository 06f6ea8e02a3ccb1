"""Latencies of a live run: exact percentiles, and a histogram in steps of 1, 2, 5.

What is known of a live run beside its scores: errors, latency, tries, cost.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from markscheme.ask.runner import AskedQuestion
from markscheme.vocabulary import sum_amounts, to_float

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from markscheme.ask.replies import Reply

PERCENTILES = (50, 90, 95, 99)
_BIN_LIMITS_US = tuple(
    step * 10**power for power in range(3, 9) for step in (1, 2, 5)
)  # microseconds
_US_PER_MS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyBin:
    """How many answers took more than the bin before and at most `up_to` ms; the last has none."""

    up_to: int | None
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencySummary:
    """What was measured in whole microseconds, told in exact milliseconds."""

    n: int
    percentiles: dict[int, Fraction]
    longest: Fraction
    histogram: tuple[LatencyBin, ...]

    @classmethod
    def from_measured(cls, measured: Iterable[int | None]) -> LatencySummary | None:
        """Return the latencies that were measured; of none there is nothing to tell."""
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
        bins = [{"up_to": found.up_to, "n": found.n} for found in self.histogram]
        return {"n": self.n, **percentiles, "max": to_float(self.longest), "histogram": bins}


def _compute_latency_percentile(ordered: Sequence[int], percent: int) -> Fraction:
    """Return a percentile by linear interpolation, as the gates take it; in whole numbers."""
    rank, part = divmod((len(ordered) - 1) * percent, 100)
    low, high = ordered[rank], ordered[min(rank + 1, len(ordered) - 1)]
    return Fraction(low * (100 - part) + high * part, 100 * _US_PER_MS)


def _build_latency_histogram(known: Iterable[int]) -> tuple[LatencyBin, ...]:
    """Count into the bins from the first to the last that holds something."""
    held = Counter(bisect_left(_BIN_LIMITS_US, value) for value in known)
    bins = range(min(held), max(held) + 1)
    return tuple(
        LatencyBin(
            up_to=_BIN_LIMITS_US[at] // _US_PER_MS if at < len(_BIN_LIMITS_US) else None, n=held[at]
        )
        for at in bins
    )


N = TypeVar("N", int, Decimal)


@dataclass(frozen=True, kw_only=True)
class LiveRunSummary:
    """What is known of a live run beside its scores.

    `beside` names the sittings of the subjects that were asked in turns with this one.
    """

    subject: str
    sitting: str | None
    seed: int
    asked: tuple[AskedQuestion, ...]
    questions: int
    stopped: str | None
    beside: tuple[str, ...] = ()

    @property
    def answered(self) -> int:
        """How many questions have an answer."""
        return sum(one.reply.text is not None for one in self.asked)

    @property
    def faults(self) -> Counter[str]:
        """How many questions ended with each kind of error."""
        return Counter(one.reply.fault.value for one in self.asked if one.reply.fault)

    @cached_property
    def latency(self) -> LatencySummary | None:
        """How long answers took."""
        return LatencySummary.from_measured(one.reply.latency_us for one in self.asked)

    @cached_property
    def first_token(self) -> LatencySummary | None:
        """How long the first token took, where answers were streamed."""
        return LatencySummary.from_measured(one.reply.first_token_us for one in self.asked)

    @property
    def cost(self) -> Decimal | None:
        """What the answers cost, where that is known of every one; the cache costs nothing.

        Where all came from the cache nothing tells a price, so that is not known either.
        """
        return _sum_if_complete([reply.cost for reply in self._uncached_replies], sum_amounts)

    @property
    def tokens_in(self) -> int | None:
        """How many tokens were sent for answers, where that is known of every one."""
        return _sum_if_complete([reply.tokens_in for reply in self._uncached_replies], sum)

    @property
    def tokens_out(self) -> int | None:
        """How many tokens the answers have, where that is known of every one."""
        return _sum_if_complete([reply.tokens_out for reply in self._uncached_replies], sum)

    @property
    def _uncached_replies(self) -> list[Reply]:
        """The answers that were not taken from the cache."""
        replies = (one.reply for one in self.asked)
        return [reply for reply in replies if reply.text is not None and not reply.cached]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return dict(self._plain_data)

    @cached_property
    def _plain_data(self) -> dict[str, Any]:
        replies = [one.reply for one in self.asked]
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
            "tries": sum(one.tries for one in self.asked),
            "finish_reasons": dict(sorted(reasons.items())),
            "latency_ms": latency and latency.to_dict(),
            "first_token_ms": first and first.to_dict(),
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "cost": None if self.cost is None else format(self.cost, "f"),
            "stopped": self.stopped,
        }


def _sum_if_complete(values: list[N | None], add: Callable[[list[N]], N]) -> N | None:
    """Return the sum, where there is something and every value is known."""
    known = [value for value in values if value is not None]
    return add(known) if known and len(known) == len(values) else None
