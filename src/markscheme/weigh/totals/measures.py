"""Latency, cost and tokens of the answers of a run: exact sums and percentiles.

An answer without a number is left out of sums and counted as unknown; it never counts as 0.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from msgspec import Struct, field


class MeasureTotal(Struct, frozen=True, kw_only=True):
    """An exact sum over the `n` answers that have the number."""

    n: int = 0
    sum: Fraction = Fraction(0)

    def __add__(self, other: MeasureTotal) -> MeasureTotal:
        return MeasureTotal(n=self.n + other.n, sum=self.sum + other.sum)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, with the sum as an exact ratio."""
        return {"n": self.n, "sum": str(self.sum)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> MeasureTotal:
        """Return the total that `to_dict` turned into data."""
        n, total = data["n"], Fraction(data["sum"])
        if type(n) is not int or n < 0 or total < 0 or (total and not n):
            raise ValueError(f"{data!r} is no total")
        return cls(n=n, sum=total)


class Measures(Struct, frozen=True, kw_only=True):
    """Measures of the answers of one run: how often each latency occurred, and totals of the rest.

    Each measure may be known for only some of the `answers`. A latency is kept as a double and
    stands for the decimal it was written as: 0.1 is a tenth.
    """

    answers: int = 0
    latency_ms: Mapping[float, int] = field(default_factory=dict)
    cost: MeasureTotal = field(default_factory=MeasureTotal)
    tokens_in: MeasureTotal = field(default_factory=MeasureTotal)
    tokens_out: MeasureTotal = field(default_factory=MeasureTotal)

    @property
    def latencies(self) -> int:
        """How many answers have a latency."""
        return sum(self.latency_ms.values())

    def latency_percentile(self, percent: Fraction) -> Fraction | None:
        """Return a percentile by linear interpolation between closest ranks; 50 is the median."""
        # Scoring does not need percentiles, so the statistics are loaded here.
        from markscheme.weigh.stats import compute_quantile

        return compute_quantile(self.latency_ms, percent / 100) if self.latency_ms else None

    def merged(self, other: Measures) -> Measures:
        """Return the measures of both together."""
        return Measures(
            answers=self.answers + other.answers,
            latency_ms=dict(Counter(self.latency_ms) + Counter(other.latency_ms)),
            cost=self.cost + other.cost,
            tokens_in=self.tokens_in + other.tokens_in,
            tokens_out=self.tokens_out + other.tokens_out,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold; equal measures give equal data."""
        return {
            "answers": self.answers,
            "latency_ms": {
                repr(value): self.latency_ms[value] for value in sorted(self.latency_ms)
            },
            **{name: getattr(self, name).to_dict() for name in _TOTAL_FIELDS},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Measures:
        """Return the measures that `to_dict` turned into data.

        Raises:
            ValueError: the data are not what `to_dict` gives.
        """
        try:
            latencies = dict(_parse_latency_count(*entry) for entry in data["latency_ms"].items())
            totals = {name: MeasureTotal.from_dict(data[name]) for name in _TOTAL_FIELDS}
            return cls(answers=int(data["answers"]), latency_ms=latencies, **totals)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise ValueError(f"no measures: {error}") from error


def _parse_latency_count(value: str, count: Any) -> tuple[float, int]:
    if not 0 <= float(value) < math.inf or type(count) is not int or count < 1:
        raise ValueError(f"{value!r}: {count!r} is no latency and its count")
    return float(value), count


_TOTAL_FIELDS = ("cost", "tokens_in", "tokens_out")
