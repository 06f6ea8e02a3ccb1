"""A scored run as one plain value, which every output reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from markscheme.vocabulary import Exam, GateOutcome, RowError, Rubric, Summary
from markscheme.weigh.gates import gate_outcomes
from markscheme.weigh.records import (
    error_record,
    exam_record,
    item_records,
    rubric_record,
    summary_record,
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Result:
    """Exact totals, one row for each answer as a polars frame, and the rows that were none."""

    rubric: Rubric
    exam: Exam
    summary: Summary
    frame: pl.DataFrame
    errors: tuple[RowError, ...]

    @property
    def gates(self) -> tuple[GateOutcome, ...]:
        """What the rubric's gates say of this run."""
        return gate_outcomes(self.rubric, self.exam, self.summary)

    def head(self) -> dict[str, Any]:
        """Return what the JSON document says before its items."""
        return {"rubric": rubric_record(self.rubric), "exam": exam_record(self.exam)}

    def tail(self) -> dict[str, Any]:
        """Return what the JSON document says after its items."""
        return {
            "errors": [error_record(error) for error in self.errors],
            "errors_left_out": self.summary.errors - len(self.errors),
            "summary": summary_record(self.summary),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the document that `markscheme score --format json` prints."""
        return {**self.head(), "items": list(item_records(self.frame)), **self.tail()}
