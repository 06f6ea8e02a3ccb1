"""The cells of rows of ratings: names, counts, times and sources, each checked by itself.

Each function adds a problem to the table for a cell that cannot be read, and returns a value that
is safe to go on with, so that all problems of a row are found.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from markscheme.read.nfc import to_nfc
from markscheme.read.rating_rows import RatingRow, RatingRows
from markscheme.read.spreadsheets import unguard_cell
from markscheme.vocabulary import MarkSource, find_control_character, format_value

# `4.0` and `4,0` are whole numbers too: spreadsheets and data frames write them like that.
_WHOLE_NUMBER = re.compile(r"([+-]?[0-9]{1,9})(?:[.,]0{1,9})?")
# A surrogate without its other half. JSON can hold one as an escape; no UTF-8 file can.
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_MAX_NOTE_CHARACTERS = 100_000
RATER_SOURCES = (MarkSource.PERSON, MarkSource.JUDGE)
"""Who rates: checks are computed, not rated."""


def check_cell_characters(row: RatingRow, table: RatingRows) -> None:
    """Add a problem for each cell with half a character, which no file can hold."""
    for column, value in row.cells.items():
        if isinstance(value, str) and _LONE_SURROGATE.search(value):
            message = f"holds half a character in {format_value(value)}; whole ones are needed"
            table.add_problem(row.line, column, message)


def is_empty_cell(value: Any) -> bool:
    """Whether a cell holds nothing."""
    return value is None or (isinstance(value, str) and not value.strip())


def clean_cell_text(value: Any) -> str:
    """Return the text of a cell, stripped and in NFC; empty if it is not text."""
    return to_nfc(value.strip()) if isinstance(value, str) else ""


def read_name(
    row: RatingRow, table: RatingRows, column: str, hint: str = "", *, needed: bool = True
) -> str:
    """Return a name; the `hint` says what is allowed where it is missing or no name."""
    value = row.cells.get(column)
    text = clean_cell_text(value)
    if not text:
        if needed or not is_empty_cell(value):
            what = "is empty" if value is None or isinstance(value, str) else "must be text"
            table.add_problem(row.line, column, f"{what}; {hint or f'a {column} is needed'}")
    elif found := find_control_character(text):
        message = f"{format_value(text)} holds the control character `{found}`"
        table.add_problem(row.line, column, f"{message}; a name has none")
    return text


def read_note(row: RatingRow, table: RatingRows) -> str:
    """Return the note of a row."""
    value = row.cells.get("note")
    if value is not None and not isinstance(value, str):
        table.add_problem(row.line, "note", f"must be text, not {format_value(value)}")
    note = unguard_cell(clean_cell_text(value))
    if len(note) > _MAX_NOTE_CHARACTERS:
        message = f"is too long; at most {_MAX_NOTE_CHARACTERS:,} characters"
        table.add_problem(row.line, "note", message)
    return note


def parse_whole_number(value: Any) -> int | None:
    """Return a whole number, written as a number or as text; `None` if it is none."""
    if isinstance(value, str) and (match := _WHOLE_NUMBER.fullmatch(value.strip())):
        return int(match[1])
    return value if type(value) is int else None


def read_order(row: RatingRow, table: RatingRows) -> int | None:
    """Return the place of the answer in the order in which the rater saw answers."""
    return _read_count(row, table, "order", "place in an order", 1)


def read_repeat(row: RatingRow, table: RatingRows) -> int:
    """Return how often the rater had been asked the same before."""
    return _read_count(row, table, "repeat", "count of a repeat", 0) or 0


def read_attempt(row: RatingRow, table: RatingRows) -> int:
    """Return which of the answers of the variant to the item was rated."""
    return _read_count(row, table, "attempt", "attempt", 1) or 1


def _read_count(
    row: RatingRow, table: RatingRows, column: str, what: str, least: int
) -> int | None:
    value = row.cells.get(column)
    number = parse_whole_number(value)
    if is_empty_cell(value) or (number is not None and number >= least):
        return number
    message = f"{format_value(value)} is no {what}; allowed: whole numbers from {least}"
    table.add_problem(row.line, column, message)
    return None


def read_time(row: RatingRow, table: RatingRows) -> str | None:
    """Return when the rating was given, in ISO 8601."""
    value = row.cells.get("at")
    if is_empty_cell(value):
        return None
    text = clean_cell_text(value)
    try:
        datetime.fromisoformat(text)
    except ValueError:
        message = f"{format_value(value)} is no time; write it as 2026-03-01T11:00:00Z"
        table.add_problem(row.line, "at", message)
    return text


def parse_source(row: RatingRow, table: RatingRows) -> MarkSource:
    """Return who gave the rating: a person, unless the row says that it was a judge."""
    value = row.cells.get("source")
    text = MarkSource.PERSON.value if is_empty_cell(value) else clean_cell_text(value)
    if text in RATER_SOURCES:
        return MarkSource(text)
    message = f"{format_value(value)} is no source; allowed: {', '.join(RATER_SOURCES)}"
    table.add_problem(row.line, "source", message)
    return MarkSource.PERSON


@dataclass(slots=True, kw_only=True)
class RaterSources:
    """Whether each rater is a person or a judge; nobody can be both."""

    known: dict[str, MarkSource] = field(default_factory=dict)

    def read_source(self, rater: str, row: RatingRow, table: RatingRows) -> MarkSource:
        """Return who gave the rating; add a problem if the rater was another kind before."""
        source = parse_source(row, table)
        other = self.known.setdefault(rater, source)
        if other is not source:
            table.add_problem(row.line, "source", describe_two_sources(rater, source, other))
        return source


def describe_two_sources(rater: str, source: MarkSource, other: MarkSource) -> str:
    """Return the message for a rater who is a person here and a judge there."""
    message = f"{format_value(rater)} is a {source} here and a {other} on an earlier row"
    return f"{message}; give them two names"


def describe_allowed_names(allowed: Collection[str] | None, column: str) -> str:
    """Return what a column may hold; without `allowed` names it may hold any."""
    return f"a {column} is needed" if allowed is None else f"allowed: {', '.join(allowed)}"
