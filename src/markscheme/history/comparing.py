"""Comparing runs that are kept: in the store by name, or in result files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from markscheme.errors import UsageError
from markscheme.history.orders import asked_of
from markscheme.history.rows import attempts_of
from markscheme.history.runs import Context, Runs, is_open
from markscheme.vocabulary import Allowance
from markscheme.weigh.attempt_pairs import single_attempts
from markscheme.weigh.paired_runs import Contender, RunsComparison, pair_runs

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from markscheme.history.runs import Found
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
    with Runs(store, Context(rubric=rubric, exams=exams)) as known:
        return compare_found(known, find_to_compare(known, runs), margin, cluster)


def find_to_compare(known: Runs, runs: Sequence[str | Path]) -> list[Found]:
    """Return the runs of these names, which must be at least two that are finished."""
    if len(runs) < 2:  # noqa: PLR2004 - a comparison takes two
        raise UsageError("one run is named; name at least two to compare")
    if len(set(runs)) < len(runs):
        raise UsageError("a run is named twice; each can be compared once")
    first = known.find(str(runs[0]))
    found = [first, *(known.find(str(name), beside=first.past) for name in runs[1:])]
    for one in found:
        if is_open(one):
            raise UsageError(f"the run `{one.name}` is not finished; it cannot be compared")
    return found


def compare_found(
    known: Runs, found: Sequence[Found], margin: Decimal | None, cluster: str | None
) -> RunsComparison:
    """Compare runs that were found, while their answers are still at hand."""
    exam = found[0].past.exam
    if cluster is not None and not any(cluster in item.tags for item in exam.items):
        raise UsageError(f"no item of `{exam.name}` has the tag `{cluster}`")
    limit = None if margin is None else Allowance(amount=margin, relative=False)
    return pair_runs(_contenders(known, found), limit, cluster)


def _contenders(known: Runs, found: Sequence[Found]) -> list[Contender]:
    """Return the runs with their attempts; where each item has one answer, the marks hold them."""
    single = [single_attempts(one.past.run.marks) for one in found]
    return [
        Contender(
            past=one.past,
            attempts=attempts_of(known, one) if None in single else alone or {},
            asked=asked_of(known, one),
        )
        for one, alone in zip(found, single, strict=True)
    ]
