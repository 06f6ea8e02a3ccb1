"""What the features of the web app may use: the store, sessions, and how the app was started."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, TypeVar

from markscheme.keep import Grant, Store, StorePool, digest_token
from markscheme.workflows.portal import Portal, load_portal

Value = TypeVar("Value")

_SESSION_CACHE_SECONDS = 10.0
_MAX_CACHED_SESSIONS = 10_000


@dataclass(slots=True, kw_only=True)
class Services:
    """What one running app shares between its requests.

    `language` is that of visitors who have not chosen one and whose browser asks for none that we
    speak. `closing` is set when the server is asked to stop: streams end then.
    """

    pool: StorePool
    language: str = "en"
    is_secure: bool = False
    given_portal: Portal | None = None
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    _caches: dict[type, Any] = field(default_factory=dict)
    _sessions: dict[str, tuple[Grant, float]] = field(default_factory=dict)

    @property
    def portal(self) -> Portal:
        """The learner portal; the default one is loaded when it is first asked for."""
        if self.given_portal is None:
            self.given_portal = load_portal()
        return self.given_portal

    @property
    def serves_class(self) -> bool:
        """Whether the portal is that of a class."""
        return self.given_portal is not None and self.given_portal.class_name is not None

    @property
    def cookie(self) -> str:
        """The name of the session cookie: browsers send a cookie to every port of a host."""
        name = f"markscheme-{sha256(self.pool.place.encode()).hexdigest()[:8]}"
        return f"__Host-{name}" if self.is_secure else name

    def get_cache(self, kind: type[Value]) -> Value:
        """Return the only object of a class, made when it is first asked for."""
        cache: Value = self._caches.setdefault(kind, kind())
        return cache

    async def read(self, task: Callable[[Store], Value]) -> Value:
        """Run a task that reads the store, next to other requests."""
        return await asyncio.wrap_future(self.pool.submit_read(task))

    async def write(self, task: Callable[[Store], Value]) -> Value:
        """Run a task that changes the store, in a transaction; return when it is on disk."""
        return await asyncio.wrap_future(self.pool.submit_write(task))

    async def find_grant(self, token: str) -> Grant | None:
        """Return what the session of a token may do; an answer is remembered for a few seconds."""
        digest = digest_token(token)
        known = self._sessions.get(digest)
        if known is not None and known[1] > time.monotonic():
            return known[0]
        session = await self.read(lambda store: store.web_access.find_session(token))
        self._sessions.pop(digest, None)
        if session is None:
            return None
        if len(self._sessions) >= _MAX_CACHED_SESSIONS:
            self._sessions.clear()
        self._sessions[digest] = session.grant, time.monotonic() + _SESSION_CACHE_SECONDS
        return session.grant

    def forget_session(self, token: str) -> None:
        """Look a session up again at the next request: it ended, or its rights changed."""
        self._sessions.pop(digest_token(token), None)
