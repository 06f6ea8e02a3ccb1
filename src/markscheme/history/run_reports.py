"""Compared runs with the answers that somebody will read: those to the items that moved most."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.history.comparing import compare_found, find_to_compare
from markscheme.history.rows import answers_to
from markscheme.tell.moved_items import RunsReport, shown_items

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from decimal import Decimal
    from pathlib import Path

    from markscheme.history.runs import Found, Runs
    from markscheme.tell.moved_items import Row


def report_on_runs(
    known: Runs, runs: Sequence[str | Path], margin: Decimal | None, cluster: str | None
) -> RunsReport:
    """Compare runs, as `compare_runs` does, and read what a page shows of their answers."""
    found = find_to_compare(known, runs)
    comparison = compare_found(known, found, margin, cluster)
    items = shown_items(comparison)
    answers = tuple(_answers(known, one, items) for one in found) if items else ()
    return RunsReport(found=comparison, answers=answers)


def _answers(known: Runs, found: Found, items: Collection[str]) -> Mapping[str, tuple[Row, ...]]:
    answers: dict[str, list[Row]] = {item: [] for item in items}
    for row in answers_to(known, found, items):
        answers[row["item"]].append(row)
    return {item: tuple(rows) for item, rows in answers.items()}
