"""What the pages of runs show, as plain data for their templates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starlette.exceptions import HTTPException

from markscheme import __version__
from markscheme.keep import RunStatus, Store, StoredRun
from markscheme.mark.axes import CriteriaAxis, format_expected
from markscheme.tell.compare import build_comparison_page
from markscheme.tell.criteria import list_criterion_lines
from markscheme.tell.html import build_run_page, format_cell_value, render_run_html
from markscheme.tell.language import translate_stored
from markscheme.tell.templates import HtmlPage
from markscheme.tell.words import format_cell_reason, format_mean, format_row_score
from markscheme.vocabulary import (
    Item,
    ItemReport,
    Row,
    Rubric,
    UsageError,
    sentence,
)
from markscheme.workflows.baseline import list_failed_gates, set_baseline
from markscheme.workflows.compare import build_runs_report
from markscheme.workflows.find_run import FoundRun, RunFinder
from markscheme.workflows.gate import judge_run
from markscheme.workflows.report import RunReport, build_full_report, build_item_reports
from markscheme.workflows.run_rows import select_answers


def build_run_page_view(store: Store, name: str) -> tuple[HtmlPage, dict[str, Any]]:
    """Return the page of a run, and what the web app adds to it."""
    stored = _find_stored_run(store, name)
    with RunFinder(store) as finder:
        page = build_run_page(_build_report(finder, stored))
    baseline = store.find_baseline(stored.rubric.name, stored.exam.name)
    return page, {
        "id": stored.id,
        # The page has links where the report has commands.
        "commands": [],
        "is_open": stored.status is RunStatus.OPEN,
        "is_live": store.journal.find_run_session(stored.id) is not None,
        "is_baseline": baseline is not None and baseline.run == stored.id,
        "other_baseline": baseline.run if baseline and baseline.run != stored.id else None,
        "rescored_from": stored.rescored_from,
        "tags": [tag.name for tag in store.list_tags() if tag.run == stored.id],
    }


def _find_stored_run(store: Store, name: str) -> StoredRun:
    """Return a run of the store; unlike commands, pages do not look for files of that name."""
    try:
        return store.find_run(name)
    except UsageError as error:
        raise HTTPException(404, str(error)) from error


def _build_report(finder: RunFinder, stored: StoredRun) -> RunReport:
    return build_full_report(finder, judge_run(finder, finder.find(stored.id)))


def render_report_file(store: Store, name: str) -> str:
    """Return the report of a run as one file."""
    with RunFinder(store) as finder:
        return render_run_html(_build_report(finder, _find_stored_run(store, name)), __version__)


def build_item_list(store: Store, name: str, *, lost: bool) -> dict[str, Any]:
    """Return the items of a run with their scores; with `lost`, those without full marks."""
    stored = _find_stored_run(store, name)
    with RunFinder(store) as finder:
        past = finder.find(stored.id).past
    items = build_item_reports(past) if stored.status is RunStatus.FINISHED else ()
    return {
        "id": stored.id,
        "subject": stored.subject,
        "exam": stored.exam.name,
        "items": [
            {
                "name": item.item,
                "score": format_mean(item.score, item.bounds),
                "lost": ", ".join(axis for axis, value in item.axes.items() if value != 1),
            }
            for item in items
            if not lost or item.score != 1
        ],
    }


def build_item_view(store: Store, run: str, name: str) -> dict[str, Any]:
    """Return one item of a run with all its answers."""
    stored = _find_stored_run(store, run)
    with RunFinder(store) as finder:
        found = finder.find(stored.id)
        ids = [item.id for item in found.past.exam.items]
        if name not in ids:
            raise HTTPException(404, sentence("the exam of this run has no such item"))
        rows = select_answers(finder, found, {name})
        reports = build_item_reports(found.past, rows, every=True)
    place = ids.index(name)
    item = found.past.exam.items[place]
    return {
        "id": stored.id,
        "name": name,
        "prompt": item.prompt,
        "expected": [
            (key, ", ".join(format_expected(value)))
            for key, value in item.expectations.items()
            if key not in _list_criteria_keys(found.past.rubric)
        ],
        "tags": sorted(item.tags.items()),
        "before": ids[place - 1] if place else None,
        "after": ids[place + 1] if place + 1 < len(ids) else None,
        **_build_answer_views(
            found, item, next((one for one in reports if one.item == name), None)
        ),
    }


def _list_criteria_keys(rubric: Rubric) -> set[str]:
    """Return the keys of items that hold criteria, which are shown with their verdicts."""
    return {spec.axis.expects for spec in rubric if isinstance(spec.axis, CriteriaAxis)}


def _build_answer_views(found: FoundRun, item: Item, report: ItemReport | None) -> dict[str, Any]:
    if report is None:
        return {"answers": [], "more": 0, "score": "–"}
    return {
        "answers": [_build_answer_view(row, found.past.rubric, item) for row in report.answers],
        "more": report.more,
        "score": format_mean(report.score, report.bounds),
    }


def _build_answer_view(row: Row, rubric: Rubric, item: Item) -> dict[str, Any]:
    near = row.get("near_miss") or {}
    return {
        "attempt": row.get("attempt"),
        "got": row.get("got"),
        "output": row.get("output"),
        "score": format_row_score(row),
        "reading": row.get("reading"),
        "latency": row.get("latency_ms"),
        "cells": [
            {
                "axis": spec.name,
                "value": format_cell_value(row["breakdown"].get(spec.name)) or "–",
                "weight": str(spec.weight),
                "reason": format_cell_reason(row, spec.name),
                "near": translate_stored(near.get(spec.name) or ""),
                "criteria": list_criterion_lines(spec.axis, item, row, spec.name),
            }
            for spec in rubric
        ],
    }


def build_baseline_view(store: Store, name: str) -> dict[str, Any]:
    """Return what somebody must know who makes a run the baseline."""
    stored = _find_stored_run(store, name)
    with RunFinder(store) as finder:
        found = finder.find(stored.id)
        complete = found.past.run.marks.complete
        failed = list_failed_gates(found.past) if complete else []
    former = store.find_baseline(stored.rubric.name, stored.exam.name)
    return {
        "id": stored.id,
        "subject": stored.subject,
        "exam": stored.exam.name,
        "rubric": stored.rubric.name,
        "complete": complete,
        "failed": [(outcome.gate.name, translate_stored(outcome.because)) for outcome in failed],
        "former": former,
        "is_baseline": former is not None and former.run == stored.id,
    }


def set_run_baseline(
    store: Store, name: str, *, by: str | None, note: str | None, force: bool
) -> str:
    """Set the baseline, unless it is set: a form that is sent twice counts once."""
    stored = _find_stored_run(store, name)
    current = store.find_baseline(stored.rubric.name, stored.exam.name)
    if current is None or (current.run, current.note, current.set_by) != (stored.id, note, by):
        with RunFinder(store) as finder:
            set_baseline(finder, stored.id, by=by, note=note, force=force)
    return stored.id


def build_comparison_view(
    store: Store, names: Sequence[str], first: str | None
) -> tuple[HtmlPage, list[dict[str, Any]]]:
    """Return the page of a comparison; the others are held against the run `first`."""
    found = {run.id: run for run in (_find_stored_run(store, name) for name in names)}
    runs = sorted(found.values(), key=lambda run: (run.id != first, run.started))
    ids = [run.id for run in runs]
    report = build_runs_report(*ids, store=store)
    choices = [
        {"id": run.id, "subject": run.subject, "others": [one for one in ids if one != run.id]}
        for run in runs
    ]
    return build_comparison_page(report), choices
