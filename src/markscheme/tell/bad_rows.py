"""Rows that were no answers: of a file by their lines, of a live run as questions without one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.tell.language import say_many, told

if TYPE_CHECKING:
    from markscheme.vocabulary import RowError


def name_of(total: int, *, live: bool) -> str:
    """Return what so many of them are called."""
    if live:
        return say_many(
            "{n:,} question without an answer", "{n:,} questions without an answer", total
        )
    return say_many("{n:,} bad row", "{n:,} bad rows", total)


def place_of(error: RowError, *, live: bool) -> str:
    """Return where it is; a live run has no file and no lines."""
    return error.item or "" if live else error.place


def reason_of(error: RowError, *, live: bool) -> str:
    """Return which it is and why it is no answer."""
    reason, place = told(error.reason), place_of(error, live=live)
    named = live and (not place or reason.startswith(place))
    return reason if named else f"{place}: {reason}"
