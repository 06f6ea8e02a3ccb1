"""Marking the answers of a live subject while it is asked, some at a time and in any order.

Meanwhile: what is to be done with the answers is made ready, and begun, while others are asked.

Asking is waiting, so a thread beside it costs no time; but it must let go as soon as an answer
comes.
"""

from __future__ import annotations

import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Self

import polars as pl

from markscheme.mark.batch import ERROR
from markscheme.read.answers import AnswerBatch, read_rows
from markscheme.vocabulary import MESSAGE_COLUMN, RowError, sentence
from markscheme.weigh.live import LiveRunSummary
from markscheme.workflows.live_run import LiveRun, build_answer_row
from markscheme.workflows.score import ScoringSession
from markscheme.workflows.scored_chunk import ScoredChunk
from markscheme.workflows.stored_messages import fill_messages, thin_messages

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Future

    from markscheme.ask.questions import Question
    from markscheme.ask.runner import AskedQuestion
    from markscheme.weigh.result import Result
    from markscheme.workflows.live_session import LiveSessionResult, RunObserver, RunPlan
    from markscheme.workflows.run_writer import RunRecorder, RunWriter

_ROWS, _BYTES = 20_000, 2**26  # that are kept together, and so read together later


class SubjectMarker:
    """The run of one subject: replies are taken as they come, and told in the order of the exam.

    No answer is stored with its run before the end: until then the journal holds every reply.
    """

    def __init__(
        self, plan: RunPlan, subject: str, recorder: RunRecorder | None, *, messages: bool = False
    ) -> None:
        self._plan = plan
        self._subject = subject
        self._item_positions = {item.id: at for at, item in enumerate(plan.exam.items)}
        self._answered: list[AskedQuestion] = []
        self._faults: list[AskedQuestion] = []
        self._outputs: list[pl.Series] = []
        self._cells: list[pl.DataFrame] = []
        self._rows: list[pl.DataFrame] = []
        self._refused: list[pl.DataFrame] = []
        self._recorder = recorder
        keep = self._collect_outputs if self._recorder else None
        self._scoring = ScoringSession(plan.rubric, plan.exam, keep=keep, messages=messages)

    def _collect_outputs(self, outputs: pl.Series, frame: pl.DataFrame) -> None:
        self._outputs.append(outputs)
        self._cells.append(frame.select("reason", MESSAGE_COLUMN))

    def mark_replies(self, some: Sequence[AskedQuestion]) -> None:
        """Mark the answers among these replies."""
        answers = [one for one in some if one.reply.text is not None]
        self._answered += answers
        self._faults += [one for one in some if one.reply.text is None]
        stretch = ScoredChunk(lines=len(answers))
        for batch in read_rows(map(build_answer_row, answers), items=self._item_positions):
            self._scoring.scorer.add_batch(stretch, batch)
        for frame in self._scoring.build_chunk_frames(self._scoring.merge_chunk(stretch)):
            (self._refused if frame["status"][0] == ERROR else self._rows).append(frame)

    def finish_run(self, examined: LiveSessionResult) -> LiveRun:
        """Put what was marked in order, sum it up, and store it."""
        live = LiveRunSummary(
            subject=self._subject,
            sitting=examined.sittings[self._subject],
            seed=self._plan.seed,
            asked=tuple(examined.get_replies(self._subject)),
            questions=sum(ask.subject == self._subject for ask in examined.asks),
            stopped=examined.stopped[self._subject],
            beside=tuple(
                found
                for name, found in examined.sittings.items()
                if found and name != self._subject
            ),
        )
        errors = AnswerBatch(errors=list(self._collect_row_errors(examined)))
        frames = (
            self._sort_frames(),
            self._scoring.build_frames(map(self._scoring.mark_batch, [errors])),
        )
        result = _name_runs(self._scoring.build_result(chain(*frames)), self._subject)
        kept = (
            self._recorder.finish_runs(result, {"live": live.to_dict()}) if self._recorder else []
        )
        return LiveRun(result=result, live=live, id=kept[0] if kept else None)

    def _sort_frames(self) -> Iterator[pl.DataFrame]:
        """Yield the answers in the order of the exam, then the rows that could be none."""
        order = sorted(
            range(len(self._answered)), key=lambda at: self._get_position(self._answered[at])
        )
        lines = pl.Series(order, dtype=pl.UInt32).arg_sort().cast(pl.Int64) + 1  # new by old
        errors = [replace(one, line=lines[one.line - 1]) for one in self._scoring.errors]
        self._scoring.errors = sorted(errors, key=lambda error: error.line)
        for frames in filter(None, (self._rows, self._refused)):
            rows = pl.concat(frames)
            rows = rows.with_columns(lines.gather(rows["line"] - 1).alias("line"))
            sorting = rows["line"].arg_sort()
            rows = rows[sorting]
            if frames is self._rows:
                self._store_rows(rows, sorting)
            yield rows

    def _store_rows(self, rows: pl.DataFrame, sorting: pl.Series) -> None:
        if self._recorder is not None:
            outputs = pl.concat(self._outputs).gather(sorting)
            # Each batch holds a message once; the parts of the sorted rows cut across batches.
            messages = [fill_messages(cells)[MESSAGE_COLUMN] for cells in self._cells]
            rows = rows.with_columns(pl.concat(messages).gather(sorting))
            for start, length in _split_parts(outputs):
                part = thin_messages(rows.slice(start, length))
                self._recorder.store_batch(outputs.slice(start, length), part)

    def _collect_row_errors(self, examined: LiveSessionResult) -> Iterator[RowError]:
        """Yield what has no answer.

        An attempt that was not asked is an error where another answered its item: the item is not
        missing then, and the run is not whole.
        """
        faults = sorted(self._faults, key=self._get_position)
        reasons = [(one.scheduled.question, _format_fault(one)) for one in faults]
        answered = {one.scheduled.question.item for one in self._answered}
        for ask in examined.asks:
            lacking = ask.subject == self._subject and ask.key not in examined.asked
            if lacking and ask.question.item in answered:
                reasons.append((ask.question, sentence("not asked")))
        for line, (question, why) in enumerate(reasons, start=1):
            yield _build_row_error(line, question, why)

    def _get_position(self, asked: AskedQuestion) -> tuple[int, int]:
        """Return where a reply stands in its run: attempt by attempt, item by item."""
        question = asked.scheduled.question
        return question.attempt, self._item_positions[question.item]


