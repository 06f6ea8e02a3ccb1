"""The patterns of a run that was found: its marks, its rows, the runs before it, its baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from markscheme.history.baselines import own_history
from markscheme.history.judging import judge_run
from markscheme.history.rows import StoredRows
from markscheme.history.runs import is_open
from markscheme.weigh.distribution import LOOKED_AT, drifts_of, trend_of
from markscheme.weigh.patterns import find
from markscheme.weigh.patterns.observed import observe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from markscheme.history.runs import Found, Runs
    from markscheme.vocabulary import Rubric
    from markscheme.weigh.outcomes import BaselineReport, GateReport
    from markscheme.weigh.patterns import Observed, Pattern
    from markscheme.weigh.trends import Drift


def patterns_of(
    runs: Runs,
    found: Found,
    gates: GateReport | None = None,
    observed: Observed | None = None,
) -> tuple[Pattern, ...]:
    """Return the patterns of a run, the most telling first; of a run that is not finished, none.

    `gates` are what was judged of it and `observed` what its rows show, where that is known.
    """
    if is_open(found):
        return ()
    past = found.past
    gates = judge_run(runs, found).gates if gates is None else gates
    observed = observe(past.rubric, _frames(runs, found)) if observed is None else observed
    return find(
        past.rubric,
        past.exam,
        past.run,
        observed,
        history=_drifts(runs, found),
        comparison=_compared_in(gates),
    )


def _compared_in(gates: GateReport) -> BaselineReport | None:
    """Return the comparison with the baseline that warns of a rise, or the first there is."""
    found = [outcome.baseline for outcome in gates.outcomes if outcome.baseline]
    return next((one for one in found if one.warning), found[0] if found else None)


def _frames(runs: Runs, found: Found) -> Iterator[pl.DataFrame]:
    if found.stored is not None:
        yield from StoredRows(found, runs.store).frames()
    elif found.rows:
        yield _frame(found.past.rubric, found.rows)


def _frame(rubric: Rubric, rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Return the rows of a result file as far as patterns look at them."""
    axes = [spec.name for spec in rubric]

    def each(name: str, dtype: type[pl.DataType]) -> pl.Series:
        cells = [row.get(name) or {} for row in rows]
        columns = {axis: _values((cell.get(axis) for cell in cells), dtype) for axis in axes}
        return pl.DataFrame(columns).to_struct(name)

    return pl.DataFrame(
        [
            pl.Series("item", [row["item"] for row in rows], dtype=pl.String),
            pl.Series("status", ["scored"] * len(rows), dtype=pl.String),
            _values((row.get("got") for row in rows), pl.String).alias("got"),
            _values((row.get("latency_ms") for row in rows), pl.Float64).alias("latency_ms"),
            each("breakdown", pl.Float64),
            each("near_miss", pl.String),
        ]
    )


def _values(values: Iterable[Any], dtype: type[pl.DataType]) -> pl.Series:
    of = float if dtype is pl.Float64 else str
    return pl.Series([None if value is None else of(value) for value in values], dtype=dtype)


def _drifts(runs: Runs, found: Found) -> tuple[Sequence[Drift], int]:
    """Return how the axes of the same subject moved up to this run, and over how many runs."""
    past, stored = found.past, found.stored
    if stored is None or not past.run.marks.complete:
        return (), 0
    history = own_history(runs, past, stored.subject, until=stored, last=LOOKED_AT)
    trend = trend_of(past.rubric, past.run, history)
    return drifts_of(trend), len(trend)
