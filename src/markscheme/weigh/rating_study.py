"""The design of a rating study: who is given which query, in which order, and what counts.

Everything here is pure. A query with the answers of all its variants is the unit that is given to a
rater. Exactly `per_answer` raters get each query: a query that a rater has finished stays theirs,
one that was taken and not finished is theirs for `LEASE_TIME` after the last thing they did. Which
variant comes first is drawn when the query is taken for the first time, so that each variant is
first equally often for every rater, give or take one, and for every query as far as that allows.

The records are those of the store: lease events and marks, oldest first.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from random import Random
from typing import NamedTuple

from markscheme.vocabulary import LeaseEvent, LeaseKind, StudyMark
from markscheme.weigh.rating_design import build_williams_rows

LEASE_TIME = timedelta(minutes=30)
"""How long a query that was taken stays a rater's without anything being said about it."""


# Whose marks count first if more raters marked a query than it needs.
_COUNTING_ORDER = (LeaseKind.FINISHED, LeaseKind.TAKEN, LeaseKind.SKIPPED)


class SeatKey(NamedTuple):
    """A query and one of its raters."""

    item: str
    rater: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """A rater at a query: the order of the variants, and whether the query is still theirs.

    `place` is the place of the first answer among all that the rater was shown. `touched` is when
    the rater last did something about the query; `skipped` counts the lease events of the study up
    to the last skip, 0 if it was not skipped.
    """

    item: str
    rater: str
    order: tuple[str, ...]
    place: int
    state: LeaseKind
    touched: datetime
    skipped: int = 0

    def is_held(self, now: datetime) -> bool:
        """Whether the query is the rater's: finished, or taken and not left alone for too long."""
        if self.state is LeaseKind.TAKEN:
            return now < self.touched + LEASE_TIME
        return self.state is LeaseKind.FINISHED


Seats = Mapping[SeatKey, Seat]


def build_seats(
    events: Iterable[LeaseEvent], last_marks: Mapping[tuple[str, str], datetime]
) -> dict[SeatKey, Seat]:
    """Return the seat of every rater who ever took a query.

    `last_marks` says when a rater last marked a query, by item and rater.
    """
    seats: dict[SeatKey, Seat] = {}
    for number, event in enumerate(events, start=1):
        key = SeatKey(event.item, event.rater)
        before = seats.get(key)
        is_skip = event.kind is LeaseKind.SKIPPED
        seats[key] = Seat(
            item=event.item,
            rater=event.rater,
            order=event.order,
            place=event.place,
            state=event.kind,
            touched=max(event.at, last_marks.get(key, event.at)),
            skipped=number if is_skip else 0 if before is None else before.skipped,
        )
    return seats


