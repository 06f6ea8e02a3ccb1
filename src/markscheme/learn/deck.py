"""Which card comes next, and why: due cards, repeats of today, then new ones from the weakest tag.

All choices depend only on the cards, their reviews and the day, so the same state gives the same
card, and each choice has a reason that is shown to the learner.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from enum import StrEnum
from fractions import Fraction

from msgspec import Struct

from markscheme.learn.scheduling import (
    NEW_CARD,
    PASS_GRADE,
    CardState,
    ReviewKind,
    SchedulerName,
    fold_cards,
)
from markscheme.learn.wording import count_days
from markscheme.vocabulary import FrozenDict, Item, describe_tag, sentence

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


class WeakTag(Struct, frozen=True, kw_only=True):
    """A tag with the share of its answers that were recalled, and their number."""

    key: str
    value: str
    share: Fraction
    answers: int


class DeckState(Struct, frozen=True, kw_only=True):
    """What the reviews of a learner add up to, as of one day.

    `new_today` and `reviews_today` count towards the daily limits. `recent` are the items
    answered today, the latest last. `recalled` has, by item, how many of its scheduled reviews were
    recalled, and how many there are.
    """

    today: date
    cards: Mapping[str, CardState]
    new_today: int = 0
    reviews_today: int = 0
    recent: tuple[str, ...] = ()
    recalled: Mapping[str, tuple[int, int]] = FrozenDict()

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
    history = [(review.item, review.day, review.grade) for review in reviews]
    cards, kinds = fold_cards(history, scheduler)
    recent: list[str] = []
    recalled: dict[str, list[int]] = {}
    new_today = reviews_today = 0
    for (item, day, grade), kind in zip(history, kinds, strict=True):
        is_first = item not in recalled
        counts = recalled.setdefault(item, [0, 0])
        if kind is ReviewKind.SCHEDULED:
            counts[0] += grade >= PASS_GRADE
            counts[1] += 1
        if day == today:
            recent.append(item)
            new_today += is_first
            reviews_today += kind is ReviewKind.SCHEDULED and not is_first
    return DeckState(
        today=today,
        cards=cards,
        new_today=new_today,
        reviews_today=reviews_today,
        recent=tuple(recent),
        recalled={item: (passed, n) for item, (passed, n) in recalled.items()},
    )


def choose_card(
    items: Sequence[Item], state: DeckState, limits: DailyLimits = DEFAULT_LIMITS
) -> CardChoice | None:
    """Return the card to show now, or None if there is nothing left to do today.

    Due cards come first, the longest overdue relative to its interval before the others; then
    repeats of today, once three other cards were shown; then new items from the weakest tag; then
    the other repeats. Two cards of one verb do not follow each other if there is another card.
    """
    new = [item for item in items if state.get_card(item.id).is_new]
    weakest = find_weakest_tag(
        items, state, among={tag for item in new for tag in item.tags.items()}
    )
    groups = {
        CardKind.DUE: _list_due(items, state)[: max(0, limits.reviews - state.reviews_today)],
        CardKind.REPEAT: _list_repeats(items, state),
        CardKind.NEW: _order_new(new, weakest) if state.new_today < limits.new else [],
    }
    latest = state.recent[-_REPEAT_AFTER:]
    rested = [item for item in groups[CardKind.REPEAT] if item.id not in latest]
    ordered = [
        *((CardKind.DUE, item) for item in groups[CardKind.DUE]),
        *((CardKind.REPEAT, item) for item in rested),
        *((CardKind.NEW, item) for item in groups[CardKind.NEW]),
        *((CardKind.REPEAT, item) for item in groups[CardKind.REPEAT]),
    ]
    last = _find_last_item(items, state)
    apart = (one for one in ordered if last is None or not _is_alike(one[1], last))
    chosen = next(apart, ordered[0] if ordered else None)
    if chosen is None:
        return None
    kind, item = chosen
    return CardChoice(item=item, kind=kind, because=_explain_choice(kind, item, state, weakest))


def count_cards(
    items: Sequence[Item], state: DeckState, limits: DailyLimits = DEFAULT_LIMITS
) -> DeckCounts:
    """Return how many cards are left to do today."""
    cards = [state.get_card(item.id) for item in items]
    due = sum(card.is_due(state.today) and not card.is_leech for card in cards)
    return DeckCounts(
        due=min(due, max(0, limits.reviews - state.reviews_today)),
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


def _list_due(items: Sequence[Item], state: DeckState) -> list[Item]:
    """Return the due items, the longest overdue relative to its interval first."""
    due = [
        item
        for item in items
        for card in [state.get_card(item.id)]
        if card.is_due(state.today) and not card.is_leech
    ]
    return sorted(due, key=lambda item: -_measure_overdue(state.get_card(item.id), state.today))


def _measure_overdue(card: CardState, today: date) -> Fraction:
    overdue = (today - card.due).days if card.due else 0
    return Fraction(overdue, max(1, card.interval_days))


def _list_repeats(items: Sequence[Item], state: DeckState) -> list[Item]:
    """Return the items to repeat today, the one answered longest ago first."""
    order = {item: place for place, item in enumerate(state.recent)}
    repeats = [item for item in items if state.get_card(item.id).needs_repeat(state.today)]
    return sorted(repeats, key=lambda item: order.get(item.id, -1))


def _order_new(new: list[Item], weakest: WeakTag | None) -> list[Item]:
    """Return the new items, those of the weakest tag first."""
    if weakest is None:
        return new
    return sorted(new, key=lambda item: item.tags.get(weakest.key) != weakest.value)


def _explain_choice(kind: CardKind, item: Item, state: DeckState, weakest: WeakTag | None) -> str:
    if kind is CardKind.DUE:
        return _explain_due(state.get_card(item.id), state.today)
    if kind is CardKind.REPEAT:
        return sentence("You did not quite have it today, so it comes again until you do.")
    if weakest is None or item.tags.get(weakest.key) != weakest.value:
        return sentence("It is new: the next one of the deck.")
    return sentence(
        "It is new, and from your weakest part so far: {tag}, {percent} % recalled.",
        tag=describe_tag(weakest.key, weakest.value),
        percent=int(weakest.share * 100),
    )


def _explain_due(card: CardState, today: date) -> str:
    late = (today - card.due).days if card.due else 0
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


def find_weakest_tag(
    items: Sequence[Item], state: DeckState, among: Collection[tuple[str, str]] | None = None
) -> WeakTag | None:
    """Return the tag with the lowest share of recalled answers, or None if nothing was missed.

    With `among`, only these tags count.
    """
    weak = list_weak_tags(items, state.recalled)
    return next((tag for tag in weak if among is None or (tag.key, tag.value) in among), None)


def list_weak_tags(items: Sequence[Item], recalled: Mapping[str, tuple[int, int]]) -> list[WeakTag]:
    """Return the tags of which something was missed, the lowest share of recalled answers first.

    `recalled` has, by item, how many answers were recalled and how many there are. A tag counts
    once it has three answers. Of equal shares the one with more answers comes first.
    """
    totals: dict[tuple[str, str], list[int]] = {}
    for item in items:
        counts = recalled.get(item.id)
        if counts is None:
            continue
        for tag in item.tags.items():
            total = totals.setdefault(tag, [0, 0])
            total[0] += counts[0]
            total[1] += counts[1]
    weak = [
        WeakTag(key=key, value=value, share=Fraction(passed, n), answers=n)
        for (key, value), (passed, n) in totals.items()
        if n >= _FEWEST_FOR_A_TAG and passed < n
    ]
    return sorted(weak, key=lambda tag: (tag.share, -tag.answers, tag.key, tag.value))


def _find_last_item(items: Sequence[Item], state: DeckState) -> Item | None:
    if not state.recent:
        return None
    return next((item for item in items if item.id == state.recent[-1]), None)


def _is_alike(item: Item, last: Item) -> bool:
    verb = item.tags.get(_INTERLEAVED_TAG)
    return item.id == last.id or (verb is not None and verb == last.tags.get(_INTERLEAVED_TAG))
