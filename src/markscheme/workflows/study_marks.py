"""What a rater does in a study: take a query, mark its answers, take a mark back, skip.

Each action is one transaction that locks the study, so that raters who act at the same moment get
different queries, and nobody marks a study that was just closed. The client makes the id of each
mark. An id that the store knows is acknowledged again and stored once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from markscheme.read.nfc import to_nfc
from markscheme.read.rating_scores import describe_wrong_score, parse_rated_score
from markscheme.vocabulary import (
    LeaseEvent,
    LeaseKind,
    NoteAxis,
    StudyMark,
    UsageError,
    format_short,
    format_value,
)
from markscheme.weigh.rating_study import (
    MarkKey,
    Seat,
    SeatKey,
    build_seats,
    count_raters,
    find_mark_to_undo,
    find_next_place,
    fold_marks,
    list_rater_seats,
)
from markscheme.workflows.study import RatingStudy, StudyQuestion

if TYPE_CHECKING:
    from datetime import datetime

    from markscheme.keep import Store

_ID = re.compile(r"[A-Za-z0-9-]{8,64}")
_MAX_NOTE = 10_000


class StudyClosedError(UsageError):
    """The study was closed; nothing can be rated any more."""


class SeatLostError(UsageError):
    """The rater left the query alone for too long, and another rater has it now."""


class MarkRequest(Struct, frozen=True, kw_only=True):
    """A mark as a client sends it. `place` names the answer: its number in the rater's order."""

    id: str
    place: int
    axis: str
    criterion: str = ""
    score: str = ""
    note: str = ""


class RaterState(StrEnum):
    """What a rater can do: rate a query, wait for one that others have, or nothing any more."""

    RATING = "rating"
    WAITING = "waiting"
    FINISHED = "finished"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterSheet:
    """A rater's queries in the order in which they were given, and the marks that count now."""

    seats: Sequence[Seat]
    marks: Mapping[MarkKey, StudyMark]
    can_undo: bool = False


def read_sheet(store: Store, study: RatingStudy, rater: str) -> RaterSheet:
    """Return what a rater was given and said so far."""
    marks = store.studies.read_marks(study.id, rater=rater)
    last = {(mark.item, mark.rater): mark.at for mark in marks}
    seats = build_seats(store.studies.read_lease_events(study.id, rater=rater), last)
    return RaterSheet(
        seats=list_rater_seats(rater, seats),
        marks=fold_marks(marks),
        can_undo=find_mark_to_undo(marks) is not None,
    )


def list_open_questions(
    study: RatingStudy, seat: Seat, marks: Mapping[MarkKey, StudyMark]
) -> list[MarkKey]:
    """Return what a rater still has to answer about a query; a note alone answers nothing."""
    keys = (
        MarkKey(seat.item, variant, question.axis, question.criterion)
        for variant in seat.order
        for question in study.questions[seat.item]
        if question.is_scored
    )
    return [key for key in keys if key not in marks or marks[key].score is None]


def take_query(store: Store, study: RatingStudy, rater: str) -> tuple[RaterState, Seat | None]:
    """Return the query that a rater rates now: one that is not finished, else a new one.

    Without a query to give, the state says whether one may come free later.
    """
    with store.transaction():
        if store.studies.lock_study(study.id):
            return RaterState.CLOSED, None
        now = store.studies.get_now()
        seats = _read_seats(store, study)
        marks = fold_marks(store.studies.read_marks(study.id, rater=rater))
        for seat in list_rater_seats(rater, seats):
            if seat.is_held(now) and list_open_questions(study, seat, marks):
                return RaterState.RATING, seat
        item = study.design.choose_query(rater, seats, now)
        if item is not None:
            event = _build_take_event(study, item, rater, seats, now)
            store.studies.add_lease_event(study.id, event)
            return RaterState.RATING, build_seats([event], {})[SeatKey(item, rater)]
        return _find_idle_state(study, rater, seats), None


def _find_idle_state(study: RatingStudy, rater: str, seats: Mapping[SeatKey, Seat]) -> RaterState:
    """Return whether a query of others may still come to this rater."""
    finished = {
        item: sum(seat.item == item and seat.state is LeaseKind.FINISHED for seat in seats.values())
        for item in study.variants
    }
    for item, count in finished.items():
        own = seats.get(SeatKey(item, rater))
        is_own = own is not None and own.state is LeaseKind.FINISHED
        if not is_own and count < study.per_answer:
            return RaterState.WAITING
    return RaterState.FINISHED


