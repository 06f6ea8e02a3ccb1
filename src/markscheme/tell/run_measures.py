"""What compared runs took beside their scores: latency, tokens, cost, as far as they are known."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from markscheme.exact import show
from markscheme.tell.language import say

if TYPE_CHECKING:
    from markscheme.tell.comparison_tables import Rows
    from markscheme.weigh.measures import Measures, Total
    from markscheme.weigh.paired_runs import RunsComparison

    Figures = list[
        tuple[str, list[tuple[Fraction | None, int]], int]
    ]  # name, (value, of n), places

_MEDIAN, _SLOW = Fraction(50), Fraction(95)


def measured_rows(found: RunsComparison) -> Rows:
    """Return what was measured of each run as rows, the header first; nothing where nothing was."""
    known = [row for row in _figures(found.measures) if any(n for _, n in row[1])]
    if not known:
        return []
    two = len(found.runs) == 2  # noqa: PLR2004 - a ratio is of two
    header = (say("measured"), *found.runs, *((say("ratio"),) if two else ()))
    rows: Rows = [header]
    for name, values, places in known:
        cells = [
            _cell(value, n, one.answers, places)
            for (value, n), one in zip(values, found.measures, strict=True)
        ]
        ratio = (_ratio(*(value for value, _ in values)),) if two else ()
        rows.append((name, *cells, *ratio))
    return rows


def _figures(measures: tuple[Measures, ...]) -> Figures:
    def latency(percent: Fraction) -> list[tuple[Fraction | None, int]]:
        return [(one.latency_percentile(percent), one.latencies) for one in measures]

    return [
        (say("latency p50, ms"), latency(_MEDIAN), 1),
        (say("latency p95, ms"), latency(_SLOW), 1),
        (say("tokens in, an answer"), [_mean(one.tokens_in) for one in measures], 1),
        (say("tokens out, an answer"), [_mean(one.tokens_out) for one in measures], 1),
        (say("cost of an answer"), [_mean(one.cost) for one in measures], 9),
        (say("cost in all"), [(one.cost.sum, one.cost.n) for one in measures], 9),
    ]


def _mean(total: Total) -> tuple[Fraction | None, int]:
    return (total.sum / total.n if total.n else None), total.n


def _cell(value: Fraction | None, n: int, answers: int, places: int) -> str:
    """Return a figure; one that is not known of every answer says of how many it is."""
    if value is None or not n:
        return "–"
    shown = show(value, places)
    return shown if n == answers else say("{value} ({n} of {of})", value=shown, n=n, of=answers)


def _ratio(baseline: Fraction | None, candidate: Fraction | None) -> str:
    return f"× {show(candidate / baseline, 2)}" if baseline and candidate is not None else "–"
