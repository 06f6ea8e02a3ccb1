"""Asks the questions of a plan; every reply is in the store's journal before it counts.

What a killed run has in its journal is never asked again: `--resume` asks only the rest.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain, count, islice
from threading import Lock
from typing import TYPE_CHECKING, Any

from markscheme.ask.event_loop import raise_open_file_limit, run_coroutine
from markscheme.ask.questions import ScheduledQuestion
from markscheme.ask.replies import Reply, restore_transcript
from markscheme.ask.runner import AskedQuestion, Runner, SubjectState
from markscheme.keep import JournalEntry, JournalSession, Store
from markscheme.vocabulary import StoreInvalidError
from markscheme.weigh.live import RunningScore
from markscheme.workflows.run_writer import RunWriter

if TYPE_CHECKING:
    from markscheme.workflows.judge_plan import JudgeRound
    from markscheme.workflows.run_plan import RunPlan

# How many replies per question at a time may wait for the disk before no more is asked.
PENDING_PER_REQUEST = 2
_COMMIT_WINDOW_SECONDS = 0.005  # replies that come within it share one commit
_FIRST_SEND_SECONDS = 0.01  # by then the first questions are on their way
_STATE_INTERVAL_SECONDS = 1.0  # how often observers learn how the subjects do
# Questions that are built while the first ones are answered, and how many at a time.
_PREPARED_QUESTIONS, _PREPARE_BATCH = 1_000, 20


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveSessionResult:
    """How the questions of a plan ended."""

    asks: Sequence[ScheduledQuestion]
    asked: Mapping[str, AskedQuestion]
    sittings: Mapping[str, str | None]
    stopped: Mapping[str, str | None]  # by subject, why not every question was put to it

    def get_replies(self, subject: str) -> list[AskedQuestion]:
        """Return the questions to a subject that have a reply, in the order of the plan."""
        replies = (self.asked.get(ask.key) for ask in self.asks if ask.subject == subject)
        return [asked for asked in replies if asked is not None]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunObserver:
    """Callbacks of a live run; each may be called from another thread than the one before.

    `on_remark` gets what the user should know before and after asking, `on_first_sent` is called
    when the first questions are on their way, `on_reply` gets every reply that counts, `on_states`
    every second how the subjects do, `on_score` the mean of what is marked so far. Scores are
    computed every `score_interval` seconds at most, and not at all where that is None.
    """

    on_remark: Callable[[str], object] = lambda _: None
    on_first_sent: Callable[[], object] = lambda: None
    on_reply: Callable[[AskedQuestion], object] = lambda _: None
    on_states: Callable[[Sequence[SubjectState]], object] = lambda _: None
    on_score: Callable[[str, RunningScore], object] = lambda _subject, _score: None
    score_interval: float | None = None


NULL_OBSERVER = RunObserver()


class _LazyQuestions:
    """The questions of a plan, each built when it is needed, so that the first is sent at once."""

    def __init__(self, asks: Iterator[ScheduledQuestion]) -> None:
        self._built: list[ScheduledQuestion] = []
        self._remaining = asks

    def __iter__(self) -> Iterator[ScheduledQuestion]:
        """Yield the questions that are built, and build the others on the way."""
        for place in count():
            if place == len(self._built):
                self.build_next(1)
            if place == len(self._built):
                return
            yield self._built[place]

    def build_next(self, many: int) -> None:
        """Build some of the questions that are not built yet."""
        self._built += islice(self._remaining, many)

    def build_all(self) -> list[ScheduledQuestion]:
        """Return every question in its order."""
        self._built += self._remaining
        return self._built


class LiveSession:
    """Carries out one plan; with a store, a reply counts when the journal there has it."""

    def __init__(
        self,
        plan: RunPlan | JudgeRound,
        store: Store | None,
        observer: RunObserver = NULL_OBSERVER,
        run_writer: RunWriter | None = None,
    ) -> None:
        self._plan = plan
        self._store = store
        self._run_writer = run_writer
        self._observer = observer
        self._asks = _LazyQuestions(plan.generate_asks())
        self._sittings: dict[str, str | None] = dict.fromkeys(plan.subject_names)
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
        raise_open_file_limit(min(self._plan.limits.concurrency, self._plan.questions))
        for remark in self._plan.remarks:
            self._observer.on_remark(remark)
        self._open_sittings()
        for asked in list(self._done.values()):
            self._runner.add_earlier_answer(asked)
            self._observer.on_reply(asked)
        self._observer.on_states(self._runner.get_subject_states())
        if self._plan.resume:
            self._report_resumed()
        missing = self._shift_order(ask for ask in self._asks if ask.key not in self._done)
        if self._plan.cache and self._store is not None:
            missing = self._answer_from_cache(list(missing), self._store)
        first = next(missing, None)
        try:
            if first is not None:
                run_coroutine(self._ask_questions(chain([first], missing)))
        finally:
            self._try_commit()
        if self._store_error is not None:
            raise self._store_error
        for subject in self._plan.subjects:
            for remark in subject.remarks:
                self._observer.on_remark(remark)
        stopped = {subject: self._find_stop_reason(subject) for subject in self._sittings}
        self._restore_faults()
        return LiveSessionResult(
            asks=self._asks.build_all(), asked=self._done, sittings=self._sittings, stopped=stopped
        )

    def _find_stop_reason(self, subject: str) -> str | None:
        """Return why not every question was put to a subject; None where every one was."""
        ended = self._done.keys() - self._runner.cut_short
        if all(ask.key in ended for ask in self._asks.build_all() if ask.subject == subject):
            return None
        return self._runner.given_up.get(subject) or self._runner.stopped

    # --- what was asked before ---

    def _open_sittings(self) -> None:
        """Open the journal of each subject; with `resume`, take the replies that it holds."""
        if self._store is None:
            return
        asks = {ask.key: ask for ask in self._asks.build_all()} if self._plan.resume else {}
        for subject in self._plan.subjects:
            sitting = JournalSession(
                subject=subject.name, exam=self._plan.session_name, parameters=subject.parameters
            )
            keys = {key for key, ask in asks.items() if ask.subject == subject.name}
            opened = self._store.journal.open_session(sitting, keys)
            self._sittings[subject.name] = opened.id
            self._resumed_since = min(self._resumed_since or opened.started, opened.started)
            for entry in opened.entries:
                self._restore_reply(asks[entry.key], entry.body)

    def _restore_reply(self, ask: ScheduledQuestion, body: Mapping[str, Any]) -> None:
        """Take a reply from the journal; an error is no answer, and is asked again."""
        try:
            reply = Reply.from_dict(body["reply"])
            asked = AskedQuestion(
                scheduled=replace(ask, order=body["order"]), reply=reply, tries=body["tries"]
            )
        except (LookupError, TypeError, ValueError, ArithmeticError) as error:
            why = "is damaged: a reply of a live subject cannot be read"
            raise StoreInvalidError(f"the store {why}; run without --resume") from error
        if reply.text is None:
            self._failed_before[ask.key] = asked
        else:
            self._done.setdefault(ask.key, asked)

    def _shift_order(self, asks: Iterable[ScheduledQuestion]) -> Iterator[ScheduledQuestion]:
        """Number questions after those that have their answer already."""
        behind = 1 + max((asked.scheduled.order for asked in self._done.values()), default=-1)
        return (replace(ask, order=ask.order + behind) for ask in asks) if behind else iter(asks)

    def _restore_faults(self) -> None:
        """Report the earlier errors of questions that should have been asked again and were not."""
        for key, asked in self._failed_before.items():
            if key not in self._done:
                self._done[key] = asked
                self._observer.on_reply(asked)

    def _report_resumed(self) -> None:
        done, total = f"{len(self._done):,}", f"{self._plan.questions:,}"
        if self._done:
            since = f"{self._resumed_since[:16].replace('T', ' ')} UTC"
            self._observer.on_remark(
                f"going on: {done} of {total} questions have their answer since {since}"
            )
        else:
            why = f"the store holds no answer to any of the {total} questions"
            self._observer.on_remark(f"nothing to go on with: {why}; all are asked")

    def _answer_from_cache(
        self, asks: list[ScheduledQuestion], store: Store
    ) -> Iterator[ScheduledQuestion]:
        """Answer from the cache what it holds; return the other questions.

        A cached answer has no latency, because none was measured in this run.
        """
        cached = store.journal.read_cached_replies([ask.key for ask in asks])
        for ask in asks:
            if ask.key in cached:
                reply = _parse_cached_reply(cached[ask.key])
                self._pending.append(AskedQuestion(scheduled=ask, reply=reply, tries=0))
        self._commit_pending()
        return (ask for ask in asks if ask.key not in cached)

    # --- asking ---

    async def _ask_questions(self, asks: Iterable[ScheduledQuestion]) -> None:
        async with AsyncExitStack() as stack:
            for subject in self._plan.subjects:
                await stack.enter_async_context(subject)
            side_jobs = [self._run_committer(), self._prepare_questions(), self._poll_states()]
            tasks = [asyncio.create_task(job) for job in side_jobs]
            try:
                await self._runner.run(asks)
            finally:
                for task in tasks:
                    task.cancel()
                ended = await asyncio.gather(*tasks, return_exceptions=True)
            # The last replies count before subjects and loop are closed, which takes time.
            self._try_commit()
            for error in ended:
                if isinstance(error, Exception):
                    raise error

    async def _prepare_questions(self) -> None:
        """Build the questions that follow the first ones, while those are answered."""
        await asyncio.sleep(_FIRST_SEND_SECONDS)
        for _ in range(0, _PREPARED_QUESTIONS, _PREPARE_BATCH):
            self._asks.build_next(_PREPARE_BATCH)
            await asyncio.sleep(0)
        self._observer.on_first_sent()

    async def _poll_states(self) -> None:
        """Report how the subjects do by the clock: replies may not come for minutes."""
        while True:
            await asyncio.sleep(_STATE_INTERVAL_SECONDS)
            self._observer.on_states(self._runner.get_subject_states())

    async def _receive_reply(self, asked: AskedQuestion) -> None:
        """Queue a reply for the journal; where the disk does not keep up, make the worker wait."""
        self._pending.append(asked)
        self._ready.set()
        while len(self._pending) >= self._buffer_size and self._store_error is None:
            self._buffer_full.set()
            self._written.clear()
            await self._written.wait()

    async def _run_committer(self) -> None:
        """Commit replies that come together in one transaction, in a thread."""
        with ThreadPoolExecutor(1, thread_name_prefix="markscheme store") as thread:
            await asyncio.sleep(_FIRST_SEND_SECONDS)
            await self._commit_in_thread(thread)
            while self._store_error is None:
                await self._ready.wait()
                self._ready.clear()
                # A full buffer ends the window: nothing more can come before the commit.
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
        """Commit what is pending; an error ends the run, and is raised at its end."""
        try:
            self._commit_pending()
        except Exception as error:  # noqa: BLE001 - nobody waits for this thread
            self._store_error = error

    def _commit_pending(self) -> None:
        """Commit what is pending; only then does it count. A failed commit is not tried again.

        The lock is there because the main thread may commit while the store's thread still does.
        """
        with self._commit_lock:
            if self._store_error is None:
                self._write_replies(self._pending[:])

    def _write_replies(self, replies: list[AskedQuestion]) -> None:
        """Journal replies, and with the first of them open the runs.

        A run that is killed is then in the store as incomplete, and `latest` is no older run.
        """
        if self._store is not None and (replies or self._runs_unopened):
            now = datetime.now(UTC).isoformat(timespec="milliseconds")
            entries = [
                (self._sittings[asked.scheduled.subject] or "", _build_journal_entry(asked, now))
                for asked in replies
            ]
            with self._store.transaction():
                if self._runs_unopened and self._run_writer is not None:
                    self._open_runs(self._run_writer, self._store)
                self._runs_unopened = False
                self._store.journal.append_entries(entries)
                if self._plan.cache:
                    self._store.journal.cache_replies(
                        JournalEntry(key=asked.scheduled.key, body=asked.reply.to_dict())
                        for asked in replies
                        if asked.reply.text is not None and not asked.reply.cached
                    )
        del self._pending[: len(replies)]
        for asked in replies:
            self._done[asked.scheduled.key] = asked
            self._observer.on_reply(asked)

    def _open_runs(self, run_writer: RunWriter, store: Store) -> None:
        """Open the run of each subject, and record where others can watch it."""
        questions = self._plan.questions // len(self._sittings)
        for name, sitting in self._sittings.items():
            run = run_writer.open_run(name)
            if sitting is not None:
                store.journal.link_run(run, sitting, questions)


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
    known = {"text", "finish_reason", "tokens_in", "tokens_out", "served"}
    try:
        values = {name: value for name, value in body.items() if name in known}
        if "transcript" in body:
            values["transcript"] = restore_transcript(body["transcript"])
        return Reply(**values, cached=True)
    except ValueError as error:
        why = "is damaged: an answer of the cache cannot be read"
        raise StoreInvalidError(f"the store {why}; run without --cache") from error
