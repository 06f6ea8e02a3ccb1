"""What a page of a comparison by ratings shows of each answer: its text, ratings and notes.

The page is written after the decision, so it may name the variants that raters did not know.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from markscheme.tell.compare.tables import TableRows, format_measured_sides, format_times
from markscheme.tell.language import translate
from markscheme.vocabulary import Rating, format_decimal, format_short
from markscheme.weigh.compare import Comparison, MetricSummary, Query

# Characters of all answers on one page; each answer gets its share, but at least the minimum.
_MAX_PAGE_CHARACTERS = 2_000_000
_MIN_ANSWER_CHARACTERS = 2_000
_PRICED_METRICS = ("cost", "latency_ms")


def build_answer_views(comparison: Comparison, query: Query, limit: int) -> list[dict[str, Any]]:
    """Return both answers to a query, baseline first; empty if nothing is known of either."""
    views = [
        _build_answer_view(comparison, query, variant, limit)
        for variant in (comparison.baseline, comparison.candidate)
    ]
    return views if any(view["texts"] or len(view["ratings"]) > 1 for view in views) else []


def compute_answer_limit(comparison: Comparison, pages: int = 1) -> int:
    """Return how many characters of each answer a page holds; `pages` comparisons share it."""
    count = sum(map(len, comparison.answers.values())) * pages
    return max(_MIN_ANSWER_CHARACTERS, _MAX_PAGE_CHARACTERS // max(1, count))


def _build_answer_view(
    comparison: Comparison, query: Query, variant: str, limit: int
) -> dict[str, Any]:
    texts = comparison.answers.get((query.item, variant), ())
    ratings = [r for r in comparison.ratings if (r.item, r.variant) == (query.item, variant)]
    mean = query.mean.baseline if variant == comparison.baseline else query.mean.candidate
    return {
        "variant": variant,
        "mean": format_decimal(mean, 2),
        "texts": [{"text": text[:limit], "cut": max(0, len(text) - limit)} for text in texts],
        "ratings": _build_rating_rows(ratings),
        "notes": [(rating.axis, rating.rater, rating.note) for rating in ratings if rating.note],
    }


def _build_rating_rows(ratings: list[Rating]) -> TableRows:
    """Return a table of scores: a row for each axis, a column for each rater."""
    scores = {
        (rating.axis, rating.rater): format_short(rating.score)
        for rating in ratings
        if isinstance(rating.score, Fraction)
    }
    raters = sorted({rater for _, rater in scores})
    axes = dict.fromkeys(axis for axis, _ in scores)
    rows = [(axis, *(scores.get((axis, rater), "–") for rater in raters)) for axis in axes]
    return [(translate("axis"), *raters), *rows]


def build_price_rows(comparison: Comparison) -> TableRows:
    """Return the mean cost and latency of both variants with their ratio; empty if unknown."""
    metrics = {metric.metric: metric for metric in comparison.operational if metric.n}
    header = (
        translate("measured"),
        comparison.baseline,
        comparison.candidate,
        translate("ratio"),
        translate("queries"),
    )
    rows = [
        _build_price_row(metrics, name, label)
        for name, label in zip(
            _PRICED_METRICS,
            (translate("cost of an answer"), translate("latency, ms")),
            strict=True,
        )
    ]
    return [header, *rows] if any(name in metrics for name in _PRICED_METRICS) else []


def _build_price_row(
    metrics: Mapping[str, MetricSummary], name: str, label: str
) -> tuple[str, ...]:
    metric = metrics.get(name)
    if metric is None:
        return label, "–", "–", "–", "0"
    baseline, candidate, _ = format_measured_sides(metric.mean)
    ratio = format_times(metric.mean.baseline, metric.mean.candidate)
    return label, baseline, candidate, ratio, str(metric.n)
