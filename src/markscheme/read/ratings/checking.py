"""Ratings checked against the rubric, the exam and the variants: nothing unknown, twice or missing.

A cell that nobody rated stays missing; it never becomes a number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markscheme.errors import InputError, format_value
from markscheme.read.complaints import suggest_match
from markscheme.read.ratings.rows import (
    RATING_COLUMNS,
    RatingRow,
    RatingRows,
    clean_cell_text,
    read_rating_rows,
)
from markscheme.vocabulary import Exam, Rating, Rubric, ScaleAxis

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

_SCORE_PATTERN = re.compile(r"[+-]?[0-9]{1,9}")
_LONE_SURROGATE = re.compile(
    "[\ud800-\udfff]"
)  # a surrogate without its other half; no file can hold it
_MAX_NOTE_CHARACTERS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingScope:
    """What ratings may be about: the scales and notes of a rubric, the items, the variants.

    Where `gaps` are allowed, a cell may be missing; its query then has no verdict.
    """

    rubric: Rubric
    exam: Exam
    variants: tuple[str, ...]
    allow_gaps: bool = False


def read_ratings(
    source: str | Path | Iterable[Rating | Mapping[str, Any]], raters: RatingScope
) -> tuple[Rating, ...]:
    """Return the ratings of a file, or of rows, in one order whatever order they are written in.

    Raises:
        InputError: with every row and cell that is wrong or missing.
    """
    raw = read_rating_rows(source) if isinstance(source, str | Path) else _wrap_rating_rows(source)
    checked = _RatingChecker(scope=raters, rating_rows=raw)
    for row in raw.rows:
        checked.check_row(row)
    if not raw.rows and not raw.problems:
        raw.add_problem(raw.last_line, "", "holds no rating")
    elif not raters.allow_gaps:
        checked.report_gaps()
    if raw.problems:
        raise InputError(raw.problems)
    return tuple(sorted(checked.ratings.values(), key=checked.get_sort_key))


def _wrap_rating_rows(rows: Iterable[Rating | Mapping[str, Any]]) -> RatingRows:
    raw = RatingRows(file="ratings")
    for line, row in enumerate(rows, start=1):
        named = (
            {name: getattr(row, name) for name in RATING_COLUMNS}
            if isinstance(row, Rating)
            else row
        )
        raw.rows.append(RatingRow(line=line, cells=dict(named)))
        raw.last_line = line
    return raw


@dataclass(slots=True, kw_only=True)
class _RatingChecker:
    """Takes rows one by one; holds what was right, and complains of the rest."""

    scope: RatingScope
    rating_rows: RatingRows
    ratings: dict[tuple[str, str, str, str], Rating] = field(default_factory=dict)
    lines: dict[tuple[str, str, str, str], int] = field(default_factory=dict)  # of wrong ones too
    items: dict[str, int] = field(init=False)
    scales: dict[str, ScaleAxis] = field(init=False)
    notes: set[str] = field(init=False)
    axes: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        rubric = self.scope.rubric
        self.items = {item.id: at for at, item in enumerate(self.scope.exam.items)}
        self.scales = {scale.name: scale for scale in rubric.scales}
        self.notes = {note.name for note in rubric.notes}
        rated = (*self.scales, *(note.name for note in rubric.notes))
        self.axes = {axis: at for at, axis in enumerate(rated)}

    def check_row(self, row: RatingRow) -> None:
        """Check every cell of a row, and keep it where all are right."""
        before = len(self.rating_rows.problems)
        for column, value in row.cells.items():
            if isinstance(value, str) and _LONE_SURROGATE.search(value):
                told = f"holds half a character in {format_value(value)}; whole ones are needed"
                self.rating_rows.add_problem(row.line, column, told)
        item = self._check_name(row, "item", self.items)
        variant = self._check_name(row, "variant", self.scope.variants)
        rater = self._check_name(row, "rater", None)
        axis = self._check_name(row, "axis", self.axes)
        note = self._check_note(row, axis)
        score = self._check_score(row, axis)
        key = (item, variant, rater, axis)
        first = self.lines.setdefault(key, row.line)
        if first != row.line and all(key):
            told = f"{format_value(axis)} of {format_value(item)}, {format_value(variant)} was rated by {format_value(rater)}"
            told = f"{told} on line {first} already; once is allowed"
            self.rating_rows.add_problem(row.line, "axis", told)
        if len(self.rating_rows.problems) > before:
            return
        self.ratings[key] = Rating(
            item=item,
            variant=variant,
            rater=rater,
            axis=axis,
            score=score,
            note=note,
            line=row.line,
        )

    def _check_name(self, row: RatingRow, column: str, allowed: Collection[str] | None) -> str:
        value = row.cells.get(column)
        text = clean_cell_text(value)
        if not text:
            what = "is empty" if value is None or isinstance(value, str) else "must be text"
            self.rating_rows.add_problem(
                row.line, column, f"{what}; {_describe_allowed_names(allowed, column)}"
            )
        elif allowed is not None and text not in allowed:
            told = f"{format_value(text)} is no {column} of this comparison; "
            told += _describe_allowed_names(allowed, column) + suggest_match(text, allowed)
            self.rating_rows.add_problem(row.line, column, told)
        return text

    def _check_note(self, row: RatingRow, axis: str) -> str:
        value = row.cells.get("note")
        if value is not None and not isinstance(value, str):
            self.rating_rows.add_problem(
                row.line, "note", f"must be text, not {format_value(value)}"
            )
        note = clean_cell_text(value)
        if len(note) > _MAX_NOTE_CHARACTERS:
            told = f"is too long; at most {_MAX_NOTE_CHARACTERS:,} characters"
            self.rating_rows.add_problem(row.line, "note", told)
        if axis in self.notes and not note:
            self.rating_rows.add_problem(
                row.line, "note", f"is empty; {format_value(axis)} is answered in words"
            )
        return note

    def _check_score(self, row: RatingRow, axis: str) -> int | None:
        value = row.cells.get("score")
        empty = value is None or (isinstance(value, str) and not value.strip())
        if axis in self.notes:
            if not empty:
                told = f"{format_value(value)} stands where none belongs; {format_value(axis)} is a note"
                self.rating_rows.add_problem(row.line, "score", told)
            return None
        scale = self.scales.get(axis)
        if scale is None or (empty and self.scope.allow_gaps):
            return None
        allowed = f"whole numbers from {scale.lowest} to {scale.highest}"
        score = _parse_score(value)
        if empty:
            self.rating_rows.add_problem(row.line, "score", f"is empty; allowed: {allowed}")
        elif score is None or not scale.lowest <= score <= scale.highest:
            self.rating_rows.add_problem(
                row.line, "score", f"{format_value(value)} is no score; allowed: {allowed}"
            )
        return score

    def get_sort_key(self, rating: Rating) -> tuple[Any, ...]:
        """Return where a rating stands among the others: by exam, variant, rater and rubric."""
        place = self.scope.variants.index(rating.variant)
        return self.items[rating.item], place, rating.rater, self.axes[rating.axis]

    def report_gaps(self) -> None:
        """Complain of every cell that a rater left out, those that belong together at once."""
        variants = self.scope.variants
        rated = {variant for _, variant, _, _ in self.lines}
        for variant in variants:
            if variant not in rated:
                told = f"no row rates the variant {format_value(variant)}; {_GAP_HINT}"
                self.rating_rows.add_problem(self.rating_rows.last_line, "variant", told)
        raters = sorted({rater for _, _, rater, _ in self.lines if rater})
        for item in self.scope.exam.items:
            for variant in (variant for variant in variants if variant in rated):
                for rater in raters:
                    self._report_missing_axes(item.id, variant, rater)

    def _report_missing_axes(self, item: str, variant: str, rater: str) -> None:
        keys = {axis: (item, variant, rater, axis) for axis in self.scales}
        there = {axis: self.lines[key] for axis, key in keys.items() if key in self.lines}
        missing = [axis for axis in self.scales if axis not in there]
        if missing:
            line = max(there.values(), default=self.rating_rows.last_line)
            axes = ", ".join(missing) if there else "no axis at all"
            what = "lacks" if there else "rates"
            told = f"{format_value(rater)} {what} {axes} for {format_value(item)}, {format_value(variant)}; {_GAP_HINT}"
            self.rating_rows.add_problem(line, "score", told)


_GAP_HINT = "rate it, or allow gaps, which leave the query without a verdict"


def _describe_allowed_names(allowed: Collection[str] | None, column: str) -> str:
    return f"a {column} is needed" if allowed is None else f"allowed: {', '.join(allowed)}"


def _parse_score(value: Any) -> int | None:
    if isinstance(value, str) and _SCORE_PATTERN.fullmatch(value.strip()):
        return int(value)
    return value if type(value) is int else None