def _read_seats(store: Store, study: RatingStudy) -> dict[SeatKey, Seat]:
    events = store.studies.read_lease_events(study.id)
    return build_seats(events, store.studies.read_last_mark_times(study.id))


def _build_take_event(
    study: RatingStudy, item: str, rater: str, seats: Mapping[SeatKey, Seat], now: datetime
) -> LeaseEvent:
    known = seats.get(SeatKey(item, rater))
    return LeaseEvent(
        item=item,
        rater=rater,
        kind=LeaseKind.TAKEN,
        at=now,
        order=study.design.draw_order(item, rater, seats),
        place=find_next_place(rater, seats) if known is None else known.place,
    )


def record_marks(
    store: Store, study: RatingStudy, rater: str, requests: Sequence[MarkRequest]
) -> None:
    """Store marks of one rater, all or none. What was stored before is acknowledged again.

    Raises:
        StudyClosedError: the study was closed before the marks came.
        SeatLostError: another rater has the query by now.
        UsageError: a mark is about no answer of this rater, or its score is not allowed.
    """
    if len({request.id for request in requests}) < len(requests):
        raise UsageError("two marks have one id; each needs its own")
    with store.transaction():
        is_closed = store.studies.lock_study(study.id)
        now = store.studies.get_now()
        seats = _read_rater_seats(store, study, rater)
        marks = [_build_mark(study, rater, seats, request, now) for request in requests]
        new = [mark for mark in marks if not _is_known(store, study, mark)]
        if new and is_closed:
            raise StudyClosedError("the study is closed; nothing can be rated any more")
        for item in dict.fromkeys(mark.item for mark in new):
            seat = next(seat for seat in seats if seat.item == item)
            given = store.studies.read_marks(study.id, rater=rater, item=item)
            _hold_seat(store, study, seat, given, now)
            added = [mark for mark in new if mark.item == item]
            for mark in added:
                store.studies.add_mark(study.id, mark)
            _finish_if_complete(store, study, seat, fold_marks([*given, *added]), now)


def check_client_id(id_: str) -> None:
    """Refuse what is no id of a mark or a decision; the client makes these ids."""
    if not _ID.fullmatch(id_):
        message = f"{format_value(id_)} is no id of a mark; allowed: 8 to 64 letters, digits"
        raise UsageError(f"{message} and `-`")


def _read_rater_seats(store: Store, study: RatingStudy, rater: str) -> list[Seat]:
    """Return the queries that a rater was given, touched by lease events alone."""
    events = store.studies.read_lease_events(study.id, rater=rater)
    return list_rater_seats(rater, build_seats(events, {}))


def _find_seat(seats: Sequence[Seat], place: int) -> Seat:
    for seat in seats:
        if seat.place <= place < seat.place + len(seat.order):
            return seat
    raise UsageError(f"there is no answer {place}")


def _build_mark(
    study: RatingStudy, rater: str, seats: Sequence[Seat], request: MarkRequest, now: datetime
) -> StudyMark:
    """Check a mark and return it as the store keeps it."""
    check_client_id(request.id)
    seat = _find_seat(seats, request.place)
    question = _find_question(study, seat.item, request)
    note = to_nfc(request.note.strip())
    if len(note) > _MAX_NOTE:
        raise UsageError(f"the note is too long; at most {_MAX_NOTE:,} characters")
    return StudyMark(
        id=request.id,
        rater=rater,
        item=seat.item,
        variant=seat.order[request.place - seat.place],
        axis=request.axis,
        criterion=request.criterion,
        score=_parse_score(request.score, note, question),
        note=note,
        undoes=None,
        at=now,
    )


def _find_question(study: RatingStudy, item: str, request: MarkRequest) -> StudyQuestion:
    for question in study.questions[item]:
        if (question.axis, question.criterion) == (request.axis, request.criterion):
            return question
    asked = ", ".join(filter(None, (request.axis, request.criterion)))
    raise UsageError(f"{format_value(asked)} is not asked about this answer")


