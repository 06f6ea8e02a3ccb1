"""What happens in a rating study: leases of queries, marks of raters, and adjudications.

A study asks several raters to rate the answers to a set of queries, blind. The unit that is given
out is the query with the answers of all its variants.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from msgspec import Struct


class LeaseKind(StrEnum):
    """What happened between a rater and a query."""

    TAKEN = "taken"
    SKIPPED = "skipped"
    FINISHED = "finished"


class LeaseEvent(Struct, frozen=True, kw_only=True):
    """A rater took, skipped or finished a query.

    `order` holds the variants in the order in which the rater sees them, and `place` is the place
    of the first of them among all answers that the rater is shown; both are drawn when the query is
    taken for the first time, and stay.
    """

    item: str
    rater: str
    kind: LeaseKind
    at: datetime
    order: tuple[str, ...]
    place: int


class StudyMark(Struct, frozen=True, kw_only=True):
    """What a rater said about one axis or criterion of one answer, or that a mark is taken back.

    A mark that takes another one back names it in `undoes`, and repeats what it was about.
    """

    id: str
    rater: str
    item: str
    variant: str
    axis: str
    criterion: str
    score: str | None
    note: str
    undoes: str | None
    at: datetime


class Adjudication(Struct, frozen=True, kw_only=True):
    """What the owner of a closed study decided where raters disagreed."""

    id: str
    item: str
    variant: str
    axis: str
    criterion: str
    score: str
    note: str
    by: str
    at: datetime
