"""Latencies: percentiles, and a histogram that holds them all."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from markscheme.weigh.live import LatencySummary
from markscheme.weigh.stats import compute_quantile


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=50))
def test_percentiles_are_those_of_the_gates_and_the_histogram_holds_all(values: list[int]) -> None:
    found = LatencySummary.from_measured([*values, None])
    assert found is not None
    counts: dict[Fraction, int] = {}
    for value in values:
        counts[Fraction(value, 1000)] = counts.get(Fraction(value, 1000), 0) + 1
    for percent, told in found.percentiles.items():
        assert told == compute_quantile(counts, Fraction(percent, 100))
    assert sum(held.n for held in found.histogram) == found.n == len(values)
    assert found.longest == Fraction(max(values), 1000)


def test_what_was_not_measured_has_no_latency() -> None:
    assert LatencySummary.from_measured([None, None]) is None
