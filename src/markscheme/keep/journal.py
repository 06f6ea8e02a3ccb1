"""Journal of live runs: every question and reply, written while the subject is asked.

A live run is stored when its session is over. Until then its answers are only in the journal, and
a run that broke off is resumed from it. Tables and messages call a session a sitting. Replies can
also be cached, independent of sessions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from markscheme.keep.runs import generate_id
from markscheme.vocabulary import StoreUnavailableError, compute_digest, dump_json

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from markscheme.keep.database import Database

_KEYS_AT_ONCE = 500
_MAX_SESSIONS_SEARCHED = 100
_SELECT_ASKED = "SELECT ask FROM replies WHERE sitting = ?"
# A reply has three values, and some builds of SQLite take at most 999 in one statement.
_REPLIES_AT_ONCE = 300


class JournalSession(Struct, frozen=True, kw_only=True):
    """One subject asked one exam; `parameters` say how it is asked, and hold no secret."""

    subject: str
    exam: str
    parameters: Mapping[str, Any]

    @property
    def digest(self) -> str:
        """The key: equal for the same subject, exam and parameters."""
        parameters = json.dumps(self.parameters, sort_keys=True)
        return compute_digest(dump_json([self.subject, self.exam, parameters]).encode())


class JournalEntry(Struct, frozen=True, kw_only=True):
    """One question, by its key, and its reply or fault as plain data."""

    key: str
    body: Mapping[str, Any]


class NumberedEntry(Struct, frozen=True, kw_only=True):
    """An entry with its number, by which later entries are found."""

    number: int
    entry: JournalEntry


class RunSession(Struct, frozen=True, kw_only=True):
    """The session in which a run is asked, by its id, and the number of its questions."""

    id: str
    questions: int


class OpenedSession(Struct, frozen=True, kw_only=True):
    """A session that is locked for this process, with its entries for the questions to ask."""

    id: str
    started: str
    entries: tuple[JournalEntry, ...] = ()

    @property
    def answered_keys(self) -> set[str]:
        """Keys of the questions that have an answer; an error is no answer."""
        replies = ((entry.key, entry.body.get("reply")) for entry in self.entries)
        return {key for key, reply in replies if isinstance(reply, Mapping) and "text" in reply}


class Journal:
    """The journal of a store."""

    def __init__(self, database: Database, now: str) -> None:
        self._database = database
        self._now = now

    def open_session(self, sitting: JournalSession, keys: Collection[str] = ()) -> OpenedSession:
        """Lock the session to resume, one that holds some of these questions, or create one.

        Another process that does the same waits here, and then cannot lock the same session.
        """
        with self._database.transaction():
            self._database.lock_writers()
            opened = self.find_resumable_session(sitting, keys) if keys else None
            opened = opened or OpenedSession(id=self.create_session(sitting), started=self._now)
            self.lock_session(opened.id)
        return opened

    def create_session(self, sitting: JournalSession) -> str:
        """Create a session; return its id."""
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
        """Lock a session until the store is closed; raise if another process has locked it."""
        if not self._database.try_lock_id(id_):
            message = f"another process asks the same just now (sitting {id_})"
            raise StoreUnavailableError(f"{message}; wait until it has ended")

    def find_resumable_session(
        self, sitting: JournalSession, keys: Collection[str]
    ) -> OpenedSession | None:
        """Return the newest session of this subject and parameters that answers these questions.

        Sessions of the same exam come first, then those of exams that share questions with it: the
        exam may have been renamed, or merged with another. A newer session without any answer is
        skipped for an older one with some, unless the older one is complete: a user who started
        again after a complete session wants new answers.
        """
        query = (
            "SELECT id, started, digest FROM sittings WHERE subject = ? AND parameters = ?"
            " ORDER BY CASE WHEN digest = ? THEN 0 ELSE 1 END, number DESC"
            " LIMIT ?"
        )
        subject = [sitting.subject, dump_json(sitting.parameters)]
        values = [*subject, sitting.digest, _MAX_SESSIONS_SEARCHED]
        unanswered: OpenedSession | None = None
        for id_, started, digest in self._database.fetch_rows(query, values):
            asked = {ask for (ask,) in self._database.fetch_rows(_SELECT_ASKED, [id_])}
            if asked.isdisjoint(keys) and (asked or digest != sitting.digest):
                continue
            entries = self.read_entries(id_) if asked else []
            wanted = tuple(entry for entry in entries if entry.key in keys)
            session = OpenedSession(id=id_, started=started, entries=wanted)
            if session.answered_keys:
                is_complete = len(session.answered_keys) == len(keys)
                return unanswered if unanswered and is_complete else session
            unanswered = unanswered or session
        return unanswered

    def append_entries(self, entries: Iterable[tuple[str, JournalEntry]]) -> None:
        """Append entries to their sessions, all or none; they are on disk when this returns."""
        rows = [(session, entry.key, dump_json(entry.body)) for session, entry in entries]
        with self._database.transaction():
            for start in range(0, len(rows), _REPLIES_AT_ONCE):
                batch = rows[start : start + _REPLIES_AT_ONCE]
                marks = ", ".join(["(?, ?, ?)"] * len(batch))
                statement = f"INSERT INTO replies (sitting, ask, body) VALUES {marks}"  # noqa: S608 - marks
                self._database.execute_change(statement, list(chain.from_iterable(batch)))

    def read_entries(self, sitting: str) -> list[JournalEntry]:
        """Return the entries of a session in order; a question may be there more than once."""
        query = "SELECT ask, body FROM replies WHERE sitting = ? ORDER BY number"
        return self._database.fetch_records(query, [sitting], _parse_entry_row)

    def read_entries_after(self, sitting: str, number: int) -> list[NumberedEntry]:
        """Return the entries of a session that came after the entry of this number."""
        query = (
            "SELECT number, ask, body FROM replies WHERE sitting = ? AND number > ? ORDER BY number"
        )
        return self._database.fetch_records(query, [sitting, number], _parse_numbered_row)

    def link_run(self, run: str, sitting: str, questions: int) -> None:
        """Record which session an open run is asked in, and how many questions it has."""
        self._database.execute_change(
            "INSERT INTO live_runs (run, sitting, questions) VALUES (?, ?, ?)",
            [run, sitting, questions],
        )

    def find_run_session(self, run: str) -> RunSession | None:
        """Return the session in which a run is or was asked, if it was a live run."""
        query = "SELECT sitting, questions FROM live_runs WHERE run = ?"
        for sitting, questions in self._database.fetch_rows(query, [run]):
            return RunSession(id=sitting, questions=questions)
        return None

    def cache_replies(self, entries: Iterable[JournalEntry]) -> None:
        """Cache answers for the same questions in later runs; the first answer stays."""
        with self._database.transaction():
            for entry in entries:
                self._database.execute_change(
                    "INSERT INTO cached (ask, body) VALUES (?, ?) ON CONFLICT DO NOTHING",
                    [entry.key, dump_json(entry.body)],
                )

    def read_cached_replies(self, keys: Collection[str]) -> dict[str, Mapping[str, Any]]:
        """Return the cached answers to these questions, by key."""
        replies: dict[str, Mapping[str, Any]] = {}
        wanted = list(keys)
        for start in range(0, len(wanted), _KEYS_AT_ONCE):
            batch = wanted[start : start + _KEYS_AT_ONCE]
            marks = ", ".join("?" * len(batch))
            query = f"SELECT ask, body FROM cached WHERE ask IN ({marks})"  # noqa: S608 - marks
            entries = self._database.fetch_records(query, batch, _parse_entry_row)
            replies |= {entry.key: entry.body for entry in entries}
        return replies


def _parse_entry_row(key: str, body: str) -> JournalEntry:
    data = json.loads(body)
    if not isinstance(data, dict):
        raise TypeError("a journal entry is a mapping")
    return JournalEntry(key=key, body=data)


def _parse_numbered_row(number: int, key: str, body: str) -> NumberedEntry:
    return NumberedEntry(number=number, entry=_parse_entry_row(key, body))
