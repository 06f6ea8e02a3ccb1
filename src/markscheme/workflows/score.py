"""One run: scored stretches are put together in order, exactly as if one pass had read them all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from markscheme.mark import check_exam
from markscheme.mark.batch import FrameBuilder
from markscheme.read.answers import SeenAttempts, read_answers, read_rows
from markscheme.vocabulary import UsageError
from markscheme.weigh.result import Result
from markscheme.weigh.totals import OperationsCollector, RunTally
from markscheme.workflows.scored_chunk import ChunkScorer, ScoredChunk

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from markscheme.read.answers import AnswerBatch, AttemptRanges
    from markscheme.read.session_logs import LogFolder
    from markscheme.vocabulary import Answer, Exam, RowError, Rubric

    BatchSink = Callable[[pl.Series, pl.DataFrame], None]

MAX_ERRORS_KEPT = 10_000
MISSING_ROWS_PER_FRAME = 32_768


class ScoringSession:
    """The rows of a run, frame by frame, and its exact totals.

    Memory does not grow with the number of answers, but for the ledger of attempts. `keep` is
    given the outputs and the rows of the answers of every batch, with the hidden column of their
    messages, each message once. The frames have that column only with `messages`, which pages in
    another language need.
    """

    def __init__(
        self,
        rubric: Rubric,
        exam: Exam,
        *,
        files: bool = False,
        logs: bool = False,
        keep: BatchSink | None = None,
        messages: bool = False,
    ) -> None:
        check_exam(rubric, exam)
        self._keep = keep
        self.rubric = rubric
        self.exam = exam
        self.tally = RunTally(rubric, exam)
        self.errors: list[RowError] = []
        self.ledger = SeenAttempts()
        self.scorer = ChunkScorer(
            rubric, exam, outputs=keep is not None, messages=messages or keep is not None
        )
        self.frame_builder = FrameBuilder(rubric, exam, files=files, logs=logs, messages=messages)
        self.operations = OperationsCollector(exam)
        self._current_path: Path | None = None
        self._lines_before = 0

    @property
    def schema(self) -> pl.Schema:
        """The columns of every frame."""
        return self.frame_builder.schema

    def score_answers(
        self, answers: str | Path | pl.DataFrame | Iterable[Answer | Mapping[str, Any]]
    ) -> Iterator[ScoredChunk]:
        """Score answers as they are read: a file, the standard input, or rows in memory."""
        return map(self.mark_batch, self.read_batches(answers, fields=self.scorer.fields))

    def score_logs(self, logs: LogFolder) -> Iterator[ScoredChunk]:
        """Score answers from session logs, and measure what was done."""
        self.operations.add_answers(logs.answers)
        yield self.mark_batch(logs.to_batch())

    def mark_batch(self, batch: AnswerBatch) -> ScoredChunk:
        """Mark one batch as a stretch of its own."""
        stretch = ScoredChunk()
        self.scorer.add_batch(stretch, batch)
        return stretch

    def read_batches(
        self,
        answers: str | Path | pl.DataFrame | Iterable[Answer | Mapping[str, Any]],
        *,
        fields: Collection[str] = (),
    ) -> Iterator[AnswerBatch]:
        """Open answers to this exam; those with exactly these `fields` may come as columns."""
        items = [item.id for item in self.exam.items]
        if isinstance(answers, str | Path):
            return read_answers(answers, items=items, fields=fields)
        if isinstance(answers, pl.DataFrame):
            return read_rows(answers.iter_rows(named=True), items=items)
        given: object = answers
        if not isinstance(given, Iterable) or isinstance(given, dict | bytes):
            raise UsageError("the answers must be a file's path, a polars frame, or a list of rows")
        return read_rows(answers, items=items)

    def build_frames(self, stretches: Iterable[ScoredChunk]) -> Iterator[pl.DataFrame]:
        """Yield the rows of each batch, the bad ones after the answers; last the missing items."""
        for stretch in stretches:
            yield from self.build_chunk_frames(self.merge_chunk(stretch))
        yield from self.build_missing_frames()

    def continue_after(self, path: Path, lines: int, struck: AttemptRanges) -> None:
        """Begin in the middle of a file: after so many lines, with attempts answered before."""
        self._current_path, self._lines_before = path, lines
        self.ledger.record_ranges(struck)

    def merge_chunk(self, stretch: ScoredChunk) -> ScoredChunk:
        """Put the next stretch to those before it, and return it as it then is.

        Where it holds attempts that were answered before, it is scored again without them.
        """
        part = stretch.part
        if part is not None:
            known = self.ledger.find_seen(stretch.attempts)
            if known:
                stretch = self.scorer.score(part, known)
            self.ledger.record_ranges(stretch.attempts)
            if part.path != self._current_path:
                self._current_path, self._lines_before = part.path, 0
        self.tally.counts.merge(stretch.counts)
        return stretch

    def build_chunk_frames(self, stretch: ScoredChunk) -> Iterator[pl.DataFrame]:
        """Yield the rows of the stretch that was placed last."""
        file = None if stretch.part is None else stretch.part.file
        for batch in stretch.batches:
            if batch.sheet:
                frame = self.frame_builder.build_answers(
                    batch.sheet, before=self._lines_before, file=file
                )
                if self._keep:
                    messages = self.frame_builder.build_messages(batch.sheet, once=True)
                    self._keep(batch.sheet.rows["output"], frame.with_columns(messages))
                yield frame
            if batch.errors:
                errors = [
                    replace(error, line=error.line + self._lines_before, file=file or error.file)
                    for error in batch.errors
                ]
                self.add_errors(errors)
                yield self.frame_builder.build_errors(errors)
        self._lines_before += stretch.lines

    def add_errors(self, errors: list[RowError]) -> None:
        """Keep the first errors of the run."""
        self.errors.extend(errors[: MAX_ERRORS_KEPT - len(self.errors)])

    def build_missing_frames(self) -> Iterator[pl.DataFrame]:
        """Yield a row for each item that a subject did not answer."""
        absent = self.tally.iter_missing()
        while some := list(islice(absent, MISSING_ROWS_PER_FRAME)):
            yield self.frame_builder.build_missing(some)

    def build_result(self, frames: Iterable[pl.DataFrame] = ()) -> Result:
        """Return the run as it stands, with the given rows of it."""
        kept = list(frames)
        frame = pl.concat(kept) if kept else pl.DataFrame(schema=self.schema)
        return Result(
            rubric=self.rubric,
            exam=self.exam,
            summary=self.tally.build_summary(),
            frame=frame,
            errors=tuple(self.errors),
            each_run=self.tally.iter_runs,
            operations=self.operations.build_groups(),
        )
