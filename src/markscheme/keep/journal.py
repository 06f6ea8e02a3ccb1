"""Sittings: what a subject was asked and what it said, kept reply by reply while it is asked.

A run is stored whole when its sitting is over; until then its answers are in this journal alone,
and with it a run that broke off goes on. Answers may also be kept as a cache, apart from sittings.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from markscheme.keep.names import generate_id
from markscheme.vocabulary import StoreUnavailableError, compute_digest, dump_json

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from markscheme.keep.database import Database

_KEYS_AT_ONCE = 500
_MAX_SESSIONS_SEARCHED = 100  # sittings that are looked through for one to go on with
_SELECT_ASKED = "SELECT ask FROM replies WHERE sitting = ?"
_REPLIES_AT_ONCE = 300  # of three values each; some builds of SQLite take 999 in one statement


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalSession:
    """One subject, sitting one exam; `parameters` say how it is asked, and hold no secret."""

    subject: str
    exam: str
    parameters: Mapping[str, Any]

    @property
    def digest(self) -> str:
        """The same subject, exam and parameters have the same."""
        told = json.dumps(self.parameters, sort_keys=True)
        return compute_digest(dump_json([self.subject, self.exam, told]).encode())


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalEntry:
    """One question by its key, and plain data about how it ended."""

    key: str
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedSession:
    """A sitting that is taken: when it began, and what it holds of the questions to be asked."""

    id: str
    started: str
    entries: tuple[JournalEntry, ...] = ()

    @property
    def answered_keys(self) -> set[str]:
        """The questions that have an answer; an error is none."""
        replies = ((noted.key, noted.body.get("reply")) for noted in self.entries)
        return {key for key, reply in replies if isinstance(reply, Mapping) and "text" in reply}


class Journal:
    """The journal of a store."""

    def __init__(self, database: Database, now: str) -> None:
        self._database = database
        self._now = now

    def open_session(self, sitting: JournalSession, keys: Collection[str] = ()) -> OpenedSession:
        """Take the sitting to go on with that holds one of these questions, or a new one.

        Whoever does the same meanwhile waits, and is refused what is taken then.
        """
        with self._database.transaction():
            self._database.lock_writers()
            opened = self.find_resumable_session(sitting, keys) if keys else None
            opened = opened or OpenedSession(id=self.create_session(sitting), started=self._now)
            self.lock_session(opened.id)
        return opened

    def create_session(self, sitting: JournalSession) -> str:
        """Begin a sitting; return its id."""
        id_ = generate_id()
        self._database.execute_change(
            "INSERT INTO sittings (id, started, subject, exam, parameters, digest)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            [
                id_,
                self._now,
                sitting.subject,
                sitting.exam,
                dump_json(sitting.parameters),
                sitting.digest,
            ],
        )
        return id_

    def lock_session(self, id_: str) -> None:
        """Ask in this sitting until the store is closed; refused while another process does."""
        if not self._database.try_lock_id(id_):
            told = f"another process asks the same just now (sitting {id_})"
            raise StoreUnavailableError(f"{told}; wait until it has ended")

    def find_resumable_session(
        self, sitting: JournalSession, keys: Collection[str]
    ) -> OpenedSession | None:
        """Return the newest sitting of the same subject and parameters with answers to these.

        Those of the same exam come first: it may have another name, or another file beside it now.
        A start that got no answer is passed over for answers from before, but not where they are
        whole: who began anew then wants others.
        """
        query = "SELECT id, started, digest FROM sittings WHERE subject = ? AND parameters = ?"
        query += f" ORDER BY CASE WHEN digest = ? THEN 0 ELSE 1 END, number DESC LIMIT {_MAX_SESSIONS_SEARCHED}"
        told = [sitting.subject, dump_json(sitting.parameters), sitting.digest]
        start: OpenedSession | None = None
        for id_, started, digest in self._database.fetch_rows(query, told):
            asked = {ask for (ask,) in self._database.fetch_rows(_SELECT_ASKED, [id_])}
            if asked.isdisjoint(keys) and (asked or digest != sitting.digest):
                continue
            noted = tuple(one for one in self.read_entries(id_) if one.key in keys) if asked else ()
            opened = OpenedSession(id=id_, started=started, entries=noted)
            if opened.answered_keys:
                return start if start and len(opened.answered_keys) == len(keys) else opened
            start = start or opened
        return start

    def append_entries(self, notes: Iterable[tuple[str, JournalEntry]]) -> None:
        """Add replies to their sittings, all or none; when this returns, they are on disk."""
        rows = [(sitting, noted.key, dump_json(noted.body)) for sitting, noted in notes]
        with self._database.transaction():
            for start in range(0, len(rows), _REPLIES_AT_ONCE):
                some = rows[start : start + _REPLIES_AT_ONCE]
                marks = ", ".join(["(?, ?, ?)"] * len(some))
                statement = f"INSERT INTO replies (sitting, ask, body) VALUES {marks}"  # noqa: S608 - marks
                self._database.execute_change(statement, list(chain.from_iterable(some)))

    def read_entries(self, sitting: str) -> list[JournalEntry]:
        """Return what was noted of a sitting, in its order; a question may be there again."""
        query = "SELECT ask, body FROM replies WHERE sitting = ? ORDER BY number"
        return self._database.fetch_records(query, [sitting], _parse_entry_row)

    def cache_replies(self, notes: Iterable[JournalEntry]) -> None:
        """Keep answers for whoever asks the same; the first one stays."""
        with self._database.transaction():
            for noted in notes:
                self._database.execute_change(
                    "INSERT INTO cached (ask, body) VALUES (?, ?) ON CONFLICT DO NOTHING",
                    [noted.key, dump_json(noted.body)],
                )

    def read_cached_replies(self, keys: Collection[str]) -> dict[str, Mapping[str, Any]]:
        """Return the kept answers to these questions."""
        found: dict[str, Mapping[str, Any]] = {}
        wanted = list(keys)
        for start in range(0, len(wanted), _KEYS_AT_ONCE):
            some = wanted[start : start + _KEYS_AT_ONCE]
            marks = ", ".join("?" * len(some))
            query = f"SELECT ask, body FROM cached WHERE ask IN ({marks})"  # noqa: S608 - marks
            found |= {
                one.key: one.body
                for one in self._database.fetch_records(query, some, _parse_entry_row)
            }
        return found


def _parse_entry_row(key: str, body: str) -> JournalEntry:
    data = json.loads(body)
    if not isinstance(data, dict):
        raise TypeError("a note is a mapping")
    return JournalEntry(key=key, body=data)
