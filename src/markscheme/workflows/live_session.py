"""Asking: every reply of a live subject is on disk before it counts, and nothing is asked twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain, count, islice
from threading import Lock
from typing import TYPE_CHECKING, Any

from markscheme.ask import event_loop as open_files
from markscheme.ask.event_loop import run_coroutine
from markscheme.ask.questions import (
    ScheduledQuestion,
    compute_question_key,
    order_subjects,
    shuffle_attempts,
)
from markscheme.ask.rate_limit import RunLimits
from markscheme.ask.replies import Reply
from markscheme.ask.runner import AskedQuestion, Runner, SubjectState
from markscheme.ask.subjects import Subject
from markscheme.ask.template import PromptTemplate
from markscheme.keep import JournalEntry, JournalSession
from markscheme.vocabulary import Exam, Rubric, StoreInvalidError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markscheme.keep import Store
    from markscheme.workflows.run_writer import RunWriter

ReplyCallback = Callable[[AskedQuestion], None]
PENDING_PER_REQUEST = (
    2  # replies for each question at a time that may wait for the disk before more is asked
)
_COMMIT_WINDOW_SECONDS = 0.005  # seconds in which replies come together to one commit
_FIRST_SEND_SECONDS = 0.01  # seconds after which the first questions are on their way
_LOOKED = 1.0  # seconds after which those who look on see again how the subjects do
_PREPARED_QUESTIONS, _PREPARE_BATCH = (
    1_000,
    20,
)  # questions that are made while the first are answered


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """Whom to ask what: every item of the exam, so many attempts, in an order that a seed makes.

    `remarks` are to be known before the first question.
    """

    rubric: Rubric
    exam: Exam
    subjects: tuple[Subject, ...]
    template: PromptTemplate
    limits: RunLimits = field(default_factory=RunLimits)
    attempts: int = 1
    seed: int = 0
    resume: bool = False
    cache: bool = False
    remarks: tuple[str, ...] = ()

    @property
    def questions(self) -> int:
        """How many questions there are."""
        return len(self.exam.items) * self.attempts * len(self.subjects)

    def generate_asks(self) -> Iterator[ScheduledQuestion]:
        """Yield every question in its order; the first speaker alternates item by item."""
        by_name = {subject.name: subject for subject in self.subjects}
        places = count()
        order = shuffle_attempts(self.exam.items, attempts=self.attempts, seed=self.seed)
        for place, (item, attempt) in enumerate(order):
            question = self.template.build_question(item, attempt)
            for name in order_subjects(list(by_name), place):
                key = compute_question_key(name, by_name[name].parameters, question)
                yield ScheduledQuestion(
                    key=key, subject=name, question=question, order=next(places)
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveSessionResult:
    """How the questions of a plan ended."""

    asks: Sequence[ScheduledQuestion]
    asked: Mapping[str, AskedQuestion]
    sittings: Mapping[str, str | None]
    stopped: Mapping[str, str | None]  # of each subject, why not every question was put to it

    def get_replies(self, subject: str) -> list[AskedQuestion]:
        """Return the questions to a subject that have a reply, in the order of the plan."""
        mine = (self.asked.get(ask.key) for ask in self.asks if ask.subject == subject)
        return [asked for asked in mine if asked is not None]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunObserver:
    """Who looks on: is told what to know before, sees every reply that is done, loads meanwhile.

    `look` is told every second how the subjects do, also while nobody answers.
    """

    on_remark: Callable[[str], object] = lambda _: None
    on_reply: ReplyCallback = lambda _: None
    on_states: Callable[[Sequence[SubjectState]], object] = lambda _: None
    on_waiting: Callable[[], object] = lambda: None


NULL_OBSERVER = RunObserver()


class _LazyAsks:
    """The questions of a plan, each made when it is needed: the first waits for no other."""

    def __init__(self, asks: Iterator[ScheduledQuestion]) -> None:
        self._built: list[ScheduledQuestion] = []
        self._remaining = asks

    def __iter__(self) -> Iterator[ScheduledQuestion]:
        """Yield those that are made, and make the others."""
        for place in count():
            if place == len(self._built):
                self.build_next(1)
            if place == len(self._built):
                return
            yield self._built[place]

    def build_next(self, many: int) -> None:
        """Make some of those that are not made yet."""
        self._built += islice(self._remaining, many)

    def build_all(self) -> list[ScheduledQuestion]:
        """Return every question in its order."""
        self._built += self._remaining
        return self._built


class LiveSession:
    """One plan, carried out; with a store, every reply is noted there before it counts as done."""

    def __init__(
        self,
        plan: RunPlan,
        store: Store | None,
        observer: RunObserver = NULL_OBSERVER,
        run_writer: RunWriter | None = None,
    ) -> None:
        self._plan = plan
        self._store = store
        self._run_writer = run_writer
        self._observer = observer
        self._asks = _LazyAsks(plan.generate_asks())
        self._sittings: dict[str, str | None] = {one.name: None for one in plan.subjects}
        self._done: dict[str, AskedQuestion] = {}
        self._failed_before: dict[str, AskedQuestion] = {}
        self._pending: list[AskedQuestion] = []
        self._ready, self._written, self._buffer_full = (asyncio.Event() for _ in range(3))
        self._buffer_size = PENDING_PER_REQUEST * plan.limits.concurrency
        self._store_error: Exception | None = None
        self._commit_lock = Lock()
        self._runs_unopened = run_writer is not None
        self._resumed_since = ""
        self._runner = Runner(plan.subjects, plan.limits, self._receive_reply, seed=plan.seed)

    def run(self) -> LiveSessionResult:
        """Ask what is missing; what is answered is on disk, however this ends."""
        open_files.raise_open_file_limit(min(self._plan.limits.concurrency, self._plan.questions))
        for remark in self._plan.remarks:
            self._observer.on_remark(remark)
        self._open_sittings()
        for asked in list(self._done.values()):
            self._runner.add_earlier_answer(asked)
            self._observer.on_reply(asked)
        self._observer.on_states(self._runner.get_subject_states())
        if self._plan.resume:
            self._report_resumed()
        left = self._shift_order(ask for ask in self._asks if ask.key not in self._done)
        if self._plan.cache and self._store is not None:
            left = self._answer_from_cache(list(left), self._store)
        first = next(left, None)
        try:
            if first is not None:
                run_coroutine(self._ask_questions(chain([first], left)))
        finally:
            self._try_commit()
        if self._store_error is not None:
            raise self._store_error
        for remark in (one for subject in self._plan.subjects for one in subject.remarks):
            self._observer.on_remark(remark)
        stopped = {subject: self._find_stop_reason(subject) for subject in self._sittings}
        self._restore_faults()
        return LiveSessionResult(
            asks=self._asks.build_all(), asked=self._done, sittings=self._sittings, stopped=stopped
        )

    def _find_stop_reason(self, subject: str) -> str | None:
        """Return why not every question was put to a subject; nothing where every one was."""
        ended = self._done.keys() - self._runner.cut_short
        if all(ask.key in ended for ask in self._asks.build_all() if ask.subject == subject):
            return None
        return self._runner.given_up.get(subject) or self._runner.stopped

    # --- what was asked before ---

    def _open_sittings(self) -> None:
        if self._store is None:
            return
        asks = {ask.key: ask for ask in self._asks.build_all()} if self._plan.resume else {}
        for subject in self._plan.subjects:
            sitting = JournalSession(
                subject=subject.name, exam=self._plan.exam.name, parameters=subject.parameters
            )
            mine = {key for key, ask in asks.items() if ask.subject == subject.name}
            opened = self._store.journal.open_session(sitting, mine)
            self._sittings[subject.name] = opened.id
            self._resumed_since = min(self._resumed_since or opened.started, opened.started)
            for noted in opened.entries:
                self._restore_reply(asks[noted.key], noted.body)

    def _restore_reply(self, ask: ScheduledQuestion, body: Mapping[str, Any]) -> None:
        """Take a reply from the journal; an error is no answer, and is asked again."""
        try:
            reply = Reply.from_dict(body["reply"])
            asked = AskedQuestion(
                scheduled=replace(ask, order=body["order"]), reply=reply, tries=body["tries"]
            )
        except (LookupError, TypeError, ValueError, ArithmeticError) as error:
            told = "is damaged: a reply of a live subject cannot be read"
            raise StoreInvalidError(f"the store {told}; run without --resume") from error
        if reply.text is None:
            self._failed_before[ask.key] = asked
        else:
            self._done.setdefault(ask.key, asked)

    def _shift_order(self, left: Iterable[ScheduledQuestion]) -> Iterator[ScheduledQuestion]:
        """Yield questions with later places than those that have their answer."""
        behind = 1 + max((asked.scheduled.order for asked in self._done.values()), default=-1)
        return (replace(ask, order=ask.order + behind) for ask in left) if behind else iter(left)

    def _restore_faults(self) -> None:
        """Tell the errors from before of what was to be asked again, and was not."""
        for key, asked in self._failed_before.items():
            if key not in self._done:
                self._done[key] = asked
                self._observer.on_reply(asked)

    def _report_resumed(self) -> None:
        known, all_ = f"{len(self._done):,}", f"{self._plan.questions:,}"
        if self._done:
            since = f"{self._resumed_since[:16].replace('T', ' ')} UTC"
            told = f"{known} of {all_} questions have their answer"
            self._observer.on_remark(f"going on: {told} since {since}")
        else:
            told = f"the store holds no answer to any of the {all_} questions"
            self._observer.on_remark(f"nothing to go on with: {told}; all are asked")

    def _answer_from_cache(
        self, left: list[ScheduledQuestion], store: Store
    ) -> Iterator[ScheduledQuestion]:
        """Answer what the cache can; a latency that was not measured now is not told."""
        found = store.journal.read_cached_replies([ask.key for ask in left])
        for ask in left:
            if ask.key in found:
                reply = _parse_cached_reply(found[ask.key])
                self._pending.append(AskedQuestion(scheduled=ask, reply=reply, tries=0))
        self._commit_pending()
        return (ask for ask in left if ask.key not in found)

    # --- asking ---

    async def _ask_questions(self, left: Iterable[ScheduledQuestion]) -> None:
        """Ask; the last replies are done before subjects and loop are closed, which takes time."""
        async with AsyncExitStack() as stack:
            for subject in self._plan.subjects:
                await stack.enter_async_context(subject)
            beside = [self._run_committer(), self._prepare_questions(), self._poll_states()]
            tasks = [asyncio.create_task(one) for one in beside]
            try:
                await self._runner.run(left)
            finally:
                for task in tasks:
                    task.cancel()
                ended = await asyncio.gather(*tasks, return_exceptions=True)
            self._try_commit()
            for error in ended:
                if isinstance(error, Exception):
                    raise error

    async def _prepare_questions(self) -> None:
        """Make ready what follows the first questions, while they are answered."""
        await asyncio.sleep(_FIRST_SEND_SECONDS)
        for _ in range(0, _PREPARED_QUESTIONS, _PREPARE_BATCH):
            self._asks.build_next(_PREPARE_BATCH)
            await asyncio.sleep(0)
        self._observer.on_waiting()

    async def _poll_states(self) -> None:
        """Let others know how the subjects do, by the clock and not by replies."""
        while True:
            await asyncio.sleep(_LOOKED)
            self._observer.on_states(self._runner.get_subject_states())

    async def _receive_reply(self, asked: AskedQuestion) -> None:
        """Take a reply; where the disk does not keep up, who brought it waits too."""
        self._pending.append(asked)
        self._ready.set()
        while len(self._pending) >= self._buffer_size and self._store_error is None:
            self._buffer_full.set()  # nobody else can come
            self._written.clear()
            await self._written.wait()

    async def _run_committer(self) -> None:
        """Put on disk together what came together, in a thread, while others are asked."""
        with ThreadPoolExecutor(1, thread_name_prefix="markscheme store") as thread:
            await asyncio.sleep(_FIRST_SEND_SECONDS)
            await self._commit_in_thread(thread)
            while self._store_error is None:
                await self._ready.wait()
                self._ready.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(_COMMIT_WINDOW_SECONDS):
                        await self._buffer_full.wait()
                self._buffer_full.clear()
                await self._commit_in_thread(thread)
        self._runner.stop("the store failed")

    async def _commit_in_thread(self, thread: ThreadPoolExecutor) -> None:
        loop = asyncio.get_running_loop()
        await asyncio.shield(loop.run_in_executor(thread, self._try_commit))
        self._written.set()

    def _try_commit(self) -> None:
        """Note what is pending; what goes wrong ends the run, and is raised at its end."""
        try:
            self._commit_pending()
        except Exception as error:  # noqa: BLE001 - nobody waits for this thread
            self._store_error = error

    def _commit_pending(self) -> None:
        """Note what is pending; only then is it done. What failed is not tried again.

        One at a time: who no longer waits for the thread may be here beside it.
        """
        with self._commit_lock:
            if self._store_error is None:
                self._write_replies(self._pending[:])

    def _write_replies(self, some: list[AskedQuestion]) -> None:
        """Open the runs, so that they are seen also where they break off, and note replies."""
        if self._store is not None and (some or self._runs_unopened):
            now = datetime.now(UTC).isoformat(timespec="milliseconds")
            notes = [
                (self._sittings[one.scheduled.subject] or "", _build_journal_entry(one, now))
                for one in some
            ]
            with self._store.transaction():
                if self._run_writer is not None:
                    for subject in self._plan.subjects:
                        self._run_writer.open_run(subject.name)
                self._runs_unopened = False
                self._store.journal.append_entries(notes)
                if self._plan.cache:
                    self._store.journal.cache_replies(
                        map(_build_cache_entry, filter(_is_new_answer, some))
                    )
        del self._pending[: len(some)]
        for asked in some:
            self._done[asked.scheduled.key] = asked
            self._observer.on_reply(asked)


def _build_journal_entry(asked: AskedQuestion, now: str) -> JournalEntry:
    question = asked.scheduled.question
    body = {
        "item": question.item,
        "attempt": question.attempt,
        "order": asked.scheduled.order,
        "ended": now,
        "tries": asked.tries,
        "reply": asked.reply.to_dict(),
    }
    return JournalEntry(key=asked.scheduled.key, body=body)


def _parse_cached_reply(body: Mapping[str, Any]) -> Reply:
    known = {"text", "finish_reason", "tokens_in", "tokens_out"}
    try:
        return Reply(**{k: v for k, v in body.items() if k in known}, cached=True)
    except ValueError as error:
        told = "is damaged: an answer of the cache cannot be read"
        raise StoreInvalidError(f"the store {told}; run without --cache") from error


def _build_cache_entry(asked: AskedQuestion) -> JournalEntry:
    return JournalEntry(key=asked.scheduled.key, body=asked.reply.to_dict())


def _is_new_answer(asked: AskedQuestion) -> bool:
    return asked.reply.text is not None and not asked.reply.cached
