"""The result of scoring: totals, rows and errors of a run as one value, read by every output."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from markscheme.vocabulary import Exam, RowError, Rubric, Summary, sentence, to_record
from markscheme.weigh.records import (
    build_error_record,
    build_exam_record,
    build_rubric_record,
    build_summary_record,
    iter_item_records,
)
from markscheme.weigh.totals import OperationGroup, Run

if TYPE_CHECKING:
    from markscheme.weigh.gates import GateOutcome, GateReport


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Result:
    """Exact totals, a polars frame with one row for each answer, and the rows that were no answers.

    `operations` holds operational metrics if the answers come from session logs. `run_ids` are the
    ids of the stored runs, one for each subject, if the result was stored.
    """

    rubric: Rubric
    exam: Exam
    summary: Summary
    frame: pl.DataFrame
    errors: tuple[RowError, ...]
    each_run: Callable[[], Iterable[Run]] = field(repr=False)
    operations: tuple[OperationGroup, ...] = ()
    run_ids: tuple[str, ...] = ()

    @property
    def runs(self) -> Iterator[Run]:
        """The run of each subject, built one at a time because there may be many."""
        return iter(self.each_run())

    @property
    def gates(self) -> tuple[GateOutcome, ...]:
        """The outcome of each of the rubric's gates on this run."""
        return self.judge().outcomes

    def judge(self, baseline: Run | None = None) -> GateReport:
        """Return the verdict of the rubric's gates, compared with the baseline if there is one.

        Gates judge the run of one subject. With answers of several subjects, judge each of `runs`.
        """
        # Loaded here because most results are never judged.
        from markscheme.weigh.gates import build_undecided_report, evaluate_gates

        if len(self.summary.subjects) > 1:
            because = sentence(
                "the answers are of {n:,} subjects; judge the run of each",
                n=len(self.summary.subjects),
            )
            return build_undecided_report(self.rubric, self.exam, "", because)
        return evaluate_gates(self.rubric, self.exam, next(self.runs), baseline)

    def head(self) -> dict[str, Any]:
        """Return the part of the JSON document that comes before its items."""
        return {"rubric": build_rubric_record(self.rubric), "exam": build_exam_record(self.exam)}

    def tail(self) -> dict[str, Any]:
        """Return the part of the JSON document that comes after its items."""
        tail = {
            "errors": [build_error_record(error) for error in self.errors],
            "errors_left_out": self.summary.errors - len(self.errors),
            "summary": build_summary_record(self.summary),
        }
        if self.operations:
            tail["operational"] = [to_record(group) for group in self.operations]
        return tail

    def to_dict(self) -> dict[str, Any]:
        """Return the document that `markscheme score --format json` prints."""
        return {**self.head(), "items": list(iter_item_records(self.frame)), **self.tail()}