def _split_parts(outputs: pl.Series) -> Iterator[tuple[int, int]]:
    """Yield where each part of what is kept begins, and how many rows it has."""
    rows = pl.int_range(outputs.len(), eager=True) // _ROWS
    part = rows + outputs.str.len_bytes().cast(pl.Int64).cum_sum() // _BYTES
    start = 0
    for length in part.rle().struct.field("len"):
        yield start, length
        start += length


def _name_runs(result: Result, subject: str) -> Result:
    """Return a result whose run has the subject's name, also where it answered nothing."""
    runs = [replace(run, name=subject, subject=subject) for run in result.runs]
    return replace(result, each_run=lambda: runs)


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


_FEW, _MANY = 500, 5_000  # replies that are marked at once: each time costs as much as 300 more
_LATE_MODULES = ("markscheme.keep.chunks", "markscheme.keep.chunks")  # loaded by their first use
_SWITCH_INTERVAL_SECONDS = 0.0002  # seconds for which the thread may hold others up


class BackgroundMarker:
    """Marks replies in a thread of its own; the store is left alone until the end."""

    def __init__(
        self,
        plan: RunPlan,
        run_writer: RunWriter | None,
        observer: RunObserver,
        *,
        messages: bool = False,
    ) -> None:
        self._messages = messages
        self._plan, self._run_writer, self._observer = plan, run_writer, observer
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="markscheme marking")
        self._futures: list[Future[None]] = []
        self._queue: list[AskedQuestion] = []
        self._remaining = plan.questions
        self._batch_size = min(_MANY, max(_FEW, plan.questions * 9 // 10))
        self._markers: dict[str, SubjectMarker] = {}
        self._switch_interval = sys.getswitchinterval()

    def __enter__(self) -> Self:
        sys.setswitchinterval(_SWITCH_INTERVAL_SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown(cancel_futures=True)
        sys.setswitchinterval(self._switch_interval)

    @property
    def observer(self) -> RunObserver:
        """Who looks on: we, and for us the other one."""
        return replace(self._observer, on_reply=self._queue_reply, on_waiting=self._submit_prepare)

    def _submit_prepare(self) -> None:
        """Load what scores, now that there is something to wait for."""
        self._futures.append(self._thread.submit(self._prepare_markers))

    def _queue_reply(self, asked: AskedQuestion) -> None:
        self._queue.append(asked)
        self._remaining -= 1
        if len(self._queue) >= self._batch_size or not self._remaining:
            self._submit_batch()
        self._observer.on_reply(asked)

    def _submit_batch(self) -> None:
        some, self._queue = self._queue, []
        self._futures.append(self._thread.submit(self._mark_batch, some))

    def finish_runs(self, examined: LiveSessionResult) -> list[LiveRun]:
        """Mark what is left; return the run of each subject, all of them stored at once."""
        if self._queue or not self._futures:
            self._submit_batch()
        for begun in self._futures:
            begun.result()
        with self._run_writer.store.transaction() if self._run_writer else nullcontext():
            return [marking.finish_run(examined) for marking in self._markers.values()]

    def _prepare_markers(self) -> None:
        if self._markers:
            return
        from markscheme.workflows.run_writer import RunRecorder

        if hasattr(signal, "siginterrupt"):  # not on Windows
            signal.siginterrupt(signal.SIGINT, True)  # polars made waits deaf to it
        for subject in self._plan.subjects:
            recorder = RunRecorder(self._run_writer) if self._run_writer else None
            self._markers[subject.name] = SubjectMarker(
                self._plan, subject.name, recorder, messages=self._messages
            )
        for module in _LATE_MODULES if self._run_writer else ():
            import_module(module)
        self._observer.on_waiting()

    def _mark_batch(self, some: list[AskedQuestion]) -> None:
        self._prepare_markers()
        for name, marking in self._markers.items():
            marking.mark_replies([asked for asked in some if asked.scheduled.subject == name])