def _parse_score(text: str, note: str, question: StudyQuestion) -> str | None:
    """Return a score in the form of files of ratings; `None` where only words were given."""
    if isinstance(question.kind, NoteAxis):
        if text:
            raise UsageError(f"{format_value(text)} stands where words belong")
        return None
    if note and not text:
        return None
    score = parse_rated_score(text, question.kind)
    if score is None:
        raise UsageError(describe_wrong_score(text, question.kind))
    return score if isinstance(score, str) else format_short(score)


def _is_known(store: Store, study: RatingStudy, mark: StudyMark) -> bool:
    """Whether a mark with this id is stored; refuse an id that another mark has."""
    known = store.studies.find_mark(mark.id)
    if known is None:
        return False
    if known != (study.id, structs.replace(mark, at=known[1].at, undoes=known[1].undoes)):
        raise UsageError(f"the id {format_value(mark.id)} belongs to another mark")
    return True


def _hold_seat(
    store: Store, study: RatingStudy, seat: Seat, marks: Sequence[StudyMark], now: datetime
) -> None:
    """Check that a query is still the rater's; take it again if it is free.

    `marks` are those of this rater and query, which keep the query theirs.
    """
    touched = max([seat.touched, *(mark.at for mark in marks[-1:])])
    if replace(seat, touched=touched).is_held(now):
        return
    seats = _read_seats(store, study)
    if count_raters(seats, now, without=seat.rater)[seat.item] >= study.per_answer:
        raise SeatLostError("this query was given to another rater meanwhile")
    event = _build_take_event(study, seat.item, seat.rater, seats, now)
    store.studies.add_lease_event(study.id, event)


def _finish_if_complete(
    store: Store,
    study: RatingStudy,
    seat: Seat,
    marks: Mapping[MarkKey, StudyMark],
    now: datetime,
) -> None:
    if seat.state is LeaseKind.FINISHED or list_open_questions(study, seat, marks):
        return
    _add_lease_event(store, study, seat, LeaseKind.FINISHED, now)


def _add_lease_event(
    store: Store, study: RatingStudy, seat: Seat, kind: LeaseKind, now: datetime
) -> None:
    event = LeaseEvent(
        item=seat.item, rater=seat.rater, kind=kind, at=now, order=seat.order, place=seat.place
    )
    store.studies.add_lease_event(study.id, event)


def undo_mark(store: Store, study: RatingStudy, rater: str, id_: str) -> StudyMark | None:
    """Take back the last mark of a rater, under an id made by the client; return that mark.

    The same id again takes nothing else back. `None` says that there is nothing to take back.

    Raises:
        StudyClosedError, SeatLostError: as for `record_marks`.
    """
    check_client_id(id_)
    with store.transaction():
        is_closed = store.studies.lock_study(study.id)
        known = store.studies.find_mark(id_)
        if known is not None:
            if known[0] != study.id or known[1].rater != rater or known[1].undoes is None:
                raise UsageError(f"the id {format_value(id_)} belongs to another mark")
            return known[1]
        if is_closed:
            raise StudyClosedError("the study is closed; nothing can be rated any more")
        mark = find_mark_to_undo(store.studies.read_marks(study.id, rater=rater))
        if mark is None:
            return None
        now = store.studies.get_now()
        seats = _read_rater_seats(store, study, rater)
        seat = next(seat for seat in seats if seat.item == mark.item)
        given = store.studies.read_marks(study.id, rater=rater, item=mark.item)
        _hold_seat(store, study, seat, given, now)
        store.studies.add_mark(study.id, structs.replace(mark, id=id_, undoes=mark.id, at=now))
        return mark


def skip_query(store: Store, study: RatingStudy, rater: str, place: int) -> None:
    """Give a query back; it comes to this rater again only when no other one is left.

    A query that is finished, or that another rater has by now, stays as it is.
    """
    with store.transaction():
        if store.studies.lock_study(study.id):
            raise StudyClosedError("the study is closed; nothing can be rated any more")
        seat = _find_seat(_read_rater_seats(store, study, rater), place)
        if seat.state is LeaseKind.TAKEN:
            _add_lease_event(store, study, seat, LeaseKind.SKIPPED, store.studies.get_now())
