"""Practice: the next card, its feedback, the list of cards, and exports.

A form carries the id of its answer, so an answer that is sent twice counts once. After an answer
the browser is sent to a page of its own for the feedback, which can be reloaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson
from starlette.exceptions import HTTPException
from starlette.responses import Response

from markscheme.keep import OWN_LEARNER, LearnerReview, Role, Store
from markscheme.learn import (
    CardChoice,
    CardKind,
    choose_card,
    count_cards,
    describe_when,
    explain_answer,
    explain_schedule,
    find_next_day,
    grade_answer,
    list_answer_fields,
    list_hints,
)
from markscheme.mark import read_response
from markscheme.tell.language import translate_stored
from markscheme.vocabulary import describe_tag, describe_tag_key, format_decimal, sentence
from markscheme.web.pages import render
from markscheme.web.requests import download, make_id, read_form, redirect
from markscheme.workflows.practice import (
    CardAnswer,
    CardProgress,
    PracticeSettings,
    grade_card,
    load_deck_state,
    load_progress,
)
from markscheme.workflows.review_files import EXPORTS, export_cards

if TYPE_CHECKING:
    from markscheme.learn import DeckState
    from markscheme.vocabulary import Item
    from markscheme.web.requests import WebRequest

_PACK_SIZE = 40
_FIELD = "f-"
_MAX_MS = 86_400_000


def find_learner(request: WebRequest) -> str:
    """Return the learner of a session: the owner practises as the learner without a class.

    A store may hold several classes; a learner is let into their own alone.
    """
    grant = request.grant
    if grant is None:
        raise HTTPException(401)
    if grant.role is Role.OWNER:
        return OWN_LEARNER
    if grant.person is None or grant.scope != request.services.portal.class_name:
        raise HTTPException(403)
    return grant.person


def find_deck(request: WebRequest, name: str | None = None) -> tuple[str, PracticeSettings]:
    """Return the name and the settings of the deck that a request asks for."""
    wanted = name if name is not None else request.query_params.get("deck", "")
    deck = "exam" if wanted == "exam" else "practice"
    return deck, request.services.portal.get_deck(deck)


async def show_start(request: WebRequest) -> Response:
    """Show what there is to do today, for both decks."""
    learner, now = find_learner(request), datetime.now(UTC)
    portal = request.services.portal

    def load(store: Store) -> list[dict[str, Any]]:
        decks = []
        for name in ("practice", "exam"):
            settings = portal.get_deck(name)
            state = load_deck_state(store, settings, learner, now)
            counts = count_cards(settings.items, state, settings.limits)
            decks.append({"name": name, "counts": counts, "size": len(settings.items)})
        return decks

    decks = await request.services.read(load)
    if portal.practice.items == portal.replayed.items:
        decks = decks[:1]
    return render(request, "learn.html", decks=decks)


async def show_card(request: WebRequest) -> Response:
    """Show the next card, a card that was asked for by name, or the feedback on an answer."""
    deck, settings = find_deck(request)
    learner, now = find_learner(request), datetime.now(UTC)
    answered, wanted = request.query_params.get("after"), request.query_params.get("item")

    def load(store: Store) -> tuple[LearnerReview | None, CardProgress | None, DeckState]:
        review = store.learning.find_review(answered, learner) if answered else None
        progress = None if review is None else load_progress(store, settings, review)
        return review, progress, load_deck_state(store, settings, learner, now)

    review, progress, state = await request.services.read(load)
    if review is not None and progress is not None:
        feedback = _build_feedback(settings, review, progress)
        return render(request, "feedback.html", deck=deck, **feedback)
    choice: CardChoice | None
    if wanted:
        because = sentence("You chose it.")
        item = settings.find_item(wanted)
        choice = CardChoice(item=item, kind=CardKind.REPEAT, because=because)
    else:
        choice = choose_card(settings.items, state, settings.limits)
    if choice is None:
        return _show_done(request, deck, settings, state)
    return _show_question(request, deck, settings, choice, {})


def _show_done(
    request: WebRequest, deck: str, settings: PracticeSettings, state: DeckState
) -> Response:
    next_day = find_next_day(settings.items, state)
    when = None if next_day is None else describe_when((next_day - state.today).days)
    return render(request, "learn_done.html", deck=deck, when=when, answers=len(state.recent))


def _show_question(
    request: WebRequest,
    deck: str,
    settings: PracticeSettings,
    choice: CardChoice,
    typed: Mapping[str, str],
    hints_shown: int = 0,
) -> Response:
    hints = list_hints(choice.item, settings.rubric)
    return render(
        request,
        "card.html",
        deck=deck,
        item=choice.item,
        because=choice.because,
        tags=list_tags(choice.item),
        fields=list_answer_fields(settings.rubric),
        typed={name.removeprefix(_FIELD): text for name, text in typed.items()},
        hints=hints[:hints_shown],
        hints_left=len(hints) - hints_shown,
        hint=hints_shown,
        first_key_ms=typed.get("first_key_ms", ""),
        answer_id=typed.get("id") or make_id(),
    )


def list_tags(item: Item) -> list[tuple[str, str]]:
    """Return the tags of an item in words, without the verb, which the prompt names."""
    return [
        (describe_tag_key(key), describe_tag(key, str(value)))
        for key, value in item.tags.items()
        if key != "verb"
    ]


async def answer_card(request: WebRequest) -> Response:
    """Store an answer; or show a hint and keep what was typed."""
    learner, form = find_learner(request), await read_form(request)
    deck, settings = find_deck(request, form.get("deck", ""))
    if form.get("ask") == "hint":
        because = sentence("A hint was shown, so it counts as less well recalled.")
        item = settings.find_item(form.get("item", ""))
        choice = CardChoice(item=item, kind=CardKind.REPEAT, because=because)
        shown = min(2, _read_int(form.get("hint")) or 0) + 1
        return _show_question(request, deck, settings, choice, form, min(shown, 2))
    fields = {
        name.removeprefix(_FIELD): text for name, text in form.items() if name.startswith(_FIELD)
    }
    answer = CardAnswer(
        id=form.get("id", ""),
        item=form.get("item", ""),
        fields={} if form.get("ask") == "unknown" else fields,
        first_key_ms=_read_int(form.get("first_key_ms")),
        hint=bool(_read_int(form.get("hint"))),
        at=_read_time(form.get("at")),
    )
    graded = grade_card(settings, learner, answer, datetime.now(UTC))

    def store_review(store: Store) -> None:
        if learner == OWN_LEARNER:
            store.learning.ensure_own_learner()
        store.learning.add_review(graded.review)

    await request.services.write(store_review)
    return redirect(f"/learn/card?deck={deck}&after={answer.id}")


def _read_int(text: str | None) -> int | None:
    is_number = text is not None and text.isascii() and text.isdecimal() and len(text) < 10  # noqa: PLR2004 - days
    return min(int(text), _MAX_MS) if is_number and text is not None else None


def _read_time(text: str | None) -> datetime | None:
    """Return the moment of an answer that was typed offline, in milliseconds since 1970."""
    if text is None or not (text.isascii() and text.isdecimal() and len(text) == 13):  # noqa: PLR2004 - to 2286
        return None
    return datetime.fromtimestamp(int(text) / 1000, UTC)


def _build_feedback(
    settings: PracticeSettings, review: LearnerReview, progress: CardProgress
) -> dict[str, Any]:
    item, output = settings.find_item(review.item), review.output or ""
    facts = review.facts
    graded = grade_answer(
        settings.rubric,
        item,
        output,
        first_key_ms=facts.get("first_key_ms"),
        hint=bool(facts.get("hint")),
        hesitation=settings.hesitation,
    )
    response = read_response(output, settings.rubric.fields)
    return {
        "item": item,
        "review": review,
        "score": format_decimal(graded.breakdown.score, 2),
        "because": graded.because,
        "feedback": explain_answer(settings.rubric, item, response, graded.breakdown),
        "rows": [
            {
                "axis": spec.title or spec.name.replace("_", " "),
                "share": format_decimal(graded.breakdown.weighted[spec.name], 2),
                "most": format_decimal(spec.weight, 2),
            }
            for spec in settings.rubric
        ],
        "schedule": explain_schedule(
            progress.kind, progress.before, progress.after, review.day, review.quality
        ),
    }


async def undo_answer(request: WebRequest) -> Response:
    """Take an answer back and ask the same card again."""
    form = await read_form(request)
    deck, _ = find_deck(request, form.get("deck", ""))
    learner, id_ = find_learner(request), form.get("review", "")
    item = await request.services.write(lambda store: _undo(store, id_, learner))
    return redirect(f"/learn/card?deck={deck}" + ("" if item is None else f"&item={item}"))


def _undo(store: Store, id_: str, learner: str) -> str | None:
    review = store.learning.find_review(id_, learner)
    store.learning.undo_review(id_, learner)
    return None if review is None else review.item


async def show_pack(request: WebRequest) -> Response:
    """Answer with the next cards as JSON, which the page keeps for when there is no network."""
    deck, settings = find_deck(request)
    learner, now = find_learner(request), datetime.now(UTC)
    state = await request.services.read(
        lambda store: load_deck_state(store, settings, learner, now)
    )
    due = [item for item in settings.items if state.get_card(item.id).is_due(state.today)]
    new = [item for item in settings.items if state.get_card(item.id).is_new]
    cards = [{"item": item.id, "prompt": item.prompt} for item in [*due, *new][:_PACK_SIZE]]
    body = orjson.dumps({"deck": deck, "cards": cards})
    return Response(body, media_type="application/json")


async def show_items(request: WebRequest) -> Response:
    """Show every card with its state."""
    deck, settings = find_deck(request)
    learner, now = find_learner(request), datetime.now(UTC)
    state = await request.services.read(
        lambda store: load_deck_state(store, settings, learner, now)
    )
    rows = []
    for item in settings.items:
        card = state.get_card(item.id)
        days = None if card.due is None else (card.due - state.today).days
        rows.append(
            {
                "item": item,
                "tags": [value for _, value in list_tags(item)],
                "card": card,
                "when": "" if days is None else translate_stored(describe_when(days)),
            }
        )
    return render(request, "learn_items.html", deck=deck, rows=rows)


async def export(request: WebRequest) -> Response:
    """Send the cards of a deck, or the learner's reviews, as a file."""
    suffix = request.path_params["suffix"]
    if suffix not in EXPORTS:
        raise HTTPException(404)
    deck, settings = find_deck(request)
    learner, now = find_learner(request), datetime.now(UTC)
    body = await request.services.read(
        lambda store: export_cards(store, settings, learner, now, suffix)
    )
    return download(body, f"markscheme-{deck}.{suffix}", EXPORTS[suffix])
