"""Rate limit: how many questions may be under way, and how fast new ones may follow.

Additive increase, multiplicative decrease: a subject that says it is busy (HTTP 429) is asked half
as many questions at a time, and one more after each round of answers without that.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal

MINUTE = 60.0  # seconds
# A minute of ours is a little longer: the first request may take longer to arrive than the last.
_MINUTE_MARGIN = 1.01
_CATCH_UP_SECONDS = 0.02  # sleeps take a little too long; so much may be caught up
_SMOOTHING_FACTOR = 0.2  # weight of the newest answer in the average of tokens
LONGEST_WAIT = 120.0  # seconds; a server may ask for a day, and the run goes on trying


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimits:
    """Limits of a run: per moment, per try, per question, per minute, and in all."""

    concurrency: int = 8
    timeout: float = 60.0
    retries: int = 4
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    max_cost: Decimal | None = None
    max_time: float | None = None


class TokenBucket:
    """Allows an amount per minute; None allows any. Taking more makes later takers wait.

    With `evenly` no minute sees more than the amount, wherever the server's clock begins it.
    Without it, the amount of one second may be taken at once.
    """

    def __init__(self, per_minute: int | None, *, evenly: bool = False) -> None:
        self.per_minute = float(per_minute or 0)
        minute = MINUTE * _MINUTE_MARGIN if evenly else MINUTE
        self._rate = None if per_minute is None else per_minute / minute
        self._capacity = max(1.0, (self._rate or 0.0) * (_CATCH_UP_SECONDS if evenly else 1.0))
        self._level = self._capacity
        self._updated_at = time.monotonic()

    def compute_delay(self) -> float:
        """Return the seconds until something may be taken."""
        if self._rate is None:
            return 0.0
        now = time.monotonic()
        self._level = min(self._capacity, self._level + (now - self._updated_at) * self._rate)
        self._updated_at = now
        return max(0.0, (1.0 - self._level) / self._rate)

    def take(self, amount: float) -> None:
        """Take an amount; a negative one gives back."""
        # The debt is limited to what the longest wait pays off.
        self._level = max(self._level - amount, -LONGEST_WAIT * (self._rate or 0.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Permit:
    """Permission for one question: when it was given, and the tokens reserved for it."""

    started_at: float
    tokens: float


class RateLimiter:
    """Decides when the next question to one subject may be sent; learns from every reply.

    `refusals` counts the rounds in a row in which the subject only said that it is busy.
    """

    def __init__(self, limits: RunLimits, subject_limit: int | None = None) -> None:
        self.max_concurrency = min(limits.concurrency, subject_limit or limits.concurrency)
        self.allowed = float(self.max_concurrency)
        self.running = self.refusals = 0
        self._reserved_slots = 0  # slots of questions that are to be asked again
        self._requests = TokenBucket(limits.requests_per_minute, evenly=True)
        self._tokens = TokenBucket(limits.tokens_per_minute)
        self._average_tokens: float | None = None
        self._quiet_until = 0.0
        self._slowed_at = 0.0
        self._entry_lock = asyncio.Lock()
        self._freed, self._closed = asyncio.Event(), asyncio.Event()

    @property
    def closed(self) -> bool:
        """Whether no further question is permitted."""
        return self._closed.is_set()

    def close(self) -> None:
        """Permit no further question; those that wait are turned away, those under way end."""
        self._closed.set()
        self._freed.set()

    async def sleep_unless_closed(self, seconds: float, *, held: bool = False) -> None:
        """Wait, but no longer than until `close`; `held` reserves the caller's slot meanwhile."""
        self._reserved_slots += held
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._closed.wait()

    async def acquire(self, *, held: bool = False) -> Permit | None:
        """Wait for a permit; return None once the limiter is closed.

        A caller whose slot is held goes before the others, who are served in the order in which
        they came. Only the first of them looks again whenever a question has ended.
        """
        if held:
            return await self._acquire_slot(held=True)
        async with self._entry_lock:
            return await self._acquire_slot(held=False)

    async def _acquire_slot(self, *, held: bool) -> Permit | None:
        while not self.closed:
            delay = self._compute_delay()
            taken = self.running + (0 if held else self._reserved_slots)
            if delay <= 0 and taken < max(1, int(self.allowed)):
                self._reserved_slots -= held
                return self._issue_permit()
            # A question that ends frees its slot, and may give tokens back.
            self._freed.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(delay or None):
                    await self._freed.wait()
        return None

    def _issue_permit(self) -> Permit:
        """Issue a permit, and reserve the tokens that its answer will take on average.

        Without that, many questions would be sent before the first is charged. The first one
        reserves a whole minute, so that it goes alone.
        """
        expected = self._tokens.per_minute if self._average_tokens is None else self._average_tokens
        self.running += 1
        self._requests.take(1)
        self._tokens.take(expected)
        return Permit(started_at=time.monotonic(), tokens=expected)

    @property
    def quiet_seconds(self) -> float:
        """For how many more seconds the subject is not asked."""
        return max(0.0, self._quiet_until - time.monotonic())

    def _compute_delay(self) -> float:
        return max(self.quiet_seconds, self._requests.compute_delay(), self._tokens.compute_delay())

    def release(self, permit: Permit, tokens: float | None) -> None:
        """Return a permit, and charge the tokens of the answer, if there is one."""
        self.running -= 1
        self._tokens.take((tokens or 0) - permit.tokens)
        if tokens is not None:
            average = tokens if self._average_tokens is None else self._average_tokens
            self._average_tokens = average + (tokens - average) * _SMOOTHING_FACTOR
        self._freed.set()

    def record_success(self) -> None:
        """Allow one more question at a time for each round of answers."""
        self.record_not_busy()
        self.allowed = min(float(self.max_concurrency), self.allowed + 1 / self.allowed)

    def record_not_busy(self) -> None:
        """Record any reply that is not "busy"."""
        self.refusals = 0

    def record_busy(self, permit: Permit) -> None:
        """Record that the subject is busy, and halve the concurrency."""
        if self.slow_down(permit):
            self.refusals += 1

    def slow_down(self, permit: Permit) -> bool:
        """Halve the concurrency; return whether that was done.

        It is done once for all questions that were under way at the same time.
        """
        if permit.started_at < self._slowed_at:
            return False
        self.allowed = max(1.0, self.allowed / 2)
        self._slowed_at = time.monotonic()
        return True

    def keep_quiet(self, wait: float) -> None:
        """Permit nothing for so many seconds."""
        self._quiet_until = max(self._quiet_until, time.monotonic() + wait)
