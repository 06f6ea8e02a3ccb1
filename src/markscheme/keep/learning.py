"""Learners, their reviews and their exam papers. Records are added; only texts can be removed.

Every record has an id that the client makes. If a client did not hear that a record was stored, it
sends it again, and the second insert with this id does nothing. Names and typed texts stand in
tables of their own, so that a person can be forgotten: their rows go, the records stay.
"""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import date, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from markscheme.keep.database import PATIENCE
from markscheme.keep.runs import generate_id
from markscheme.keep.web_access import WebAccess
from markscheme.vocabulary import (
    FrozenDict,
    StoreUnavailableError,
    UsageError,
    compute_digest,
    dump_json,
    format_value,
)

if TYPE_CHECKING:
    from markscheme.keep.database import Database

OWN_LEARNER = "learner-me"
"""The learner of a portal without a class: whoever owns the store."""
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_SCRYPT_COST = {"n": 2**14, "r": 8, "p": 1}
# Without letters and digits that look alike.
_CODE_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
_CODE_LENGTH = 10
_LOCK_ID_LENGTH = 12
_RETRY_SECONDS = 0.05


class PaperMode(StrEnum):
    """A quiz gives its feedback at once, an exam when the paper is handed in."""

    EXAM = "exam"
    QUIZ = "quiz"


class Learner(Struct, frozen=True, kw_only=True):
    """A learner; `name` is None once the learner was forgotten."""

    id: str
    name: str | None
    class_name: str | None
    added: str


class LearnerReview(Struct, frozen=True, kw_only=True):
    """One answer to a card: what it was worth and, unless it was forgotten, what was typed.

    `facts` are those of the rule, `cells` the value and the near miss of each axis.
    """

    id: str
    learner: str
    item: str
    at: datetime
    day: date
    quality: int
    rule: str
    facts: Mapping[str, Any]
    cells: Mapping[str, Any]
    rubric: str
    output: str | None = None


class Paper(Struct, frozen=True, kw_only=True):
    """One sitting of an exam by a learner. `rubric` and `exam` are digests of stored documents."""

    id: str
    learner: str
    rubric: str
    exam: str
    mode: PaperMode
    opened: datetime
    minutes: int | None = None
    handed_in: datetime | None = None
    run: str | None = None


class PaperAnswer(Struct, frozen=True, kw_only=True):
    """What a paper says to one item: the typed fields, and whether the learner flagged it."""

    id: str
    paper: str
    item: str
    at: datetime
    fields: Mapping[str, str] = FrozenDict()
    flagged: bool = False


