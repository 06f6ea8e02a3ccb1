"""Sittings: what a subject was asked and what it said, kept reply by reply while it is asked.

A run is stored whole when its sitting is over; until then its answers are in this journal alone,
and with it a run that broke off goes on. Answers may also be kept as a cache, apart from sittings.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

from markscheme.digests import as_json, digest_of
from markscheme.errors import StoreUnavailableError
from markscheme.keep.names import new_id
from markscheme.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from markscheme.keep.databases import Database

_KEYS_AT_ONCE = 500
_LAST = 100  # sittings that are looked through for one to go on with
_ASKED = "SELECT ask FROM replies WHERE sitting = ?"
_ROWS_AT_ONCE = 300  # of three values each; some builds of SQLite take 999 in one statement


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitting:
    """One subject, sitting one exam; `parameters` say how it is asked, and hold no secret."""

    subject: str
    exam: str
    parameters: Mapping[str, Any]

    @property
    def digest(self) -> str:
        """The same subject, exam and parameters have the same."""
        told = json.dumps(self.parameters, sort_keys=True)
        return digest_of(as_json([self.subject, self.exam, told]).encode())


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """One question by its key, and plain data about how it ended."""

    key: str
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A sitting that is taken: when it began, and what it holds of the questions to be asked."""

    id: str
    started: str
    noted: tuple[Noted, ...] = ()

    @property
    def answered(self) -> set[str]:
        """The questions that have an answer; an error is none."""
        replies = ((noted.key, noted.body.get("reply")) for noted in self.noted)
        return {key for key, reply in replies if isinstance(reply, Mapping) and "text" in reply}


class Sittings:
    """The journal of a store."""

    def __init__(self, database: Database, now: str) -> None:
        self._database = database
        self._now = now

    def open(self, sitting: Sitting, keys: Collection[str] = ()) -> Opened:
        """Take the sitting to go on with that holds one of these questions, or a new one.

        Whoever does the same meanwhile waits, and is refused what is taken then.
        """
        with self._database.transaction():
            self._database.lock()
            opened = self.latest(sitting, keys) if keys else None
            opened = opened or Opened(id=self.begin(sitting), started=self._now)
            self.take(opened.id)
        return opened

    def begin(self, sitting: Sitting) -> str:
        """Begin a sitting; return its id."""
        id_ = new_id()
        self._database.change(
            "INSERT INTO sittings (id, started, subject, exam, parameters, digest)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            [
                id_,
                self._now,
                sitting.subject,
                sitting.exam,
                as_json(sitting.parameters),
                sitting.digest,
            ],
        )
        return id_

    def take(self, id_: str) -> None:
        """Ask in this sitting until the store is closed; refused while another process does."""
        if not self._database.hold(id_):
            told = f"another process asks the same just now (sitting {id_})"
            raise StoreUnavailableError(f"{told}; wait until it has ended")

    def latest(self, sitting: Sitting, keys: Collection[str]) -> Opened | None:
        """Return the newest sitting of the same subject and parameters with answers to these.

        Those of the same exam come first: it may have another name, or another file beside it now.
        A start that got no answer is passed over for answers from before, but not where they are
        whole: who began anew then wants others.
        """
        query = "SELECT id, started, digest FROM sittings WHERE subject = ? AND parameters = ?"
        query += f" ORDER BY CASE WHEN digest = ? THEN 0 ELSE 1 END, number DESC LIMIT {_LAST}"
        told = [sitting.subject, as_json(sitting.parameters), sitting.digest]
        start: Opened | None = None
        for id_, started, digest in self._database.rows(query, told):
            asked = {ask for (ask,) in self._database.rows(_ASKED, [id_])}
            if asked.isdisjoint(keys) and (asked or digest != sitting.digest):
                continue
            noted = tuple(one for one in self.noted(id_) if one.key in keys) if asked else ()
            opened = Opened(id=id_, started=started, noted=noted)
            if opened.answered:
                return start if start and len(opened.answered) == len(keys) else opened
            start = start or opened
        return start

    def note(self, notes: Iterable[tuple[str, Noted]]) -> None:
        """Add replies to their sittings, all or none; when this returns, they are on disk."""
        rows = [(sitting, noted.key, as_json(noted.body)) for sitting, noted in notes]
        with self._database.transaction():
            for start in range(0, len(rows), _ROWS_AT_ONCE):
                some = rows[start : start + _ROWS_AT_ONCE]
                marks = ", ".join(["(?, ?, ?)"] * len(some))
                statement = f"INSERT INTO replies (sitting, ask, body) VALUES {marks}"  # noqa: S608 - marks
                self._database.change(statement, list(chain.from_iterable(some)))

    def noted(self, sitting: str) -> list[Noted]:
        """Return what was noted of a sitting, in its order; a question may be there again."""
        query = "SELECT ask, body FROM replies WHERE sitting = ? ORDER BY number"
        return self._database.records(query, [sitting], _noted)

    def cache(self, notes: Iterable[Noted]) -> None:
        """Keep answers for whoever asks the same; the first one stays."""
        with self._database.transaction():
            for noted in notes:
                self._database.change(
                    "INSERT INTO cached (ask, body) VALUES (?, ?) ON CONFLICT DO NOTHING",
                    [noted.key, as_json(noted.body)],
                )

    def cached(self, keys: Collection[str]) -> dict[str, Mapping[str, Any]]:
        """Return the kept answers to these questions."""
        found: dict[str, Mapping[str, Any]] = {}
        wanted = list(keys)
        for start in range(0, len(wanted), _KEYS_AT_ONCE):
            some = wanted[start : start + _KEYS_AT_ONCE]
            marks = ", ".join("?" * len(some))
            query = f"SELECT ask, body FROM cached WHERE ask IN ({marks})"  # noqa: S608 - marks
            found |= {one.key: one.body for one in self._database.records(query, some, _noted)}
        return found


def _noted(key: str, body: str) -> Noted:
    data = json.loads(body)
    if not isinstance(data, dict):
        raise TypeError("a note is a mapping")
    return Noted(key=key, body=data)
