"""Who may use the web app: one-time links, and the sessions that browsers hold.

A link and a session are 256 random bits that only their holder knows; the store has their digests.
A link can be used once, also by two browsers at the same moment.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import TYPE_CHECKING

from msgspec import Struct

from markscheme.keep.records import format_time

if TYPE_CHECKING:
    from markscheme.keep.database import Database

_TOKEN_BYTES = 32
OWNER_LINK_LIFETIME = timedelta(minutes=10)
SESSION_LIFETIME = timedelta(days=30)


class Role(StrEnum):
    """What somebody may do in the web app."""

    OWNER = "owner"
    RATER = "rater"
    LEARNER = "learner"
    TEACHER = "teacher"


class Grant(Struct, frozen=True, kw_only=True):
    """A role and its bounds: `scope` is a study or a class, `person` a rater or a learner."""

    role: Role
    scope: str | None = None
    person: str | None = None


class EnteredLink(Struct, frozen=True, kw_only=True):
    """A link that was just used: the token of its new session, and the page to go to."""

    token: str
    grant: Grant
    landing: str


class HeldSession(Struct, frozen=True, kw_only=True):
    """A session that has not ended."""

    grant: Grant
    expires: datetime


class WebAccess:
    """The links and sessions of a store."""

    def __init__(self, database: Database, now: Callable[[], datetime]) -> None:
        self._database = database
        self._now = now

    def create_link(
        self, grant: Grant, *, landing: str, lifetime: timedelta = OWNER_LINK_LIFETIME
    ) -> str:
        """Create a one-time link that leads to the page `landing`; return its token."""
        token = os.urandom(_TOKEN_BYTES).hex()
        now = self._now()
        self._database.execute_change(
            "INSERT INTO web_links (digest, role, scope, person, landing, created, expires)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                digest_token(token),
                *_list_grant_values(grant),
                landing,
                format_time(now),
                format_time(now + lifetime),
            ],
        )
        return token

    def enter_link(self, token: str, *, former: str | None = None) -> EnteredLink | None:
        """Use a link and start its session; None if it is unknown, too old or was used before.

        The session `former` of the same browser ends: nobody keeps an id when rights change.
        """
        link = digest_token(token)
        with self._database.transaction():
            query = "SELECT role, scope, person, landing, expires FROM web_links WHERE digest = ?"
            rows = self._database.fetch_rows(query, [link])
            if not rows or datetime.fromisoformat(rows[0][4]) <= self._now():
                return None
            # The primary key decides who of two was first.
            first = self._database.execute_change(
                "INSERT INTO web_link_uses (link, used) VALUES (?, ?) ON CONFLICT DO NOTHING",
                [link, format_time(self._now())],
            )
            if not first:
                return None
            role, scope, person, landing, _ = rows[0]
            grant = Grant(role=Role(role), scope=scope, person=person)
            return EnteredLink(
                token=self.start_session(grant, former=former), grant=grant, landing=landing
            )

    def start_session(self, grant: Grant, *, former: str | None = None) -> str:
        """Start a session and end the former one of the same browser; return its token."""
        token, now = os.urandom(_TOKEN_BYTES).hex(), self._now()
        with self._database.transaction():
            if former is not None:
                self.end_session(former)
            self._database.execute_change(
                "INSERT INTO web_sessions (digest, role, scope, person, created, expires)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                [
                    digest_token(token),
                    *_list_grant_values(grant),
                    format_time(now),
                    format_time(now + SESSION_LIFETIME),
                ],
            )
        return token

    def find_session(self, token: str) -> HeldSession | None:
        """Return the session of a token, unless it has ended or is too old."""
        query = (
            "SELECT role, scope, person, expires FROM web_sessions WHERE digest = ?"
            " AND digest NOT IN (SELECT session FROM web_session_ends WHERE session = ?)"
        )
        digest = digest_token(token)
        for role, scope, person, expires in self._database.fetch_rows(query, [digest, digest]):
            session = HeldSession(
                grant=Grant(role=Role(role), scope=scope, person=person),
                expires=datetime.fromisoformat(expires),
            )
            return session if session.expires > self._now() else None
        return None

    def end_session(self, token: str) -> None:
        """End a session; an unknown one is none."""
        self._database.execute_change(
            "INSERT INTO web_session_ends (session, ended)"
            " SELECT digest, ? FROM web_sessions WHERE digest = ? ON CONFLICT DO NOTHING",
            [format_time(self._now()), digest_token(token)],
        )

    def end_learner_sessions(self, learner: str) -> None:
        """End all sessions of a learner: the code was renewed, or the learner forgotten."""
        self._database.execute_change(
            "INSERT INTO web_session_ends (session, ended) SELECT digest, ? FROM web_sessions"
            " WHERE role = ? AND person = ? ON CONFLICT DO NOTHING",
            [format_time(self._now()), Role.LEARNER.value, learner],
        )


def digest_token(token: str) -> str:
    """Return what the store keeps of a token; 256 random bits need no salt and no slow hash."""
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _list_grant_values(grant: Grant) -> list[str | None]:
    return [grant.role.value, grant.scope, grant.person]
