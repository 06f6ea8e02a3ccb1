"""The result of scoring as one value, read by every output, and the JSON records of results.

Most values say themselves how their record looks (`record_fields`, see `vocabulary.records`). Here
are the records that start from a rubric, an exam or a frame, and names for those used often.
Numbers are the nearest doubles, for reading; `exact` holds the ratios, for deciding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any

import polars as pl
from msgspec import structs

from markscheme.vocabulary import (
    MESSAGE_COLUMN,
    Exam,
    FrozenDict,
    RowError,
    Rubric,
    Summary,
    format_decimal,
    sentence,
    to_record,
)
from markscheme.weigh.totals import OperationGroup, Run, parse_judging_records

if TYPE_CHECKING:
    # Gates and distributions are not needed to score, so their modules are not loaded here.
    from markscheme.weigh.gates import GateOutcome, GateReport


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Result:
    """Exact totals, a polars frame with one row for each answer, and the rows that were no answers.

    `operations` holds operational metrics if the answers come from session logs. `run_ids` are the
    ids of the stored runs, one for each subject, if the result was stored. `unmarked` counts the
    marks of people or judges that are missing, by axis. `judging` says, for each axis that judges
    marked, which judge did and how.
    """

    rubric: Rubric
    exam: Exam
    summary: Summary
    frame: pl.DataFrame
    errors: tuple[RowError, ...]
    each_run: Callable[[], Iterable[Run]] = field(repr=False)
    operations: tuple[OperationGroup, ...] = ()
    run_ids: tuple[str, ...] = ()
    unmarked: Mapping[str, int] = FrozenDict()
    judging: Mapping[str, Mapping[str, Any]] = FrozenDict()

    @property
    def runs(self) -> Iterator[Run]:
        """The run of each subject, built one at a time because there may be many."""
        if not self.judging:
            return iter(self.each_run())
        judged = parse_judging_records(self.judging)
        return (structs.replace(run, judged=judged) for run in self.each_run())

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

    def metrics(self) -> dict[str, float]:
        """Return what trackers of experiments log: numbers by name, for W&B, MLflow and others.

        A number that is not known is left out. `gate/NAME` is 1 if the gate passed or only warns, 0
        if it failed, and left out if it is undecided.

        >>> from markscheme import score
        >>> result = score("tutor-capstone", "capstone", [{"item": "e-39-01", "output": "Ate."}])
        >>> result.metrics()["axis/correctness"], result.metrics()["missing"]
        (1.0, 59.0)
        """
        summary = self.summary
        values: dict[str, Fraction | int | None] = {"score": summary.score}
        values |= {f"axis/{axis}": mean for axis, mean in summary.axes.items()}
        values |= {name: getattr(summary, name) for name in ("n", "answers", "unscored", "errors")}
        values |= {"missing": len(summary.missing), "complete": int(summary.complete)}
        decided = {"pass": 1, "warn": 1, "fail": 0}
        if len(summary.subjects) == 1:
            values |= {f"gate/{g.gate.name}": decided.get(g.outcome.value) for g in self.gates}
        return {name: float(value) for name, value in values.items() if value is not None}

    def __repr__(self) -> str:
        summary = self.summary
        score = (
            "nothing scored" if summary.score is None else f"score {format_decimal(summary.score)}"
        )
        counts = {"missing": len(summary.missing), "unscored": summary.unscored}
        counts["bad rows"] = summary.errors
        gaps = "".join(f", {count} {name}" for name, count in counts.items() if count)
        where = f"{self.rubric.name} on {self.exam.name}"
        return f"Result({where}: {score}, {summary.n} of {summary.answers} answers{gaps})"

    def _repr_html_(self) -> str:
        """Return what notebooks show: the score, the gates, the axes and the worst items."""
        # Drawing belongs to `tell`, a layer above this one; only notebooks ask for it here.
        page: str = import_module("markscheme.tell.notebook").build_result_html(self)
        return page

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
        if self.unmarked:
            tail["unmarked"] = dict(self.unmarked)
        if self.judging:
            tail["judging"] = {axis: dict(record) for axis, record in self.judging.items()}
        if self.operations:
            tail["operational"] = [to_record(group) for group in self.operations]
        return tail

    def to_dict(self) -> dict[str, Any]:
        """Return the document that `markscheme score --format json` prints."""
        return {**self.head(), "items": list(iter_item_records(self.frame)), **self.tail()}


def build_rubric_record(rubric: Rubric) -> dict[str, Any]:
    """Return the name, version and fingerprint of the rubric that a result was scored under."""
    return to_record(rubric, ("name", "version", "fingerprint"))


def build_exam_record(exam: Exam) -> dict[str, Any]:
    """Return the name, fingerprint and size of the exam that a result answers."""
    return {"name": exam.name, "fingerprint": exam.fingerprint, "items": len(exam.items)}


def iter_item_records(frame: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the record of each answered or missing item; rows that were no answers are skipped.

    Only a row without a score has bounds.
    """
    has_bounds = frame["bounds"].null_count() < frame.height
    answers = frame if has_bounds else frame.drop("bounds")
    for row in answers.iter_rows(named=True):
        row.pop(MESSAGE_COLUMN, None)
        if has_bounds and row["bounds"] is None:
            del row["bounds"]
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
    return to_record(summary)
