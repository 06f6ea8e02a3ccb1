"""Slow down guessing: a few attempts for each name and address, then a pause."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Hashable

CODE_ATTEMPTS = 5
CODE_WINDOW = 60.0
_MAX_KEYS = 10_000


class AttemptLimiter:
    """Counts attempts by key, such as (name, address), over the last seconds.

    >>> limiter = AttemptLimiter(limit=2, seconds=60)
    >>> [limiter.try_attempt(("ana", "10.0.0.7")) for _ in range(3)]
    [True, True, False]
    """

    def __init__(
        self,
        *,
        limit: int = CODE_ATTEMPTS,
        seconds: float = CODE_WINDOW,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limit, self._seconds, self._clock = limit, seconds, clock
        self._attempts: dict[Hashable, deque[float]] = {}

    def try_attempt(self, key: Hashable) -> bool:
        """Count an attempt and return whether it is allowed; one that is not does not count."""
        now = self._clock()
        attempts = self._attempts.pop(key, deque())
        while attempts and attempts[0] <= now - self._seconds:
            attempts.popleft()
        is_allowed = len(attempts) < self._limit
        if is_allowed:
            attempts.append(now)
        # The key moves to the end, so the first keys are those that were tried longest ago.
        self._attempts[key] = attempts
        if len(self._attempts) > _MAX_KEYS:
            del self._attempts[next(iter(self._attempts))]
        return is_allowed
