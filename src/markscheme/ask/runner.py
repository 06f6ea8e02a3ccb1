"""The runner: asks every question, retries transient faults, and keeps to the limits of a run.

An error of a subject is a reply like any other; the runner raises nothing for it. A run ends early
when a limit of time or cost is reached, when a subject rejects everything, or on `stop`. The reason
is a stored message that can be shown in any language.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import reduce
from itertools import islice
from operator import or_

from markscheme.ask.questions import ScheduledQuestion
from markscheme.ask.rate_limit import LONGEST_WAIT, Permit, RateLimiter, RunLimits
from markscheme.ask.replies import Fault, Reply, to_single_line
from markscheme.ask.secrets import environment_secrets
from markscheme.ask.subjects import Subject
from markscheme.read.storable import find_text_fault
from markscheme.vocabulary import EXACT_CONTEXT, sentence

_FIRST_WAIT = 0.5  # seconds before the first retry; doubled with every further one
_MAX_BACKOFF = 30.0  # seconds
_MAX_REASON_LENGTH = 500  # characters of why there is no answer
_MAX_FINISH_REASON_LENGTH = 50  # characters of why an answer ended
_CHARACTERS_PER_TOKEN = 4.0  # an estimate, for subjects that do not report tokens
_HOPELESS_AFTER = 5  # if all of the first so many questions fail like this, the rest would too
_HOPELESS_FAULTS = {Fault.REJECTED, Fault.UNREACHABLE}
_MAX_FREE_TRIES = 50  # tries of one question that use up no retry
_MAX_BUSY_ROUNDS = 20  # rounds of "busy" in a row, over minutes, before a subject is given up
_SCHEMA_WORDS = ("response_format", "json_schema")  # in errors of endpoints without schemas


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectState:
    """How a subject does while it is asked; `failed` counts tries with a transient fault."""

    subject: str
    running: int
    busy: bool
    seconds_until_retry: float
    failed: Mapping[Fault, int]


def describe_time_limit_reached(limit: float) -> str:
    """Return the message for a run whose time is over."""
    return sentence("--max-time of {limit} s is over", limit=f"{limit:g}")


def describe_budget_spent(limit: Decimal) -> str:
    """Return the message for a run whose budget is spent."""
    return sentence("--max-cost of {limit} is spent; allow more to go on", limit=limit)


def describe_unknown_cost(reply: Reply) -> str:
    """Return the message for a budget that cannot be kept; `--price` helps if tokens are known."""
    if reply.tokens_in is None or reply.tokens_out is None:
        return sentence(
            "--max-cost cannot be kept: the subject tells neither its cost nor its tokens"
        )
    return sentence("--max-cost cannot be kept: the subject does not tell its cost; see --price")


def describe_always_busy(subject: str, times: int, reply: Reply) -> str:
    """Return the message for a subject that only says that it is busy."""
    return sentence(
        "{subject} said {n} times in a row that it is busy: {words}",
        subject=subject,
        n=times,
        words=reply.why,
    )


def describe_first_questions_failed(subject: str, questions: int, reply: Reply) -> str:
    """Return the message for a subject whose first questions all failed."""
    values = {"subject": subject, "n": questions, "words": reply.why}
    if reply.fault is Fault.UNREACHABLE:
        return sentence("{subject} was unreachable for the first {n} questions: {words}", **values)
    if any(word in reply.why for word in _SCHEMA_WORDS):
        return sentence(
            "{subject} rejected the first {n} questions: {words}; --no-structured leaves it out",
            **values,
        )
    return sentence("{subject} rejected the first {n} questions: {words}", **values)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """A question with its final reply, and the number of tries that took."""

    scheduled: ScheduledQuestion
    reply: Reply
    tries: int


AskedCallback = Callable[[AskedQuestion], Awaitable[None]]


class Runner:
    """Asks the questions of one run, and passes each to `on_reply` when it has its final reply."""

    def __init__(
        self,
        subjects: Iterable[Subject],
        limits: RunLimits,
        on_reply: AskedCallback,
        *,
        seed: int = 0,
    ) -> None:
        self._subjects: Mapping[str, Subject] = {subject.name: subject for subject in subjects}
        self._limits = limits
        self._on_reply = on_reply
        secrets = (subject.secrets for subject in self._subjects.values())
        self._secrets = reduce(or_, secrets, environment_secrets())
        self._random = random.Random(f"waits {seed}")  # noqa: S311 - waits, not secrets
        self._rate_limiters = {
            name: RateLimiter(limits, subject.max_concurrency)
            for name, subject in self._subjects.items()
        }
        self._first_keys: dict[str, list[str]] = {name: [] for name in self._subjects}
        self._fault_counts: Counter[tuple[str, Fault]] = Counter()
        self._hopeless_counts: Counter[tuple[str, Fault]] = Counter()
        self._responsive_subjects: set[str] = set()
        self._cost = Decimal(0)
        self._pending: Iterator[ScheduledQuestion] = iter(())
        self._in_flight: dict[str, ScheduledQuestion] = {}  # tries that are under way
        self._retrying: dict[str, AskedQuestion] = {}  # failed so far, to be asked again
        self.cut_short: set[str] = set()  # keys of questions that had retries left at the end
        self.stopped: str | None = None
        self.given_up: dict[str, str] = {}

    def stop(self, why: str) -> None:
        """Send nothing more; questions that are under way still end."""
        self.stopped = self.stopped or why
        self._pending = iter(())
        for limiter in self._rate_limiters.values():
            limiter.close()

    def _give_up_subject(self, name: str, why: str) -> None:
        """Ask this subject nothing more; the others go on."""
        self.given_up.setdefault(name, why)
        self._rate_limiters[name].close()

    def add_earlier_answer(self, asked: AskedQuestion) -> None:
        """Count an answer from before the run was resumed: its cost is part of the budget."""
        self._responsive_subjects.add(asked.scheduled.subject)
        self._cost = EXACT_CONTEXT.add(self._cost, asked.reply.cost or 0)

    def get_subject_states(self) -> list[SubjectState]:
        """Return the state of each subject, for progress displays."""
        return [
            SubjectState(
                subject=name,
                running=limiter.running,
                busy=limiter.refusals > 0,
                seconds_until_retry=limiter.quiet_seconds,
                failed={
                    fault: n
                    for (subject, fault), n in self._fault_counts.items()
                    if subject == name
                },
            )
            for name, limiter in self._rate_limiters.items()
        ]

    async def run(self, asks: Iterable[ScheduledQuestion]) -> None:
        """Ask all questions: each worker takes the next one when it has finished one."""
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
        """Report questions that were asked and have no answer when the time is over."""
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
        """Give up a subject that is always busy, or whose first questions were all hopeless."""
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
        """Add the cost of a try, also of one without an answer, and enforce the budget."""
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
        """Ask until there is an answer, a permanent fault, or no try left.

        Where the run stops meanwhile, the question ends with its last fault; one that was never
        sent has no reply.
        """
        limiter = self._rate_limiters[ask.subject]
        tries, free_tries, held = 0, 0, False
        if len(self._first_keys[ask.subject]) < _HOPELESS_AFTER:
            self._first_keys[ask.subject].append(ask.key)
        while (reply := await self._ask_once(ask, held=held)) is not None:
            tries += 1
            free_tries += reply.uses_no_retry
            if reply.fault is not None and not reply.is_final:
                self._fault_counts[ask.subject, reply.fault] += 1
            tries = tries if reply.tries is None else reply.tries
            asked = AskedQuestion(scheduled=ask, reply=reply, tries=tries)
            no_try_left = tries - free_tries > self._limits.retries or free_tries > _MAX_FREE_TRIES
            if reply.is_final or no_try_left or self._is_always_busy(ask.subject):
                self._retrying.pop(ask.key, None)
                return asked
            self._retrying[ask.key] = asked
            # Few are let through now; without a reserved slot others could always be first.
            held = reply.crowded
            if not reply.uses_no_retry:
                backoff = self._compute_backoff(tries - free_tries, reply.wait)
                await limiter.sleep_unless_closed(backoff, held=held)
        if ask.key in self._retrying:
            self.cut_short.add(ask.key)
        return self._retrying.pop(ask.key, None)

    def _is_always_busy(self, name: str) -> bool:
        return self._rate_limiters[name].refusals >= _MAX_BUSY_ROUNDS

    async def _ask_once(self, ask: ScheduledQuestion, *, held: bool) -> Reply | None:
        """Send a question when the rate limit permits it; None if the run has stopped."""
        limiter = self._rate_limiters[ask.subject]
        permit = await limiter.acquire(held=held)
        if permit is None:
            return None
        tokens: float | None = None
        self._in_flight[ask.key] = ask
        try:
            reply = await self._ask_with_timeout(ask)
            tokens = _estimate_tokens(ask, reply)
        finally:
            limiter.release(permit, tokens)
        del self._in_flight[ask.key]
        if not reply.is_recorded:
            self._update_rate_limit(limiter, permit, reply)
        self._record_cost(reply)
        return _validate_reply(self._secrets.redact_reply(reply))

    def _update_rate_limit(self, limiter: RateLimiter, permit: Permit, reply: Reply) -> None:
        """Ask faster or slower, depending on the reply."""
        if reply.fault is Fault.BUSY:
            limiter.record_busy(permit)
            limiter.keep_quiet(self._compute_quiet_time(limiter.refusals, reply.wait))
        elif reply.text is not None:
            limiter.record_success()
        else:
            limiter.record_not_busy()
            if reply.crowded:
                limiter.slow_down(permit)
            # A rejection with `Retry-After` is about this question, not about the server.
            if reply.wait and reply.fault is not None and reply.fault.transient:
                limiter.keep_quiet(min(reply.wait, LONGEST_WAIT))

    async def _ask_with_timeout(self, ask: ScheduledQuestion) -> Reply:
        try:
            async with asyncio.timeout(self._limits.timeout):
                return await self._subjects[ask.subject].ask(ask.question)
        except TimeoutError as error:
            # The subject may know what it waited for.
            detail = f"{error.__cause__ or ''}"
            why = f"no answer within {self._limits.timeout:g} s{detail and f': {detail}'}"
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

    def _compute_quiet_time(self, refusals: int, wait: float | None) -> float:
        """Return how long not to ask a busy subject; with repeated refusals longer than it says."""
        if refusals >= _MAX_BUSY_ROUNDS:
            return 0.0
        longer = self._compute_backoff(refusals - 1, None) if refusals > 1 else 0.0
        return max(longer, self._compute_backoff(refusals, wait))

    def _compute_backoff(self, failures: int, wait: float | None) -> float:
        """Return how long to wait: what the subject says, else exponential backoff with jitter."""
        if wait is not None:
            return min(wait, LONGEST_WAIT) + self._random.uniform(0, _FIRST_WAIT / 5)
        longest = min(_MAX_BACKOFF, _FIRST_WAIT * 2 ** max(0, failures - 1))
        return self._random.uniform(longest / 2, longest)


def _validate_reply(reply: Reply) -> Reply:
    """Return a reply that can be stored; a text that cannot is a garbled reply, asked again."""
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
    """Return the tokens of an answer, estimated by its length if they are not reported."""
    if reply.text is None:
        return None
    if reply.tokens_in is None and reply.tokens_out is None:
        return (len(ask.question.text) + len(reply.text)) / _CHARACTERS_PER_TOKEN
    return (reply.tokens_in or 0) + (reply.tokens_out or 0)
