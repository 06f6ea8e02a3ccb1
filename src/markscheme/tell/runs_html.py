"""Compared runs as one HTML file: the outcome first, then what it rests on, item by item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markscheme.tell.colours import AXES
from markscheme.tell.language import say, told
from markscheme.tell.moved_items import MovedItems, text_limit
from markscheme.tell.run_measures import measured_rows
from markscheme.tell.run_pair_view import KINDS, drawn_gaps, pair_view
from markscheme.tell.run_pairs import outcome_words, pair_rows, title
from markscheme.tell.templates import page
from markscheme.weigh.run_pair_words import called_by_subject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.tell.moved_items import RunsReport
    from markscheme.weigh.paired_runs import RunsComparison


def runs_html(report: RunsReport, version: str) -> str:
    """Return the whole page; `version` is that of the program that wrote it."""
    found = called_by_subject(report.found)
    several = len(found.beside_first) > 1
    return page(
        "runs.html",
        {"words": {}},
        version=version,
        title=title(report.found),
        heading=_heading(found),
        found=found,
        facts=list(_facts(report.found)),
        outcome={
            "kind": KINDS[found.outcome],
            "word": outcome_words(found.outcome),
            "because": told(found.because),
        },
        every_two=pair_rows(found) if several else [],
        gaps=drawn_gaps(found.beside_first) if several else None,
        pairs=_pairs(report, found),
        measured=measured_rows(found),
    )


def _pairs(report: RunsReport, found: RunsComparison) -> list[dict[str, Any]]:
    """Return what is shown of each run beside the first."""
    beside, limit = found.beside_first, text_limit(report)
    shown = []
    for at, pair in enumerate(beside):
        answers = [report.answers[0], report.answers[at + 1]] if report.answers else []
        items = MovedItems(found, pair, answers, limit)
        view = pair_view(pair, found.rubric, at % len(AXES))
        name = pair.candidate if len(beside) > 1 else ""
        prefix = f"r{at + 1}-" if len(beside) > 1 else ""
        shown.append({**view, "id": prefix, "name": name, "moves": items.lists(len(beside))})
    return shown


def _heading(found: RunsComparison) -> str:
    if len(found.runs) == 2:  # noqa: PLR2004 - a pair
        return say(
            "Is {candidate} worse than {baseline}?", candidate=found.runs[1], baseline=found.runs[0]
        )
    return say("Which run is worse than {baseline}?", baseline=found.runs[0])


def _facts(found: RunsComparison) -> Iterator[tuple[str, str]]:
    """Yield what was compared: which runs, of whom, on what, with which margin."""
    for at, (run, subject) in enumerate(zip(found.runs, found.subjects, strict=True)):
        what = say("candidate") if at else say("baseline")
        yield what, say("{subject} (run {run})", subject=subject, run=run) if subject else run
    yield say("rubric"), f"{found.rubric.name} v{found.rubric.version}"
    yield say("exam"), found.exam.name
    yield say("items"), f"{len(found.exam.items):,}"
    yield say("margin"), str(found.margin)