def count_raters(seats: Seats, now: datetime, *, without: str = "") -> Counter[str]:
    """Return how many raters hold each query; those of the rater `without` do not count."""
    return Counter(
        seat.item for seat in seats.values() if seat.rater != without and seat.is_held(now)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyDesign:
    """What decides who rates what: the variants of each query, raters per query, and the seed."""

    variants: Mapping[str, tuple[str, ...]]
    per_answer: int
    seed: int

    def choose_query(self, rater: str, seats: Seats, now: datetime) -> str | None:
        """Return the query that a rater gets next; `None` if there is none to give.

        One that the rater began comes first, those that the rater skipped come last. Of the others,
        those with the fewest raters come first; the seed decides between equals.
        """
        others = count_raters(seats, now, without=rater)

        def rank(item: str) -> tuple[int, bool, int, bytes]:
            seat = seats.get(SeatKey(item, rater))
            return (
                0 if seat is None else seat.skipped,
                seat is None,
                others[item],
                _draw("query", self.seed, rater, item),
            )

        open_items = [
            item
            for item in self.variants
            if others[item] < self.per_answer and not _is_held(seats, item, rater, now)
        ]
        return min(open_items, key=rank, default=None)

    def draw_order(self, item: str, rater: str, seats: Seats) -> tuple[str, ...]:
        """Return the order in which a rater sees the variants of a query, also if taken again.

        The orders are the rows of a Williams design. A row is taken whose first variant was first
        least often for this rater, then for this query, then in the whole study.
        """
        seat = seats.get(SeatKey(item, rater))
        if seat is not None:
            return seat.order
        variants = self.variants[item]
        drawn = [seat for seat in seats.values() if len(seat.order) > 1]
        for_rater = Counter(seat.order[0] for seat in drawn if seat.rater == rater)
        for_item = Counter(seat.order[0] for seat in drawn if seat.item == item)
        overall = Counter(seat.order[0] for seat in drawn)
        used = Counter(seat.order for seat in drawn if seat.rater == rater)
        rows = [tuple(variants[at] for at in row) for row in build_williams_rows(len(variants))]
        return min(
            rows,
            key=lambda row: (
                *(for_rater[row[0]], for_item[row[0]], overall[row[0]], used[row]),
                _draw("order", self.seed, rater, item, *row),
            ),
        )


def _is_held(seats: Seats, item: str, rater: str, now: datetime) -> bool:
    seat = seats.get(SeatKey(item, rater))
    return seat is not None and seat.is_held(now)


def _draw(what: str, seed: int, *names: str) -> bytes:
    """Return what decides between equals: random, the same for the same seed and names."""
    text = "\0".join(("markscheme rating study", what, str(seed), *names))
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


def find_next_place(rater: str, seats: Seats) -> int:
    """Return the place of the next answer that a rater is shown for the first time."""
    ends = (seat.place + len(seat.order) for seat in seats.values() if seat.rater == rater)
    return max(ends, default=1)


def list_rater_seats(rater: str, seats: Seats) -> list[Seat]:
    """Return the queries that a rater was ever given, in the order in which they were."""
    return sorted(
        (seat for seat in seats.values() if seat.rater == rater), key=lambda seat: seat.place
    )


def draw_sample(items: Sequence[str], size: int, seed: int) -> list[str]:
    """Return a simple random sample of queries, in their order: each is in it equally likely.

    >>> draw_sample(["q1", "q2", "q3"], 2, seed=1) == draw_sample(["q1", "q2", "q3"], 2, seed=1)
    True
    """
    random = Random(f"markscheme study sample {seed}")  # noqa: S311 - a sample, not a secret
    chosen = set(random.sample(range(len(items)), size))
    return [item for at, item in enumerate(items) if at in chosen]


# --- marks ---


class MarkKey(NamedTuple):
    """What a mark is about: an answer, and one axis or one criterion of it."""

    item: str
    variant: str
    axis: str
    criterion: str = ""


def get_mark_key(mark: StudyMark) -> MarkKey:
    """Return what a mark is about."""
    return MarkKey(mark.item, mark.variant, mark.axis, mark.criterion)


def fold_marks(marks: Iterable[StudyMark]) -> dict[MarkKey, StudyMark]:
    """Return the marks of one rater that count now: the last of each that was not taken back."""
    given = list(marks)
    undone = {mark.undoes for mark in given}
    return {
        get_mark_key(mark): mark for mark in given if mark.undoes is None and mark.id not in undone
    }


def find_mark_to_undo(marks: Sequence[StudyMark]) -> StudyMark | None:
    """Return the last mark of a rater that was not taken back yet."""
    undone = {mark.undoes for mark in marks}
    return next((m for m in reversed(marks) if m.undoes is None and m.id not in undone), None)


def choose_counted_seats(
    seats: Seats, marked: Iterable[SeatKey], per_answer: int
) -> dict[str, list[Seat]]:
    """Return whose marks count, by query: at most `per_answer` raters, finished ones first.

    A query can have marks of more raters: one took it, left it alone for too long, and another one
    got it. The marks of the first one stay in the store and do not count.
    """
    by_item: dict[str, list[Seat]] = defaultdict(list)
    for key in set(marked):
        if key in seats:
            by_item[key.item].append(seats[key])
    for given in by_item.values():
        given.sort(key=lambda seat: (_COUNTING_ORDER.index(seat.state), seat.touched, seat.rater))
        del given[per_answer:]
    return dict(by_item)
