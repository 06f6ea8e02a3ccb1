"""How a subject does while it is asked, for those who look on.

Why a run ends before everything is asked: sentences that are kept, and told in any language.

What stands in `words` is somebody else's, and the same in every language.

The runner: puts every question to its subject, tries again what may pass, and never raises.

An error of a subject is the reply to a question like any other. What ends a run early is a budget,
a subject that refuses everybody, or somebody who says stop.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import reduce
from itertools import islice
from operator import or_
from typing import TYPE_CHECKING

from markscheme.ask.questions import ScheduledQuestion
from markscheme.ask.rate_limit import LONGEST_WAIT, Permit, RateLimiter, RunLimits
from markscheme.ask.replies import Fault, Reply, to_single_line
from markscheme.ask.secrets import environment_secrets
from markscheme.read.storable import find_text_fault
from markscheme.vocabulary import EXACT_CONTEXT, sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markscheme.ask.subjects import Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectState:
    """What a subject is asked now, whether it says that it is busy, and what has failed so far.

    `failed` counts tries that ended with what may pass; `again` are the seconds until it is asked.
    """

    subject: str
    running: int
    busy: bool
    seconds_until_retry: float
    failed: Mapping[Fault, int]


_SCHEMA_WORDS = ("response_format", "json_schema")  # of an endpoint that knows no schemas


def describe_time_limit_reached(limit: float) -> str:
    """Say that there is no time left."""
    return sentence("--max-time of {limit} s is over", limit=f"{limit:g}")


def describe_budget_spent(limit: Decimal) -> str:
    """Say that there is no money left."""
    return sentence("--max-cost of {limit} is spent; allow more to go on", limit=limit)


def describe_unknown_cost(reply: Reply) -> str:
    """Say that nobody knows what an answer cost; a price helps where it tells its tokens."""
    if reply.tokens_in is None or reply.tokens_out is None:
        return sentence(
            "--max-cost cannot be kept: the subject tells neither its cost nor its tokens"
        )
    return sentence("--max-cost cannot be kept: the subject does not tell its cost; see --price")


def describe_always_busy(subject: str, times: int, reply: Reply) -> str:
    """Say that a subject answers nobody."""
    return sentence(
        "{subject} said {n} times in a row that it is busy: {words}",
        subject=subject,
        n=times,
        words=reply.why,
    )


def describe_first_questions_failed(subject: str, questions: int, reply: Reply) -> str:
    """Say how the first questions ended, with what helps where a subject knows no schemas."""
    told = {"subject": subject, "n": questions, "words": reply.why}
    if reply.fault is Fault.UNREACHABLE:
        return sentence("{subject} was unreachable for the first {n} questions: {words}", **told)
    if any(word in reply.why for word in _SCHEMA_WORDS):
        return sentence(
            "{subject} rejected the first {n} questions: {words}; --no-structured leaves it out",
            **told,
        )
    return sentence("{subject} rejected the first {n} questions: {words}", **told)


_FIRST_WAIT = 0.5  # seconds; doubled with every try, and a random part of it
_MAX_BACKOFF = 30.0
_MAX_REASON_LENGTH = 500  # signs of why there is no answer
_CHARACTERS_PER_TOKEN = 4.0  # of a text, to one token
_MAX_FINISH_REASON_LENGTH = 50  # and of why an answer ended
_HOPELESS_AFTER = 5  # if the first so many all end like this, the rest would end so too
_HOPELESS_FAULTS = {Fault.REJECTED, Fault.UNREACHABLE}
_MOST_BUSY = 50  # times that one question is put off
_MAX_BUSY_ROUNDS = (
    20  # so many rounds of being told that it is busy, over minutes, and not one answer
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """A question that was put, how often, and the reply that it ended with."""

    scheduled: ScheduledQuestion
    reply: Reply
    tries: int


AskedCallback = Callable[[AskedQuestion], Awaitable[None]]


class Runner:
    """One run: give it the questions, and it hands back each with its reply as they end."""

    def __init__(
        self,
        subjects: Iterable[Subject],
        limits: RunLimits,
        hand: AskedCallback,
        *,
        seed: int = 0,
    ) -> None:
        self._subjects: Mapping[str, Subject] = {subject.name: subject for subject in subjects}
        self._limits = limits
        self._on_reply = hand
        self._secrets = reduce(
            or_, (one.secrets for one in self._subjects.values()), environment_secrets()
        )
        self._random = random.Random(f"waits {seed}")  # noqa: S311 - waits, not secrets
        self._rate_limiters = {
            name: RateLimiter(limits, one.max_concurrency) for name, one in self._subjects.items()
        }
        self._first_keys: dict[str, list[str]] = {name: [] for name in self._subjects}
        self._fault_counts: Counter[tuple[str, Fault]] = Counter()
        self._hopeless_counts: Counter[tuple[str, Fault]] = Counter()
        self._responsive_subjects: set[str] = set()
        self._cost = Decimal(0)
        self._pending: Iterator[ScheduledQuestion] = iter(())
        self._in_flight: dict[str, ScheduledQuestion] = {}  # tries that are under way
        self._retrying: dict[
            str, AskedQuestion
        ] = {}  # what failed so far, and is to be asked again
        self.cut_short: set[str] = set()  # questions that were to be asked again
        self.stopped: str | None = None
        self.given_up: dict[str, str] = {}

    def stop(self, why: str) -> None:
        """Begin nothing more; what is under way ends."""
        self.stopped = self.stopped or why
        self._pending = iter(())
        for pace in self._rate_limiters.values():
            pace.close()

    def _give_up_subject(self, name: str, why: str) -> None:
        """Ask this subject nothing more; the others go on."""
        self.given_up.setdefault(name, why)
        self._rate_limiters[name].close()

    def add_earlier_answer(self, asked: AskedQuestion) -> None:
        """Count an answer that was given before this run was resumed."""
        self._responsive_subjects.add(asked.scheduled.subject)
        self._cost = EXACT_CONTEXT.add(self._cost, asked.reply.cost or 0)

    def get_subject_states(self) -> list[SubjectState]:
        """Return how each subject does."""
        return [
            SubjectState(
                subject=name,
                running=pace.running,
                busy=pace.refusals > 0,
                seconds_until_retry=pace.quiet_seconds,
                failed={kind: n for (who, kind), n in self._fault_counts.items() if who == name},
            )
            for name, pace in self._rate_limiters.items()
        ]

    async def run(self, asks: Iterable[ScheduledQuestion]) -> None:
        """Put all questions, in their order as far as several at once have one."""
        self._pending = (ask for ask in asks if ask.subject not in self.given_up)
        self._enforce_budget()
        try:
            async with asyncio.timeout(self._limits.max_time):
                async with asyncio.TaskGroup() as group:
                    for ask in islice(self._pending, self._limits.concurrency):
                        group.create_task(self._run_worker(ask))
        except TimeoutError:
            self.stop(describe_time_limit_reached(self._limits.max_time or 0))
            await self._report_unfinished()

    async def _report_unfinished(self) -> None:
        """Hand over what was asked and has no answer, with why it had none until then."""
        late = Reply.from_fault(Fault.TIMEOUT, "no answer before --max-time was over")
        for key, ask in self._in_flight.items():
            so_far = self._retrying.get(key) or AskedQuestion(scheduled=ask, reply=late, tries=0)
            self._retrying[key] = replace(so_far, tries=so_far.tries + 1)
        self.cut_short |= set(self._retrying)
        for asked in self._retrying.values():
            await self._on_reply(asked)

    async def _run_worker(self, first: ScheduledQuestion) -> None:
        ask: ScheduledQuestion | None = first
        while ask is not None:
            asked = await self._ask_with_retries(ask)
            if asked is not None:
                self._check_subject_health(asked)
                await self._on_reply(asked)
            ask = next(self._pending, None)

    def _check_subject_health(self, asked: AskedQuestion) -> None:
        """See whether this subject should be asked more."""
        name, reply, fault = asked.scheduled.subject, asked.reply, asked.reply.fault
        if reply.is_recorded:
            return
        if fault is Fault.BUSY and self._is_always_busy(name):
            self._give_up_subject(name, describe_always_busy(name, _MAX_BUSY_ROUNDS, reply))
        elif fault in _HOPELESS_FAULTS and asked.scheduled.key in self._first_keys[name]:
            self._hopeless_counts[name, fault] += 1
            if (
                self._hopeless_counts[name, fault] >= _HOPELESS_AFTER
                and name not in self._responsive_subjects
            ):
                self._give_up_subject(
                    name, describe_first_questions_failed(name, _HOPELESS_AFTER, reply)
                )

    def _record_cost(self, reply: Reply) -> None:
        """Count what a try cost, also one that gave no answer, and keep to the budget."""
        if reply.cost is not None:
            self._cost = EXACT_CONTEXT.add(self._cost, reply.cost)
        elif self._limits.max_cost is not None and reply.text is not None and not reply.cached:
            self.stop(describe_unknown_cost(reply))
        self._enforce_budget()

    def _enforce_budget(self) -> None:
        limit = self._limits.max_cost
        if limit is not None and self._cost >= limit:
            self.stop(describe_budget_spent(limit))

    async def _ask_with_retries(self, ask: ScheduledQuestion) -> AskedQuestion | None:
        """Ask until there is an answer, a lasting fault, or no try left.

        Where nothing more is asked meanwhile, it ends with the fault that it had last.
        """
        pace, tries, busy, held = self._rate_limiters[ask.subject], 0, 0, False
        if len(self._first_keys[ask.subject]) < _HOPELESS_AFTER:
            self._first_keys[ask.subject].append(ask.key)
        while (reply := await self._ask_once(ask, held=held)) is not None:
            tries += 1
            busy += reply.uses_no_retry
            if reply.fault is not None and not reply.is_final:
                self._fault_counts[ask.subject, reply.fault] += 1
            tries = tries if reply.tries is None else reply.tries
            asked = AskedQuestion(scheduled=ask, reply=reply, tries=tries)
            if (
                reply.is_final
                or self._is_out_of_tries(tries, busy)
                or self._is_always_busy(ask.subject)
            ):
                self._retrying.pop(ask.key, None)
                return asked
            self._retrying[ask.key] = asked
            held = reply.crowded
            if not reply.uses_no_retry:
                await pace.sleep_unless_closed(
                    self._compute_backoff(tries - busy, reply.wait), held=held
                )
        if ask.key in self._retrying:
            self.cut_short.add(ask.key)
        return self._retrying.pop(ask.key, None)

    def _is_out_of_tries(self, tries: int, busy: int) -> bool:
        return tries - busy > self._limits.retries or busy > _MOST_BUSY

    def _is_always_busy(self, name: str) -> bool:
        return self._rate_limiters[name].refusals >= _MAX_BUSY_ROUNDS

    async def _ask_once(self, ask: ScheduledQuestion, *, held: bool) -> Reply | None:
        pace = self._rate_limiters[ask.subject]
        turn = await pace.acquire(held=held)
        if turn is None:
            return None
        tokens: float | None = None
        self._in_flight[ask.key] = ask
        try:
            reply = await self._ask_with_timeout(ask)
            tokens = _estimate_tokens(ask, reply)
        finally:
            pace.release(turn, tokens)
        del self._in_flight[ask.key]
        if not reply.is_recorded:
            self._update_rate_limit(pace, turn, reply)
        self._record_cost(reply)
        return _validate_reply(self._secrets.redact_reply(reply))

    def _update_rate_limit(self, pace: RateLimiter, turn: Permit, reply: Reply) -> None:
        """Ask less or more, by how the subject does."""
        if reply.fault is Fault.BUSY:
            pace.record_busy(turn)
            pace.keep_quiet(self._compute_quiet_time(pace.refusals, reply.wait))
        elif reply.text is not None:
            pace.record_success()
        else:
            pace.record_not_busy()
            if reply.crowded:
                pace.slow_down(turn)
            passing = reply.fault is not None and reply.fault.transient
            if reply.wait and passing:  # it is not this question that is too much for it
                pace.keep_quiet(min(reply.wait, LONGEST_WAIT))

    async def _ask_with_timeout(self, ask: ScheduledQuestion) -> Reply:
        try:
            async with asyncio.timeout(self._limits.timeout):
                return await self._subjects[ask.subject].ask(ask.question)
        except TimeoutError as error:
            told = f"{error.__cause__ or ''}"  # where the subject knows what it waited for
            why = f"no answer within {self._limits.timeout:g} s{told and f': {told}'}"
            return Reply.from_fault(Fault.TIMEOUT, why)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            return Reply.from_fault(Fault.FAILED, "the subject gave up: CancelledError")
        except Exception as error:  # noqa: BLE001 - a subject may be anybody's
            return Reply.from_fault(
                Fault.FAILED, f"the subject failed: {type(error).__name__}: {error}"
            )

    def _compute_quiet_time(self, refusals: int, said: float | None) -> float:
        """Return how long to leave a busy subject alone: at the next refusals more than it says."""
        if refusals >= _MAX_BUSY_ROUNDS:
            return 0.0
        longer = self._compute_backoff(refusals - 1, None) if refusals > 1 else 0.0
        return max(longer, self._compute_backoff(refusals, said))

    def _compute_backoff(self, failures: int, said: float | None) -> float:
        """Return how long to wait: what the subject says, else longer each time, with chance."""
        if said is not None:
            return min(said, LONGEST_WAIT) + self._random.uniform(0, _FIRST_WAIT / 5)
        longest = min(_MAX_BACKOFF, _FIRST_WAIT * 2 ** max(0, failures - 1))
        return self._random.uniform(longest / 2, longest)


def _validate_reply(reply: Reply) -> Reply:
    """Return a reply that can be kept; a text that cannot is no answer, and is asked again."""
    if reply.text is None:
        return replace(reply, why=to_single_line(reply.why, _MAX_REASON_LENGTH))
    fault = find_text_fault(reply.text)
    if fault is None:
        reason = reply.finish_reason and to_single_line(
            reply.finish_reason, _MAX_FINISH_REASON_LENGTH
        )
        return reply if reason == reply.finish_reason else replace(reply, finish_reason=reason)
    return Reply.from_fault(Fault.GARBLED, f"the answer holds {fault}")


def _estimate_tokens(ask: ScheduledQuestion, reply: Reply) -> float | None:
    """Return the tokens of an answer, by its length where the subject does not tell them."""
    if reply.text is None:
        return None
    if reply.tokens_in is None and reply.tokens_out is None:
        return (len(ask.question.text) + len(reply.text)) / _CHARACTERS_PER_TOKEN
    return (reply.tokens_in or 0) + (reply.tokens_out or 0)
