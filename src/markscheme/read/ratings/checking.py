"""Ratings checked against the rubric, the exam and the variants: nothing unknown, twice or missing.

A cell that nobody rated stays missing; it never becomes a number.
"""

from __future__ import annotations

import re
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markscheme.errors import InputError, shown
from markscheme.read.complaints import guess
from markscheme.read.ratings.rows import COLUMNS, RawRow, RawRows, read_rows, text_of
from markscheme.values import dataclass
from markscheme.vocabulary import Exam, Rating, Rubric, ScaleAxis

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

_WHOLE = re.compile(r"[+-]?[0-9]{1,9}")
_HALF = re.compile("[\ud800-\udfff]")  # a surrogate without its other half; no file can hold it
_LONGEST_NOTE = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Raters:
    """What ratings may be about: the scales and notes of a rubric, the items, the variants.

    Where `gaps` are allowed, a cell may be missing; its query then has no verdict.
    """

    rubric: Rubric
    exam: Exam
    variants: tuple[str, ...]
    gaps: bool = False


def read_ratings(
    source: str | Path | Iterable[Rating | Mapping[str, Any]], raters: Raters
) -> tuple[Rating, ...]:
    """Return the ratings of a file, or of rows, in one order whatever order they are written in.

    Raises:
        InputError: with every row and cell that is wrong or missing.
    """
    raw = read_rows(source) if isinstance(source, str | Path) else _given(source)
    checked = _Checked(raters=raters, raw=raw)
    for row in raw.rows:
        checked.take(row)
    if not raw.rows and not raw.problems:
        raw.complain(raw.last_line, "", "holds no rating")
    elif not raters.gaps:
        checked.complain_of_gaps()
    if raw.problems:
        raise InputError(raw.problems)
    return tuple(sorted(checked.found.values(), key=checked.order))


def _given(rows: Iterable[Rating | Mapping[str, Any]]) -> RawRows:
    raw = RawRows(file="ratings")
    for line, row in enumerate(rows, start=1):
        named = {name: getattr(row, name) for name in COLUMNS} if isinstance(row, Rating) else row
        raw.rows.append(RawRow(line=line, cells=dict(named)))
        raw.last_line = line
    return raw


