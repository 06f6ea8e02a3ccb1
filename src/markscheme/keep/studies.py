"""Rating studies in the store: what is rated, by whom, and every mark in the order it was given.

All tables are append-only. A lease event says that a rater took a query, skipped it or finished it;
a mark replaces an earlier one, or takes it back. What counts now is computed from these records by
`markscheme.weigh.rating_study`, never stored. The id of a mark is made by the client and is unique,
so a mark that is sent twice is stored once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from markscheme.keep.records import DocumentReference, format_time
from markscheme.keep.runs import generate_id
from markscheme.vocabulary import (
    Adjudication,
    LeaseEvent,
    LeaseKind,
    StudyMark,
    UsageError,
    dump_json,
    format_value,
)

if TYPE_CHECKING:
    from markscheme.keep.database import Database

_MARK_COLUMNS = "id, rater, item, variant, axis, criterion, score, note, undoes, at"
_STUDY_QUERY = """
SELECT studies.id, studies.name, created, settings, closed,
  rubrics.digest, rubrics.name, rubrics.version, rubrics.fingerprint,
  exams.digest, exams.name, exams.version, exams.fingerprint
FROM studies
JOIN documents AS rubrics ON rubrics.digest = studies.rubric
JOIN documents AS exams ON exams.digest = studies.exam
LEFT JOIN study_closings ON study_closings.study = studies.id"""


class StudyAnswer(Struct, frozen=True, kw_only=True):
    """One answer to be rated; `body` holds its text, and what the agent did if that is known."""

    item: str
    variant: str
    body: Mapping[str, Any]


class NewStudy(Struct, frozen=True, kw_only=True):
    """A study before it begins; `rubric` and `exam` are digests of stored documents.

    `answers` are in the order of the exam, those to one query together.
    """

    name: str
    rubric: str
    exam: str
    settings: Mapping[str, Any]
    raters: Sequence[str]
    answers: Sequence[StudyAnswer]


class StoredStudy(Struct, frozen=True, kw_only=True):
    """A study without its answers; `closed` is when it was closed, `None` while it is open."""

    id: str
    name: str
    created: datetime
    settings: Mapping[str, Any]
    closed: datetime | None
    rubric: DocumentReference
    exam: DocumentReference
    raters: tuple[str, ...]


class StudyTables:
    """The studies of a store."""

    def __init__(self, database: Database, now: Callable[[], datetime]) -> None:
        self._database = database
        self._now = now

    def create_study(self, new: NewStudy) -> str:
        """Store a study with its raters and answers; return its id. Names are unique."""
        with self._database.transaction():
            self._database.lock_writers()
            if self._database.fetch_rows("SELECT 1 FROM studies WHERE name = ?", [new.name]):
                raise UsageError(f"there is a study {format_value(new.name)} already")
            id_ = generate_id()
            self._database.execute_change(
                "INSERT INTO studies (id, name, created, rubric, exam, settings)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                [id_, new.name, self._format_now(), new.rubric, new.exam, dump_json(new.settings)],
            )
            for rater in new.raters:
                self._database.execute_change(
                    "INSERT INTO study_raters (study, rater) VALUES (?, ?)", [id_, rater]
                )
            for answer in new.answers:
                self._database.execute_change(
                    "INSERT INTO study_answers (study, item, variant, body) VALUES (?, ?, ?, ?)",
                    [id_, answer.item, answer.variant, dump_json(answer.body)],
                )
        return id_

    def list_studies(self) -> list[StoredStudy]:
        """Return all studies, the newest first."""
        return self._fetch_studies("ORDER BY studies.number DESC", [])

    def find_study(self, name: str) -> StoredStudy:
        """Return a study by its name or its id."""
        found = self._fetch_studies("WHERE studies.id = ? OR studies.name = ?", [name, name])
        if not found:
            raise UsageError(f"the store holds no study {format_value(name)}")
        # A name may look like the id of another study; the name is what people type.
        return next((study for study in found if study.name == name), found[0])

    def _fetch_studies(self, condition: str, values: Sequence[str]) -> list[StoredStudy]:
        raters: dict[str, list[str]] = {}
        query = "SELECT study, rater FROM study_raters ORDER BY number"
        for study, rater in self._database.fetch_rows(query):
            raters.setdefault(study, []).append(rater)

        def parse(id_: str, name: str, created: str, settings: str, *rest: Any) -> StoredStudy:
            closed, *documents = rest
            return StoredStudy(
                id=id_,
                name=name,
                created=datetime.fromisoformat(created),
                settings=json.loads(settings),
                closed=None if closed is None else datetime.fromisoformat(closed),
                rubric=_parse_reference(*documents[:4]),
                exam=_parse_reference(*documents[4:]),
                raters=tuple(raters.get(id_, ())),
            )

        return self._database.fetch_records(f"{_STUDY_QUERY} {condition}", values, parse)

    def lock_study(self, study: str) -> bool:
        """In a transaction: make other callers wait; return whether the study is closed."""
        self._database.fetch_rows("SELECT id FROM studies WHERE id = ? {lock_row}", [study])
        return self.is_closed(study)

    def is_closed(self, study: str) -> bool:
        """Whether a study was closed."""
        query = "SELECT 1 FROM study_closings WHERE study = ?"
        return bool(self._database.fetch_rows(query, [study]))

    def read_answers(self, study: str, item: str | None = None) -> list[StudyAnswer]:
        """Return the answers of a study, or those to one query, in the order of the exam."""
        condition, values = _filter_rows(study=study, item=item)
        query = f"SELECT item, variant, body FROM study_answers {condition} ORDER BY number"  # noqa: S608
        return self._database.fetch_records(query, values, _parse_answer_row)

    def list_variants(self, study: str) -> dict[str, tuple[str, ...]]:
        """Return the variants that answered each query, in the order of the exam."""
        query = "SELECT item, variant FROM study_answers WHERE study = ? ORDER BY number"
        variants: dict[str, tuple[str, ...]] = {}
        for item, variant in self._database.fetch_rows(query, [study]):
            variants[item] = (*variants.get(item, ()), variant)
        return variants

    # --- leases and marks ---

    def add_lease_event(self, study: str, event: LeaseEvent) -> None:
        """Append what happened between a rater and a query."""
        self._database.execute_change(
            "INSERT INTO study_leases (study, item, rater, kind, at, variants, place)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                *(study, event.item, event.rater, event.kind.value, format_time(event.at)),
                *(dump_json(list(event.order)), event.place),
            ],
        )

    def read_lease_events(self, study: str, *, rater: str | None = None) -> list[LeaseEvent]:
        """Return the lease events of a study, or those of one rater, in their order."""
        condition, values = _filter_rows(study=study, rater=rater)
        query = (
            "SELECT item, rater, kind, at, variants, place FROM study_leases"  # noqa: S608
            f" {condition} ORDER BY number"
        )
        return self._database.fetch_records(query, values, _parse_lease_row)

    def read_last_mark_times(self, study: str) -> dict[tuple[str, str], datetime]:
        """Return when each rater last said something about each query, by item and rater."""
        query = "SELECT item, rater, MAX(at) FROM study_marks WHERE study = ? GROUP BY item, rater"
        rows = self._database.fetch_rows(query, [study])
        return {(item, rater): datetime.fromisoformat(at) for item, rater, at in rows}

    def add_mark(self, study: str, mark: StudyMark) -> None:
        """Append a mark."""
        self._database.execute_change(
            f"INSERT INTO study_marks (study, {_MARK_COLUMNS})"  # noqa: S608 - our columns
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                *(study, mark.id, mark.rater, mark.item, mark.variant, mark.axis, mark.criterion),
                *(mark.score, mark.note, mark.undoes, format_time(mark.at)),
            ],
        )

    def find_mark(self, id_: str) -> tuple[str, StudyMark] | None:
        """Return the study and the mark with this id; `None` if there is none."""
        query = f"SELECT study, {_MARK_COLUMNS} FROM study_marks WHERE id = ?"  # noqa: S608
        rows = self._database.fetch_rows(query, [id_])
        return (rows[0][0], _parse_mark_row(*rows[0][1:])) if rows else None

    def read_marks(
        self, study: str, *, rater: str | None = None, item: str | None = None
    ) -> list[StudyMark]:
        """Return marks in the order in which they were given."""
        condition, values = _filter_rows(study=study, rater=rater, item=item)
        query = f"SELECT {_MARK_COLUMNS} FROM study_marks {condition} ORDER BY number"  # noqa: S608
        return self._database.fetch_records(query, values, _parse_mark_row)

    # --- closing, and what comes after it ---

    def close_study(self, study: str, *, by: str | None) -> None:
        """Close a study for good; one that is closed stays as it is."""
        self._database.execute_change(
            "INSERT INTO study_closings (study, closed, closed_by) VALUES (?, ?, ?)"
            " ON CONFLICT DO NOTHING",
            [study, self._format_now(), by],
        )

    def add_adjudication(self, study: str, adjudication: Adjudication) -> bool:
        """Append what was decided about a disagreement; return False if its id is there already."""
        decided = adjudication
        added = self._database.execute_change(
            "INSERT INTO study_adjudications"
            " (id, study, item, variant, axis, criterion, score, note, decided_by, at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
            [
                *(decided.id, study, decided.item, decided.variant, decided.axis),
                *(decided.criterion, decided.score, decided.note, decided.by),
                format_time(decided.at),
            ],
        )
        return bool(added)

    def read_adjudications(self, study: str) -> list[Adjudication]:
        """Return all adjudications in their order; a later one replaces an earlier one."""
        query = (
            "SELECT id, item, variant, axis, criterion, score, note, decided_by, at"
            " FROM study_adjudications WHERE study = ? ORDER BY number"
        )
        return self._database.fetch_records(query, [study], _parse_adjudication_row)

    def add_judge_ratings(self, study: str, source: str, ratings: Iterable[object]) -> None:
        """Keep the ratings of a judge, to be shown beside those of people after closing."""
        self._database.execute_change(
            "INSERT INTO study_judgements (study, source, ratings, added) VALUES (?, ?, ?, ?)",
            [study, source, dump_json(list(ratings)), self._format_now()],
        )

    def read_judge_ratings(self, study: str) -> list[Any]:
        """Return the ratings of judges that were kept, as plain data."""
        query = "SELECT ratings FROM study_judgements WHERE study = ? ORDER BY number"
        return [
            row for (rows,) in self._database.fetch_rows(query, [study]) for row in json.loads(rows)
        ]

    def get_now(self) -> datetime:
        """Return the current time by the clock of the store."""
        return self._now()

    def _format_now(self) -> str:
        return format_time(self._now())


def _filter_rows(**wanted: str | None) -> tuple[str, list[str]]:
    """Return the condition that these columns have these values; `None` is any value."""
    values = {column: value for column, value in wanted.items() if value is not None}
    return f"WHERE {' AND '.join(f'{column} = ?' for column in values)}", [*values.values()]


def _parse_reference(
    digest: str, name: str, version: int | None, fingerprint: str
) -> DocumentReference:
    return DocumentReference(digest=digest, name=name, version=version, fingerprint=fingerprint)


def _parse_answer_row(item: str, variant: str, body: str) -> StudyAnswer:
    return StudyAnswer(item=item, variant=variant, body=json.loads(body))


def _parse_lease_row(item: str, rater: str, kind: str, at: str, *rest: Any) -> LeaseEvent:
    variants, place = rest
    return LeaseEvent(
        item=item,
        rater=rater,
        kind=LeaseKind(kind),
        at=datetime.fromisoformat(at),
        order=tuple(json.loads(variants)),
        place=place,
    )


def _parse_mark_row(id_: str, rater: str, item: str, variant: str, *rest: Any) -> StudyMark:
    axis, criterion, score, note, undoes, at = rest
    return StudyMark(
        id=id_,
        rater=rater,
        item=item,
        variant=variant,
        axis=axis,
        criterion=criterion,
        score=score,
        note=note,
        undoes=undoes,
        at=datetime.fromisoformat(at),
    )


def _parse_adjudication_row(id_: str, item: str, variant: str, *rest: Any) -> Adjudication:
    axis, criterion, score, note, by, at = rest
    return Adjudication(
        id=id_,
        item=item,
        variant=variant,
        axis=axis,
        criterion=criterion,
        score=score,
        note=note,
        by=by,
        at=datetime.fromisoformat(at),
    )
