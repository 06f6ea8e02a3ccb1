"""What compared runs took beside their scores: latency, tokens, cost, as far as they are known."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from markscheme.tell.language import translate
from markscheme.vocabulary import format_decimal

if TYPE_CHECKING:
    from markscheme.tell.compare.tables import TableRows
    from markscheme.weigh.compare import RunsComparison
    from markscheme.weigh.totals import Measures, MeasureTotal

    MeasureFigures = list[
        tuple[str, list[tuple[Fraction | None, int]], int]
    ]  # name, (value, of n), places

_MEDIAN, _P95 = Fraction(50), Fraction(95)


def build_measured_rows(found: RunsComparison) -> TableRows:
    """Return what was measured of each run as rows, the header first; nothing where nothing was."""
    known = [row for row in _build_measure_figures(found.measures) if any(n for _, n in row[1])]
    if not known:
        return []
    two = len(found.runs) == 2  # noqa: PLR2004 - a ratio is of two
    header = (translate("measured"), *found.runs, *((translate("ratio"),) if two else ()))
    rows: TableRows = [header]
    for name, values, places in known:
        cells = [
            _format_measure_cell(value, n, one.answers, places)
            for (value, n), one in zip(values, found.measures, strict=True)
        ]
        ratio = (_format_ratio(*(value for value, _ in values)),) if two else ()
        rows.append((name, *cells, *ratio))
    return rows


def _build_measure_figures(measures: tuple[Measures, ...]) -> MeasureFigures:
    def latency(percent: Fraction) -> list[tuple[Fraction | None, int]]:
        return [(one.latency_percentile(percent), one.latencies) for one in measures]

    return [
        (translate("latency p50, ms"), latency(_MEDIAN), 1),
        (translate("latency p95, ms"), latency(_P95), 1),
        (
            translate("tokens in, an answer"),
            [_compute_total_mean(one.tokens_in) for one in measures],
            1,
        ),
        (
            translate("tokens out, an answer"),
            [_compute_total_mean(one.tokens_out) for one in measures],
            1,
        ),
        (translate("cost of an answer"), [_compute_total_mean(one.cost) for one in measures], 9),
        (translate("cost in all"), [(one.cost.sum, one.cost.n) for one in measures], 9),
    ]


def _compute_total_mean(total: MeasureTotal) -> tuple[Fraction | None, int]:
    return (total.sum / total.n if total.n else None), total.n


def _format_measure_cell(value: Fraction | None, n: int, answers: int, places: int) -> str:
    """Return a figure; one that is not known of every answer says of how many it is."""
    if value is None or not n:
        return "–"
    shown = format_decimal(value, places)
    return (
        shown if n == answers else translate("{value} ({n} of {of})", value=shown, n=n, of=answers)
    )


def _format_ratio(baseline: Fraction | None, candidate: Fraction | None) -> str:
    return (
        f"× {format_decimal(candidate / baseline, 2)}"
        if baseline and candidate is not None
        else "–"
    )
