"""Read the ratings that score recorded answers, and group them into marks by answer and axis.

`read_mark_ratings` reads files; `group_marks` makes marks of any ratings, from files or from a
judge that has just been asked. Both check the same things and report every mistake at once: a name
that rubric or exam do not have, a score outside its scale, a rating given twice, people and judges
in one cell. Which answers there are is known only when they are read; `find_unanswered` then says
which ratings are about none of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from msgspec import Struct

from markscheme.read.answers import AnswerBatch
from markscheme.read.documents import suggest_match
from markscheme.read.rating_cells import (
    RATER_SOURCES,
    check_cell_characters,
    clean_cell_text,
    describe_two_sources,
    is_empty_cell,
    parse_source,
    read_attempt,
    read_name,
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
    CRITERIA_KIND,
    MetOrNot,
    ScoredQuestion,
    describe_wrong_criterion,
    describe_wrong_score,
    find_questions,
    list_column_axes,
    parse_rated_score,
)
from markscheme.vocabulary import (
    AxisSpec,
    Exam,
    FrozenDict,
    InputError,
    Item,
    Mark,
    MarkSource,
    Problem,
    Rating,
    Rubric,
    UsageError,
    format_value,
)

_NO_MARKS: Mapping[str, tuple[Mark, ...]] = FrozenDict()
_REQUIRED_COLUMNS = ("item", "rater", "axis", "score")


class AnswerKey(NamedTuple):
    """Which answer was marked. The variant is the subject of the answer, empty if it has none."""

    item: str
    variant: str
    attempt: int


AnswerMarks: TypeAlias = Mapping[AnswerKey, Mapping[str, tuple[Mark, ...]]]
"""The marks of each answer, by axis."""


class GivenMarks(Struct, frozen=True, kw_only=True):
    """The marks that people or judges gave, and the ratings that they come from."""

    ratings: tuple[Rating, ...] = ()
    by_answer: AnswerMarks = FrozenDict()


NOTHING_GIVEN = GivenMarks()


def iterate_item_criteria(spec: AxisSpec, item: Item) -> Iterator[tuple[str, bool]]:
    """Yield the id of each criterion by which an axis marks an item, and whether code decides."""
    open_entries = list(item.expectations.get(getattr(spec.axis, "expectation", "")) or ())[::-1]
    while open_entries:
        entry = open_entries.pop()
        if "group" in entry:
            open_entries += entry["criteria"][::-1]
        else:
            yield entry["id"], "check" in entry


class _Cell(NamedTuple):
    answer: AnswerKey
    axis: str


def read_mark_ratings(source: RatingSource, rubric: Rubric, exam: Exam) -> tuple[Rating, ...]:
    """Return the ratings of files or of rows, checked against rubric and exam.

    Raises:
        InputError: with every row that is wrong.
    """
    form = RatingForm(axes=list_column_axes(rubric), required=_REQUIRED_COLUMNS)
    tables = list(read_rating_tables(source, form))
    checker = _MarkChecker(rubric=rubric, exam=exam)
    ratings: list[Rating] = []
    for table in tables:
        if not table.rows and not table.problems:
            table.add_problem(table.last_line, "", "holds no rating")
        for row in table.rows:
            before = len(table.problems)
            rating = _read_rating(row, table, checker)
            for column, message in checker.find_problems(rating):
                table.add_problem(row.line, column, message)
            table.rename_fields(before, row.headers)
            ratings.append(rating)
    problems = [problem for table in tables for problem in table.problems]
    problems += checker.find_mixed_cells()
    if problems:
        raise InputError(problems)
    return tuple(ratings)


def _read_rating(row: RatingRow, table: RatingRows, checker: _MarkChecker) -> Rating:
    """Return the rating of a row; add a problem for each cell that cannot be read."""
    check_cell_characters(row, table)
    axis = read_name(row, table, "axis")
    return Rating(
        item=read_name(row, table, "item"),
        variant=read_name(row, table, "variant", needed=False),
        rater=read_name(row, table, "rater"),
        axis=axis,
        score=_read_score(row, table, axis, checker),
        note=read_note(row, table),
        order=read_order(row, table),
        at=read_time(row, table),
        criterion=clean_cell_text(row.cells.get("criterion")),
        source=parse_source(row, table),
        repeat=read_repeat(row, table),
        attempt=read_attempt(row, table),
        file=table.file,
        line=row.line,
    )


def _read_score(
    row: RatingRow, table: RatingRows, axis: str, checker: _MarkChecker
) -> Fraction | str | None:
    value = row.cells.get("score")
    if is_empty_cell(value):
        return None
    if axis in checker.notes:
        message = f"{format_value(value)} stands where none belongs; {format_value(axis)} is a note"
        table.add_problem(row.line, "score", message)
        return None
    question = checker.questions.get(axis)
    if question is None:
        return None
    score = parse_rated_score(value, question)
    if score is None:
        table.add_problem(row.line, "score", describe_wrong_score(value, question))
    return score


def group_marks(ratings: Iterable[Rating], rubric: Rubric, exam: Exam) -> AnswerMarks:
    """Return the marks that ratings give to the scored axes of each answer.

    Ratings of axes without a weight and notes are checked, and give no marks. So does a person's
    empty score: nothing was said. Of a judge it says that the reply could not be read, and why.

    Raises:
        InputError: with every rating that is wrong.
    """
    checker = _MarkChecker(rubric=rubric, exam=exam)
    kept = list(ratings)
    problems = [
        Problem(file=rating.file or "ratings", line=rating.line, field=column, message=message)
        for rating in kept
        for column, message in checker.find_problems(rating)
    ]
    problems += checker.find_mixed_cells()
    if problems:
        raise InputError(problems)
    return _group_checked(kept, checker)


def _group_checked(ratings: Iterable[Rating], checker: _MarkChecker) -> AnswerMarks:
    """Return the marks that ratings give, which are known to be right."""
    scored = {spec.name for spec in checker.rubric}
    cells: dict[_Cell, list[Rating]] = defaultdict(list)
    for rating in ratings:
        if rating.axis in scored and (rating.score is not None or rating.source is _JUDGE):
            cells[_get_cell(rating)].append(rating)
    marks: dict[AnswerKey, dict[str, tuple[Mark, ...]]] = defaultdict(dict)
    for cell, given in cells.items():
        given.sort(key=checker.get_sort_key)
        marks[cell.answer][cell.axis] = tuple(map(_build_mark, given))
    return FrozenDict({answer: FrozenDict(by_axis) for answer, by_axis in marks.items()})


_JUDGE = MarkSource.JUDGE


def _get_cell(rating: Rating) -> _Cell:
    return _Cell(AnswerKey(rating.item, rating.variant, rating.attempt), rating.axis)


def _build_mark(rating: Rating) -> Mark:
    return Mark(
        score=rating.score,
        source=rating.source,
        by=rating.rater,
        criterion=rating.criterion,
        why=rating.note,
    )


def read_marks(source: RatingSource, rubric: Rubric, exam: Exam) -> GivenMarks:
    """Return the marks in files of ratings, or in rows.

    Raises:
        InputError: with every row that is wrong.
        UsageError: no rating marks an axis that counts in the score.
    """
    ratings = read_mark_ratings(source, rubric, exam)
    checker = _MarkChecker(rubric=rubric, exam=exam)
    given = GivenMarks(ratings=ratings, by_answer=_group_checked(ratings, checker))
    if given.by_answer:
        return given
    rated = [spec.name for spec in rubric if spec.name in find_questions(rubric)]
    if not rated:
        message = f"the rubric `{rubric.name}` has no axis with a weight that people or judges mark"
        raise UsageError(f"{message}; leave the ratings out")
    raise UsageError(f"the ratings give no mark to an axis with a weight: {', '.join(rated)}")


def attach_marks(batch: AnswerBatch, marks: AnswerMarks) -> set[AnswerKey]:
    """Give each answer of a batch its marks; return the answers that have any."""
    keys = [
        AnswerKey(item, subject or "", attempt)
        for item, subject, attempt in zip(batch.items, batch.subjects, batch.attempts, strict=True)
    ]
    found = marks.keys() & set(keys)
    if found:
        batch.marks = [marks.get(key, _NO_MARKS) for key in keys]
    return found


def count_unmarked(
    rubric: Rubric,
    exam: Exam,
    answers: Mapping[str, int],
    given: Iterable[Mapping[str, tuple[Mark, ...]]] = (),
) -> dict[str, int]:
    """Return how many marks are missing, by axis; axes that lack none are left out.

    `answers` counts the answers to each item, and `given` holds the marks of those that have any.
    """
    questions = find_questions(rubric)
    rated = [spec for spec in rubric if spec.name in questions]
    missing = {
        spec.name: sum(answers.get(item.id, 0) * _count_needed(spec, item) for item in exam.items)
        for spec in rated
    }
    for by_axis in given:
        for axis, marks in by_axis.items():
            missing[axis] -= len({mark.criterion for mark in marks if mark.score is not None})
    return {axis: count for axis, count in missing.items() if count}


def _count_needed(spec: AxisSpec, item: Item) -> int:
    """Return how many marks an answer to an item needs on an axis: one, or one for a criterion."""
    if spec.axis.kind != CRITERIA_KIND:
        return 1
    return sum(not has_check for _, has_check in iterate_item_criteria(spec, item))


def find_unanswered(
    given: GivenMarks, marked: Collection[AnswerKey], variants: Collection[str]
) -> list[Problem]:
    """Return a problem for each answer that has marks and is not there: at its first rating.

    `marked` are the answers that got their marks, and `variants` those that have answers.
    """
    missing = given.by_answer.keys() - marked
    first: dict[AnswerKey, Rating] = {}
    for rating in given.ratings:
        answer = _get_cell(rating).answer
        if answer in missing:
            first.setdefault(answer, rating)
    named = sorted(variants)
    return [_describe_unanswered(rating, named) for rating in first.values()]


def _describe_unanswered(rating: Rating, variants: Sequence[str]) -> Problem:
    column = "item"
    subject = f" of {format_value(rating.variant)}" if rating.variant else ""
    message = f"there is no answer{subject} to {format_value(rating.item)}"
    if rating.attempt > 1:
        message += f", attempt {rating.attempt}"
    if rating.variant not in variants:
        column = "variant"
        named = [format_value(variant) for variant in variants if variant]
        allowed = ", ".join([*named, *(["an empty variant"] if "" in variants else [])])
        shown = format_value(rating.variant) if rating.variant else "an empty variant"
        message = f"{shown} is the subject of no answer; allowed: {allowed or 'none'}"
        message += suggest_match(rating.variant, variants)
    return Problem(file=rating.file or "ratings", line=rating.line, field=column, message=message)


@dataclass(slots=True, kw_only=True)
class _MarkChecker:
    """Checks ratings one by one against rubric and exam, then all of them for mixed cells."""

    rubric: Rubric
    exam: Exam
    firsts: dict[tuple[object, ...], Rating] = field(default_factory=dict)
    sources: dict[str, MarkSource] = field(default_factory=dict)
    cells: dict[_Cell, dict[MarkSource, Rating]] = field(default_factory=dict)
    criteria: dict[tuple[str, str], dict[str, bool]] = field(default_factory=dict)
    items: dict[str, Item] = field(init=False)
    questions: Mapping[str, ScoredQuestion] = field(init=False)
    notes: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.items = {item.id: item for item in self.exam.items}
        self.questions = find_questions(self.rubric)
        self.notes = frozenset(note.name for note in self.rubric.notes)

    def find_problems(self, rating: Rating) -> Iterator[tuple[str, str]]:
        """Yield the column and the message of everything that is wrong with a rating."""
        if rating.item and rating.item not in self.items:
            hint = suggest_match(rating.item, self.items)
            yield "item", f"{format_value(rating.item)} is no item of {self.exam.name}{hint}"
        if rating.axis:
            yield from self._find_axis_problems(rating)
        other = self.sources.setdefault(rating.rater, rating.source)
        if other is not rating.source:
            yield "source", describe_two_sources(rating.rater, rating.source, other)
        yield from self._find_repetition(rating)
        self.cells.setdefault(_get_cell(rating), {}).setdefault(rating.source, rating)

    def _find_axis_problems(self, rating: Rating) -> Iterator[tuple[str, str]]:
        question = self.questions.get(rating.axis)
        if rating.axis in self.notes:
            if not rating.note:
                yield "note", f"is empty; {format_value(rating.axis)} is answered in words"
            return
        if question is None:
            yield "axis", self._describe_wrong_axis(rating.axis)
            return
        if message := describe_wrong_criterion(rating.criterion, rating.axis, question):
            yield "criterion", message
        elif isinstance(question, MetOrNot):
            yield from self._find_criterion_problem(rating)
        if rating.score is not None and parse_rated_score(rating.score, question) is None:
            yield "score", describe_wrong_score(rating.score, question)

    def _describe_wrong_axis(self, axis: str) -> str:
        known = [*self.questions, *self.notes]
        if any(spec.name == axis for spec in self.rubric):
            message = f"{format_value(axis)} is decided by code, so nobody rates it; allowed: "
        else:
            message = f"{format_value(axis)} is no axis of {self.rubric.name}; allowed: "
        return message + (", ".join(known) or "none") + suggest_match(axis, known)

    def _find_criterion_problem(self, rating: Rating) -> Iterator[tuple[str, str]]:
        if rating.item not in self.items:
            return
        known = self._list_criteria(rating.axis, rating.item)
        if rating.criterion not in known:
            shown = f"{_quote(rating.criterion)} is no criterion of {_quote(rating.item)}"
            rated = [name for name, has_check in known.items() if not has_check]
            hint = suggest_match(rating.criterion, rated)
            yield "criterion", f"{shown}; allowed: {', '.join(rated) or 'none'}{hint}"
        elif known[rating.criterion]:
            message = f"{format_value(rating.criterion)} is decided by its check"
            yield "criterion", f"{message}; leave the rating out"

    def _list_criteria(self, axis: str, item: str) -> dict[str, bool]:
        """Return the criteria by which an axis marks an item, and whether code decides them."""
        if (axis, item) not in self.criteria:
            spec = next(spec for spec in self.rubric if spec.name == axis)
            self.criteria[axis, item] = dict(iterate_item_criteria(spec, self.items[item]))
        return self.criteria[axis, item]

    def _find_repetition(self, rating: Rating) -> Iterator[tuple[str, str]]:
        """Yield a problem if the rater rated the same before. Judges may rate in several orders."""
        order = rating.order if rating.source is _JUDGE else None
        key = (_get_cell(rating), rating.criterion, rating.rater, rating.repeat, order)
        first = self.firsts.setdefault(key, rating)
        if first is rating or not (rating.item and rating.axis and rating.rater):
            return
        rated = f"{format_value(rating.criterion or rating.axis)} of {format_value(rating.item)}"
        where = f"line {first.line}"
        if first.file != rating.file:
            where += f" of {first.file}"
        message = f"{rated} was rated by {format_value(rating.rater)} on {where} already"
        yield "axis", f"{message}; once is allowed"

    def find_mixed_cells(self) -> Iterator[Problem]:
        """Yield a problem for each cell that a person and a judge rated: no mean joins them."""
        for cell, by_source in self.cells.items():
            if len(by_source) < len(RATER_SOURCES) or cell.axis in self.notes:
                continue
            person, judge = (by_source[source] for source in RATER_SOURCES)
            answer = " of ".join(filter(None, map(_quote, (cell.answer.item, cell.answer.variant))))
            message = (
                f"{format_value(cell.axis)} of {answer} was rated by the judge "
                f"{format_value(judge.rater)} here and by the person {format_value(person.rater)} "
                f"on line {person.line}; ratings of judges never count as people's: "
                "leave one kind out"
            )
            file = judge.file or "ratings"
            yield Problem(file=file, line=judge.line, field="source", message=message)

    def get_sort_key(self, rating: Rating) -> tuple[object, ...]:
        """Return the key that sorts marks of one cell, whatever the order of the rows was."""
        place = 0
        if rating.criterion:
            place = list(self._list_criteria(rating.axis, rating.item)).index(rating.criterion)
        return place, rating.rater, rating.repeat, rating.order or 0


def _quote(name: str) -> str:
    return format_value(name) if name else ""
