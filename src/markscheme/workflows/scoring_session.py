"""Score answers chunk by chunk and merge the chunks into one run.

`ChunkScorer` scores a part of a file, or a batch, by itself; every engine runs it, in this process,
in a worker or in a Ray task. `ScoringSession` merges scored chunks in order, exactly as if one pass
had read all answers. Attempts are handled as ranges of consecutive numbers: a part of a file holds
one short range for each item, the whole file one long range, so what engines exchange stays small.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl
from msgspec import Struct, field, structs

from markscheme.mark import check_exam
from markscheme.mark.batch import BatchMarker, FrameBuilder, MarkSheet, build_mark_sheet
from markscheme.read.answers import (
    AnswerBatch,
    AttemptRanges,
    FilePart,
    KnownItems,
    SeenAttempts,
    create_template_reader,
    read_answers,
    read_part,
    read_rows,
)
from markscheme.read.marks import (
    NOTHING_GIVEN,
    AnswerKey,
    GivenMarks,
    attach_marks,
    count_unmarked,
    find_unanswered,
)
from markscheme.read.tables import ArrowTable, read_answers_in_memory
from markscheme.read.tool_files import is_tool_file
from markscheme.vocabulary import (
    Answer,
    Exam,
    FrozenDict,
    InputError,
    RowError,
    Rubric,
)
from markscheme.weigh.result import Result
from markscheme.weigh.totals import AnswerCounts, OperationsCollector, RunTally
from markscheme.workflows.scorer_options import PLAIN_SCORER, ScorerOptions

if TYPE_CHECKING:
    from markscheme.read.session_logs import LogFolder

Answers: TypeAlias = str | Path | ArrowTable | Iterable[Answer | Mapping[str, Any]]
AnswersCallback: TypeAlias = Callable[[pl.Series, pl.DataFrame], None]

MAX_ERRORS_KEPT = 10_000
MISSING_ROWS_PER_FRAME = 32_768
# A key packs (subject, item) and the attempt into one 64-bit integer; so many bits are the attempt.
_ATTEMPT_BITS = 40
_MAX_PAIRS = 1 << (62 - _ATTEMPT_BITS)


class ChunkBatch(Struct, frozen=True, kw_only=True):
    """One batch after marking: its answers, if it had any, and its rows that were no answers."""

    sheet: MarkSheet | None
    errors: list[RowError]

    @property
    def answers(self) -> int:
        """Number of answers."""
        return self.sheet.rows.height if self.sheet else 0


class ScoredChunk(Struct, kw_only=True):
    """Scored answers with their exact counts, and what is needed to merge them into a run.

    `part` is the part of a file that they come from and `attempts` the attempts in it. A chunk
    without a part was read in one pass with all others, which has found duplicates already.
    `marked` are the answers that people or judges marked.
    """

    part: FilePart | None = None
    batches: list[ChunkBatch] = field(default_factory=list)
    counts: AnswerCounts = field(default_factory=AnswerCounts)
    attempts: AttemptRanges = field(default_factory=list)
    lines: int = 0
    marked: set[AnswerKey] = field(default_factory=set)

    @property
    def answers(self) -> int:
        """Number of answers."""
        return sum(batch.answers for batch in self.batches)

    def pack(self) -> ScoredChunk:
        """Return a copy that is small to send to another process."""
        batches = [
            ChunkBatch(sheet=batch.sheet and batch.sheet.pack(), errors=batch.errors)
            for batch in self.batches
        ]
        return structs.replace(self, batches=batches)


class ChunkScorer:
    """Scores chunks of answers under one rubric and exam."""

    def __init__(self, rubric: Rubric, exam: Exam, options: ScorerOptions = PLAIN_SCORER) -> None:
        self._rubric = rubric
        self._options = options
        self._ids = [item.id for item in exam.items]
        self._known_items = KnownItems(self._ids)
        self._marker = BatchMarker(rubric, exam, messages=options.messages)
        self._line_templates = create_template_reader(self._known_items, self.fields)
        self._has_duplicates = False

    @property
    def fields(self) -> tuple[str, ...]:
        """The output fields that may be read as columns of text."""
        return self._marker.fields

    def score(self, part: FilePart, answered_before: AttemptRanges | None = None) -> ScoredChunk:
        """Score a part; attempts in `answered_before` become error rows, as duplicates."""
        # Looking up every answer is slow, so the first try only counts: fewer attempts than
        # answers means that the part holds duplicates. One such part makes others likely.
        if answered_before is None and not self._has_duplicates:
            chunk = self._score_part(part, None)
            if count_attempts(chunk.attempts) == chunk.answers:
                return chunk
            self._has_duplicates = True
        seen_attempts = SeenAttempts()
        seen_attempts.record_ranges(answered_before or [])
        return self._score_part(part, seen_attempts)

    def add_batch(self, chunk: ScoredChunk, batch: AnswerBatch) -> None:
        """Mark one batch and add it to a chunk."""
        sheet = None
        if self._options.marks:
            chunk.marked |= attach_marks(batch, self._options.marks)
        if batch.row_count > len(batch.errors):
            marked = self._marker.mark_batch(batch, outputs=self._options.outputs)
            chunk.counts.add_batch(marked)
            sheet = build_mark_sheet(self._rubric, marked)
        chunk.counts.errors += len(batch.errors)
        chunk.batches.append(ChunkBatch(sheet=sheet, errors=batch.errors))

    def _score_part(self, part: FilePart, seen_attempts: SeenAttempts | None) -> ScoredChunk:
        chunk = ScoredChunk(part=part)
        batches = read_part(
            part,
            known=self._known_items,
            seen_attempts=seen_attempts,
            template_reader=self._line_templates,
        )
        # The return value of the generator is the number of lines that it read.
        while True:
            try:
                self.add_batch(chunk, next(batches))
            except StopIteration as end:
                chunk.lines = int(end.value)
                break
        sheets = [batch.sheet.rows for batch in chunk.batches if batch.sheet]
        chunk.attempts = find_attempt_ranges(sheets, self._ids)
        return chunk


class ScoringSession:
    """Merges scored chunks into one run: rows frame by frame, and exact totals.

    Memory does not grow with the number of answers, except for the set of attempts seen. `keep` is
    called with the raw outputs and the rows of each batch of answers, before its frame is yielded;
    these rows have the hidden column of messages, each message once. With `messages` the frames
    have that column too, in every row. If some of the marks `given` by people or judges are about
    no answer, an error ends the frames.
    """

    def __init__(  # noqa: PLR0913 - one parameter for each thing that comes with the answers
        self,
        rubric: Rubric,
        exam: Exam,
        *,
        files: bool = False,
        logs: bool = False,
        keep: AnswersCallback | None = None,
        messages: bool = False,
        given: GivenMarks = NOTHING_GIVEN,
        judging: Mapping[str, Mapping[str, Any]] = FrozenDict(),
    ) -> None:
        check_exam(rubric, exam)
        self._keep = keep
        self.rubric = rubric
        self.exam = exam
        self.tally = RunTally(rubric, exam)
        self.errors: list[RowError] = []
        self.seen_attempts = SeenAttempts()
        self._given = given
        self._judging = judging
        self._marked: set[AnswerKey] = set()
        options = ScorerOptions(
            outputs=keep is not None,
            messages=messages or keep is not None,
            marks=given.by_answer,
        )
        self.scorer = ChunkScorer(rubric, exam, options)
        self.frame_builder = FrameBuilder(rubric, exam, files=files, logs=logs, messages=messages)
        self.operations = OperationsCollector(exam)
        self._current_path: Path | None = None
        self._lines_before = 0

    @property
    def schema(self) -> pl.Schema:
        """The columns of every frame."""
        return self.frame_builder.schema

    def score_answers(self, answers: Answers) -> Iterator[ScoredChunk]:
        """Score answers as they are read: a file, the standard input, or rows in memory."""
        return map(self.mark_batch, self.read_batches(answers, fields=self.scorer.fields))

    def score_logs(self, logs: LogFolder) -> Iterator[ScoredChunk]:
        """Score the final texts of session logs, and collect what was measured in them."""
        self.operations.add_answers(logs.answers)
        yield self.mark_batch(logs.to_batch())

    def mark_batch(self, batch: AnswerBatch) -> ScoredChunk:
        """Mark one batch as a chunk of its own."""
        chunk = ScoredChunk()
        self.scorer.add_batch(chunk, batch)
        return chunk

    def read_batches(
        self, answers: Answers, *, fields: Collection[str] = ()
    ) -> Iterator[AnswerBatch]:
        """Read answers to this exam; outputs with exactly these `fields` may come as columns."""
        items = [item.id for item in self.exam.items]
        if isinstance(answers, str | Path):
            if is_tool_file(answers):
                from markscheme.read.other_tools import place_answers, read_tool_answers

                rows = place_answers(read_tool_answers(answers), self.exam)
                return read_rows(rows, items=items)
            return read_answers(answers, items=items, fields=fields)
        return read_answers_in_memory(answers, items)

    def build_frames(self, chunks: Iterable[ScoredChunk]) -> Iterator[pl.DataFrame]:
        """Merge chunks; yield the rows of each, answers before errors, and missing items last."""
        for chunk in chunks:
            yield from self.build_chunk_frames(self.merge_chunk(chunk))
        self._check_marks()
        yield from self.build_missing_frames()

    def continue_after(self, path: Path, lines: int, answered_before: AttemptRanges) -> None:
        """Start in the middle of a file: after `lines` lines, with attempts answered before."""
        self._current_path, self._lines_before = path, lines
        self.seen_attempts.record_ranges(answered_before)

    def merge_chunk(self, chunk: ScoredChunk) -> ScoredChunk:
        """Merge the next chunk into the run; drop attempts that earlier chunks already answered.

        Returns the chunk as merged: scored again without those attempts, if it had any.
        """
        part = chunk.part
        if part is not None:
            duplicates = self.seen_attempts.find_seen(chunk.attempts)
            if duplicates:
                chunk = self.scorer.score(part, duplicates)
            self.seen_attempts.record_ranges(chunk.attempts)
            if part.path != self._current_path:
                self._current_path, self._lines_before = part.path, 0
        self.tally.counts.merge(chunk.counts)
        self._marked |= chunk.marked
        return chunk

    def _check_marks(self) -> None:
        """Raise `InputError` with the ratings that are about no answer."""
        if self._given.by_answer.keys() == self._marked:
            return
        subjects = {subject or "" for subject, _, _ in self.tally.counts.count_by_key()}
        raise InputError(find_unanswered(self._given, self._marked, subjects))

    def build_chunk_frames(self, chunk: ScoredChunk) -> Iterator[pl.DataFrame]:
        """Yield the rows of the chunk that was merged last."""
        file = None if chunk.part is None else chunk.part.file
        for batch in chunk.batches:
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
                    structs.replace(
                        error, line=error.line + self._lines_before, file=file or error.file
                    )
                    for error in batch.errors
                ]
                self.add_errors(errors)
                yield self.frame_builder.build_errors(errors)
        self._lines_before += chunk.lines

    def add_errors(self, errors: list[RowError]) -> None:
        """Keep the first errors of the run; the counts know how many there were."""
        self.errors.extend(errors[: MAX_ERRORS_KEPT - len(self.errors)])

    def build_missing_frames(self) -> Iterator[pl.DataFrame]:
        """Yield a row for each item that a subject did not answer."""
        missing = self.tally.iter_missing()
        while rows := list(islice(missing, MISSING_ROWS_PER_FRAME)):
            yield self.frame_builder.build_missing(rows)

    def build_result(self, frames: Iterable[pl.DataFrame] = ()) -> Result:
        """Return the totals of what was merged so far, with these rows."""
        rows = list(frames)
        return Result(
            rubric=self.rubric,
            exam=self.exam,
            summary=self.tally.build_summary(),
            frame=pl.concat(rows) if rows else pl.DataFrame(schema=self.schema),
            errors=tuple(self.errors),
            each_run=self.tally.iter_runs,
            operations=self.operations.build_groups(),
            unmarked=self._count_unmarked(),
            judging=self._judging,
        )

    def _count_unmarked(self) -> Mapping[str, int]:
        """Return how many marks of people or judges the answers lack, by axis."""
        answers: Counter[str] = Counter()
        for (_, at, _), count in self.tally.counts.count_by_key().items():
            answers[self.exam.items[at].id] += count
        given = (self._given.by_answer[answer] for answer in self._marked)
        return FrozenDict(count_unmarked(self.rubric, self.exam, answers, given))


def find_attempt_ranges(sheets: Sequence[pl.DataFrame], ids: Sequence[str]) -> AttemptRanges:
    """Return the attempts in the rows of sheets as ranges; `ids` are the items of the exam."""
    if not sheets:
        return []
    columns = ("subject", "item", "attempt")
    rows = pl.concat(
        [
            pl.DataFrame([sheet[name] for name in columns if name in sheet.columns])
            for sheet in sheets
        ],
        how="diagonal",
    )
    subjects: list[str | None] = [None]
    if "subject" in rows.columns:
        subjects = rows["subject"].unique().to_list()
    largest: int = rows["attempt"].max()  # type: ignore[assignment]
    if largest >> _ATTEMPT_BITS or len(subjects) * len(ids) > _MAX_PAIRS:
        return _list_single_attempts(rows, ids)
    pairs = rows["item"].cast(pl.Int64)
    if len(subjects) > 1:
        codes = rows["subject"].replace_strict(
            subjects, range(len(subjects)), return_dtype=pl.Int64
        )
        pairs = codes * len(ids) + pairs
    keys = (pairs * (1 << _ATTEMPT_BITS) + rows["attempt"]).sort()
    # A range ends where the next key is more than 1 away; the difference of a duplicate is 0.
    gaps = (keys[1:] - keys[:-1] > 1).arg_true()
    firsts, lasts = keys[:1].append(keys[1:][gaps]), keys[:-1][gaps].append(keys[-1:])
    ranges = (
        firsts // (1 << _ATTEMPT_BITS),
        firsts % (1 << _ATTEMPT_BITS),
        lasts % (1 << _ATTEMPT_BITS),
    )
    return [
        (subjects[pair // len(ids)], ids[pair % len(ids)], first, last)
        for pair, first, last in zip(*map(pl.Series.to_list, ranges), strict=True)
    ]


def _list_single_attempts(rows: pl.DataFrame, ids: Sequence[str]) -> AttemptRanges:
    """Return each attempt as a range of its own, for numbers too large to be packed."""
    if "subject" not in rows.columns:
        rows = rows.with_columns(pl.lit(None, pl.String).alias("subject"))
    distinct = rows.select("subject", "item", "attempt").unique(maintain_order=True)
    return [
        (subject, ids[item], attempt, attempt) for subject, item, attempt in distinct.iter_rows()
    ]


def merge_attempt_ranges(attempts: Iterable[tuple[str | None, str, int, int]]) -> AttemptRanges:
    """Join adjacent ranges, so that the same attempts take as few ranges as possible."""
    by_pair: dict[tuple[str | None, str], list[list[int]]] = {}
    for subject, item, first, last in sorted(attempts, key=lambda entry: entry[2]):
        ranges = by_pair.setdefault((subject, item), [])
        if ranges and ranges[-1][1] + 1 == first:
            ranges[-1][1] = last
        else:
            ranges.append([first, last])
    return [(*pair, first, last) for pair, ranges in by_pair.items() for first, last in ranges]


def count_attempts(attempts: AttemptRanges) -> int:
    """Return the number of attempts in ranges."""
    return sum(last + 1 - first for _, _, first, last in attempts)