class LearningRecords:
    """The learners, reviews and papers of a store."""

    def __init__(self, database: Database, now: Callable[[], datetime]) -> None:
        self._database = database
        self._now = now

    # --- learners ---

    def add_learner(self, name: str, class_name: str) -> tuple[Learner, str]:
        """Add a learner to a class; return the learner and the code to enter with.

        The store has a hash of the code alone.
        """
        if any(learner.name == name for learner in self.list_learners(class_name)):
            raise UsageError(f"the class `{class_name}` has a learner {format_value(name)} already")
        learner = Learner(
            id=f"learner-{generate_id()}",
            name=name,
            class_name=class_name,
            added=self._format_now(),
        )
        self._insert_learner(learner)
        self._database.execute_change(
            "INSERT INTO learner_names (learner, name) VALUES (?, ?)", [learner.id, name]
        )
        return learner, self.renew_code(learner.id)

    def ensure_own_learner(self) -> str:
        """Return the id of the learner without a class, who is added at the first call."""
        return self.ensure_learner(OWN_LEARNER)

    def ensure_learner(self, id_: str) -> str:
        """Add a learner without a name or a class, unless there is one with this id."""
        _check_id(id_)
        self._insert_learner(Learner(id=id_, name=None, class_name=None, added=self._format_now()))
        return id_

    def _insert_learner(self, learner: Learner) -> None:
        self._database.execute_change(
            "INSERT INTO learners (id, class, added) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            [learner.id, learner.class_name, learner.added],
        )

    def renew_code(self, learner: str) -> str:
        """Give a learner a new code, which ends the one before and its sessions; return it."""
        code = "".join(secrets.choice(_CODE_LETTERS) for _ in range(_CODE_LENGTH))
        salt = secrets.token_hex(16)
        self._database.execute_change(
            "INSERT INTO learner_codes (learner, salt, digest, made) VALUES (?, ?, ?, ?)",
            [learner, salt, _hash_code(code, salt), self._format_now()],
        )
        WebAccess(self._database, self._now).end_learner_sessions(learner)
        return code

    def find_learner_by_code(self, name: str, code: str, class_name: str) -> Learner | None:
        """Return the learner of a class with this name and this code, or None.

        An unknown name takes as long as a wrong code.
        """
        named = [one for one in self.list_learners(class_name) if one.name == name]
        query = (
            "SELECT salt, digest FROM learner_codes WHERE learner = ? ORDER BY number DESC LIMIT 1"
        )
        rows = self._database.fetch_rows(query, [named[0].id]) if named else []
        salt, digest = rows[0] if rows else ("00", "")
        is_right = secrets.compare_digest(_hash_code(code.strip().lower(), salt), digest)
        return named[0] if named and is_right else None

    def list_learners(self, class_name: str | None = None) -> list[Learner]:
        """Return the learners of a class, or all, in the order in which they were added."""
        query = (
            "SELECT id, name, class, added FROM learners LEFT JOIN learner_names ON learner = id"
        )
        condition = "" if class_name is None else " WHERE class = ?"
        query, values = f"{query}{condition} ORDER BY number", [class_name] if class_name else []
        return self._database.fetch_records(query, values, _parse_learner_row)

    def forget_learner(self, learner: str) -> None:
        """Remove the name and all typed texts of a learner for good; call it in no transaction."""
        from markscheme.keep.forgetting import forget_learner

        forget_learner(self._database, learner, self._now)

    def is_forgotten(self, learner: str) -> bool:
        """Whether the name and the texts of a learner were removed."""
        return bool(
            self._database.fetch_rows("SELECT 1 FROM forgotten WHERE learner = ?", [learner])
        )

    def _lock_learner(self, learner: str) -> None:
        """In a transaction: make other changes of a learner wait; refuse one who was forgotten.

        A browser may still send what was typed before.
        """
        self._database.fetch_rows("SELECT id FROM learners WHERE id = ? {lock_row}", [learner])
        if self.is_forgotten(learner):
            raise UsageError(
                f"the learner {format_value(learner)} was forgotten; nothing more is stored"
            )

    def _lock_learner_of(self, paper: str) -> None:
        """In a transaction: lock the learner of a paper, if there is such a paper."""
        query = "SELECT learner FROM papers WHERE id = ?"
        for (learner,) in self._database.fetch_rows(query, [paper]):
            self._lock_learner(learner)

    # --- reviews ---

    def add_review(self, review: LearnerReview) -> bool:
        """Store a review; return False if its id is there already."""
        _check_id(review.id)
        with self._database.transaction():
            self._lock_learner(review.learner)
            return self._insert_review(review)

    def _insert_review(self, review: LearnerReview) -> bool:
        added = self._database.execute_change(
            "INSERT INTO reviews (id, learner, item, at, day, quality, rule, facts, cells, rubric)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
            [
                review.id,
                review.learner,
                review.item,
                review.at.isoformat(),
                review.day.isoformat(),
                review.quality,
                review.rule,
                dump_json(review.facts),
                dump_json(review.cells),
                review.rubric,
            ],
        )
        if added and review.output is not None:
            self._database.execute_change(
                "INSERT INTO review_texts (review, output) VALUES (?, ?)",
                [review.id, review.output],
            )
        return bool(added)

    def undo_review(self, review: str, learner: str) -> bool:
        """Take a review back by one more record; return False if there is no such review."""
        return bool(
            self._database.execute_change(
                "INSERT INTO review_undos (review, at) SELECT id, ? FROM reviews"
                " WHERE id = ? AND learner = ? ON CONFLICT DO NOTHING",
                [self._format_now(), review, learner],
            )
        )

    def list_reviews(
        self, learners: Collection[str], *, texts: bool = False
    ) -> list[LearnerReview]:
        """Return the reviews of learners in order, without those that were taken back."""
        marks = ", ".join("?" * len(learners))
        query = (
            "SELECT reviews.id, learner, item, at, day, quality, rule, facts, cells, rubric,"  # noqa: S608 - ours
            f" {'output' if texts else 'NULL'} FROM reviews"
            f"{' LEFT JOIN review_texts ON review = reviews.id' if texts else ''}"
            f" WHERE learner IN ({marks}) AND reviews.id NOT IN (SELECT review FROM review_undos)"
            " ORDER BY reviews.number"
        )
        return self._database.fetch_records(query, list(learners), _parse_review_row)

    def list_grades(self, learners: Collection[str]) -> list[tuple[str, str, date, int]]:
        """Return learner, item, day and quality of each review: what schedules are made of."""
        marks = ", ".join("?" * len(learners))
        query = (
            "SELECT learner, item, day, quality FROM reviews"  # noqa: S608 - marks
            f" WHERE learner IN ({marks}) AND id NOT IN (SELECT review FROM review_undos)"
            " ORDER BY number"
        )
        rows = self._database.fetch_rows(query, list(learners))
        days: dict[str, date] = {}
        for row in rows:
            if row[2] not in days:
                days[row[2]] = date.fromisoformat(row[2])
        return [(row[0], row[1], days[row[2]], int(row[3])) for row in rows]

    def list_card_grades(self, learner: str, item: str) -> list[tuple[str, date, int]]:
        """Return id, day and quality of each review of one card, in order."""
        query = (
            "SELECT id, day, quality FROM reviews WHERE learner = ? AND item = ?"
            " AND id NOT IN (SELECT review FROM review_undos) ORDER BY number"
        )
        rows = self._database.fetch_rows(query, [learner, item])
        return [(id_, date.fromisoformat(day), int(quality)) for id_, day, quality in rows]

    def find_review(self, id_: str, learner: str) -> LearnerReview | None:
        """Return a review of a learner with its text, or None if there is none or it was undone."""
        query = (
            "SELECT reviews.id, learner, item, at, day, quality, rule, facts, cells, rubric, output"
            " FROM reviews LEFT JOIN review_texts ON review = reviews.id"
            " WHERE reviews.id = ? AND learner = ?"
            " AND reviews.id NOT IN (SELECT review FROM review_undos)"
        )
        found = self._database.fetch_records(query, [id_, learner], _parse_review_row)
        return found[0] if found else None

    # --- papers ---

    def open_paper(self, paper: Paper) -> bool:
        """Open a paper; return False if its id is there already."""
        _check_id(paper.id)
        with self._database.transaction():
            self._lock_learner(paper.learner)
            added = self._database.execute_change(
                "INSERT INTO papers (id, learner, rubric, exam, mode, opened, minutes)"
                " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
                [
                    paper.id,
                    paper.learner,
                    paper.rubric,
                    paper.exam,
                    paper.mode.value,
                    paper.opened.isoformat(),
                    paper.minutes,
                ],
            )
        return bool(added)

    def find_paper(self, id_: str) -> Paper | None:
        """Return a paper, or None if there is none with this id."""
        papers = self._fetch_papers("papers.id = ?", [id_])
        return papers[0] if papers else None

    def list_papers(self, learners: Collection[str]) -> list[Paper]:
        """Return the papers of learners, the newest first."""
        marks = ", ".join("?" * len(learners))
        return self._fetch_papers(f"learner IN ({marks})", list(learners))

    def _fetch_papers(self, condition: str, values: list[str]) -> list[Paper]:
        query = (
            "SELECT papers.id, learner, rubric, exam, mode, opened, minutes, hand_ins.at,"  # noqa: S608 - ours
            " paper_runs.run FROM papers LEFT JOIN hand_ins ON hand_ins.paper = papers.id"
            " LEFT JOIN paper_runs ON paper_runs.paper = papers.id"
            f" WHERE {condition} ORDER BY papers.number DESC"
        )
        return self._database.fetch_records(query, values, _parse_paper_row)

    def add_paper_answers(self, answers: Iterable[PaperAnswer]) -> int:
        """Store answers of papers that are not handed in yet; return how many were new.

        In a quiz the first answer to an item stays, because the learner then sees what is right.
        """
        given = list(answers)
        for answer in given:
            _check_id(answer.id)
        with self._database.transaction():
            for paper in sorted({answer.paper for answer in given}):
                self._lock_learner_of(paper)
            return self._insert_paper_answers(given)

    def _insert_paper_answers(self, answers: Iterable[PaperAnswer]) -> int:
        added = 0
        for answer in answers:
            is_new = self._database.execute_change(
                "INSERT INTO paper_answers (id, paper, item, at, flagged) SELECT ?, id, ?, ?, ?"
                " FROM papers WHERE id = ? AND id NOT IN (SELECT paper FROM hand_ins)"
                " AND (mode <> ? OR NOT EXISTS"
                " (SELECT 1 FROM paper_answers AS given WHERE given.paper = ? AND given.item = ?))"
                " ON CONFLICT (id) DO NOTHING",
                [
                    *(answer.id, answer.item, answer.at.isoformat(), int(answer.flagged)),
                    *(answer.paper, PaperMode.QUIZ.value, answer.paper, answer.item),
                ],
            )
            if is_new:
                self._database.execute_change(
                    "INSERT INTO paper_texts (answer, fields) VALUES (?, ?)",
                    [answer.id, dump_json(answer.fields)],
                )
            added += is_new
        return added

    def list_paper_answers(self, paper: str) -> dict[str, PaperAnswer]:
        """Return the latest answer to each item of a paper."""
        query = (
            "SELECT paper_answers.id, paper, item, at, flagged, fields FROM paper_answers"
            " LEFT JOIN paper_texts ON answer = paper_answers.id WHERE paper = ?"
            " ORDER BY paper_answers.number"
        )
        answers = self._database.fetch_records(query, [paper], _parse_answer_row)
        return {answer.item: answer for answer in answers}

    def lock_paper(self, paper: str) -> None:
        """Lock a paper until the store is closed; wait while somebody else has it locked."""
        id_ = compute_digest(paper.encode())[-_LOCK_ID_LENGTH:]
        until = time.monotonic() + PATIENCE
        while not self._database.try_lock_id(id_):
            if time.monotonic() > until:
                raise StoreUnavailableError(
                    f"the paper {format_value(paper)} is being handed in; try again later"
                )
            time.sleep(_RETRY_SECONDS)

    def hand_in_paper(self, paper: str) -> bool:
        """Close a paper; return False if it was handed in before. No answer is added after that."""
        with self._database.transaction():
            self._lock_learner_of(paper)
            added = self._database.execute_change(
                "INSERT INTO hand_ins (paper, at) SELECT id, ? FROM papers WHERE id = ?"
                " ON CONFLICT DO NOTHING",
                [self._format_now(), paper],
            )
        return bool(added)

    def record_paper_run(self, paper: str, run: str) -> None:
        """Record which run a paper that was handed in became; the first one stays."""
        self._database.execute_change(
            "INSERT INTO paper_runs (paper, run) VALUES (?, ?) ON CONFLICT DO NOTHING", [paper, run]
        )

    def _format_now(self) -> str:
        return self._now().isoformat()


