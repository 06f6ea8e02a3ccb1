"""A sitting of a rater: answers one by one, blind, in random order, with the anchors in view.

The rater never sees which variant an answer is of, nor any score of another answer.
"""

from __future__ import annotations

from enum import Enum, auto
from random import Random
from typing import TYPE_CHECKING

from markscheme.tell.language import say
from markscheme.values import dataclass
from markscheme.vocabulary import NoteAxis, Rating, ScaleAxis

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from markscheme.read.ratings import RatingBook
    from markscheme.vocabulary import Rubric

    Ask = Callable[[str], str | None]
    Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """An answer as a rater sees it, and the variant, which the rater does not see."""

    item: str
    variant: str
    prompt: str
    text: str


class _Step(Enum):
    NEXT = auto()
    BACK = auto()
    SKIP = auto()
    QUIT = auto()


def blind_order(answers: Iterable[Shown], rater: str, seed: int) -> list[Shown]:
    """Return the answers in an order that the seed and the rater decide, and nothing else."""
    ordered = sorted(answers, key=lambda answer: (answer.item, answer.variant))
    Random(f"rate {seed} {rater}").shuffle(ordered)  # noqa: S311 - an order, not a secret
    return ordered


class Sitting:
    """Asks one rater for everything that is not rated yet.

    `ask` shows a line and returns what was typed, nothing at the end of the input; `tell` shows.
    """

    def __init__(
        self, rubric: Rubric, book: RatingBook, rater: str, *, ask: Ask, tell: Tell
    ) -> None:
        self._axes: tuple[ScaleAxis | NoteAxis, ...] = (*rubric.scales, *rubric.notes)
        self._scales = rubric.scales
        self._book = book
        self._rater = rater
        self._ask = ask
        self._tell = tell

    def left(self, answers: Sequence[Shown]) -> list[Shown]:
        """Return the answers that are not rated on every scale."""
        return [
            answer
            for answer in answers
            if any(not self._done(answer, scale) for scale in self._scales)
        ]

    def run(self, answers: Sequence[Shown]) -> None:
        """Ask until everything is rated, or the rater leaves; skipped answers stay open."""
        at, waiting = 0, self.left(answers)
        while at < len(waiting):
            match self._answer(waiting[at], at + 1, len(waiting)):
                case _Step.QUIT:
                    return
                case _Step.BACK:
                    at = self._returned(waiting, at)
                case _:
                    at += 1

    def _answer(self, answer: Shown, place: int, many: int) -> _Step:
        self._tell(
            say("\n— answer {place} of {many} —", place=place, many=many)
            + f"\n{_printable(answer.prompt)}\n\n{_printable(answer.text)}\n"
        )
        for axis in self._axes:
            if self._done(answer, axis):
                continue
            step = self._axis(answer, axis)
            if step is not _Step.NEXT:
                return step
        return _Step.NEXT

    def _axis(self, answer: Shown, axis: ScaleAxis | NoteAxis) -> _Step:
        if isinstance(axis, NoteAxis):
            return self._remark(answer, axis)
        self._tell(f"{axis.label}: {axis.question}")
        for at, anchor in axis.anchors.items():
            self._tell(f"  {at}  {anchor}")
        note = ""
        while True:
            typed = self._ask(
                say(
                    "{lowest}–{highest}, n note, b back, s skip this answer, q quit: ",
                    lowest=axis.lowest,
                    highest=axis.highest,
                )
            )
            if typed is not None and typed.strip().lower() == "n":
                note = (self._ask(say("note: ")) or "").strip()
                continue
            score = _score(typed, axis)
            if score is not None:
                self._add(answer, axis.name, score, note)
                return _Step.NEXT
            step = _step(typed)
            if step is not None:
                return step
            told = say("a whole number from {low} to {high}", low=axis.lowest, high=axis.highest)
            self._tell(told)

    def _remark(self, answer: Shown, axis: NoteAxis) -> _Step:
        typed = self._ask(say("{question} (in words; empty for nothing) ", question=axis.question))
        if typed is None:
            return _Step.QUIT
        if typed.strip():
            self._add(answer, axis.name, None, typed.strip())
        return _Step.NEXT

    def _add(self, answer: Shown, axis: str, score: int | None, note: str) -> None:
        rating = Rating(
            item=answer.item,
            variant=answer.variant,
            rater=self._rater,
            axis=axis,
            score=score,
            note=note,
        )
        self._book.add(rating)

    def _done(self, answer: Shown, axis: ScaleAxis | NoteAxis) -> bool:
        key = (answer.item, answer.variant, self._rater, axis.name)
        return any((r.item, r.variant, r.rater, r.axis) == key for r in self._book.ratings)

    def _returned(self, waiting: Sequence[Shown], at: int) -> int:
        """Take the last rating back, and return to its answer."""
        last = self._book.take_back()
        if last is None:
            self._tell(say("there is nothing to take back in this sitting"))
            return at
        places = [(answer.item, answer.variant) for answer in waiting]
        return places.index((last.item, last.variant))


def _score(typed: str | None, scale: ScaleAxis) -> int | None:
    text = (typed or "").strip()
    if not text.isascii() or not text.lstrip("-").isdigit() or len(text) > len("-1000"):
        return None
    score = int(text)
    return score if scale.lowest <= score <= scale.highest else None


def _step(typed: str | None) -> _Step | None:
    if typed is None:
        return _Step.QUIT
    steps = {"q": _Step.QUIT, "b": _Step.BACK, "s": _Step.SKIP}
    return steps.get(typed.strip().lower())


def _printable(text: str) -> str:
    """Return a text in which nothing steers the terminal."""
    return "".join(c if c.isprintable() or c in "\n\t" else "�" for c in text)
