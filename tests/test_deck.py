"""Which card comes next, and why."""

from __future__ import annotations

from datetime import date, timedelta

from markscheme import Item
from markscheme.learn import (
    CardKind,
    CardReview,
    DailyLimits,
    DeckState,
    build_deck_state,
    choose_card,
    count_cards,
    find_next_day,
    find_weakest_tag,
    list_leeches,
)

TODAY = date(2026, 3, 2)


def card(id_: str, verb: str = "", tense: str = "past-simple") -> Item:
    return Item(id=id_, prompt=id_, tags={"verb": verb or id_, "tense": tense})


def state_of(*reviews: tuple[str, int, int]) -> DeckState:
    """Return the state after reviews of (item, days before today, grade)."""
    return build_deck_state(
        [
            CardReview(item=item, day=TODAY - timedelta(days=days), grade=grade)
            for item, days, grade in reviews
        ],
        TODAY,
    )


def test_due_cards_come_first_the_longest_overdue_for_its_interval_before_the_others() -> None:
    items = [card("new"), card("long"), card("short")]
    state = state_of(("long", 13, 5), ("long", 12, 5), ("short", 5, 5))
    choice = choose_card(items, state)
    assert choice is not None
    assert (choice.item.id, choice.kind) == ("short", CardKind.DUE)
    assert choice.because == (
        "It was due 4 days ago, after an interval of 1 day: no other card is later for its"
        " interval."
    )


def test_a_card_that_was_not_recalled_comes_again_after_three_others() -> None:
    items = [card(name) for name in "abcdefg"]
    reviews = [("a", 0, 1)]
    seen = []
    for _ in range(4):
        choice = choose_card(items, state_of(*reviews))
        assert choice is not None
        seen.append(choice.item.id)
        reviews.append((choice.item.id, 0, 5))
    assert seen == ["b", "c", "d", "a"]


def test_repeats_that_rested_less_come_where_nothing_else_is_left() -> None:
    choice = choose_card([card("a")], state_of(("a", 0, 2)))
    assert choice is not None
    assert choice.kind is CardKind.REPEAT


def test_two_cards_of_one_verb_do_not_follow_each_other() -> None:
    items = [card("eat-1", "eat"), card("eat-2", "eat"), card("go-1", "go")]
    choice = choose_card(items, state_of(("eat-1", 0, 5)))
    assert choice is not None
    assert choice.item.id == "go-1"
    only = choose_card(items[:2], state_of(("eat-1", 0, 5)))
    assert only is not None
    assert only.item.id == "eat-2"


def test_new_cards_come_from_the_weakest_tag_with_its_share() -> None:
    known = [card(f"p{n}", tense="past-simple") for n in range(3)]
    known += [card(f"f{n}", tense="future-simple") for n in range(3)]
    items = [*known, card("new-past"), card("new-future", tense="future-simple")]
    reviews = [(item.id, 0, 5) for item in known[:3]] + [(item.id, 0, 4) for item in known[3:5]]
    state = state_of(*reviews, ("f2", 0, 2), ("f2", 0, 4))
    weakest = find_weakest_tag(items, state)
    assert weakest is not None
    assert (weakest.key, weakest.value) == ("tense", "future-simple")
    choice = choose_card(items, state)
    assert choice is not None
    assert choice.item.id == "new-future"
    assert choice.because == (
        "It is new, and from your weakest part so far: future simple, 66 % recalled."
    )


def test_at_most_so_many_new_cards_and_reviews_a_day() -> None:
    items = [card(str(n)) for n in range(30)]
    done = [(str(n), 0, 5) for n in range(20)]
    assert choose_card(items, state_of(*done)) is None
    assert choose_card(items, state_of(*done), DailyLimits(new=21)) is not None
    due = [(str(n), 3, 5) for n in range(5)]
    limits = DailyLimits(new=0, reviews=2)
    assert choose_card(items, state_of(*due, ("0", 0, 5), ("1", 0, 5)), limits) is None


def test_a_leech_is_not_asked_any_more_and_is_listed() -> None:
    lapses = [("a", 40 - 2 * n - k, (4, 1)[k]) for n in range(8) for k in (0, 1)]
    state = state_of(*lapses)
    assert choose_card([card("a")], state) is None
    assert [item.id for item in list_leeches([card("a")], state)] == ["a"]
    assert count_cards([card("a")], state).leeches == 1


def test_counts_say_what_is_left_today_and_the_next_day_when_there_is_more() -> None:
    items = [card("due"), card("again"), card("new"), card("later")]
    state = state_of(("due", 2, 5), ("later", 0, 5), ("again", 0, 1))
    counts = count_cards(items, state)
    assert (counts.due, counts.repeats, counts.new) == (1, 1, 1)
    assert find_next_day(items, state) == TODAY + timedelta(days=1)