@dataclass(slots=True, kw_only=True)
class _Checked:
    """Takes rows one by one; holds what was right, and complains of the rest."""

    raters: Raters
    raw: RawRows
    found: dict[tuple[str, str, str, str], Rating] = field(default_factory=dict)
    lines: dict[tuple[str, str, str, str], int] = field(default_factory=dict)  # of wrong ones too
    items: dict[str, int] = field(init=False)
    scales: dict[str, ScaleAxis] = field(init=False)
    notes: set[str] = field(init=False)
    axes: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        rubric = self.raters.rubric
        self.items = {item.id: at for at, item in enumerate(self.raters.exam.items)}
        self.scales = {scale.name: scale for scale in rubric.scales}
        self.notes = {note.name for note in rubric.notes}
        rated = (*self.scales, *(note.name for note in rubric.notes))
        self.axes = {axis: at for at, axis in enumerate(rated)}

    def take(self, row: RawRow) -> None:
        """Check every cell of a row, and keep it where all are right."""
        before = len(self.raw.problems)
        for column, value in row.cells.items():
            if isinstance(value, str) and _HALF.search(value):
                told = f"holds half a character in {shown(value)}; whole ones are needed"
                self.raw.complain(row.line, column, told)
        item = self._name(row, "item", self.items)
        variant = self._name(row, "variant", self.raters.variants)
        rater = self._name(row, "rater", None)
        axis = self._name(row, "axis", self.axes)
        note = self._note(row, axis)
        score = self._score(row, axis)
        key = (item, variant, rater, axis)
        first = self.lines.setdefault(key, row.line)
        if first != row.line and all(key):
            told = f"{shown(axis)} of {shown(item)}, {shown(variant)} was rated by {shown(rater)}"
            told = f"{told} on line {first} already; once is allowed"
            self.raw.complain(row.line, "axis", told)
        if len(self.raw.problems) > before:
            return
        self.found[key] = Rating(
            item=item,
            variant=variant,
            rater=rater,
            axis=axis,
            score=score,
            note=note,
            line=row.line,
        )

    def _name(self, row: RawRow, column: str, allowed: Collection[str] | None) -> str:
        value = row.cells.get(column)
        text = text_of(value)
        if not text:
            what = "is empty" if value is None or isinstance(value, str) else "must be text"
            self.raw.complain(row.line, column, f"{what}; {_allowed(allowed, column)}")
        elif allowed is not None and text not in allowed:
            told = f"{shown(text)} is no {column} of this comparison; "
            told += _allowed(allowed, column) + guess(text, allowed)
            self.raw.complain(row.line, column, told)
        return text

    def _note(self, row: RawRow, axis: str) -> str:
        value = row.cells.get("note")
        if value is not None and not isinstance(value, str):
            self.raw.complain(row.line, "note", f"must be text, not {shown(value)}")
        note = text_of(value)
        if len(note) > _LONGEST_NOTE:
            told = f"is too long; at most {_LONGEST_NOTE:,} characters"
            self.raw.complain(row.line, "note", told)
        if axis in self.notes and not note:
            self.raw.complain(row.line, "note", f"is empty; {shown(axis)} is answered in words")
        return note

    def _score(self, row: RawRow, axis: str) -> int | None:
        value = row.cells.get("score")
        empty = value is None or (isinstance(value, str) and not value.strip())
        if axis in self.notes:
            if not empty:
                told = f"{shown(value)} stands where none belongs; {shown(axis)} is a note"
                self.raw.complain(row.line, "score", told)
            return None
        scale = self.scales.get(axis)
        if scale is None or (empty and self.raters.gaps):
            return None
        allowed = f"whole numbers from {scale.lowest} to {scale.highest}"
        score = _whole(value)
        if empty:
            self.raw.complain(row.line, "score", f"is empty; allowed: {allowed}")
        elif score is None or not scale.lowest <= score <= scale.highest:
            self.raw.complain(row.line, "score", f"{shown(value)} is no score; allowed: {allowed}")
        return score

    def order(self, rating: Rating) -> tuple[Any, ...]:
        """Return where a rating stands among the others: by exam, variant, rater and rubric."""
        place = self.raters.variants.index(rating.variant)
        return self.items[rating.item], place, rating.rater, self.axes[rating.axis]

    def complain_of_gaps(self) -> None:
        """Complain of every cell that a rater left out, those that belong together at once."""
        variants = self.raters.variants
        rated = {variant for _, variant, _, _ in self.lines}
        for variant in variants:
            if variant not in rated:
                told = f"no row rates the variant {shown(variant)}; {_ALLOW}"
                self.raw.complain(self.raw.last_line, "variant", told)
        raters = sorted({rater for _, _, rater, _ in self.lines if rater})
        for item in self.raters.exam.items:
            for variant in (variant for variant in variants if variant in rated):
                for rater in raters:
                    self._complain_of_answer(item.id, variant, rater)

    def _complain_of_answer(self, item: str, variant: str, rater: str) -> None:
        keys = {axis: (item, variant, rater, axis) for axis in self.scales}
        there = {axis: self.lines[key] for axis, key in keys.items() if key in self.lines}
        missing = [axis for axis in self.scales if axis not in there]
        if missing:
            line = max(there.values(), default=self.raw.last_line)
            axes = ", ".join(missing) if there else "no axis at all"
            what = "lacks" if there else "rates"
            told = f"{shown(rater)} {what} {axes} for {shown(item)}, {shown(variant)}; {_ALLOW}"
            self.raw.complain(line, "score", told)


_ALLOW = "rate it, or allow gaps, which leave the query without a verdict"


def _allowed(allowed: Collection[str] | None, column: str) -> str:
    return f"a {column} is needed" if allowed is None else f"allowed: {', '.join(allowed)}"


def _whole(value: Any) -> int | None:
    if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
        return int(value)
    return value if type(value) is int else None
