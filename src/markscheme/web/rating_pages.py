"""The pages of a rater: one card after the other, and nothing that says whose an answer is.

A card is an answer with all its questions, or a question with all answers to a query. Its form
works without a script; `rating.js` adds keys and sends each mark as it is given. No page names the
study, its rubric, its exam or another rater: such a name may hold that of a variant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.exceptions import HTTPException
from starlette.responses import Response

from markscheme.read.rating_scores import (
    NOT_APPLICABLE,
    MetOrNot,
    ScoredQuestion,
    allows_not_applicable,
    list_allowed_scores,
)
from markscheme.tell.language import translate
from markscheme.tell.transcript import list_activity
from markscheme.vocabulary import NoteAxis, ScaleAxis, format_short
from markscheme.web.pages import render
from markscheme.web.requests import make_id, read_form, redirect
from markscheme.weigh.rating_design import compute_text_key
from markscheme.weigh.rating_study import MarkKey, Seat
from markscheme.workflows.study import (
    RatingStudy,
    StudyCache,
    StudyQuestion,
    read_blind_answers,
)
from markscheme.workflows.study_marks import (
    MarkRequest,
    RaterSheet,
    RaterState,
    SeatLostError,
    StudyClosedError,
    list_open_questions,
    read_sheet,
    record_marks,
    skip_query,
    take_query,
    undo_mark,
)

if TYPE_CHECKING:
    from markscheme.keep import Store
    from markscheme.vocabulary import StudyMark
    from markscheme.web.requests import WebRequest
    from markscheme.workflows.rate import BlindAnswer

Value = TypeVar("Value")


# --- cards ---


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One question about one answer, as a form field has it. `place` names the answer."""

    key: MarkKey
    question: StudyQuestion
    place: int
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What a rater sees at once: some answers to one query, and some questions about them.

    `query` counts the rater's queries from 1, `part` the cards of one query.
    """

    seat: Seat
    query: int
    part: int
    fields: Sequence[Field]

    @property
    def variants(self) -> Sequence[str]:
        """The variants whose answers are shown."""
        return tuple(dict.fromkeys(field.key.variant for field in self.fields))

    def find_open_fields(self, sheet: RaterSheet) -> list[Field]:
        """Return the fields that still need a score."""
        return [
            field
            for field in self.fields
            if field.question.is_scored
            and (field.key not in sheet.marks or sheet.marks[field.key].score is None)
        ]


def list_cards(study: RatingStudy, sheet: RaterSheet) -> list[Card]:
    """Return the cards of all queries that a rater was given, in their order."""
    return [
        Card(seat=seat, query=query, part=part, fields=fields)
        for query, seat in enumerate(sheet.seats, start=1)
        for part, fields in enumerate(_split_fields(study, seat), start=1)
    ]


def _split_fields(study: RatingStudy, seat: Seat) -> list[list[Field]]:
    """Return the fields of each card of a query: by answer, or by question."""
    questions = study.questions[seat.item]
    by_answer = [
        [
            Field(
                key=MarkKey(seat.item, variant, question.axis, question.criterion),
                question=question,
                place=seat.place + at,
                label=_format_label(at),
            )
            for question in questions
        ]
        for at, variant in enumerate(seat.order)
    ]
    if not study.is_by_axis:
        return by_answer
    return [list(fields) for fields in zip(*by_answer, strict=True)]


def _format_label(at: int) -> str:
    """Return A for the answer that is shown first, B for the second; numbers after Z."""
    return chr(ord("A") + at) if at < 26 else str(at + 1)  # noqa: PLR2004


# --- handlers ---


async def go_to_study(request: WebRequest) -> Response:
    """Lead a rater to the study of their link."""
    return redirect(f"/rate/{request.grant.scope if request.grant else ''}")


async def show_overview(request: WebRequest) -> Response:
    """Show how far the rater is, and the button that goes on."""
    study = await _load_own_study(request)
    sheet, is_closed = await request.services.read(
        lambda store: (
            read_sheet(store, study, _get_rater(request)),
            store.studies.is_closed(study.id),
        )
    )
    rows = [
        _describe_query(study, sheet, query, seat)
        for query, seat in enumerate(sheet.seats, start=1)
    ]
    asked = request.query_params.get("state")
    state = RaterState(asked) if asked in set(RaterState) else RaterState.RATING
    return render(
        request,
        "rating.html",
        study=study.id,
        state=RaterState.CLOSED if is_closed else state,
        rows=rows,
        finished=sum(row["is_finished"] for row in rows),
        can_undo=sheet.can_undo and not is_closed,
        id=make_id(),
        by_axis=study.is_by_axis,
    )


def _describe_query(
    study: RatingStudy, sheet: RaterSheet, query: int, seat: Seat
) -> dict[str, Any]:
    open_questions = list_open_questions(study, seat, sheet.marks)
    return {
        "query": query,
        "prompt": study.prompts[seat.item],
        "is_finished": not open_questions,
        "open": len(open_questions),
    }


async def show_card(request: WebRequest) -> Response:
    """Show a card of the rater."""
    study = await _load_own_study(request)
    rater = _get_rater(request)

    def read(store: Store) -> tuple[RaterSheet, bool, Card, Mapping[str, BlindAnswer]]:
        sheet = read_sheet(store, study, rater)
        card = _find_card(request, study, sheet)
        answers = read_blind_answers(store, study, card.seat.item)
        return sheet, store.studies.is_closed(study.id), card, answers

    sheet, is_closed, card, answers = await request.services.read(read)
    if is_closed:
        return redirect(f"/rate/{study.id}")
    cards = list_cards(study, sheet)
    at = cards.index(card)
    open_fields = card.find_open_fields(sheet)
    return render(
        request,
        "rating_card.html",
        study=study.id,
        card=card,
        parts=sum(other.query == card.query for other in cards),
        prompt=study.prompts[card.seat.item],
        answers=[
            _describe_answer(card.seat, answers[variant], variant) for variant in card.variants
        ],
        fields=[_describe_field(field, sheet.marks.get(field.key)) for field in card.fields],
        previous=_build_path(study, cards[at - 1]) if at else None,
        next=_build_path(study, cards[at + 1]) if at + 1 < len(cards) else None,
        finished=sum(not list_open_questions(study, seat, sheet.marks) for seat in sheet.seats),
        open=[field.question.axis for field in open_fields],
        is_sent_back="open" in request.query_params,
        is_lost=request.query_params.get("state") == "lost",
        can_undo=sheet.can_undo,
        form_id=make_id(),
        undo_id=make_id(),
        focus=request.query_params.get("at", ""),
        queue=compute_text_key(study.id, rater, 0),
    )


def _describe_answer(seat: Seat, answer: BlindAnswer, variant: str) -> dict[str, Any]:
    return {
        "label": _format_label(seat.order.index(variant)),
        "text": answer.text,
        "activity": None if answer.transcript is None else list_activity(answer.transcript),
    }


def _describe_field(field: Field, mark: StudyMark | None) -> dict[str, Any]:
    """Return what a template shows of a field; its names in forms hold no variant."""
    question, kind = field.question, field.question.kind
    return {
        "place": field.place,
        "label": field.label,
        "axis": question.axis,
        "criterion": question.criterion,
        "title": question.title,
        "text": question.text,
        "is_note": isinstance(kind, NoteAxis),
        "options": [] if isinstance(kind, NoteAxis) else _list_options(kind),
        "score": "" if mark is None else mark.score or "",
        "note": "" if mark is None else mark.note,
    }


def _list_options(kind: ScoredQuestion) -> list[dict[str, str]]:
    """Return what can be chosen: the score, its key if there is one, and what it means."""
    options = []
    for number, score in enumerate(list_allowed_scores(kind), start=1):
        value = score if isinstance(score, str) else format_short(score)
        key, says = _find_key(kind, value, number), _explain(kind, value)
        options.append({"value": value, "key": key, "says": says})
    if allows_not_applicable(kind):
        options.append({"value": NOT_APPLICABLE, "key": "-", "says": translate("does not apply")})
    return options


def _find_key(kind: ScoredQuestion, value: str, number: int) -> str:
    """Return the key of an option: the score itself, or the number of a choice."""
    key = value if isinstance(kind, ScaleAxis | MetOrNot) else str(number)
    return key if len(key) == 1 and key.isdecimal() else ""


def _explain(kind: ScoredQuestion, value: str) -> str:
    """Return what an option means: its anchor, or whether the criterion is met."""
    if isinstance(kind, MetOrNot):
        return translate("is met") if value == "1" else translate("is not met")
    if isinstance(kind, ScaleAxis) and value.isdecimal():
        return kind.anchors.get(int(value), "")
    return ""


async def take_next(request: WebRequest) -> Response:
    """Take the next query, or go on with one that is not finished."""
    study = await _load_own_study(request)
    return await _go_on(request, study)


async def submit_card(request: WebRequest) -> Response:
    """Store what the form of a card says, then go on, skip, or stay if something is open."""
    study, rater = await _load_own_study(request), _get_rater(request)
    form = await read_form(request)
    card = await request.services.read(
        lambda store: _find_card(request, study, read_sheet(store, study, rater))
    )
    if form.get("action") == "skip":
        return await _act(
            request, study, card, lambda store: skip_query(store, study, rater, card.seat.place)
        )

    def save(store: Store) -> RaterSheet:
        changed = _read_changes(form, card, read_sheet(store, study, rater))
        record_marks(store, study, rater, changed)
        return read_sheet(store, study, rater)

    return await _act(request, study, card, save)


async def _act(
    request: WebRequest,
    study: RatingStudy,
    card: Card,
    task: Callable[[Store], RaterSheet | None],
) -> Response:
    """Run a change of the form; answer with the card that comes next."""
    try:
        sheet = await request.services.write(task)
    except StudyClosedError:
        return redirect(f"/rate/{study.id}")
    except SeatLostError:
        return redirect(f"{_build_path(study, card)}?state=lost")
    if sheet is None:
        return await _go_on(request, study)
    if card.find_open_fields(sheet):
        return redirect(f"{_build_path(study, card)}?open")
    own = [other for other in list_cards(study, sheet) if other.query == card.query]
    following = [other for other in own if other.part > card.part]
    still_open = [other for other in own if other.find_open_fields(sheet)]
    if following or still_open:
        return redirect(_build_path(study, (following or still_open)[0]))
    return await _go_on(request, study)


async def _go_on(request: WebRequest, study: RatingStudy) -> Response:
    """Answer with the first open card of the next query, or with the overview."""
    rater = _get_rater(request)

    def take(store: Store) -> tuple[RaterState, Seat | None, RaterSheet]:
        state, seat = take_query(store, study, rater)
        return state, seat, read_sheet(store, study, rater)

    state, seat, sheet = await request.services.write(take)
    if seat is None:
        return redirect(f"/rate/{study.id}?state={state}")
    own = [card for card in list_cards(study, sheet) if card.seat.item == seat.item]
    card = next((card for card in own if card.find_open_fields(sheet)), own[0])
    return redirect(_build_path(study, card))


def _read_changes(form: Mapping[str, str], card: Card, sheet: RaterSheet) -> list[MarkRequest]:
    """Return a mark for each field of a form that says something else than the store."""
    changed = []
    for number, field in enumerate(card.fields):
        mark = sheet.marks.get(field.key)
        said = ("", "") if mark is None else (mark.score or "", mark.note)
        score = form.get(f"score-{number}", said[0])
        note = form.get(f"note-{number}", said[1]).strip().replace("\r\n", "\n")
        is_wordless = not (score or note) and mark is None
        if (score, note) != said and not is_wordless:
            changed.append(
                MarkRequest(
                    id=f"{form.get('id', '')}-{number}",
                    place=field.place,
                    axis=field.key.axis,
                    criterion=field.key.criterion,
                    score=score,
                    note=note,
                )
            )
    return changed


async def add_mark(request: WebRequest) -> Response:
    """Store one mark that the script sends; it comes again under its id if nobody answered."""
    study = await _load_own_study(request)
    form = await read_form(request)
    mark = MarkRequest(
        id=form.get("id", ""),
        place=_parse_number(form.get("place", "")),
        axis=form.get("axis", ""),
        criterion=form.get("criterion", ""),
        score=form.get("score", ""),
        note=form.get("note", "").replace("\r\n", "\n"),
    )
    try:
        await request.services.write(
            lambda store: record_marks(store, study, _get_rater(request), [mark])
        )
    except (StudyClosedError, SeatLostError):
        return Response(status_code=409)
    return Response(status_code=204)


async def undo(request: WebRequest) -> Response:
    """Take the last mark back, and show the card that it was on."""
    study, rater = await _load_own_study(request), _get_rater(request)
    id_ = (await read_form(request)).get("id", "")

    def take_back(store: Store) -> tuple[StudyMark | None, RaterSheet]:
        return undo_mark(store, study, rater, id_), read_sheet(store, study, rater)

    try:
        mark, sheet = await request.services.write(take_back)
    except (StudyClosedError, SeatLostError):
        return redirect(f"/rate/{study.id}")
    if mark is None:
        return redirect(f"/rate/{study.id}")
    key = MarkKey(mark.item, mark.variant, mark.axis, mark.criterion)
    for card in list_cards(study, sheet):
        for number, field in enumerate(card.fields):
            if field.key == key:
                return redirect(f"{_build_path(study, card)}?at={number}")
    raise HTTPException(404)


# --- what all of them need ---


async def _load_own_study(request: WebRequest) -> RatingStudy:
    """Return the study of the address; refuse every study but the one of the rater's link."""
    id_ = request.path_params["study"]
    if request.grant is None or request.grant.scope != id_:
        raise HTTPException(403)
    studies = request.services.get_cache(StudyCache)
    return await request.services.read(lambda store: studies.load(store, id_))


def _get_rater(request: WebRequest) -> str:
    return (request.grant.person if request.grant else None) or ""


def _find_card(request: WebRequest, study: RatingStudy, sheet: RaterSheet) -> Card:
    wanted = (request.path_params["query"], request.path_params["part"])
    for card in list_cards(study, sheet):
        if (card.query, card.part) == wanted:
            return card
    raise HTTPException(404)


def _build_path(study: RatingStudy, card: Card) -> str:
    return f"/rate/{study.id}/{card.query}/{card.part}"


def _parse_number(text: str) -> int:
    if not text.isdecimal() or len(text) > 9:  # noqa: PLR2004 - more answers than any study has
        raise HTTPException(400)
    return int(text)
