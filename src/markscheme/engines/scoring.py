"""One run: scored stretches are put together in order, exactly as if one pass had read them all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from markscheme.engines.stretches import Scorer, Stretch
from markscheme.errors import UsageError
from markscheme.mark.frames import Frames
from markscheme.mark.scoring import check_exam
from markscheme.read.answers import Ledger, read_answers, read_rows
from markscheme.weigh.aggregate import Tally
from markscheme.weigh.operations import Operations
from markscheme.weigh.results import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from markscheme.read.answers import AnswerBatch, Attempts
    from markscheme.read.logs import Logs
    from markscheme.vocabulary import Answer, Exam, RowError, Rubric

    Keep = Callable[[pl.Series, pl.DataFrame], None]

ERRORS_KEPT = 10_000
ROWS_AT_ONCE = 32_768


class Scoring:
    """The rows of a run, frame by frame, and its exact totals.

    Memory does not grow with the number of answers, but for the ledger of attempts. `keep` is
    given the outputs and the rows of the answers of every batch.
    """

    def __init__(
        self,
        rubric: Rubric,
        exam: Exam,
        *,
        files: bool = False,
        logs: bool = False,
        keep: Keep | None = None,
    ) -> None:
        check_exam(rubric, exam)
        self._keep = keep
        self.rubric = rubric
        self.exam = exam
        self.tally = Tally(rubric, exam)
        self.errors: list[RowError] = []
        self.ledger = Ledger()
        self.scorer = Scorer(rubric, exam, outputs=keep is not None)
        self.rows = Frames(rubric, exam, files=files, logs=logs)
        self.operations = Operations(exam)
        self._path: Path | None = None
        self._before = 0

    @property
    def schema(self) -> pl.Schema:
        """The columns of every frame."""
        return self.rows.schema

    def streamed(
        self, answers: str | Path | pl.DataFrame | Iterable[Answer | Mapping[str, Any]]
    ) -> Iterator[Stretch]:
        """Score answers as they are read: a file, the standard input, or rows in memory."""
        return map(self.marked, self.batches(answers, fields=self.scorer.fields))

    def logged(self, logs: Logs) -> Iterator[Stretch]:
        """Score answers from session logs, and measure what was done."""
        self.operations.add(logs.answers)
        yield self.marked(logs.batch())

    def marked(self, batch: AnswerBatch) -> Stretch:
        """Mark one batch as a stretch of its own."""
        stretch = Stretch()
        self.scorer.add(stretch, batch)
        return stretch

    def batches(
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

    def frames(self, stretches: Iterable[Stretch]) -> Iterator[pl.DataFrame]:
        """Yield the rows of each batch, the bad ones after the answers; last the missing items."""
        for stretch in stretches:
            yield from self.written_out(self.placed(stretch))
        yield from self.missing()

    def continue_after(self, path: Path, lines: int, struck: Attempts) -> None:
        """Begin in the middle of a file: after so many lines, with attempts answered before."""
        self._path, self._before = path, lines
        self.ledger.enter(struck)

    def placed(self, stretch: Stretch) -> Stretch:
        """Put the next stretch to those before it, and return it as it then is.

        Where it holds attempts that were answered before, it is scored again without them.
        """
        part = stretch.part
        if part is not None:
            known = self.ledger.known(stretch.attempts)
            if known:
                stretch = self.scorer.score(part, known)
            self.ledger.enter(stretch.attempts)
            if part.path != self._path:
                self._path, self._before = part.path, 0
        self.tally.counts.merge(stretch.counts)
        return stretch

    def written_out(self, stretch: Stretch) -> Iterator[pl.DataFrame]:
        """Yield the rows of the stretch that was placed last."""
        file = None if stretch.part is None else stretch.part.file
        for batch in stretch.batches:
            if batch.sheet:
                frame = self.rows.answered(batch.sheet, before=self._before, file=file)
                if self._keep:
                    self._keep(batch.sheet.rows["output"], frame)
                yield frame
            if batch.errors:
                errors = [
                    replace(error, line=error.line + self._before, file=file or error.file)
                    for error in batch.errors
                ]
                self.keep_errors(errors)
                yield self.rows.errors(errors)
        self._before += stretch.lines

    def keep_errors(self, errors: list[RowError]) -> None:
        """Keep the first errors of the run."""
        self.errors.extend(errors[: ERRORS_KEPT - len(self.errors)])

    def missing(self) -> Iterator[pl.DataFrame]:
        """Yield a row for each item that a subject did not answer."""
        absent = self.tally.missing()
        while some := list(islice(absent, ROWS_AT_ONCE)):
            yield self.rows.missing(some)

    def result(self, frames: Iterable[pl.DataFrame] = ()) -> Result:
        """Return the run as it stands, with the given rows of it."""
        kept = list(frames)
        frame = pl.concat(kept) if kept else pl.DataFrame(schema=self.schema)
        return Result(
            rubric=self.rubric,
            exam=self.exam,
            summary=self.tally.summary(),
            frame=frame,
            errors=tuple(self.errors),
            each_run=self.tally.runs,
            operations=self.operations.groups(),
        )
