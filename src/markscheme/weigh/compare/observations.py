"""What was marked and measured of answers, as observations beside ratings."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from markscheme.vocabulary import Cell, FrozenDict, Status, compute_mean, simplest_fraction
from markscheme.weigh.compare.result import Observed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

MEASURED_METRICS = (
    "latency_ms",
    "tool_calls",
    "dispatches",
    "tokens",
    "tokens_in",
    "tokens_out",
    "cost",
)
"""OP-01 to OP-04 where there are logs, and what answers say of themselves."""


def collect_observations(
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
            structural=FrozenDict(
                {axis: _merge_cells(found, axis) for axis in found[0]["breakdown"]}
            ),
            metrics=FrozenDict(
                {
                    metric: _average_known([row[metric] for row in found])
                    for metric in MEASURED_METRICS
                    if metric in found[0]
                }
            ),
        )
        for (item, variant), found in answers.items()
    )


def merge_observations(observed: Iterable[Observed]) -> dict[tuple[str, str], Observed]:
    """Return one observation for each answer, from wherever its cells and metrics come."""
    seen: dict[tuple[str, str], Observed] = {}
    for one in observed:
        before = seen.get((one.item, one.variant), one)
        seen[one.item, one.variant] = Observed(
            item=one.item,
            variant=one.variant,
            structural=FrozenDict({**before.structural, **one.structural}),
            metrics=FrozenDict({**before.metrics, **one.metrics}),
        )
    return seen


def _merge_cells(rows: Sequence[Mapping[str, Any]], axis: str) -> Cell:
    value = _average_known([row["breakdown"][axis] for row in rows])
    reasons = [row["reason"][axis] for row in rows]
    if value is None:
        return Cell.abstained(reasons[0])
    worst = min(range(len(rows)), key=lambda at: rows[at]["breakdown"][axis])
    return Cell(status=Status.SCORED, value=value, reason=reasons[worst])


def _average_known(values: Sequence[float | None]) -> Fraction | None:
    known = [simplest_fraction(Decimal(repr(value))) for value in values if value is not None]
    return compute_mean(sum(known, Fraction(0)), len(known)) if len(known) == len(values) else None
