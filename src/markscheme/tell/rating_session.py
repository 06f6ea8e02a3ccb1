"""A rating session at the terminal: one answer at a time, blind, with the anchors in view.

The rater never sees the variant of an answer, nor the scores of other answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum, auto

from markscheme.read.ratings import RatingFile
from markscheme.tell.language import translate
from markscheme.vocabulary import NoteAxis, Rating, Rubric, ScaleAxis
from markscheme.workflows.rate import BlindAnswer

ReadInput = Callable[[str], str | None]
WriteLine = Callable[[str], None]


class _RatingStep(Enum):
    NEXT = auto()
    BACK = auto()
    SKIP = auto()
    QUIT = auto()


class RatingSession:
    """Asks one rater for everything that is not rated yet.

    `ask` prints a prompt and returns the typed line, `None` at the end of the input; `tell` prints.
    """

    def __init__(
        self, rubric: Rubric, book: RatingFile, rater: str, *, ask: ReadInput, tell: WriteLine
    ) -> None:
        self._axes: tuple[ScaleAxis | NoteAxis, ...] = (*rubric.scales, *rubric.notes)
        self._scales = rubric.scales
        self._book = book
        self._rater = rater
        self._ask = ask
        self._tell = tell

    def list_unrated(self, answers: Sequence[BlindAnswer]) -> list[BlindAnswer]:
        """Return the answers that are not rated on every scale."""
        return [
            answer
            for answer in answers
            if any(not self._is_rated(answer, scale) for scale in self._scales)
        ]

    def rate_answers(self, answers: Sequence[BlindAnswer]) -> None:
        """Ask until everything is rated or the rater quits; skipped answers stay unrated."""
        at, waiting = 0, self.list_unrated(answers)
        while at < len(waiting):
            match self._rate_answer(waiting[at], at + 1, len(waiting)):
                case _RatingStep.QUIT:
                    return
                case _RatingStep.BACK:
                    at = self._undo_last_rating(waiting, at)
                case _:
                    at += 1

    def _rate_answer(self, answer: BlindAnswer, place: int, many: int) -> _RatingStep:
        heading = translate("\n— answer {place} of {many} —", place=place, many=many)
        prompt, text = map(_mask_control_characters, (answer.prompt, answer.text))
        self._tell(f"{heading}\n{prompt}\n\n{text}\n")
        for axis in self._axes:
            if self._is_rated(answer, axis):
                continue
            step = self._rate_axis(answer, axis)
            if step is not _RatingStep.NEXT:
                return step
        return _RatingStep.NEXT

    def _rate_axis(self, answer: BlindAnswer, axis: ScaleAxis | NoteAxis) -> _RatingStep:
        if isinstance(axis, NoteAxis):
            return self._rate_note(answer, axis)
        self._tell(f"{axis.label}: {axis.question}")
        for at, anchor in axis.anchors.items():
            self._tell(f"  {at}  {anchor}")
        note = ""
        while True:
            typed = self._ask(
                translate(
                    "{lowest}–{highest}, n note, b back, s skip this answer, q quit: ",
                    lowest=axis.lowest,
                    highest=axis.highest,
                )
            )
            if typed is not None and typed.strip().lower() == "n":
                note = (self._ask(translate("note: ")) or "").strip()
                continue
            score = _parse_score(typed, axis)
            if score is not None:
                self._add_rating(answer, axis.name, score, note)
                return _RatingStep.NEXT
            step = _parse_step(typed)
            if step is not None:
                return step
            self._tell(
                translate("a whole number from {low} to {high}", low=axis.lowest, high=axis.highest)
            )

    def _rate_note(self, answer: BlindAnswer, axis: NoteAxis) -> _RatingStep:
        typed = self._ask(
            translate("{question} (in words; empty for nothing) ", question=axis.question)
        )
        if typed is None:
            return _RatingStep.QUIT
        if typed.strip():
            self._add_rating(answer, axis.name, None, typed.strip())
        return _RatingStep.NEXT

    def _add_rating(self, answer: BlindAnswer, axis: str, score: int | None, note: str) -> None:
        rating = Rating(
            item=answer.item,
            variant=answer.variant,
            rater=self._rater,
            axis=axis,
            score=score,
            note=note,
        )
        self._book.add_rating(rating)

    def _is_rated(self, answer: BlindAnswer, axis: ScaleAxis | NoteAxis) -> bool:
        key = (answer.item, answer.variant, self._rater, axis.name)
        return any((r.item, r.variant, r.rater, r.axis) == key for r in self._book.ratings)

    def _undo_last_rating(self, waiting: Sequence[BlindAnswer], at: int) -> int:
        """Remove the last rating, and return the position of its answer."""
        last = self._book.undo_last_rating()
        if last is None:
            self._tell(translate("there is nothing to take back in this sitting"))
            return at
        places = [(answer.item, answer.variant) for answer in waiting]
        return places.index((last.item, last.variant))


def _parse_score(typed: str | None, scale: ScaleAxis) -> int | None:
    text = (typed or "").strip()
    if not text.isascii() or not text.lstrip("-").isdigit() or len(text) > len("-1000"):
        return None
    score = int(text)
    return score if scale.lowest <= score <= scale.highest else None


def _parse_step(typed: str | None) -> _RatingStep | None:
    if typed is None:
        return _RatingStep.QUIT
    steps = {"q": _RatingStep.QUIT, "b": _RatingStep.BACK, "s": _RatingStep.SKIP}
    return steps.get(typed.strip().lower())


def _mask_control_characters(text: str) -> str:
    """Replace the characters that could control the terminal."""
    return "".join(c if c.isprintable() or c in "\n\t" else "�" for c in text)
