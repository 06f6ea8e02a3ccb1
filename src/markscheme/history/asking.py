"""Asking: every reply of a live subject is on disk before it counts, and nothing is asked twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, suppress
from dataclasses import field, replace
from datetime import UTC, datetime
from itertools import chain, count, islice
from threading import Lock
from typing import TYPE_CHECKING, Any

from markscheme.ask import open_files
from markscheme.ask.pace import Limits
from markscheme.ask.questions import Ask, in_order, key_of, speakers
from markscheme.ask.replies import Reply
from markscheme.ask.runner import Asked, Runner
from markscheme.ask.states import State
from markscheme.ask.subjects.base import Subject
from markscheme.ask.templates import Template
from markscheme.ask.threads import to_the_end
from markscheme.errors import StoreInvalidError
from markscheme.keep import Noted, Sitting
from markscheme.values import dataclass
from markscheme.vocabulary import Exam, Rubric

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markscheme.history.beginning import Beginning
    from markscheme.keep import Store

Watch = Callable[[Asked], None]
UNWRITTEN = 2  # replies for each question at a time that may wait for the disk before more is asked
_GATHERED = 0.005  # seconds in which replies come together to one commit
_SENT = 0.01  # seconds after which the first questions are on their way
_LOOKED = 1.0  # seconds after which those who look on see again how the subjects do
_AHEAD, _AT_ONCE = 1_000, 20  # questions that are made while the first are answered


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Whom to ask what: every item of the exam, so many attempts, in an order that a seed makes.

    `remarks` are to be known before the first question.
    """

    rubric: Rubric
    exam: Exam
    subjects: tuple[Subject, ...]
    template: Template
    limits: Limits = field(default_factory=Limits)
    attempts: int = 1
    seed: int = 0
    resume: bool = False
    cache: bool = False
    remarks: tuple[str, ...] = ()

    @property
    def questions(self) -> int:
        """How many questions there are."""
        return len(self.exam.items) * self.attempts * len(self.subjects)

    def asks(self) -> Iterator[Ask]:
        """Yield every question in its order; the first speaker alternates item by item."""
        by_name = {subject.name: subject for subject in self.subjects}
        places = count()
        order = in_order(self.exam.items, attempts=self.attempts, seed=self.seed)
        for place, (item, attempt) in enumerate(order):
            question = self.template.question(item, attempt)
            for name in speakers(list(by_name), place):
                key = key_of(name, by_name[name].parameters, question)
                yield Ask(key=key, subject=name, question=question, order=next(places))


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """How the questions of a plan ended."""

    asks: Sequence[Ask]
    asked: Mapping[str, Asked]
    sittings: Mapping[str, str | None]
    stopped: Mapping[str, str | None]  # of each subject, why not every question was put to it

    def of(self, subject: str) -> list[Asked]:
        """Return the questions to a subject that have a reply, in the order of the plan."""
        mine = (self.asked.get(ask.key) for ask in self.asks if ask.subject == subject)
        return [asked for asked in mine if asked is not None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Onlooker:
    """Who looks on: is told what to know before, sees every reply that is done, loads meanwhile.

    `look` is told every second how the subjects do, also while nobody answers.
    """

    tell: Callable[[str], object] = lambda _: None
    watch: Watch = lambda _: None
    look: Callable[[Sequence[State]], object] = lambda _: None
    load: Callable[[], object] = lambda: None


NOBODY = Onlooker()


class _Asks:
    """The questions of a plan, each made when it is needed: the first waits for no other."""

    def __init__(self, asks: Iterator[Ask]) -> None:
        self._made: list[Ask] = []
        self._rest = asks

    def __iter__(self) -> Iterator[Ask]:
        """Yield those that are made, and make the others."""
        for place in count():
            if place == len(self._made):
                self.make(1)
            if place == len(self._made):
                return
            yield self._made[place]

    def make(self, many: int) -> None:
        """Make some of those that are not made yet."""
        self._made += islice(self._rest, many)

    def all(self) -> list[Ask]:
        """Return every question in its order."""
        self._made += self._rest
        return self._made


class Examination:
    """One plan, carried out; with a store, every reply is noted there before it counts as done."""

    def __init__(
        self,
        plan: Plan,
        store: Store | None,
        onlooker: Onlooker = NOBODY,
        runs: Beginning | None = None,
    ) -> None:
        self._plan = plan
        self._store = store
        self._runs = runs
        self._onlooker = onlooker
        self._asks = _Asks(plan.asks())
        self._sittings: dict[str, str | None] = {one.name: None for one in plan.subjects}
        self._done: dict[str, Asked] = {}
        self._failed: dict[str, Asked] = {}
        self._pending: list[Asked] = []
        self._ready, self._written, self._full = (asyncio.Event() for _ in range(3))
        self._room = UNWRITTEN * plan.limits.concurrency
        self._broken: Exception | None = None
        self._alone = Lock()
        self._unopened = runs is not None
        self._since = ""
        self._runner = Runner(plan.subjects, plan.limits, self._hand, seed=plan.seed)

    def run(self) -> Examined:
        """Ask what is missing; what is answered is on disk, however this ends."""
        open_files.allow(min(self._plan.limits.concurrency, self._plan.questions))
        for remark in self._plan.remarks:
            self._onlooker.tell(remark)
        self._open_sittings()
        for asked in list(self._done.values()):
            self._runner.remember(asked)
            self._onlooker.watch(asked)
        self._onlooker.look(self._runner.states())
        if self._plan.resume:
            self._tell_what_is_there()
        left = self._later(ask for ask in self._asks if ask.key not in self._done)
        if self._plan.cache and self._store is not None:
            left = self._from_cache(list(left), self._store)
        first = next(left, None)
        try:
            if first is not None:
                to_the_end(self._ask(chain([first], left)))
        finally:
            self._try_to_commit()
        if self._broken is not None:
            raise self._broken
        for remark in (one for subject in self._plan.subjects for one in subject.remarks):
            self._onlooker.tell(remark)
        stopped = {subject: self._why_stopped(subject) for subject in self._sittings}
        self._recall_faults()
        return Examined(
            asks=self._asks.all(), asked=self._done, sittings=self._sittings, stopped=stopped
        )

    def _why_stopped(self, subject: str) -> str | None:
        """Return why not every question was put to a subject; nothing where every one was."""
        ended = self._done.keys() - self._runner.cut_short
        if all(ask.key in ended for ask in self._asks.all() if ask.subject == subject):
            return None
        return self._runner.given_up.get(subject) or self._runner.stopped

    # --- what was asked before ---

    def _open_sittings(self) -> None:
        if self._store is None:
            return
        asks = {ask.key: ask for ask in self._asks.all()} if self._plan.resume else {}
        for subject in self._plan.subjects:
            sitting = Sitting(
                subject=subject.name, exam=self._plan.exam.name, parameters=subject.parameters
            )
            mine = {key for key, ask in asks.items() if ask.subject == subject.name}
            opened = self._store.sittings.open(sitting, mine)
            self._sittings[subject.name] = opened.id
            self._since = min(self._since or opened.started, opened.started)
            for noted in opened.noted:
                self._recall(asks[noted.key], noted.body)

    def _recall(self, ask: Ask, body: Mapping[str, Any]) -> None:
        """Take a reply from the journal; an error is no answer, and is asked again."""
        try:
            reply = Reply.from_dict(body["reply"])
            asked = Asked(ask=replace(ask, order=body["order"]), reply=reply, tries=body["tries"])
        except (LookupError, TypeError, ValueError, ArithmeticError) as error:
            told = "is damaged: a reply of a live subject cannot be read"
            raise StoreInvalidError(f"the store {told}; run without --resume") from error
        if reply.text is None:
            self._failed[ask.key] = asked
        else:
            self._done.setdefault(ask.key, asked)

    def _later(self, left: Iterable[Ask]) -> Iterator[Ask]:
        """Yield questions with later places than those that have their answer."""
        behind = 1 + max((asked.ask.order for asked in self._done.values()), default=-1)
        return (replace(ask, order=ask.order + behind) for ask in left) if behind else iter(left)

    def _recall_faults(self) -> None:
        """Tell the errors from before of what was to be asked again, and was not."""
        for key, asked in self._failed.items():
            if key not in self._done:
                self._done[key] = asked
                self._onlooker.watch(asked)

    def _tell_what_is_there(self) -> None:
        known, all_ = f"{len(self._done):,}", f"{self._plan.questions:,}"
        if self._done:
            since = f"{self._since[:16].replace('T', ' ')} UTC"
            told = f"{known} of {all_} questions have their answer"
            self._onlooker.tell(f"going on: {told} since {since}")
        else:
            told = f"the store holds no answer to any of the {all_} questions"
            self._onlooker.tell(f"nothing to go on with: {told}; all are asked")

    def _from_cache(self, left: list[Ask], store: Store) -> Iterator[Ask]:
        """Answer what the cache can; a latency that was not measured now is not told."""
        found = store.sittings.cached([ask.key for ask in left])
        for ask in left:
            if ask.key in found:
                reply = _from_cached(found[ask.key])
                self._pending.append(Asked(ask=ask, reply=reply, tries=0))
        self._commit()
        return (ask for ask in left if ask.key not in found)

    # --- asking ---

    async def _ask(self, left: Iterable[Ask]) -> None:
        """Ask; the last replies are done before subjects and loop are closed, which takes time."""
        async with AsyncExitStack() as stack:
            for subject in self._plan.subjects:
                await stack.enter_async_context(subject)
            beside = [self._keep_committing(), self._look_ahead(), self._keep_looking()]
            tasks = [asyncio.create_task(one) for one in beside]
            try:
                await self._runner.run(left)
            finally:
                for task in tasks:
                    task.cancel()
                ended = await asyncio.gather(*tasks, return_exceptions=True)
            self._try_to_commit()
            for error in ended:
                if isinstance(error, Exception):
                    raise error

    async def _look_ahead(self) -> None:
        """Make ready what follows the first questions, while they are answered."""
        await asyncio.sleep(_SENT)
        for _ in range(0, _AHEAD, _AT_ONCE):
            self._asks.make(_AT_ONCE)
            await asyncio.sleep(0)
        self._onlooker.load()

    async def _keep_looking(self) -> None:
        """Let others know how the subjects do, by the clock and not by replies."""
        while True:
            await asyncio.sleep(_LOOKED)
            self._onlooker.look(self._runner.states())

    async def _hand(self, asked: Asked) -> None:
        """Take a reply; where the disk does not keep up, who brought it waits too."""
        self._pending.append(asked)
        self._ready.set()
        while len(self._pending) >= self._room and self._broken is None:
            self._full.set()  # nobody else can come
            self._written.clear()
            await self._written.wait()

    async def _keep_committing(self) -> None:
        """Put on disk together what came together, in a thread, while others are asked."""
        with ThreadPoolExecutor(1, thread_name_prefix="markscheme store") as thread:
            await asyncio.sleep(_SENT)
            await self._commit_in(thread)
            while self._broken is None:
                await self._ready.wait()
                self._ready.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(_GATHERED):
                        await self._full.wait()
                self._full.clear()
                await self._commit_in(thread)
        self._runner.stop("the store failed")

    async def _commit_in(self, thread: ThreadPoolExecutor) -> None:
        loop = asyncio.get_running_loop()
        await asyncio.shield(loop.run_in_executor(thread, self._try_to_commit))
        self._written.set()

    def _try_to_commit(self) -> None:
        """Note what is pending; what goes wrong ends the run, and is raised at its end."""
        try:
            self._commit()
        except Exception as error:  # noqa: BLE001 - nobody waits for this thread
            self._broken = error

    def _commit(self) -> None:
        """Note what is pending; only then is it done. What failed is not tried again.

        One at a time: who no longer waits for the thread may be here beside it.
        """
        with self._alone:
            if self._broken is None:
                self._put_on_disk(self._pending[:])

    def _put_on_disk(self, some: list[Asked]) -> None:
        """Open the runs, so that they are seen also where they break off, and note replies."""
        if self._store is not None and (some or self._unopened):
            now = datetime.now(UTC).isoformat(timespec="milliseconds")
            notes = [(self._sittings[one.ask.subject] or "", _noted(one, now)) for one in some]
            with self._store.together():
                if self._runs is not None:
                    for subject in self._plan.subjects:
                        self._runs.run(subject.name)
                self._unopened = False
                self._store.sittings.note(notes)
                if self._plan.cache:
                    self._store.sittings.cache(map(_cacheable, filter(_is_new, some)))
        del self._pending[: len(some)]
        for asked in some:
            self._done[asked.ask.key] = asked
            self._onlooker.watch(asked)


def _noted(asked: Asked, now: str) -> Noted:
    question = asked.ask.question
    body = {
        "item": question.item,
        "attempt": question.attempt,
        "order": asked.ask.order,
        "ended": now,
        "tries": asked.tries,
        "reply": asked.reply.to_dict(),
    }
    return Noted(key=asked.ask.key, body=body)


def _from_cached(body: Mapping[str, Any]) -> Reply:
    known = {"text", "finish_reason", "tokens_in", "tokens_out"}
    try:
        return Reply(**{k: v for k, v in body.items() if k in known}, cached=True)
    except ValueError as error:
        told = "is damaged: an answer of the cache cannot be read"
        raise StoreInvalidError(f"the store {told}; run without --cache") from error


def _cacheable(asked: Asked) -> Noted:
    return Noted(key=asked.ask.key, body=asked.reply.to_dict())


def _is_new(asked: Asked) -> bool:
    return asked.reply.text is not None and not asked.reply.cached
