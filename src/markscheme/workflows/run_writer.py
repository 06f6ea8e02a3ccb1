"""Write runs to the store: open a run before its first answer, append chunks, finish it.

A run is in the store from its beginning, so that a run that breaks off is visible as open, and each
batch is on disk before its rows go anywhere else, so that a killed run loses nothing it reported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markscheme import __version__
from markscheme.keep import AnswerSource, NewRun, Store
from markscheme.vocabulary import (
    MESSAGE_COLUMN,
    Exam,
    Rubric,
    Summary,
    UsageError,
    format_ratio,
    to_float,
    to_plain,
)
from markscheme.workflows.stored_runs import (
    build_exam_document,
    build_message_records,
    build_rubric_document,
    fill_messages,
    thin_messages,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import polars as pl

    from markscheme.weigh.result import Result
    from markscheme.weigh.totals import Run


ANSWER_COLUMNS = (
    "item",
    "output",
    "subject",
    "attempt",
    "latency_ms",
    "tokens_in",
    "tokens_out",
    "cost",
    "line",
)
# Cells without weights: recalibration reads them under new weights.
CELL_COLUMNS = ("got", "breakdown", "reading", "reason", "near_miss", MESSAGE_COLUMN)
# Only of rubrics whose cells are more than values.
OPTIONAL_CELL_COLUMNS = ("cell_status", "cell_bounds", "marks")
_MAX_RUNS_NAMED = 10


class RunWriter:
    """Creates the run of each subject, once, with the rubric and the exam that they share.

    `source` returns, for a subject, where its answers come from. A run gets its tag when it is
    created: if it breaks off, the tag does not name an older run. A tag names one run, so with a
    second subject it names none.
    """

    def __init__(
        self,
        store: Store,
        rubric: Rubric,
        exam: Exam,
        *,
        source: Callable[[str | None], str | None],
        seed: int | None = None,
        tag: str | None = None,
    ) -> None:
        self.rubric = rubric
        self.exam = exam
        self.store = store
        self._source = source
        self._seed = seed
        self.tag = tag
        self._document_ids: tuple[str, str] | None = None
        self._run_ids: dict[str | None, str] = {}

    def open_run(self, subject: str | None) -> str:
        """Return the id of the run of a subject; create the run at the first call."""
        if subject not in self._run_ids:
            with self.store.transaction():
                run = self.store.begin_run(self._build_new_run(subject))
                if self.tag is not None and self._run_ids:
                    self.store.claim_tag(self.tag)
                elif self.tag is not None:
                    self.store.tag_run(run, self.tag)
            self._run_ids[subject] = run
        return self._run_ids[subject]

    def _build_new_run(self, subject: str | None) -> NewRun:
        if self._document_ids is None:
            documents = (build_rubric_document(self.rubric), build_exam_document(self.exam))
            rubric, exam = map(self.store.save_document, documents)
            self._document_ids = (rubric, exam)
        rubric, exam = self._document_ids
        source = self._source(subject)
        return NewRun(
            subject=subject,
            rubric=rubric,
            exam=exam,
            axis_versions={spec.name: spec.axis.version for spec in self.rubric},
            tool_version=__version__,
            source=None if source is None else AnswerSource(name=source, digest=None),
            seed=self._seed,
        )


class RunRecorder:
    """Stores the answers of each subject as a run of its own."""

    def __init__(self, run_writer: RunWriter) -> None:
        self._store = run_writer.store
        self._run_writer = run_writer

    def store_batch(self, outputs: pl.Series, frame: pl.DataFrame) -> None:
        """Store the answers of one batch and their cells; they are on disk when this returns.

        The hidden column of the frame holds each message once, as `thin_messages` leaves it.
        """
        with self._store.transaction():
            rows = frame.with_columns(outputs.alias("output"))
            parts = rows.partition_by("subject", maintain_order=True)
            if len(parts) > 1:  # each part needs the messages that stand once in the batch
                filled = fill_messages(rows).partition_by("subject", maintain_order=True)
                parts = [thin_messages(part) for part in filled]
            details = [name for name in OPTIONAL_CELL_COLUMNS if name in rows.columns]
            for part in parts:
                run = self._run_writer.open_run(part["subject"][0])
                self._store.append_chunk(
                    run, part.select(ANSWER_COLUMNS), part.select(*CELL_COLUMNS, *details)
                )

    def finish_runs(self, result: Result, more: Mapping[str, Any] | None = None) -> list[str]:
        """Finish every run with its totals and `more` about it; return the ids.

        A tag names one run, so it is refused if the answers are of several subjects.
        """
        # Late: these load polars, and a live run is opened before it needs it.
        from markscheme.weigh.result import build_error_record, build_summary_record
        from markscheme.weigh.totals import build_variant_records

        runs: list[str] = []
        errors = [build_error_record(error) for error in result.errors]
        with self._store.transaction():
            for run in result.runs:
                summary = self._summarise_run(result, run)
                record = {**build_summary_record(summary), "bad_rows": errors, **(more or {})}
                record["messages"] = build_message_records(result.errors, more or {})
                if result.unmarked:
                    record["unmarked"] = dict(result.unmarked)
                if result.judging:
                    record["judging"] = {axis: dict(how) for axis, how in result.judging.items()}
                if result.operations:
                    record["operational"] = build_variant_records(result.operations, run.subject)
                runs.append(self._run_writer.open_run(run.subject))
                self._store.finish_run(
                    runs[-1],
                    counts=build_counts(summary),
                    summary=record,
                    measures=run.measures.to_dict(),
                    marks=run.marks.to_dict(),
                )
        if self._run_writer.tag is not None and len(runs) != 1:
            subjects = f"a tag names one run; the answers are of {len(runs):,} subjects"
            if runs:
                others = ", …" if len(runs) > _MAX_RUNS_NAMED else ""
                named = ", ".join(runs[:_MAX_RUNS_NAMED]) + others
                subjects += f"; their runs are stored without it: {named}"
            raise UsageError(subjects)
        return runs

    def _summarise_run(self, result: Result, run: Run) -> Summary:
        """Return the totals of one run; those of the result if it is the only one."""
        if [totals.subject for totals in result.summary.subjects] == [run.subject]:
            return result.summary
        from markscheme.weigh.totals import summarise_marks

        rubric, exam = self._run_writer.rubric, self._run_writer.exam
        return summarise_marks(rubric, exam, run.marks, [(run.subject, run.marks)])


def build_counts(summary: Summary) -> dict[str, Any]:
    """Return the numbers that the list of runs shows."""
    return {
        "score": to_float(summary.score),
        "exact": format_ratio(summary.score),
        **({} if summary.bounds is None else {"bounds": to_plain(summary.bounds)}),
        "n": summary.n,
        "answers": summary.answers,
        "items": summary.items,
        "missing": len(summary.missing),
        "errors": summary.errors,
        "complete": summary.complete,
    }