def _check_id(id_: str) -> None:
    if not _ID.fullmatch(id_):
        raise UsageError(f"{format_value(id_)} is no id; letters, digits, `-` and `_` make one")


def _hash_code(code: str, salt: str) -> str:
    from hashlib import scrypt  # late: OpenSSL is only needed in a class

    return scrypt(
        code.encode("utf-8", "surrogatepass"), salt=bytes.fromhex(salt), **_SCRYPT_COST
    ).hex()


def _parse_learner_row(id_: str, name: str | None, class_name: str | None, added: str) -> Learner:
    return Learner(id=id_, name=name, class_name=class_name, added=added)


def _parse_review_row(*row: Any) -> LearnerReview:
    id_, learner, item, at, day, quality, rule, facts, cells, rubric, output = row
    return LearnerReview(
        id=id_,
        learner=learner,
        item=item,
        at=datetime.fromisoformat(at),
        day=date.fromisoformat(day),
        quality=int(quality),
        rule=rule,
        facts=json.loads(facts),
        cells=json.loads(cells),
        rubric=rubric,
        output=output,
    )


def _parse_paper_row(*row: Any) -> Paper:
    id_, learner, rubric, exam, mode, opened, minutes, handed_in, run = row
    return Paper(
        id=id_,
        learner=learner,
        rubric=rubric,
        exam=exam,
        mode=PaperMode(mode),
        opened=datetime.fromisoformat(opened),
        minutes=None if minutes is None else int(minutes),
        handed_in=None if handed_in is None else datetime.fromisoformat(handed_in),
        run=run,
    )


def _parse_answer_row(
    id_: str, paper: str, item: str, at: str, flagged: int, fields: str | None
) -> PaperAnswer:
    return PaperAnswer(
        id=id_,
        paper=paper,
        item=item,
        at=datetime.fromisoformat(at),
        flagged=bool(flagged),
        fields={} if fields is None else json.loads(fields),
    )
