"""A scored run as one plain value, which every output reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from markscheme.vocabulary import Exam, RowError, Rubric, Summary, sentence
from markscheme.weigh.records import (
    build_error_record,
    build_exam_record,
    build_rubric_record,
    build_summary_record,
    iter_item_records,
)
from markscheme.weigh.totals import OperationGroup, Run, build_operation_record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.weigh.gates import GateOutcome, GateReport


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Result:
    """Exact totals, one row for each answer as a polars frame, and the rows that were none.

    `operations` is what was measured, where the answers come from session logs. `run_ids` are the
    ids of the stored runs, one for each subject, where the result was stored.
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
        """The run of each subject, made one after the other: there may be many."""
        return iter(self.each_run())

    @property
    def gates(self) -> tuple[GateOutcome, ...]:
        """What the rubric's gates say of this run."""
        return self.judge().outcomes

    def judge(self, baseline: Run | None = None) -> GateReport:
        """Return what the gates say of the run, beside its baseline where there is one.

        Gates judge one run; where the answers are of several subjects, each run has its own.
        """
        from markscheme.weigh.gates import build_undecided_report, evaluate_gates

        if len(self.summary.subjects) > 1:
            many = sentence(
                "the answers are of {n:,} subjects; judge the run of each",
                n=len(self.summary.subjects),
            )
            return build_undecided_report(self.rubric, self.exam, "", many)
        return evaluate_gates(self.rubric, self.exam, next(self.runs), baseline)

    def head(self) -> dict[str, Any]:
        """Return what the JSON document says before its items."""
        return {"rubric": build_rubric_record(self.rubric), "exam": build_exam_record(self.exam)}

    def tail(self) -> dict[str, Any]:
        """Return what the JSON document says after its items."""
        return {
            "errors": [build_error_record(error) for error in self.errors],
            "errors_left_out": self.summary.errors - len(self.errors),
            "summary": build_summary_record(self.summary),
            **self._build_operational_part(),
        }

    def _build_operational_part(self) -> dict[str, Any]:
        """Return what was measured in logs, where the answers come from logs."""
        records = [build_operation_record(group) for group in self.operations]
        return {"operational": records} if records else {}

    def to_dict(self) -> dict[str, Any]:
        """Return the document that `markscheme score --format json` prints."""
        return {**self.head(), "items": list(iter_item_records(self.frame)), **self.tail()}
