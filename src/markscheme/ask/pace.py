"""Pace: how many questions may be under way, and how fast new ones may follow.

Additive increase, multiplicative decrease: a subject that says it is busy is asked half as many
questions at a time, and after each round without that one more. `refusals` are the rounds in which
it said so and nothing else.
"""

from __future__ import annotations

import asyncio
import time
from decimal import Decimal

from markscheme.values import dataclass

SECONDS = 60.0
LONGEST_WAIT = 120.0  # a server may name a day; the run goes on trying


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a run may take: at once, for one try, in tries, by the minute, and in all."""

    concurrency: int = 8
    timeout: float = 60.0
    retries: int = 4
    busy_retries: int = 50
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    max_cost: Decimal | None = None
    max_time: float | None = None


class Bucket:
    """So much may be taken per minute; taking more makes those after wait until it is paid."""

    def __init__(self, per_minute: int | None) -> None:
        self._rate = None if per_minute is None else per_minute / SECONDS
        self._most = max(1.0, self._rate or 0.0)
        self._level = self._most
        self._at = time.monotonic()

    def delay(self) -> float:
        """Return for how long nothing may be taken."""
        if self._rate is None:
            return 0.0
        now = time.monotonic()
        self._level = min(self._most, self._level + (now - self._at) * self._rate)
        self._at = now
        return max(0.0, (1.0 - self._level) / self._rate)

    def take(self, amount: float) -> None:
        """Take some; the level may fall below nothing, but not by more than can be waited for."""
        self._level = max(self._level - amount, -LONGEST_WAIT * (self._rate or 0.0))


class Pace:
    """Lets questions to one subject through; every reply tells it how the subject does."""

    def __init__(self, limits: Limits, at_once: int | None = None) -> None:
        self.most = min(limits.concurrency, at_once or limits.concurrency)
        self.allowed = float(self.most)
        self.running = self.refusals = 0
        self._requests = Bucket(limits.requests_per_minute)
        self._tokens = Bucket(limits.tokens_per_minute)
        self._quiet_until = 0.0
        self._slowed_at = 0.0
        self._freed = asyncio.Event()

    async def enter(self) -> float:
        """Wait until one more question may be put; return the time at which it is."""
        while True:
            delay = self._delay()
            if delay > 0:
                await asyncio.sleep(delay)
            elif self.running >= max(1, int(self.allowed)):
                self._freed.clear()
                await self._freed.wait()
            else:
                self.running += 1
                self._requests.take(1)
                return time.monotonic()

    @property
    def quiet(self) -> float:
        """For how many seconds the subject is left alone."""
        return max(0.0, self._quiet_until - time.monotonic())

    def _delay(self) -> float:
        quiet = self._quiet_until - time.monotonic()
        return max(quiet, self._requests.delay(), self._tokens.delay())

    def leave(self, tokens: int) -> None:
        """Note that a question is over, and what it took."""
        self.running -= 1
        self._tokens.take(tokens)
        self._freed.set()

    def went_well(self) -> None:
        """Allow a little more: one more question for each round of answers."""
        self.was_not_busy()
        self.allowed = min(float(self.most), self.allowed + 1 / self.allowed)

    def was_not_busy(self) -> None:
        """Note that it said something else, whatever that was."""
        self.refusals = 0

    def was_busy(self, began: float) -> None:
        """Allow half as much.

        Questions that were under way when that was last done say nothing new.
        """
        if began >= self._slowed_at:
            self.allowed = max(1.0, self.allowed / 2)
            self.refusals += 1
            self._slowed_at = time.monotonic()

    def keep_quiet(self, wait: float) -> None:
        """Let nothing through for a while."""
        self._quiet_until = max(self._quiet_until, time.monotonic() + wait)
