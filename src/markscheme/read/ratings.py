"""Read ratings of a comparison, and check them against rubric, exam and variants.

`read_ratings` reads all rows first, then checks each cell, and raises one error with every problem:
an unknown name, a score outside its scale, a rating given twice, a rating that is missing. A rating
that nobody gave stays missing; it never becomes a number. A comparison is about scales and notes:
ratings of choices and criteria may stand in the same file, and are left out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

from msgspec import structs

from markscheme.read.documents import suggest_match
from markscheme.read.rating_cells import (
    RATER_SOURCES,
    RaterSources,
    check_cell_characters,
    clean_cell_text,
    describe_allowed_names,
    is_empty_cell,
    read_attempt,
    read_note,
    read_order,
    read_repeat,
    read_time,
)
from markscheme.read.rating_rows import (
    RatingForm,
    RatingRow,
    RatingRows,
    RatingSource,
    read_rating_tables,
)
from markscheme.read.rating_scores import (
    NOT_APPLICABLE,
    describe_allowed_scores,
    describe_wrong_criterion,
    describe_wrong_score,
    find_questions,
    parse_rated_score,
)
from markscheme.vocabulary import (
    Exam,
    InputError,
    MarkSource,
    Rating,
    Rubric,
    ScaleAxis,
    find_control_character,
    format_value,
)

_GAP_HINT = "rate it, or allow gaps, which leave the query without a verdict"


class _RatingKey(NamedTuple):
    """What identifies a rating in a comparison."""

    item: str
    variant: str
    rater: str
    axis: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingScope:
    """What ratings may be about: the scales and notes of a rubric, the items, the variants.

    With `allow_gaps`, ratings may be missing; the queries they belong to then have no verdict. Of
    `follow_ups` a variant may lack all ratings: they are run for the variants that need them.
    `assigned` names the raters of each query if not every rater rates every query.
    """

    rubric: Rubric
    exam: Exam
    variants: tuple[str, ...]
    allow_gaps: bool = False
    follow_ups: Collection[str] = ()
    assigned: Mapping[str, Collection[str]] | None = None


def read_ratings(source: RatingSource, scope: RatingScope) -> tuple[Rating, ...]:
    """Return the ratings of files or of rows, sorted by item, variant, rater and axis.

    Raises:
        InputError: with every row and cell that is wrong or missing.
    """
    form = RatingForm(axes=(*scope.rubric.scales, *scope.rubric.notes))
    tables = list(read_rating_tables(source, form))
    checker = _RatingChecker(scope=scope, table=tables[-1])
    empty = [table for table in tables if not table.rows and not table.problems]
    for table in tables:
        checker.table = table
        for row in table.rows:
            checker.check_row(row)
    for table in empty:
        table.add_problem(table.last_line, "", "holds no rating")
    checker.report_mixed_sources()
    if not empty and not scope.allow_gaps:
        checker.report_gaps()
    problems = [problem for table in tables for problem in table.problems]
    if problems:
        raise InputError(problems)
    return tuple(sorted(checker.ratings.values(), key=checker.get_sort_key))


@dataclass(slots=True, kw_only=True)
class _RatingChecker:
    """Checks rows one by one: keeps the ratings that are right, adds problems for the others.

    `lines` holds the line of every rating met, also of wrong ones, so that a wrong rating is not
    reported as missing too; `tables` holds the file that it is in. `table` is the file being
    checked.
    """

    scope: RatingScope
    table: RatingRows
    ratings: dict[_RatingKey, Rating] = field(default_factory=dict)
    lines: dict[_RatingKey, int] = field(default_factory=dict)
    tables: dict[_RatingKey, RatingRows] = field(default_factory=dict)
    repeats: dict[tuple[_RatingKey, int], tuple[RatingRows, int]] = field(default_factory=dict)
    sources: RaterSources = field(default_factory=RaterSources)
    other_variants: dict[str, None] = field(default_factory=dict)
    items: dict[str, int] = field(init=False)
    scales: dict[str, ScaleAxis] = field(init=False)
    notes: set[str] = field(init=False)
    axes: dict[str, int] = field(init=False)
    others: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        rubric = self.scope.rubric
        self.items = {item.id: at for at, item in enumerate(self.scope.exam.items)}
        self.scales = {scale.name: scale for scale in rubric.scales}
        self.notes = {note.name for note in rubric.notes}
        rated = (*self.scales, *(note.name for note in rubric.notes))
        self.axes = {axis: at for at, axis in enumerate(rated)}
        self.others = frozenset(find_questions(rubric)) - self.axes.keys()

    def check_row(self, row: RatingRow) -> None:
        """Check every cell of a row; keep the rating if all are right.

        Of several `repeat`s of one rater the first counts.
        """
        table, before = self.table, len(self.table.problems)
        check_cell_characters(row, table)
        if clean_cell_text(row.cells.get("axis")) in self.others:
            return
        item = self._check_name(row, "item", self.items)
        variant = self._check_name(row, "variant", self.scope.variants)
        rater = self._check_name(row, "rater", None)
        axis = self._check_name(row, "axis", self.axes)
        rating = Rating(
            item=item,
            variant=variant,
            rater=rater,
            axis=axis,
            note=self._check_note(row, axis),
            score=self._check_score(row, axis),
            order=read_order(row, table),
            at=read_time(row, table),
            source=self.sources.read_source(rater, row, table),
            repeat=read_repeat(row, table),
            file=table.file,
            line=row.line,
        )
        self._check_attempt(row)
        scale, criterion = self.scales.get(axis), clean_cell_text(row.cells.get("criterion"))
        if scale is not None and (message := describe_wrong_criterion(criterion, axis, scale)):
            table.add_problem(row.line, "criterion", message)
        key = _RatingKey(item, variant, rater, axis)
        self.lines.setdefault(key, row.line)
        self.tables.setdefault(key, table)
        self._check_repeat(row, key, rating.repeat)
        if len(table.problems) > before:
            table.rename_fields(before, row.headers)
        elif key not in self.ratings or rating.repeat < self.ratings[key].repeat:
            self.ratings[key] = rating

    def _check_attempt(self, row: RatingRow) -> None:
        """Refuse a rating of a later attempt: a comparison takes one answer of each variant."""
        attempt = read_attempt(row, self.table)
        if attempt != 1:
            message = f"the attempt {attempt} cannot be compared; allowed: 1"
            self.table.add_problem(row.line, "attempt", message)

    def _check_repeat(self, row: RatingRow, key: _RatingKey, repeat: int) -> None:
        """Refuse a second rating of the same, unless it is another `repeat`."""
        place = self.table, row.line
        other, first = self.repeats.setdefault((key, repeat), place)
        if (other, first) == place or not all(key):
            return
        rated = f"{format_value(key.axis)} of {format_value(key.item)}, {format_value(key.variant)}"
        where = f"line {first}" if other is self.table else f"line {first} of {other.file}"
        message = f"{rated} was rated by {format_value(key.rater)} on {where} already"
        self.table.add_problem(row.line, "axis", f"{message}; once is allowed")

    def report_mixed_sources(self) -> None:
        """Refuse ratings of judges beside those of people: their mean would mean nothing."""
        raters: dict[MarkSource, dict[str, Rating]] = {}
        for rating in self.ratings.values():
            raters.setdefault(rating.source, {}).setdefault(rating.rater, rating)
        if len(raters) > 1:
            people, judges = (sorted(raters[source]) for source in RATER_SOURCES)
            message = f"{', '.join(judges)} (judge) and {', '.join(people)} (person) rated the same"
            message += " answers; ratings of judges never count as people's: leave one kind out"
            for rating in raters[MarkSource.JUDGE].values():
                self.tables[_get_key(rating)].add_problem(rating.line, "source", message)

    def _check_name(self, row: RatingRow, column: str, allowed: Collection[str] | None) -> str:
        value = row.cells.get(column)
        text = clean_cell_text(value)
        if not text:
            what = "is empty" if value is None or isinstance(value, str) else "must be text"
            self.table.add_problem(
                row.line, column, f"{what}; {describe_allowed_names(allowed, column)}"
            )
        elif allowed is not None and text not in allowed:
            if column == "variant":
                self.other_variants[text] = None
            message = f"{format_value(text)} is no {column} of this comparison; "
            message += describe_allowed_names(allowed, column) + suggest_match(text, allowed)
            self.table.add_problem(row.line, column, message)
        elif found := find_control_character(text):
            message = f"{format_value(text)} holds the control character `{found}`"
            self.table.add_problem(row.line, column, f"{message}; a name has none")
        return text

    def _check_note(self, row: RatingRow, axis: str) -> str:
        note = read_note(row, self.table)
        if axis in self.notes and not note:
            self.table.add_problem(
                row.line, "note", f"is empty; {format_value(axis)} is answered in words"
            )
        return note

    def _check_score(self, row: RatingRow, axis: str) -> Fraction | None:
        value = row.cells.get("score")
        empty = is_empty_cell(value)
        if axis in self.notes:
            if not empty:
                note = f"{format_value(axis)} is a note"
                message = f"{format_value(value)} stands where none belongs; {note}"
                self.table.add_problem(row.line, "score", message)
            return None
        scale = self.scales.get(axis)
        if scale is None:
            return None
        score = parse_rated_score(value, scale)
        if isinstance(score, Fraction):
            return score
        # Where a scale does not apply, a variant has no average: in a comparison that is a gap.
        if self.scope.allow_gaps and (empty or score == NOT_APPLICABLE):
            return None
        allowed = structs.replace(scale, may_not_apply=False)
        message = describe_wrong_score(value, allowed)
        if empty:
            message = f"is empty; allowed: {describe_allowed_scores(allowed)}"
        self.table.add_problem(row.line, "score", message)
        return None

    def get_sort_key(self, rating: Rating) -> tuple[Any, ...]:
        """Return the key that sorts ratings by exam, variants, rater and rubric."""
        place = self.scope.variants.index(rating.variant)
        return self.items[rating.item], place, rating.rater, self.axes[rating.axis]

    def report_gaps(self) -> None:
        """Add a problem for each variant without ratings, and each answer that a rater left out."""
        variants = self.scope.variants
        rated = {variant for _, variant, _, _ in self.lines}
        for variant in variants:
            if variant not in rated:
                message = f"no row rates the variant {format_value(variant)}; "
                others = ", ".join(map(format_value, [*self.other_variants][:10]))
                message += f"the ratings name {others}" if others else _GAP_HINT
                self.table.add_problem(self.table.last_line, "variant", message)
        everyone = sorted({rater for _, _, rater, _ in self.lines if rater})
        answers = {(item, variant) for item, variant, _, _ in self.lines}
        for item in self.scope.exam.items:
            raters = sorted((self.scope.assigned or {}).get(item.id, everyone))
            for variant in (variant for variant in variants if variant in rated):
                not_run = item.id in self.scope.follow_ups and (item.id, variant) not in answers
                for rater in () if not_run else raters:
                    self._report_missing_axes(item.id, variant, rater)

    def _report_missing_axes(self, item: str, variant: str, rater: str) -> None:
        keys = {axis: _RatingKey(item, variant, rater, axis) for axis in self.scales}
        there = {axis: self.lines[key] for axis, key in keys.items() if key in self.lines}
        missing = [axis for axis in self.scales if axis not in there]
        if missing:
            line = max(there.values(), default=self.table.last_line)
            table = next((self.tables[keys[axis]] for axis in there), self.table)
            axes = ", ".join(missing) if there else "no axis at all"
            what = "lacks" if there else "rates"
            answer = f"{format_value(item)}, {format_value(variant)}"
            message = f"{format_value(rater)} {what} {axes} for {answer}; {_GAP_HINT}"
            table.add_problem(line, "score", message)


def _get_key(rating: Rating) -> _RatingKey:
    """Return what identifies a rating, apart from its repeats."""
    return _RatingKey(rating.item, rating.variant, rating.rater, rating.axis)
