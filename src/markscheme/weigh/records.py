"""Results as plain data: what the JSON output holds, and every other format reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markscheme.exact import number, ratio

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import polars as pl

    from markscheme.vocabulary import Exam, GateOutcome, RowError, Rubric, Summary


def rubric_record(rubric: Rubric) -> dict[str, Any]:
    """Return how a result names the rubric it was scored under."""
    return {"name": rubric.name, "version": rubric.version, "fingerprint": rubric.fingerprint}


def exam_record(exam: Exam) -> dict[str, Any]:
    """Return how a result names the exam."""
    return {"name": exam.name, "fingerprint": exam.fingerprint, "items": len(exam.items)}


def item_records(frame: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the per-item JSON of each answered or missing item, keys in the seed's order."""
    for row in frame.iter_rows(named=True):
        if row.pop("error") is None:
            yield row


def error_record(error: RowError) -> dict[str, Any]:
    """Return one row that was no answer."""
    where = {} if error.file is None else {"file": error.file}
    return {
        **where,
        "line": error.line,
        "item": error.item,
        "reason": error.reason,
        "excerpt": error.excerpt,
    }


def summary_record(summary: Summary) -> dict[str, Any]:
    """Return the totals: nearest doubles for reading, exact ratios for deciding."""
    return {
        "n": summary.n,
        "score": number(summary.score),
        "axes": {axis: number(value) for axis, value in summary.axes.items()},
        "complete": summary.complete,
        "items": summary.items,
        "answers": summary.answers,
        "unscored": summary.unscored,
        "errors": summary.errors,
        "missing": list(summary.missing),
        "exact": {
            "score": ratio(summary.score),
            "axes": {axis: ratio(value) for axis, value in summary.axes.items()},
        },
        "subjects": [
            {
                "subject": found.subject,
                "n": found.n,
                "score": number(found.score),
                "axes": {axis: number(value) for axis, value in found.axes.items()},
                "missing": list(found.missing),
            }
            for found in summary.subjects
        ],
        "groups": [
            {
                "tag": group.tag,
                "value": group.value,
                "n": group.n,
                "score": number(group.score),
                "axes": {axis: number(value) for axis, value in group.axes.items()},
            }
            for group in summary.groups
        ],
    }


def gate_records(outcomes: Iterable[GateOutcome]) -> list[dict[str, Any]]:
    """Return what each gate said and why."""
    return [
        {
            "gate": outcome.gate.name,
            "level": outcome.gate.level.value,
            "outcome": outcome.outcome.value,
            "observed": number(outcome.observed),
            "at_least": float(outcome.gate.at_least),
            "target": None if outcome.gate.target is None else float(outcome.gate.target),
            "because": outcome.because,
        }
        for outcome in outcomes
    ]
