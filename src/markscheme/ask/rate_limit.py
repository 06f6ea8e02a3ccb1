"""Pace: how many questions may be under way, and how fast new ones may follow.

Additive increase, multiplicative decrease: a subject that says it is busy is asked half as many
questions at a time, and after each round without that one more. `refusals` are the rounds in which
it said so and nothing else.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal

MINUTE = 60.0  # seconds
_MINUTE_MARGIN = 1.01  # than a minute: the first request may take longer on its way than the last
_CATCH_UP_SECONDS = (
    0.02  # seconds of which the requests may catch up: waits take a little longer than told
)
_SMOOTHING_FACTOR = 0.2  # how much the newest answer says about the next one
LONGEST_WAIT = 120.0  # a server may name a day; the run goes on trying


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimits:
    """What a run may take: at once, for one try, in tries, by the minute, and in all."""

    concurrency: int = 8
    timeout: float = 60.0
    retries: int = 4
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    max_cost: Decimal | None = None
    max_time: float | None = None


class TokenBucket:
    """So much may be taken per minute; taking more makes those after wait until it is paid.

    Evenly, it is never more in any minute, also for somebody who counts a little away from us;
    else what is left of a second may be taken at once.
    """

    def __init__(self, per_minute: int | None, *, evenly: bool = False) -> None:
        self.per_minute = float(per_minute or 0)
        minute = MINUTE * _MINUTE_MARGIN if evenly else MINUTE
        self._rate = None if per_minute is None else per_minute / minute
        self._capacity = max(1.0, (self._rate or 0.0) * (_CATCH_UP_SECONDS if evenly else 1.0))
        self._level = self._capacity
        self._updated_at = time.monotonic()

    def compute_delay(self) -> float:
        """Return for how long nothing may be taken."""
        if self._rate is None:
            return 0.0
        now = time.monotonic()
        self._level = min(self._capacity, self._level + (now - self._updated_at) * self._rate)
        self._updated_at = now
        return max(0.0, (1.0 - self._level) / self._rate)

    def take(self, amount: float) -> None:
        """Take some, or give some back; it may fall below nothing by what can be waited for."""
        self._level = max(self._level - amount, -LONGEST_WAIT * (self._rate or 0.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Permit:
    """When a question was let through, and the tokens that were taken for it."""

    started_at: float
    tokens: float


class RateLimiter:
    """Lets questions to one subject through; every reply tells it how the subject does."""

    def __init__(self, limits: RunLimits, subject_limit: int | None = None) -> None:
        self.max_concurrency = min(limits.concurrency, subject_limit or limits.concurrency)
        self.allowed = float(self.max_concurrency)
        self.running = self.refusals = 0
        self._reserved_slots = 0  # places of questions that are to be put again
        self._requests = TokenBucket(limits.requests_per_minute, evenly=True)
        self._tokens = TokenBucket(limits.tokens_per_minute)
        self._average_tokens: float | None = None
        self._quiet_until = 0.0
        self._slowed_at = 0.0
        self._entry_lock = asyncio.Lock()
        self._freed, self._closed = asyncio.Event(), asyncio.Event()

    @property
    def closed(self) -> bool:
        """Whether nothing more is let through."""
        return self._closed.is_set()

    def close(self) -> None:
        """Let nothing more through: who waits goes away, what is under way ends."""
        self._closed.set()
        self._freed.set()

    async def sleep_unless_closed(self, seconds: float, *, held: bool = False) -> None:
        """Wait so long, unless it is closed meanwhile; who holds a place lets no other take it."""
        self._reserved_slots += held
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._closed.wait()

    async def acquire(self, *, held: bool = False) -> Permit | None:
        """Wait until one more question may be put; none may where it is closed.

        Who holds a place goes before others, and who came first goes first: nobody waits for ever,
        and one alone looks again whenever a question is over.
        """
        if held:
            return await self._acquire_slot(held=True)
        async with self._entry_lock:
            return await self._acquire_slot(held=False)

    async def _acquire_slot(self, *, held: bool) -> Permit | None:
        while not self.closed:
            delay, taken = (
                self._compute_delay(),
                self.running + (0 if held else self._reserved_slots),
            )
            if delay <= 0 and taken < max(1, int(self.allowed)):
                self._reserved_slots -= held
                return self._issue_permit()
            await self._wait_until_freed(delay or None)
        return None

    async def _wait_until_freed(self, seconds: float | None) -> None:
        """Wait until a question is over, which may give tokens back, or for so long."""
        self._freed.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._freed.wait()

    def _issue_permit(self) -> Permit:
        """Take a turn, and at once the tokens that it will take, by those before it.

        Else many would go out before one is back. The first goes alone.
        """
        expected = self._tokens.per_minute if self._average_tokens is None else self._average_tokens
        self.running += 1
        self._requests.take(1)
        self._tokens.take(expected)
        return Permit(started_at=time.monotonic(), tokens=expected)

    @property
    def quiet_seconds(self) -> float:
        """For how many seconds the subject is left alone."""
        return max(0.0, self._quiet_until - time.monotonic())

    def _compute_delay(self) -> float:
        return max(self.quiet_seconds, self._requests.compute_delay(), self._tokens.compute_delay())

    def release(self, turn: Permit, tokens: float | None) -> None:
        """Note that a question is over, and the tokens of its answer, if it has one."""
        self.running -= 1
        self._tokens.take((tokens or 0) - turn.tokens)
        if tokens is not None:
            usual = tokens if self._average_tokens is None else self._average_tokens
            self._average_tokens = usual + (tokens - usual) * _SMOOTHING_FACTOR
        self._freed.set()

    def record_success(self) -> None:
        """Allow a little more: one more question for each round of answers."""
        self.record_not_busy()
        self.allowed = min(float(self.max_concurrency), self.allowed + 1 / self.allowed)

    def record_not_busy(self) -> None:
        """Note that it said something else, whatever that was."""
        self.refusals = 0

    def record_busy(self, turn: Permit) -> None:
        """Note that it said so, and allow half as much."""
        if self.slow_down(turn):
            self.refusals += 1

    def slow_down(self, turn: Permit) -> bool:
        """Allow half as much; say whether that was done.

        Questions that were under way when that was last done say nothing new.
        """
        if turn.started_at < self._slowed_at:
            return False
        self.allowed = max(1.0, self.allowed / 2)
        self._slowed_at = time.monotonic()
        return True

    def keep_quiet(self, wait: float) -> None:
        """Let nothing through for a while."""
        self._quiet_until = max(self._quiet_until, time.monotonic() + wait)
