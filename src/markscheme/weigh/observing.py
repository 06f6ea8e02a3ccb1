"""What was marked and measured of answers, as observations beside ratings."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from markscheme.exact import mean, recovered
from markscheme.frozen import Frozen
from markscheme.vocabulary import Cell, Status
from markscheme.weigh.comparison import Observed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

MEASURED = ("latency_ms", "tool_calls", "dispatches", "tokens", "tokens_in", "tokens_out", "cost")
"""OP-01 to OP-04 where there are logs, and what answers say of themselves."""


def observed_in(
    rows: Iterable[Mapping[str, Any]], variants: Collection[str]
) -> tuple[Observed, ...]:
    """Return what the rows of a result say of the variants; several attempts count by their mean.

    A variant is the subject of an answer. A metric that some attempt lacks is not known.
    """
    answers: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        if row["subject"] in variants and row["status"] not in {"missing", "error"}:
            answers[row["item"], row["subject"]].append(row)
    return tuple(
        Observed(
            item=item,
            variant=variant,
            structural=Frozen({axis: _cell(found, axis) for axis in found[0]["breakdown"]}),
            metrics=Frozen(
                {
                    metric: _mean([row[metric] for row in found])
                    for metric in MEASURED
                    if metric in found[0]
                }
            ),
        )
        for (item, variant), found in answers.items()
    )


def together(observed: Iterable[Observed]) -> dict[tuple[str, str], Observed]:
    """Return one observation for each answer, from wherever its cells and metrics come."""
    seen: dict[tuple[str, str], Observed] = {}
    for one in observed:
        before = seen.get((one.item, one.variant), one)
        seen[one.item, one.variant] = Observed(
            item=one.item,
            variant=one.variant,
            structural=Frozen({**before.structural, **one.structural}),
            metrics=Frozen({**before.metrics, **one.metrics}),
        )
    return seen


def _cell(rows: Sequence[Mapping[str, Any]], axis: str) -> Cell:
    value = _mean([row["breakdown"][axis] for row in rows])
    reasons = [str(row["reason"][axis]) for row in rows]
    if value is None:
        return Cell.abstained(reasons[0])
    worst = min(range(len(rows)), key=lambda at: rows[at]["breakdown"][axis])
    return Cell(status=Status.SCORED, value=value, reason=reasons[worst])


def _mean(values: Sequence[float | None]) -> Fraction | None:
    known = [recovered(Decimal(repr(value))) for value in values if value is not None]
    return mean(sum(known, Fraction(0)), len(known)) if len(known) == len(values) else None
