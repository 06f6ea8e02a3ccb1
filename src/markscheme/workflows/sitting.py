"""One rater's sitting: the answers in their order, what was rated, and writing the ratings.

While somebody rates, marks go to the sitting file, which names no variant. When everything is rated
(or when the rater asks for it), the ratings are merged into the file of ratings, with the names of
the variants, the place of each answer in the rater's order, and the time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import TypeAlias

from markscheme.read.ratings import RatingScope
from markscheme.vocabulary import InputError, NoteAxis, Problem, Rating, ScaleAxis, format_value
from markscheme.weigh.rating_design import (
    compute_blind_key,
    compute_text_key,
    design_rating_order,
)
from markscheme.workflows.rate import AnswersToRate, BlindAnswer
from markscheme.workflows.rating_file import RatingFile, RatingKey
from markscheme.workflows.sitting_file import (
    BlindPlace,
    SittingFile,
    SittingMark,
    find_sitting_path,
)

RatedAxis: TypeAlias = ScaleAxis | NoteAxis


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedAnswer:
    """An answer at its place in the rater's order. `text_key` is a digest of its text.

    `label` tells the answers to one query apart without naming their variants: A is shown first.
    """

    order: int
    label: str
    answer: BlindAnswer
    text_key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoStep:
    """A mark of this sitting and what was there before it."""

    place: PlacedAnswer
    axis: RatedAxis
    before: SittingMark | None


def get_utc_now() -> datetime:
    """Return the current time."""
    return datetime.now(UTC)


class RatingSitting:
    """The state of a sitting. Every change is on the disk before the method that made it returns.

    `answers` are in the rater's order. `set_aside` counts answers of earlier sittings that are not
    in the sources this time: their marks stay in the sitting file.
    """

    def __init__(
        self,
        to_rate: AnswersToRate,
        path: Path,
        rater: str,
        *,
        seed: int | None = None,
        now: Callable[[], datetime] = get_utc_now,
    ) -> None:
        self.rater = rater
        self.path = path
        self.scales: tuple[ScaleAxis, ...] = to_rate.rubric.scales
        self.axes: tuple[RatedAxis, ...] = (*self.scales, *to_rate.rubric.notes)
        self._now = now
        self._undo_steps: list[UndoStep] = []
        variants = tuple(sorted({answer.variant for answer in to_rate.answers}))
        scope = RatingScope(
            rubric=to_rate.rubric, exam=to_rate.exam, variants=variants, allow_gaps=True
        )
        self._book = RatingFile(path, scope)
        self.had_torn_row = self._book.had_torn_row
        self._file = SittingFile(find_sitting_path(path, rater), rater, seed)
        try:
            self.answers = self._place_answers(to_rate.answers)
            self.set_aside = len(self._file.record.places) - len(self.answers)
            self._refuse_changed_answers()
            self._import_ratings()
        except BaseException:
            self.close()
            raise

    @property
    def sitting_path(self) -> Path:
        """The sitting file."""
        return self._file.path

    def close(self) -> None:
        """Release the sitting file."""
        self._file.close()

    def _place_answers(self, answers: Sequence[BlindAnswer]) -> tuple[PlacedAnswer, ...]:
        """Return the answers in the order of the sitting file; new ones get places at its end."""
        record = self._file.record
        by_key = {self._compute_key(answer.item, answer.variant): answer for answer in answers}
        known = [by_key[place.key] for place in record.places if place.key in by_key]
        earlier = [(answer.item, answer.variant) for answer in known]
        everything = [(answer.item, answer.variant) for answer in answers]
        added = design_rating_order(everything, self.rater, record.seed, earlier)
        start = len(record.places) + 1
        self._file.add_places(
            [
                BlindPlace(order=order, item=item, key=self._compute_key(item, variant))
                for order, (item, variant) in enumerate(added, start=start)
            ]
        )
        placed, shown = [], dict[str, int]()
        for place in record.places:
            shown[place.item] = shown.get(place.item, 0) + 1
            if place.key in by_key:
                answer = by_key[place.key]
                text_key = compute_text_key(answer.text, self.rater, record.seed)
                label = _format_label(shown[place.item])
                placed.append(
                    PlacedAnswer(order=place.order, label=label, answer=answer, text_key=text_key)
                )
        return tuple(placed)

    def _compute_key(self, item: str, variant: str) -> str:
        return compute_blind_key(item, variant, self.rater, self._file.record.seed)

    def _refuse_changed_answers(self) -> None:
        """Refuse answers whose text has changed since the rater rated it."""
        problems = []
        for place in self.answers:
            marks = [self.get_mark(place, axis) for axis in self.axes]
            if any(mark is not None and mark.text_key != place.text_key for mark in marks):
                what = f"answer {place.order} (to {format_value(place.answer.item)})"
                message = f"{what} has changed since it was rated; write to another --output"
                file = str(self.sitting_path)
                problems.append(Problem(file=file, line=1, field="text", message=message))
        if problems:
            raise InputError(problems)

    def _import_ratings(self) -> None:
        """Take over what the file of ratings holds by this rater and the sitting file does not.

        Such a file was written by an earlier version, which named the variants at once. It does not
        say whether the rater was asked for notes. Only for the last answer is that in doubt.
        """
        own = [rating for rating in self._book.ratings if rating.rater == self.rater]
        given = {(rating.item, rating.variant, rating.axis): rating for rating in own}
        last = max(own, key=lambda rating: rating.line, default=None)
        marks: dict[tuple[int, str], SittingMark | None] = {}
        for place in self.answers:
            answer = place.answer
            scored = all(
                (answer.item, answer.variant, scale.name) in given for scale in self.scales
            )
            is_last = last is not None and (answer.item, answer.variant) == (
                last.item,
                last.variant,
            )
            for axis in self.axes:
                rating = given.get((answer.item, answer.variant, axis.name))
                if self._get_recorded_mark(place, axis) is not None:
                    continue
                if rating is not None and (rating.score is not None or rating.note):
                    marks[place.order, axis.name] = _import_mark(rating, place)
                elif isinstance(axis, NoteAxis) and scored and not is_last:
                    marks[place.order, axis.name] = SittingMark(
                        score=None, note="", text_key=place.text_key, at=None, order_known=False
                    )
        self._file.add_marks(marks)

    def _get_recorded_mark(self, place: PlacedAnswer, axis: RatedAxis) -> SittingMark | None:
        return self._file.record.marks.get((place.order, axis.name))

    def get_mark(self, place: PlacedAnswer, axis: RatedAxis) -> SittingMark | None:
        """Return what the rater said; `None` if it is not rated, or not on this scale."""
        mark = self._get_recorded_mark(place, axis)
        if mark is None or isinstance(axis, NoteAxis):
            return mark
        fits = mark.score is not None and axis.lowest <= mark.score <= axis.highest
        return mark if fits else None

    def add_mark(
        self, place: PlacedAnswer, axis: RatedAxis, score: int | None, note: str = ""
    ) -> None:
        """Record a score or a note; it replaces an earlier one."""
        before = self._get_recorded_mark(place, axis)
        at = self._now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        mark = SittingMark(score=score, note=note, text_key=place.text_key, at=at)
        self._file.add_marks({(place.order, axis.name): mark})
        self._undo_steps.append(UndoStep(place=place, axis=axis, before=before))

    def undo_last_mark(self) -> UndoStep | None:
        """Take back the last mark of this sitting; return `None` if there is none."""
        if not self._undo_steps:
            return None
        step = self._undo_steps.pop()
        self._file.add_marks({(step.place.order, step.axis.name): step.before})
        return step

    def is_rated(self, place: PlacedAnswer) -> bool:
        """Return whether every scale of an answer is rated and every note was asked for."""
        return all(self.get_mark(place, axis) is not None for axis in self.axes)

    def list_unrated(self) -> list[PlacedAnswer]:
        """Return the answers for which something is left."""
        return [place for place in self.answers if not self.is_rated(place)]

    @property
    def is_written(self) -> bool:
        """Whether the file of ratings was written after the last change."""
        record = self._file.record
        marks = (record.marks.get(key) for key in record.unwritten)
        return not any(mark is None or mark.order_known for mark in marks)

    def write_ratings(self) -> int:
        """Merge all ratings into the file of ratings, under the names of the variants.

        Returns the number of ratings. What the file of ratings has and no mark of a sitting has
        changed stays as it is.
        """
        ratings: dict[RatingKey, Rating | None] = {}
        changed: set[RatingKey] = set()
        for place in self.answers:
            for axis in self.axes:
                key = (place.answer.item, place.answer.variant, self.rater, axis.name)
                mark = self.get_mark(place, axis)
                ratings[key] = None if mark is None else _build_rating(key, mark, place)
                # What was read from the file of ratings stays as the file has it.
                was_imported = mark is not None and not mark.order_known
                if (place.order, axis.name) in self._file.record.unwritten and not was_imported:
                    changed.add(key)
        self._book.merge_ratings(ratings, changed)
        self._file.add_written(self._now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
        return sum(rating is not None for rating in ratings.values())


def _format_label(number: int) -> str:
    """Return A for 1, B for 2, …; numbers beyond the alphabet stay numbers."""
    return chr(ord("A") + number - 1) if number <= 26 else str(number)  # noqa: PLR2004


def _import_mark(rating: Rating, place: PlacedAnswer) -> SittingMark:
    # A sitting asks for whole numbers only, so it asks again for any other score.
    score = rating.score
    return SittingMark(
        score=int(score) if isinstance(score, Fraction) and score.denominator == 1 else None,
        note=rating.note,
        text_key=place.text_key,
        at=rating.at,
        order_known=False,
    )


def _build_rating(key: RatingKey, mark: SittingMark, place: PlacedAnswer) -> Rating | None:
    """Return a rating for the file; `None` for a note that the rater was asked for and had none."""
    if mark.score is None and not mark.note:
        return None
    item, variant, rater, axis = key
    rating = Rating(
        item=item,
        variant=variant,
        rater=rater,
        axis=axis,
        score=None if mark.score is None else Fraction(mark.score),
        note=mark.note,
    )
    return replace(rating, order=place.order if mark.order_known else None, at=mark.at)
