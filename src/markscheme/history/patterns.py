"""The patterns of a run that was found: its marks, its rows, the runs before it, its baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.history.baselines import own_history
from markscheme.history.judging import judge_run
from markscheme.history.rows import rows_of
from markscheme.history.runs import is_open
from markscheme.weigh.distribution import LOOKED_AT, drifts_of, trend_of
from markscheme.weigh.gates import stranger
from markscheme.weigh.patterns import find
from markscheme.weigh.patterns.observed import observe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markscheme.history.runs import Found, Runs
    from markscheme.weigh.outcomes import BaselineReport, GateReport
    from markscheme.weigh.patterns import Observed, Pattern
    from markscheme.weigh.trends import Drift


def patterns_of(
    runs: Runs,
    found: Found,
    gates: GateReport | None = None,
    observed: Observed | None = None,
) -> tuple[Pattern, ...]:
    """Return the patterns of a run, the most telling first; of one that cannot be judged, none.

    `gates` are what was judged of it and `observed` what its rows show, where that is known.
    """
    past = found.past
    if is_open(found) or stranger(past.rubric, past.exam, past.run):
        return ()
    gates = judge_run(runs, found).gates if gates is None else gates
    observed = observe(past.rubric, rows_of(runs, found).frames()) if observed is None else observed
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


def _drifts(runs: Runs, found: Found) -> tuple[Sequence[Drift], int]:
    """Return how the axes of the same subject moved up to this run, and over how many runs."""
    past, stored = found.past, found.stored
    if stored is None or not past.run.marks.complete:
        return (), 0
    history = own_history(runs, past, stored.subject, until=stored, last=LOOKED_AT)
    trend = trend_of(past.rubric, past.run, history)
    return drifts_of(trend), len(trend)
