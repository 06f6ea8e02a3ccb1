"""Comparing runs that are kept: in the store by name, or in result files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.errors import UsageError
from markscheme.history.runs import Context, Runs, is_open
from markscheme.weigh.paired_runs import RunsComparison, compare_runs

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from markscheme.vocabulary import Allowance


def compare_stored(
    names: Sequence[str],
    context: Context | None = None,
    *,
    store: str | Path | None = None,
    margin: Allowance | None = None,
    cluster: str | None = None,
) -> RunsComparison:
    """Compare runs by their names or files; the first is what the others are held against."""
    if len(names) < 2:  # noqa: PLR2004 - a comparison takes two
        raise UsageError("one run is named; name at least two to compare")
    if len(set(names)) < len(names):
        raise UsageError("a run is named twice; each can be compared once")
    with Runs(store, context) as runs:
        first = runs.find(names[0])
        found = [first, *(runs.find(name, beside=first.past) for name in names[1:])]
    for one in found:
        if is_open(one):
            raise UsageError(f"the run `{one.name}` is not finished; it cannot be compared")
    exam = first.past.exam
    if cluster is not None and not any(cluster in item.tags for item in exam.items):
        raise UsageError(f"no item of `{exam.name}` has the tag `{cluster}`")
    return compare_runs([one.past for one in found], margin, cluster)
