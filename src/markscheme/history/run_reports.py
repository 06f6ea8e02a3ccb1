"""Compared runs with the answers that somebody will read: those to the items that moved most."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.history.comparing import compare_found_runs, find_runs_to_compare
from markscheme.history.rows import select_answers
from markscheme.tell.moved_items import RunsReport, select_shown_items

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from decimal import Decimal
    from pathlib import Path

    from markscheme.history.runs import FoundRun, RunFinder
    from markscheme.tell.moved_items import AnswerRow


def build_runs_report(
    known: RunFinder, runs: Sequence[str | Path], margin: Decimal | None, cluster: str | None
) -> RunsReport:
    """Compare runs, as `compare_runs` does, and read what a page shows of their answers."""
    found = find_runs_to_compare(known, runs)
    comparison = compare_found_runs(known, found, margin, cluster)
    items = select_shown_items(comparison)
    answers = tuple(_collect_answers(known, one, items) for one in found) if items else ()
    return RunsReport(found=comparison, answers=answers)


def _collect_answers(
    known: RunFinder, found: FoundRun, items: Collection[str]
) -> Mapping[str, tuple[AnswerRow, ...]]:
    answers: dict[str, list[AnswerRow]] = {item: [] for item in items}
    for row in select_answers(known, found, items):
        answers[row["item"]].append(row)
    return {item: tuple(rows) for item, rows in answers.items()}
