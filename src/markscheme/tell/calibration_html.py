"""The calibration of a judge as one HTML page: outcome, numbers, confusion of marks, reasons."""

from __future__ import annotations

from typing import Any

from markscheme.tell.calibration import (
    TableRows,
    build_axis_rows,
    iterate_axis_lines,
    iterate_closing_lines,
    iterate_heading_lines,
)
from markscheme.tell.language import translate, translate_stored
from markscheme.tell.templates import HtmlPage, render_page
from markscheme.tell.words import OUTCOME_WORDS
from markscheme.weigh.calibration import AxisCalibration, Calibration

_MAX_SCORES = 12


def render_calibration_html(calibration: Calibration, version: str) -> str:
    """Return the page of a calibration."""
    view = {
        "heading": list(iterate_heading_lines(calibration)),
        "rows": build_axis_rows(calibration),
        "axes": [
            _build_axis_view(at, name, axis)
            for at, (name, axis) in enumerate(calibration.axes.items())
        ],
        "closing": list(iterate_closing_lines(calibration)),
    }
    page = HtmlPage(template="calibration.html", view=view, data={"words": {}})
    return render_page(page, version)


def _build_axis_view(at: int, name: str, axis: AxisCalibration) -> dict[str, Any]:
    return {
        "id": f"axis-{at}",
        "name": name,
        "outcome": translate_stored(OUTCOME_WORDS[axis.outcome]),
        "lines": list(iterate_axis_lines(axis)),
        "confusion": _build_confusion(axis),
    }


def _build_confusion(axis: AxisCalibration) -> TableRows | None:
    """Return how often each score of people met each score of the judge; None if too many."""
    people = list(dict.fromkeys(cell.person for cell in axis.confusion))
    judge = sorted({cell.judge for cell in axis.confusion}, key=lambda score: (len(score), score))
    if not people or max(len(people), len(judge)) > _MAX_SCORES:
        return None
    counts = {(cell.person, cell.judge): cell.n for cell in axis.confusion}
    rows: TableRows = [(translate("people \\ judge"), *judge)]
    rows += [
        (person, *(f"{counts.get((person, score), 0):,}" for score in judge)) for person in people
    ]
    return rows
