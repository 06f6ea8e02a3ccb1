"""Rows that were no answers: of a file by their lines, of a live run as questions without one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.tell.language import translate_plural, translate_stored

if TYPE_CHECKING:
    from markscheme.vocabulary import RowError


def format_bad_row_count(total: int, *, live: bool) -> str:
    """Return what so many of them are called."""
    if live:
        return translate_plural(
            "{n:,} question without an answer", "{n:,} questions without an answer", total
        )
    return translate_plural("{n:,} bad row", "{n:,} bad rows", total)


def get_bad_row_place(error: RowError, *, live: bool) -> str:
    """Return where it is; a live run has no file and no lines."""
    return error.item or "" if live else error.place


def format_bad_row_reason(error: RowError, *, live: bool) -> str:
    """Return which it is and why it is no answer."""
    reason, place = translate_stored(error.reason), get_bad_row_place(error, live=live)
    named = live and (not place or reason.startswith(place))
    return reason if named else f"{place}: {reason}"
