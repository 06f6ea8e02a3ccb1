"""Compared runs as one HTML file: the outcome first, then what it rests on, item by item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markscheme.tell.charts import AXIS_COLOURS
from markscheme.tell.compare.moved_items import MovedItemsView, compute_text_limit
from markscheme.tell.compare.run_measures import build_measured_rows
from markscheme.tell.compare.run_view import EVIDENCE_KINDS, build_pair_view, draw_run_gaps
from markscheme.tell.compare.runs import build_run_pair_rows, format_evidence, format_runs_title
from markscheme.tell.html import render_page
from markscheme.tell.language import translate, translate_stored
from markscheme.weigh.compare import rename_by_subject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.weigh.compare import RunsComparison
    from markscheme.workflows.compare_runs import RunsReport


def render_runs_html(report: RunsReport, version: str) -> str:
    """Return the whole page; `version` is that of the program that wrote it."""
    found = rename_by_subject(report.found)
    several = len(found.beside_first) > 1
    return render_page(
        "runs.html",
        {"words": {}},
        version=version,
        title=format_runs_title(report.found),
        heading=_format_runs_heading(found),
        found=found,
        facts=list(_list_facts(report.found)),
        outcome={
            "kind": EVIDENCE_KINDS[found.outcome],
            "word": format_evidence(found.outcome),
            "because": translate_stored(found.because),
        },
        every_two=build_run_pair_rows(found) if several else [],
        gaps=draw_run_gaps(found.beside_first) if several else None,
        pairs=_build_pair_views(report, found),
        measured=build_measured_rows(found),
    )


def _build_pair_views(report: RunsReport, found: RunsComparison) -> list[dict[str, Any]]:
    """Return what is shown of each run beside the first."""
    beside, limit = found.beside_first, compute_text_limit(report)
    shown = []
    for at, pair in enumerate(beside):
        answers = [report.answers[0], report.answers[at + 1]] if report.answers else []
        items = MovedItemsView(found, pair, answers, limit)
        view = build_pair_view(pair, found.rubric, at % len(AXIS_COLOURS))
        name = pair.candidate if len(beside) > 1 else ""
        prefix = f"r{at + 1}-" if len(beside) > 1 else ""
        shown.append({**view, "id": prefix, "name": name, "moves": items.build_lists(len(beside))})
    return shown


def _format_runs_heading(found: RunsComparison) -> str:
    if len(found.runs) == 2:  # noqa: PLR2004 - a pair
        return translate(
            "Is {candidate} worse than {baseline}?", candidate=found.runs[1], baseline=found.runs[0]
        )
    return translate("Which run is worse than {baseline}?", baseline=found.runs[0])


def _list_facts(found: RunsComparison) -> Iterator[tuple[str, str]]:
    """Yield what was compared: which runs, of whom, on what, with which margin."""
    for at, (run, subject) in enumerate(zip(found.runs, found.subjects, strict=True)):
        what = translate("candidate") if at else translate("baseline")
        yield what, translate("{subject} (run {run})", subject=subject, run=run) if subject else run
    yield translate("rubric"), f"{found.rubric.name} v{found.rubric.version}"
    yield translate("exam"), found.exam.name
    yield translate("items"), f"{len(found.exam.items):,}"
    yield translate("margin"), str(found.margin)
