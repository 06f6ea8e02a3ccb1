"""Build the JSON records of results: the documents that commands print and stores keep.

Most values say themselves how their record looks (`record_fields`, see `vocabulary.records`). Here
are the records that start from a rubric, an exam or a frame, and names for those used often.
Numbers are the nearest doubles, for reading; `exact` holds the ratios, for deciding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from markscheme.vocabulary import (
    MESSAGE_COLUMN,
    Exam,
    RecordFields,
    RowError,
    Rubric,
    Summary,
    exact_ratios,
    to_record,
)

if TYPE_CHECKING:
    # Gates and distributions are not needed to score, so their modules are not loaded here.
    import polars as pl

    from markscheme.weigh.distribution import ScoreDistribution
    from markscheme.weigh.gates import GateOutcome, GateReport

SUMMARY_FIELDS: RecordFields = (
    "n",
    "score",
    "axes",
    "complete",
    "items",
    "answers",
    "unscored",
    "errors",
    "missing",
    exact_ratios("score", "axes"),
    "subjects",
    "groups",
)


def build_rubric_record(rubric: Rubric) -> dict[str, Any]:
    """Return the name, version and fingerprint of the rubric that a result was scored under."""
    return to_record(rubric, ("name", "version", "fingerprint"))


def build_exam_record(exam: Exam) -> dict[str, Any]:
    """Return the name, fingerprint and size of the exam that a result answers."""
    return {"name": exam.name, "fingerprint": exam.fingerprint, "items": len(exam.items)}


def iter_item_records(frame: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the record of each answered or missing item; rows that were no answers are skipped."""
    for row in frame.iter_rows(named=True):
        row.pop(MESSAGE_COLUMN, None)
        if row.pop("error") is None:
            yield row


def build_error_record(error: RowError) -> dict[str, Any]:
    """Return the record of a row that was no answer; `file` only if the answers are a folder."""
    record = to_record(error, ("file", "line", "item", "reason", "excerpt"))
    if error.file is None:
        del record["file"]
    return record


def build_summary_record(summary: Summary) -> dict[str, Any]:
    """Return the totals of a result."""
    return to_record(summary, SUMMARY_FIELDS)


def build_gate_records(outcomes: Iterable[GateOutcome]) -> list[dict[str, Any]]:
    """Return the outcome of each gate."""
    return [to_record(outcome) for outcome in outcomes]


def build_gate_report_record(report: GateReport) -> dict[str, Any]:
    """Return the verdict on a run and the outcome of each gate."""
    return to_record(report)


def build_distribution_record(distribution: ScoreDistribution) -> dict[str, Any]:
    """Return the score distribution of a run and the trend of its history."""
    return to_record(distribution)
