"""Scoring a stretch of answers: the one function that every engine runs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from markscheme.mark.batch import BatchMarker, MarkSheet, build_mark_sheet
from markscheme.read.answers import (
    AttemptRanges,
    FilePart,
    KnownItems,
    SeenAttempts,
    create_template_reader,
    read_part,
)
from markscheme.vocabulary import RowError
from markscheme.weigh.totals import AnswerCounts
from markscheme.workflows.attempt_ranges import count_attempts, find_attempt_ranges

if TYPE_CHECKING:
    from collections.abc import Generator

    from markscheme.read.answers import AnswerBatch
    from markscheme.vocabulary import Exam, Rubric


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkBatch:
    """The answers of one batch after marking, if it had any, and the rows that were none."""

    sheet: MarkSheet | None
    errors: list[RowError]

    @property
    def answers(self) -> int:
        """How many answers it has."""
        return self.sheet.rows.height if self.sheet else 0


@dataclass(slots=True, kw_only=True)
class ScoredChunk:
    """A scored stretch: its rows, its exact counts, and what it takes to put it among others.

    `attempts` are the attempts that it holds; a stretch that no `part` stands for was read in one
    pass with all others, in which repeats were already found.
    """

    part: FilePart | None = None
    batches: list[ChunkBatch] = field(default_factory=list)
    counts: AnswerCounts = field(default_factory=AnswerCounts)
    attempts: AttemptRanges = field(default_factory=list)
    lines: int = 0

    @property
    def answers(self) -> int:
        """How many answers it has."""
        return sum(batch.answers for batch in self.batches)

    def pack(self) -> ScoredChunk:
        """Return the same, as small as it can be sent."""
        batches = [
            ChunkBatch(sheet=batch.sheet and batch.sheet.pack(), errors=batch.errors)
            for batch in self.batches
        ]
        return replace(self, batches=batches)


class ChunkScorer:
    """Scores stretches under one rubric and exam, one after the other.

    With `outputs`, the outputs stay with the rows; with `messages`, the messages of the reasons.
    """

    def __init__(
        self, rubric: Rubric, exam: Exam, *, outputs: bool = False, messages: bool = False
    ) -> None:
        self._rubric = rubric
        self._outputs = outputs
        self._ids = [item.id for item in exam.items]
        self._known_items = KnownItems(self._ids)
        self._marker = BatchMarker(rubric, exam, messages=messages)
        self._line_templates = create_template_reader(self._known_items, self.fields)
        self._has_repeats = False

    def score(self, part: FilePart, answered_before: AttemptRanges | None = None) -> ScoredChunk:
        """Score a part by itself; attempts that are `struck` were answered before it.

        Looking for repeats answer by answer takes time, so that is done where there are any.
        """
        if answered_before is None and not self._has_repeats:
            stretch = self._score_part(part, None)
            stretch.attempts = self._find_attempts(stretch)
            if count_attempts(stretch.attempts) == stretch.answers:
                return stretch
            self._has_repeats = True
        ledger = SeenAttempts()
        ledger.record_ranges(answered_before or [])
        stretch = self._score_part(part, ledger)
        stretch.attempts = self._find_attempts(stretch)
        return stretch

    def add_batch(self, stretch: ScoredChunk, batch: AnswerBatch) -> None:
        """Mark one batch, and add it to a stretch."""
        sheet = None
        if batch.row_count > len(batch.errors):
            marked = self._marker.mark_batch(batch, outputs=self._outputs)
            stretch.counts.add_batch(marked)
            sheet = build_mark_sheet(self._rubric, marked)
        stretch.counts.errors += len(batch.errors)
        stretch.batches.append(ChunkBatch(sheet=sheet, errors=batch.errors))

    def _score_part(self, part: FilePart, ledger: SeenAttempts | None) -> ScoredChunk:
        stretch = ScoredChunk(part=part)
        stretch.lines = self._add_batches(stretch, self._read_part(part, ledger))
        return stretch

    def _read_part(
        self, part: FilePart, ledger: SeenAttempts | None
    ) -> Generator[AnswerBatch, None, int]:
        return read_part(
            part,
            known=self._known_items,
            seen_attempts=ledger,
            template_reader=self._line_templates,
        )

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of outputs that may come as columns of text."""
        return self._marker.fields

    def _add_batches(self, stretch: ScoredChunk, batches: Generator[AnswerBatch, None, int]) -> int:
        while True:
            try:
                self.add_batch(stretch, next(batches))
            except StopIteration as end:
                return int(end.value)

    def _find_attempts(self, stretch: ScoredChunk) -> AttemptRanges:
        sheets = [batch.sheet.rows for batch in stretch.batches if batch.sheet]
        return find_attempt_ranges(sheets, self._ids)
