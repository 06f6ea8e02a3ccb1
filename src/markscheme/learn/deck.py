"""Which card comes next, and why: due cards, repeats of today, then new ones from the weakest tag.

All choices depend only on the cards, their reviews and the day, so the same state gives the same
card, and each choice has a reason that is shown to the learner.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from enum import StrEnum
from fractions import Fraction

from msgspec import Struct

from markscheme.learn.scheduling import (
    NEW_CARD,
    PASS_GRADE,
    CardState,
    GradedReview,
    ReviewKind,
    SchedulerName,
    classify_review,
    review_card,
)
from markscheme.learn.wording import count_days, describe_tag
from markscheme.vocabulary import Item, sentence

_INTERLEAVED_TAG = "verb"
_REPEAT_AFTER = 3
"""Other cards that come before a card is repeated, where there are others."""
_FEWEST_FOR_A_TAG = 3
"""Answers that a tag needs before it can be the weakest."""


class DailyLimits(Struct, frozen=True, kw_only=True):
    """How many cards a day: new ones, and reviews of cards that are due."""

    new: int = 20
    reviews: int = 200


DEFAULT_LIMITS = DailyLimits()


class CardKind(StrEnum):
    """Why a card is shown."""

    DUE = "due"
    REPEAT = "repeat"
    NEW = "new"


class CardReview(Struct, frozen=True, kw_only=True):
    """A review and the item that it is of."""

    item: str
    day: date
    grade: int


class CardChoice(Struct, frozen=True, kw_only=True):
    """The next card, with the reason."""

    item: Item
    kind: CardKind
    because: str


class DeckState(Struct, frozen=True, kw_only=True):
    """What the reviews of a learner add up to, as of one day.

    `new_today` and `reviews_today` count towards the daily limits. `recent` are the items
    answered today, the latest last.
    """

    today: date
    cards: Mapping[str, CardState]
    new_today: int = 0
    reviews_today: int = 0
    recent: tuple[str, ...] = ()
    grades: Mapping[str, tuple[int, ...]] = {}

    def get_card(self, item: str) -> CardState:
        """Return the state of a card; new if it was never reviewed."""
        return self.cards.get(item, NEW_CARD)


class DeckCounts(Struct, frozen=True, kw_only=True):
    """How many cards of a deck are due, to be repeated, new within the limit, and leeches."""

    due: int
    repeats: int
    new: int
    leeches: int


def build_deck_state(
    reviews: Iterable[CardReview],
    today: date,
    scheduler: SchedulerName = SchedulerName.SM2,
) -> DeckState:
    """Fold all reviews of a learner, in order, into the state of the deck."""
    cards: dict[str, CardState] = {}
    grades: dict[str, list[int]] = defaultdict(list)
    recent: list[str] = []
    new_today = reviews_today = 0
    for review in reviews:
        before = cards.get(review.item, NEW_CARD)
        is_scheduled = classify_review(before, review.day) is ReviewKind.SCHEDULED
        if is_scheduled:
            grades[review.item].append(review.grade)
        if review.day == today:
            recent.append(review.item)
            new_today += before.is_new
            reviews_today += is_scheduled and not before.is_new
        cards[review.item] = review_card(
            before, GradedReview(day=review.day, grade=review.grade), scheduler
        )
    return DeckState(
        today=today,
        cards=cards,
        new_today=new_today,
        reviews_today=reviews_today,
        recent=tuple(recent),
        grades={item: tuple(of_item) for item, of_item in grades.items()},
    )


def choose_card(
    items: Sequence[Item], state: DeckState, limits: DailyLimits = DEFAULT_LIMITS
) -> CardChoice | None:
    """Return the card to show now, or None if there is nothing left to do today.

    Due cards come first, the longest overdue relative to its interval before the others; then
    repeats of today, once three other cards were shown; then new items from the weakest tag; then
    the other repeats. Two cards of one verb do not follow each other if there is another card.
    """
    groups = [
        _list_due(items, state, limits),
        _list_repeats(items, state, rested=True),
        _list_new(items, state, limits),
        _list_repeats(items, state, rested=False),
    ]
    choices = [choice for group in groups for choice in group]
    last = _find_last_item(items, state)
    apart = (choice for choice in choices if last is None or not _is_alike(choice.item, last))
    return next(apart, choices[0] if choices else None)


def count_cards(
    items: Sequence[Item], state: DeckState, limits: DailyLimits = DEFAULT_LIMITS
) -> DeckCounts:
    """Return how many cards are left to do today."""
    cards = [state.get_card(item.id) for item in items]
    return DeckCounts(
        due=len(_list_due(items, state, limits)),
        repeats=sum(card.needs_repeat(state.today) for card in cards),
        new=min(sum(card.is_new for card in cards), max(0, limits.new - state.new_today)),
        leeches=sum(card.is_leech for card in cards),
    )


def find_next_day(items: Sequence[Item], state: DeckState) -> date | None:
    """Return the first later day on which a card of these items is due."""
    days = (state.get_card(item.id).due for item in items)
    return min((day for day in days if day is not None and day > state.today), default=None)


def list_leeches(items: Sequence[Item], state: DeckState) -> list[Item]:
    """Return the items that were forgotten eight times; they are not asked any more."""
    return [item for item in items if state.get_card(item.id).is_leech]


def _list_due(items: Sequence[Item], state: DeckState, limits: DailyLimits) -> list[CardChoice]:
    due = [
        (_measure_overdue(card, state.today), item)
        for item in items
        for card in [state.get_card(item.id)]
        if card.is_due(state.today) and not card.is_leech
    ]
    due.sort(key=lambda entry: -entry[0])
    left = max(0, limits.reviews - state.reviews_today)
    return [
        CardChoice(item=item, kind=CardKind.DUE, because=_explain_due(state, item))
        for _, item in due[:left]
    ]


def _measure_overdue(card: CardState, today: date) -> Fraction:
    overdue = (today - card.due).days if card.due else 0
    return Fraction(overdue, max(1, card.interval_days))


def _explain_due(state: DeckState, item: Item) -> str:
    card = state.get_card(item.id)
    late = (state.today - card.due).days if card.due else 0
    if not late:
        return sentence(
            "It is due today, after an interval of {interval}.",
            interval=count_days(card.interval_days),
        )
    return sentence(
        "It was due {late} ago, after an interval of {interval}: no other card is later for its"
        " interval.",
        late=count_days(late),
        interval=count_days(card.interval_days),
    )


def _list_repeats(items: Sequence[Item], state: DeckState, *, rested: bool) -> list[CardChoice]:
    latest = state.recent[-_REPEAT_AFTER:]
    order = {item: place for place, item in enumerate(state.recent)}
    repeats = [
        item
        for item in items
        if state.get_card(item.id).needs_repeat(state.today) and (item.id not in latest) is rested
    ]
    repeats.sort(key=lambda item: order[item.id])
    because = sentence("You did not quite have it today, so it comes again until you do.")
    return [CardChoice(item=item, kind=CardKind.REPEAT, because=because) for item in repeats]


def _list_new(items: Sequence[Item], state: DeckState, limits: DailyLimits) -> list[CardChoice]:
    if state.new_today >= limits.new:
        return []
    new = [item for item in items if state.get_card(item.id).is_new]
    weakest = find_weakest_tag(items, state)
    because = sentence("It is new: the next one of the deck.")
    if weakest is None:
        return [CardChoice(item=item, kind=CardKind.NEW, because=because) for item in new]
    key, value, share = weakest
    of_tag = sentence(
        "It is new, and from your weakest part so far: {tag}, {percent} % recalled.",
        tag=describe_tag(key, value),
        percent=int(share * 100),
    )
    weak = [item for item in new if item.tags.get(key) == value]
    others = [item for item in new if item.tags.get(key) != value]
    return [
        *(CardChoice(item=item, kind=CardKind.NEW, because=of_tag) for item in weak),
        *(CardChoice(item=item, kind=CardKind.NEW, because=because) for item in others),
    ]


def find_weakest_tag(items: Sequence[Item], state: DeckState) -> tuple[str, str, Fraction] | None:
    """Return the tag with the lowest share of recalled answers, if a tag of new items has misses.

    A tag counts once it has three answers. Of equal shares the one with more answers is taken.
    """
    recalled: dict[tuple[str, str], list[bool]] = defaultdict(list)
    wanted: set[tuple[str, str]] = set()
    for item in items:
        grades = state.grades.get(item.id, ())
        for tag in item.tags.items():
            recalled[tag] += [grade >= PASS_GRADE for grade in grades]
            if state.get_card(item.id).is_new:
                wanted.add(tag)
    shares = {
        tag: Fraction(sum(passed), len(passed))
        for tag, passed in recalled.items()
        if len(passed) >= _FEWEST_FOR_A_TAG and tag in wanted
    }
    weak = {tag: share for tag, share in shares.items() if share < 1}
    if not weak:
        return None
    (key, value), share = min(
        weak.items(), key=lambda entry: (entry[1], -len(recalled[entry[0]]), entry[0])
    )
    return key, value, share


def _find_last_item(items: Sequence[Item], state: DeckState) -> Item | None:
    if not state.recent:
        return None
    return next((item for item in items if item.id == state.recent[-1]), None)


def _is_alike(item: Item, last: Item) -> bool:
    verb = item.tags.get(_INTERLEAVED_TAG)
    return item.id == last.id or (verb is not None and verb == last.tags.get(_INTERLEAVED_TAG))
