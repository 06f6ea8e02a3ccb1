"""Read ratings of any axes, with or without a rubric: numbers, decimals or words.

`read_open_ratings` reads the same files as `read_ratings`, but needs neither exam nor variants, and
accepts gaps. Each axis gets a level (`ScaleLevel`): from the rubric, from the caller, or from its
scores. A score that could mean two things is refused: a word among numbers, `nan`, two spellings of
one word.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

from markscheme.read.documents import suggest_match
from markscheme.read.rating_cells import (
    RaterSources,
    check_cell_characters,
    clean_cell_text,
    is_empty_cell,
    read_attempt,
    read_name,
    read_repeat,
)
from markscheme.read.rating_rows import (
    RatingForm,
    RatingRow,
    RatingRows,
    RatingSource,
    read_rating_tables,
)
from markscheme.read.rating_scores import (
    MetOrNot,
    ScoredQuestion,
    describe_wrong_criterion,
    describe_wrong_score,
    find_questions,
    list_allowed_scores,
    list_column_axes,
    parse_rated_score,
)
from markscheme.vocabulary import (
    ChoiceAxis,
    InputError,
    MarkSource,
    OpenRating,
    RatedAxis,
    Rubric,
    ScaleAxis,
    ScaleLevel,
    UsageError,
    format_value,
    to_fraction,
)

_NUMBER = re.compile(r"[+-]?[0-9]{1,12}(?:[.,][0-9]{1,30})?(?:[eE][+-]?[0-9]{1,2})?")
_NOT_APPLICABLE = frozenset({"n/a", "na", "not applicable"})
# What programs write where they have no number.
_NO_NUMBERS = frozenset({"nan", "none", "null", "inf", "+inf", "-inf", "infinity", "-infinity"})
_LARGEST_NUMBER = 10**12
_LONGEST_WORD = 200
# A scale of 0 to 10 has 11 scores; with more, the steps are taken for equal.
_MOST_ORDINAL_SCORES = 11


class _RowKey(NamedTuple):
    axis: str
    unit: tuple[str, ...]
    rater: str
    repeat: int


@dataclass(slots=True, kw_only=True)
class _RowScore:
    score: Fraction | str | None
    row: RatingRow
    table: RatingRows

    def add_problem(self, message: str) -> None:
        """Add a problem of this score, under the header of its column."""
        self.table.add_problem(self.row.line, self.row.headers.get("score", "score"), message)


def read_open_ratings(
    source: RatingSource,
    *,
    rubric: Rubric | None = None,
    levels: Mapping[str, ScaleLevel] | None = None,
    judges: Collection[str] = (),
) -> tuple[RatedAxis, ...]:
    """Return the rated axes of files or of rows, in the order of the rubric, else by name.

    `levels` says what the scores of an axis mean, by its name; the empty name stands for every
    other axis. `judges` names raters that are models, besides those whose `source` is `judge`.

    Raises:
        InputError: with every row that is wrong.
        UsageError: a level or a judge is named for what the ratings do not hold.
    """
    levels = levels or {}
    axes = None if rubric is None else list_column_axes(rubric)
    tables = list(read_rating_tables(source, RatingForm(axes=axes)))
    reader = _OpenRatingReader(rubric=rubric, judges=set(judges))
    for table in tables:
        if not table.rows and not table.problems:
            table.add_problem(table.last_line, "", "holds no rating")
        for row in table.rows:
            reader.read_row(row, table)
    rated = reader.build_axes(levels)
    problems = [problem for table in tables for problem in table.problems]
    if problems:
        raise InputError(problems)
    _check_names(rated, reader.sources.known, levels, judges)
    return rated


def _check_names(
    rated: tuple[RatedAxis, ...],
    raters: Collection[str],
    levels: Mapping[str, ScaleLevel],
    judges: Collection[str],
) -> None:
    """Refuse levels of axes, and judges, that occur nowhere: they may be misspelt."""
    named = {"axis": (set(levels) - {""}, [axis.name for axis in rated]), "rater": (judges, raters)}
    for what, (asked, known) in named.items():
        for name in sorted(set(asked) - set(known)):
            hint = suggest_match(name, list(known))
            raise UsageError(f"the ratings hold no {what} {format_value(name)}{hint}")


@dataclass(slots=True, kw_only=True)
class _OpenRatingReader:
    """Checks rows one by one, then all scores of an axis together."""

    rubric: Rubric | None
    judges: set[str]
    scores: dict[_RowKey, _RowScore] = field(default_factory=dict)
    sources: RaterSources = field(default_factory=RaterSources)
    questions: Mapping[str, ScoredQuestion] = field(init=False)
    notes: set[str] = field(init=False)

    def __post_init__(self) -> None:
        rubric = self.rubric
        self.questions = {} if rubric is None else find_questions(rubric)
        self.notes = set() if rubric is None else {note.name for note in rubric.notes}

    def read_row(self, row: RatingRow, table: RatingRows) -> None:
        """Check the cells of a row; keep its score if it is the first of its kind."""
        before = len(table.problems)
        check_cell_characters(row, table)
        item, rater, axis = (read_name(row, table, name) for name in ("item", "rater", "axis"))
        # Answers without a subject are rated without a variant; the column must be there.
        variant = read_name(row, table, "variant", needed="variant" not in row.cells)
        criterion = clean_cell_text(row.cells.get("criterion"))
        self._check_axis(axis, criterion, row, table)
        unit = (item, variant, criterion)
        attempt, repeat = read_attempt(row, table), read_repeat(row, table)
        key = _RowKey(axis, unit if attempt == 1 else (*unit, str(attempt)), rater, repeat)
        if self.sources.read_source(rater, row, table) is MarkSource.JUDGE:
            self.judges.add(rater)
        score = _RowScore(score=None, row=row, table=table)
        if axis not in self.notes:
            self._read_score(score, axis)
            first = self.scores.setdefault(key, score)
            if first is not score and all((item, rater, axis)):
                self._report_repeated_rating(key, first, score)
        table.rename_fields(before, row.headers)

    def _check_axis(self, axis: str, criterion: str, row: RatingRow, table: RatingRows) -> None:
        """Refuse an axis that the rubric does not have, and criteria where none belong."""
        if self.rubric is None or not axis or axis in self.notes:
            return
        if axis not in self.questions:
            known = [*self.questions, *self.notes]
            message = f"{format_value(axis)} is no scale of the rubric {self.rubric.name}; allowed:"
            message += f" {', '.join(known) or 'none'}{suggest_match(axis, known)}"
            table.add_problem(row.line, "axis", message)
        elif message := describe_wrong_criterion(criterion, axis, self.questions[axis]):
            table.add_problem(row.line, "criterion", message)

    def _read_score(self, found: _RowScore, axis: str) -> None:
        """Read the score of a row, and check it against the rubric, if there is one.

        On a scale any number in its range is taken: ratings of several people may be averages.
        """
        value = found.row.cells.get("score")
        if is_empty_cell(value) or str(value).strip().casefold() in _NOT_APPLICABLE:
            return
        question = self.questions.get(axis)
        if isinstance(question, ChoiceAxis | MetOrNot):
            found.score = parse_rated_score(value, question)
            if found.score is None:
                found.add_problem(describe_wrong_score(value, question))
            return
        score = _parse_open_score(value)
        if question is not None:
            allowed = f"numbers from {question.lowest} to {question.highest}"
            if not isinstance(score, Fraction) or not question.lowest <= score <= question.highest:
                found.add_problem(f"{format_value(value)} is no score; allowed: {allowed}")
                return
        elif score is None:
            allowed = "numbers, words, and an empty cell where there is no score"
            found.add_problem(f"{format_value(value)} is no score; allowed: {allowed}")
        found.score = score

    def _report_repeated_rating(self, key: _RowKey, first: _RowScore, second: _RowScore) -> None:
        what = ", ".join(filter(None, key.unit))
        where = f"line {first.row.line}"
        if first.table is not second.table:
            where += f" of {first.table.file}"
        message = f"{format_value(key.axis)} of {format_value(what)} was rated by"
        message += f" {format_value(key.rater)} on {where} already; once is allowed"
        second.table.add_problem(second.row.line, "axis", message)

    def build_axes(self, levels: Mapping[str, ScaleLevel]) -> tuple[RatedAxis, ...]:
        """Return the axes with their ratings; add problems of scores that do not fit together."""
        by_axis: dict[str, dict[_RowKey, _RowScore]] = defaultdict(dict)
        # The rows may come in any order; what is read from them does not depend on it.
        for key in sorted(self.scores):
            by_axis[key.axis][key] = self.scores[key]
        order = {name: at for at, name in enumerate(self.questions)}
        names = sorted(filter(None, by_axis), key=lambda name: (order.get(name, 0), name))
        return tuple(self._build_axis(name, by_axis[name], levels) for name in names)

    def _build_axis(
        self, name: str, scores: Mapping[_RowKey, _RowScore], levels: Mapping[str, ScaleLevel]
    ) -> RatedAxis:
        asked = levels.get(name, levels.get(""))
        question = self.questions.get(name)
        if asked is None and question is not None:
            is_scale = isinstance(question, ScaleAxis)
            asked = ScaleLevel.ORDINAL if is_scale else ScaleLevel.NOMINAL
        level = _choose_level(name, asked, list(scores.values()))
        ratings: dict[tuple[object, str], OpenRating | None] = {}
        for key, found in scores.items():
            score = found.score
            if level is ScaleLevel.NOMINAL and isinstance(score, Fraction):
                score = str(score)
            rating = (
                None if score is None else OpenRating(unit=key.unit, rater=key.rater, score=score)
            )
            ratings.setdefault((key.unit, key.rater), rating)
        kept = tuple(filter(None, ratings.values()))
        return RatedAxis(
            name=name,
            level=level,
            ratings=kept,
            judges=frozenset(self.judges & {rating.rater for rating in kept}),
            scale=() if question is None else list_allowed_scores(question),
            empty=len(ratings) - len(kept),
            repeats=len(scores) - len(ratings),
        )


def _choose_level(name: str, asked: ScaleLevel | None, scores: Collection[_RowScore]) -> ScaleLevel:
    """Return the level of an axis; add problems for scores that do not belong to it."""
    numbers = {found.score for found in scores if isinstance(found.score, Fraction)}
    words = [found for found in scores if isinstance(found.score, str)]
    if asked is not ScaleLevel.NOMINAL and words and (numbers or asked is not None):
        hint = "an empty cell where there is no score, or --level nominal"
        for found in words:
            message = f"{format_value(found.score)} is a word, and the scores of"
            message += f" {format_value(name)} are numbers"
            found.add_problem(f"{message}; allowed: numbers, {hint}")
    _check_spellings(words)
    if asked is not None:
        return asked
    if words or not numbers:
        return ScaleLevel.NOMINAL
    is_ordinal = len(numbers) <= _MOST_ORDINAL_SCORES and all(
        number.denominator == 1 for number in numbers
    )
    return ScaleLevel.ORDINAL if is_ordinal else ScaleLevel.INTERVAL


def _check_spellings(words: Collection[_RowScore]) -> None:
    """Refuse words that differ only in their case: raters who meant the same would disagree."""
    spellings: dict[str, str] = {}
    for found in words:
        word = str(found.score)
        first = spellings.setdefault(word.casefold(), word)
        if first != word:
            message = f"{format_value(word)} is also written {format_value(first)}"
            found.add_problem(f"{message}; write one word in one way")


def _parse_open_score(value: Any) -> Fraction | str | None:
    """Return a score as an exact number or a word; `None` if it is neither."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Fraction):
        return value
    if isinstance(value, int | float):
        if not math.isfinite(value) or abs(value) > _LARGEST_NUMBER:
            return None
        return to_fraction(value)
    text = clean_cell_text(value)
    if _NUMBER.fullmatch(text):
        number = Fraction(text.replace(",", "."))
        return number if abs(number) <= _LARGEST_NUMBER else None
    is_word = text.isprintable() and 0 < len(text) <= _LONGEST_WORD
    return text if is_word and text.casefold() not in _NO_NUMBERS else None
