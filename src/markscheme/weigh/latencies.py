"""Latencies of a live run: exact percentiles, and a histogram in steps of 1, 2, 5."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from markscheme.exact import to_float

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
