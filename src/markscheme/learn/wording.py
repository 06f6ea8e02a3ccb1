"""Words for days: how long an interval is, and when something comes."""

from __future__ import annotations

from markscheme.vocabulary import sentence


def count_days(days: int) -> str:
    """Return a number of days with its noun."""
    return sentence("1 day") if days == 1 else sentence("{n} days", n=days)


def describe_when(days: int) -> str:
    """Return when something comes that is so many days away."""
    if days <= 0:
        return sentence("today")
    return sentence("tomorrow") if days == 1 else sentence("in {n} days", n=days)
