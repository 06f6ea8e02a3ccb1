"""The run of one live subject: marks its replies as they come, then builds and stores the run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from typing import Any

import polars as pl
from msgspec import structs

from markscheme.ask.questions import Question
from markscheme.ask.replies import Fault
from markscheme.ask.runner import AskedQuestion
from markscheme.mark.batch import ERROR
from markscheme.read.answers import AnswerBatch, read_rows
from markscheme.vocabulary import MESSAGE_COLUMN, RowError, sentence
from markscheme.weigh.live import LiveRunSummary, RunningScore, compute_running_score
from markscheme.weigh.result import Result
from markscheme.workflows.live_session import LiveSessionResult
from markscheme.workflows.run_plan import RunPlan
from markscheme.workflows.run_writer import RunRecorder, RunWriter
from markscheme.workflows.scoring_session import ScoredChunk, ScoringSession
from markscheme.workflows.stored_runs import fill_messages, thin_messages

# A stored chunk holds at most so many rows, and about so many bytes of answers: it is read whole.
_CHUNK_ROWS, _CHUNK_BYTES = 20_000, 2**26
_NOT_ASKED_RECORD: Mapping[str, Any] = {
    "order": None,
    "tries": 0,
    "finish_reason": None,
    "first_token_ms": None,
    "cached": False,
    "error": None,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveRun:
    """The run of one subject: its result, how the asking went, and its id if it is stored."""

    result: Result
    live: LiveRunSummary
    id: str | None

    def to_dict(self) -> dict[str, Any]:
        """Return the document of `markscheme score`, plus how each answer was asked for."""
        document = self.result.to_dict()
        asked_by_attempt = self._asked_by_attempt
        for row in document["items"]:
            # A row of a missing item has no attempt; its error is that of the first attempt.
            asked = asked_by_attempt.get((row["item"], row["attempt"] or 1))
            row["asked"] = None if asked is None else build_asked_record(asked)
        live = {**self.live.to_dict(), "unanswered": self._list_unanswered(asked_by_attempt)}
        return {**document, "live": live, "run": self.id}

    def build_answer_records(self) -> Iterator[dict[str, Any]]:
        """Yield each question as a row of an answers file; one that was not asked is an error."""
        yield from map(build_answer_record, self.live.asked)
        for row in self._list_unanswered(self._asked_by_attempt):
            if not row["tries"] and row["error"] is None:
                yield {
                    "item": row["item"],
                    "subject": self.live.subject,
                    "attempt": row["attempt"],
                    "tries": 0,
                    "error": {"kind": Fault.FAILED.value, "why": "it was not asked"},
                }

    @property
    def _asked_by_attempt(self) -> dict[tuple[str, int], AskedQuestion]:
        return {
            (asked.scheduled.question.item, asked.scheduled.question.attempt): asked
            for asked in self.live.asked
        }

    def _list_unanswered(
        self, asked_by_attempt: Mapping[tuple[str, int], AskedQuestion]
    ) -> list[dict[str, Any]]:
        """Return each question that has no answer; one that was not asked has no error either."""
        items = [item.id for item in self.result.exam.items]
        rows = []
        for attempt in range(1, self.live.questions // len(items) + 1):
            for item in items:
                asked = asked_by_attempt.get((item, attempt))
                if asked is None or asked.reply.text is None:
                    record = build_asked_record(asked) if asked else _NOT_ASKED_RECORD
                    rows.append({"item": item, "attempt": attempt, **record})
        return rows


def build_asked_record(asked: AskedQuestion) -> dict[str, Any]:
    """Return how a question was asked, and how it ended."""
    reply = asked.reply
    first = reply.first_token_us
    error = None if reply.fault is None else {"kind": reply.fault.value, "why": reply.why}
    return {
        "order": asked.scheduled.order,
        "tries": asked.tries,
        "finish_reason": reply.finish_reason,
        "first_token_ms": None if first is None else first / 1000,
        "cached": reply.cached,
        "error": error,
    }


def build_answer_record(asked: AskedQuestion) -> dict[str, Any]:
    """Return a reply as a row of an answers file, which `score` and `replay:` read."""
    row = build_answer_row(asked) | build_asked_record(asked) | {"served": asked.reply.served}
    return {name: value for name, value in row.items() if value is not None and value is not False}


def build_answer_row(asked: AskedQuestion) -> dict[str, Any]:
    """Return the part of a reply that is scored and measured."""
    reply, question = asked.reply, asked.scheduled.question
    row = {
        "item": question.item,
        "subject": asked.scheduled.subject,
        "attempt": question.attempt,
        "output": reply.text,
        "latency_ms": None if reply.latency_us is None else reply.latency_us / 1000,
        "tokens_in": reply.tokens_in,
        "tokens_out": reply.tokens_out,
        "cost": None if reply.cost is None else float(reply.cost),
    }
    return {name: value for name, value in row.items() if value is not None}


def _get_log_key(asked: AskedQuestion) -> str | None:
    """Return the key of an answer that comes with a log, so that it is marked alone."""
    return None if asked.reply.transcript is None else asked.scheduled.key


class SubjectMarker:
    """Marks the replies of one subject in any order, then puts them in the order of the exam.

    No answer is stored with its run before the end: until then the journal holds every reply.
    """

    def __init__(
        self, plan: RunPlan, subject: str, run_writer: RunWriter | None, *, messages: bool = False
    ) -> None:
        self._plan = plan
        self._subject = subject
        self._item_positions = {item.id: at for at, item in enumerate(plan.exam.items)}
        self._answered: list[AskedQuestion] = []
        self._faults: list[AskedQuestion] = []
        self._outputs: list[pl.Series] = []
        self._reasons: list[pl.DataFrame] = []
        self._answer_frames: list[pl.DataFrame] = []
        self._error_frames: list[pl.DataFrame] = []
        self._recorder = RunRecorder(run_writer) if run_writer else None
        keep = self._collect_outputs if self._recorder else None
        self._scoring = ScoringSession(plan.rubric, plan.exam, keep=keep, messages=messages)

    def _collect_outputs(self, outputs: pl.Series, frame: pl.DataFrame) -> None:
        self._outputs.append(outputs)
        self._reasons.append(frame.select("reason", MESSAGE_COLUMN))

    def mark_replies(self, replies: Sequence[AskedQuestion]) -> None:
        """Mark the answers among these replies."""
        answers = [asked for asked in replies if asked.reply.text is not None]
        self._answered += answers
        self._faults += [asked for asked in replies if asked.reply.text is None]
        chunk = ScoredChunk(lines=len(answers))
        for batch in self._read_batches(answers):
            self._scoring.scorer.add_batch(chunk, batch)
        for frame in self._scoring.build_chunk_frames(self._scoring.merge_chunk(chunk)):
            is_error = frame["status"][0] == ERROR
            (self._error_frames if is_error else self._answer_frames).append(frame)

    def _read_batches(self, answers: Sequence[AskedQuestion]) -> Iterator[AnswerBatch]:
        """Yield the answers in columns; one with a transcript is a batch of its own."""
        for _, group in groupby(answers, key=_get_log_key):
            asked = list(group)
            for batch in read_rows(map(build_answer_row, asked), items=self._item_positions):
                transcript = asked[0].reply.transcript
                if transcript is not None and batch.outputs:
                    batch.transcripts.append(transcript)
                yield batch

    def compute_running_score(self) -> RunningScore:
        """Return the mean of what is marked so far."""
        return compute_running_score(self._scoring.tally)

    def finish_run(self, session: LiveSessionResult) -> LiveRun:
        """Put what was marked in order, sum it up, and store it."""
        sittings = session.sittings.items()
        live = LiveRunSummary(
            subject=self._subject,
            alias_of=self._plan.find_alias_target(self._subject),
            sitting=session.sittings[self._subject],
            seed=self._plan.seed,
            asked=tuple(session.get_replies(self._subject)),
            questions=sum(ask.subject == self._subject for ask in session.asks),
            stopped=session.stopped[self._subject],
            beside=tuple(
                sitting for name, sitting in sittings if sitting and name != self._subject
            ),
        )
        errors = AnswerBatch(errors=list(self._collect_row_errors(session)))
        frames = chain(
            self._sort_frames(), self._scoring.build_frames([self._scoring.mark_batch(errors)])
        )
        result = self._scoring.build_result(frames)
        # The run has the subject's name, also where it answered nothing.
        runs = [
            structs.replace(run, name=self._subject, subject=self._subject) for run in result.runs
        ]
        result = replace(result, each_run=lambda: runs)
        ids = self._recorder.finish_runs(result, {"live": live.to_dict()}) if self._recorder else []
        return LiveRun(result=result, live=live, id=ids[0] if ids else None)

    def _sort_frames(self) -> Iterator[pl.DataFrame]:
        """Yield the answers in the order of the exam, then the rows that cannot be answers."""
        order = sorted(
            range(len(self._answered)), key=lambda at: self._get_position(self._answered[at])
        )
        # Maps the line that a reply had when it was marked to its line in the order of the exam.
        lines = pl.Series(order, dtype=pl.UInt32).arg_sort().cast(pl.Int64) + 1
        errors = [
            structs.replace(error, line=lines[error.line - 1]) for error in self._scoring.errors
        ]
        self._scoring.errors = sorted(errors, key=lambda error: error.line)
        for frames in filter(None, (self._answer_frames, self._error_frames)):
            rows = pl.concat(frames)
            rows = rows.with_columns(lines.gather(rows["line"] - 1).alias("line"))
            sorting = rows["line"].arg_sort()
            rows = rows[sorting]
            if frames is self._answer_frames:
                self._store_answers(rows, sorting)
            yield rows

    def _store_answers(self, rows: pl.DataFrame, sorting: pl.Series) -> None:
        if self._recorder is not None:
            outputs = pl.concat(self._outputs).gather(sorting)
            # Each batch holds a message once; the chunks of the sorted rows cut across batches.
            messages = [fill_messages(reasons)[MESSAGE_COLUMN] for reasons in self._reasons]
            rows = rows.with_columns(pl.concat(messages).gather(sorting))
            for start, length in _split_chunks(outputs):
                chunk = thin_messages(rows.slice(start, length))
                self._recorder.store_batch(outputs.slice(start, length), chunk)

    def _collect_row_errors(self, session: LiveSessionResult) -> Iterator[RowError]:
        """Yield an error for each question without an answer.

        An attempt that was not asked is an error only where another attempt answered its item:
        the item is not missing then, and the run is incomplete all the same.
        """
        faults = sorted(self._faults, key=self._get_position)
        reasons = [(asked.scheduled.question, _format_fault(asked)) for asked in faults]
        answered = {asked.scheduled.question.item for asked in self._answered}
        for ask in session.asks:
            is_unasked = ask.subject == self._subject and ask.key not in session.asked
            if is_unasked and ask.question.item in answered:
                reasons.append((ask.question, sentence("not asked")))
        for line, (question, why) in enumerate(reasons, start=1):
            yield _build_row_error(line, question, why)

    def _get_position(self, asked: AskedQuestion) -> tuple[int, int]:
        """Return the sort key of a reply in its run: attempt by attempt, item by item."""
        question = asked.scheduled.question
        return question.attempt, self._item_positions[question.item]


def _split_chunks(outputs: pl.Series) -> Iterator[tuple[int, int]]:
    """Yield the start and the length of each chunk to store, limited by rows and by bytes."""
    rows = pl.int_range(outputs.len(), eager=True) // _CHUNK_ROWS
    chunk = rows + outputs.str.len_bytes().cast(pl.Int64).cum_sum() // _CHUNK_BYTES
    start = 0
    for length in chunk.rle().struct.field("len"):
        yield start, length
        start += length


def _format_fault(asked: AskedQuestion) -> str:
    return sentence(
        "no answer, {status}: {words} (tries: {tries})",
        status=asked.reply.fault,
        words=asked.reply.why,
        tries=asked.tries,
    )


def _build_row_error(line: int, question: Question, why: str) -> RowError:
    reason = sentence(
        "{item}, attempt {attempt}: {why}", item=question.item, attempt=question.attempt, why=why
    )
    return RowError(line=line, reason=reason, item=question.item)
