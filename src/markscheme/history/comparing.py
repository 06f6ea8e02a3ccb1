"""Comparing runs that are kept: in the store by name, or in result files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from markscheme.errors import UsageError
from markscheme.history.orders import load_asked_order
from markscheme.history.rows import load_attempts
from markscheme.history.runs import RunContext, RunFinder, is_open_run
from markscheme.vocabulary import Allowance
from markscheme.weigh.attempt_pairs import extract_single_attempts
from markscheme.weigh.paired_runs import ComparedRun, RunsComparison, pair_runs

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from markscheme.history.runs import FoundRun
    from markscheme.vocabulary import Rubric


def compare_runs(
    *runs: str | Path,
    rubric: Rubric | str | Path | None = None,
    exam: str | Path | Sequence[str | Path] = (),
    margin: Decimal | None = None,
    cluster: str | None = None,
    store: str | Path | None = None,
) -> RunsComparison:
    """Compare stored runs (ids, `latest`, tags) or result files in pairs by item and attempt.

    The first is what the others are held against. `rubric` and `exam` are for result files whose
    documents are not built in; `margin` is in points, and without one it is that of the rubric's
    baseline gate. Items that share the tag `cluster` are not taken to be independent.
    """
    exams = (exam,) if isinstance(exam, str | Path) else tuple(exam)
    with RunFinder(store, RunContext(rubric=rubric, exams=exams)) as known:
        return compare_found_runs(known, find_runs_to_compare(known, runs), margin, cluster)


def find_runs_to_compare(known: RunFinder, runs: Sequence[str | Path]) -> list[FoundRun]:
    """Return the runs of these names, which must be at least two that are finished."""
    if len(runs) < 2:  # noqa: PLR2004 - a comparison takes two
        raise UsageError("one run is named; name at least two to compare")
    if len(set(runs)) < len(runs):
        raise UsageError("a run is named twice; each can be compared once")
    first = known.find(str(runs[0]))
    found = [first, *(known.find(str(name), reference=first.past) for name in runs[1:])]
    for one in found:
        if is_open_run(one):
            raise UsageError(f"the run `{one.name}` is not finished; it cannot be compared")
    return found


def compare_found_runs(
    known: RunFinder, found: Sequence[FoundRun], margin: Decimal | None, cluster: str | None
) -> RunsComparison:
    """Compare runs that were found, while their answers are still at hand."""
    exam = found[0].past.exam
    if cluster is not None and not any(cluster in item.tags for item in exam.items):
        raise UsageError(f"no item of `{exam.name}` has the tag `{cluster}`")
    limit = None if margin is None else Allowance(amount=margin, relative=False)
    return pair_runs(_load_compared_runs(known, found), limit, cluster)


def _load_compared_runs(known: RunFinder, found: Sequence[FoundRun]) -> list[ComparedRun]:
    """Return the runs with their attempts; where each item has one answer, the marks hold them."""
    single = [extract_single_attempts(one.past.run.marks) for one in found]
    return [
        ComparedRun(
            past=one.past,
            attempts=load_attempts(known, one) if None in single else alone or {},
            asked=load_asked_order(known, one),
        )
        for one, alone in zip(found, single, strict=True)
    ]
