"""Missing ratings that were accepted on request: which they are, and what they do to the decision.

A gap is never filled in. A query that lacks a cell has no verdict, and a query that one rater left
out rests on the others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from markscheme.vocabulary import Rating, sentence
from markscheme.weigh.compare.result import Query
from markscheme.weigh.compare.ruling import Ruling

_CELLS_SHOWN = 6


def describe_gaps(
    queries: Sequence[Query], ratings: Sequence[Rating], ruling: Ruling
) -> tuple[str, ...]:
    """Return a sentence for each query with a gap, and last what the gaps mean for the decision."""
    raters_by_item: dict[str, set[str]] = defaultdict(set)
    for rating in ratings:
        if rating.score is not None:
            raters_by_item[rating.item].add(rating.rater)
    everyone = set().union(*raters_by_item.values()) if raters_by_item else set()
    gaps = [
        gap
        for query in queries
        for gap in _describe_query_gaps(query, raters_by_item[query.item], everyone)
    ]
    return (*gaps, _explain_meaning(queries, ruling, found=bool(gaps)))


def _describe_query_gaps(query: Query, raters: set[str], everyone: set[str]) -> Iterator[str]:
    if query.missing:
        shown, more = query.missing[:_CELLS_SHOWN], len(query.missing) - _CELLS_SHOWN
        yield sentence(
            "{item}: {cells}{more}; it has no verdict",
            item=query.item,
            cells="; ".join(shown),
            more=f" (+{more})" if more > 0 else "",
        )
    elif raters < everyone:
        yield sentence(
            "{item}: not rated by {absent}; its verdict rests on {raters}",
            item=query.item,
            absent=", ".join(sorted(everyone - raters)),
            raters=", ".join(sorted(raters)),
        )


def _explain_meaning(queries: Sequence[Query], ruling: Ruling, *, found: bool) -> str:
    main = ruling.main or ruling
    without = ", ".join(q.item for q in queries if q.missing and not q.follow_up)
    further = ", ".join(q.item for q in queries if q.missing and q.follow_up)
    if without and main.outcome is None:
        return sentence(
            "A decision needs a verdict on every query; without one on {items} nothing is decided.",
            items=without,
        )
    if without:
        return sentence(
            "Without a verdict on {items} the decision is what the table says then: {outcome}.",
            items=without,
            outcome=main.outcome.value if main.outcome else "",
        )
    if further:
        return sentence(
            "Follow-up queries decide only with a verdict on each of them; {items} have none.",
            items=further,
        )
    if found:
        return sentence(
            "Every query has a verdict, but not from the same raters: a strict or lenient rater "
            "who left a query out can have moved the decision."
        )
    return sentence("No rating is missing, so allowing gaps changed nothing.")
