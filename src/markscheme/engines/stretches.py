"""Scoring a stretch of answers: the one function that every engine runs."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING

from markscheme.engines.attempts import attempts_of, how_many
from markscheme.mark.columns import Marker
from markscheme.mark.sheets import Sheet, sheet_of
from markscheme.read.answers import Attempts, KnownItems, Ledger, Part, alike_lines, read_part
from markscheme.values import dataclass
from markscheme.vocabulary import RowError
from markscheme.weigh.aggregate import Counts

if TYPE_CHECKING:
    from collections.abc import Generator

    from markscheme.read.answers import AnswerBatch
    from markscheme.vocabulary import Exam, Rubric


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """The answers of one batch after marking, if it had any, and the rows that were none."""

    sheet: Sheet | None
    errors: list[RowError]

    @property
    def answers(self) -> int:
        """How many answers it has."""
        return self.sheet.rows.height if self.sheet else 0


@dataclass(slots=True, kw_only=True)
class Stretch:
    """A scored stretch: its rows, its exact counts, and what it takes to put it among others.

    `attempts` are the attempts that it holds; a stretch that no `part` stands for was read in one
    pass with all others, in which repeats were already found.
    """

    part: Part | None = None
    batches: list[Batch] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)
    attempts: Attempts = field(default_factory=list)
    lines: int = 0

    @property
    def answers(self) -> int:
        """How many answers it has."""
        return sum(batch.answers for batch in self.batches)

    def packed(self) -> Stretch:
        """Return the same, as small as it can be sent."""
        batches = [
            Batch(sheet=batch.sheet and batch.sheet.packed(), errors=batch.errors)
            for batch in self.batches
        ]
        return replace(self, batches=batches)


class Scorer:
    """Scores stretches under one rubric and exam, one after the other.

    With `outputs`, the outputs stay with the rows.
    """

    def __init__(self, rubric: Rubric, exam: Exam, *, outputs: bool = False) -> None:
        self._rubric = rubric
        self._outputs = outputs
        self._ids = [item.id for item in exam.items]
        self._known = KnownItems(self._ids)
        self._marker = Marker(rubric, exam)
        self._alike = alike_lines(self._known, self.fields)
        self._repeats = False

    def score(self, part: Part, struck: Attempts | None = None) -> Stretch:
        """Score a part by itself; attempts that are `struck` were answered before it.

        Looking for repeats answer by answer takes time, so that is done where there are any.
        """
        if struck is None and not self._repeats:
            stretch = self._stretch(part, None)
            stretch.attempts = self._attempts(stretch)
            if how_many(stretch.attempts) == stretch.answers:
                return stretch
            self._repeats = True
        ledger = Ledger()
        ledger.enter(struck or [])
        stretch = self._stretch(part, ledger)
        stretch.attempts = self._attempts(stretch)
        return stretch

    def add(self, stretch: Stretch, batch: AnswerBatch) -> None:
        """Mark one batch, and add it to a stretch."""
        sheet = None
        if batch.rows > len(batch.errors):
            marked = self._marker.mark(batch, outputs=self._outputs)
            stretch.counts.add(marked)
            sheet = sheet_of(self._rubric, marked)
        stretch.counts.errors += len(batch.errors)
        stretch.batches.append(Batch(sheet=sheet, errors=batch.errors))

    def _stretch(self, part: Part, ledger: Ledger | None) -> Stretch:
        stretch = Stretch(part=part)
        stretch.lines = self._add_all(stretch, self._read(part, ledger))
        return stretch

    def _read(self, part: Part, ledger: Ledger | None) -> Generator[AnswerBatch, None, int]:
        return read_part(part, known=self._known, ledger=ledger, alike=self._alike)

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of outputs that may come as columns of text."""
        return self._marker.fields

    def _add_all(self, stretch: Stretch, batches: Generator[AnswerBatch, None, int]) -> int:
        while True:
            try:
                self.add(stretch, next(batches))
            except StopIteration as end:
                return int(end.value)

    def _attempts(self, stretch: Stretch) -> Attempts:
        sheets = [batch.sheet.rows for batch in stretch.batches if batch.sheet]
        return attempts_of(sheets, self._ids)
