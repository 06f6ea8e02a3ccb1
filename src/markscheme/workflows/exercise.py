"""`markscheme break`: remove one rule of a rubric, or set a quiz about a missing one."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from markscheme.prove.audit import GoldenSuite
from markscheme.prove.exercise import (
    Cascade,
    build_practice,
    compute_cascade,
    find_breakable_rules,
)
from markscheme.vocabulary import UsageError
from markscheme.workflows.audit import record_answers
from markscheme.workflows.documents import load_cases, load_exam, load_rubric

if TYPE_CHECKING:
    from markscheme.workflows.scoring_session import Answers


class Exercise:
    """A rubric, answers to an exam, and the rules of the rubric that can be removed.

    Without an exam and answers it uses the built-in practice material, which a seed shuffles.
    """

    def __init__(
        self,
        rubric: str | Path = "tutor-capstone",
        exams: Iterable[str | Path] = (),
        answers: Answers | None = None,
        *,
        seed: int | None = None,
    ) -> None:
        self.rubric = load_rubric(rubric)
        exam_names = tuple(exams)
        self.exam = load_exam(*(exam_names or ("capstone", "capstone-extra")), rubric=self.rubric)
        if not exam_names and answers is None:
            from markscheme.ask.subjects import Tutor

            self.exam, answers = build_practice(self.exam, Tutor().answer, seed)
        self.seed = seed
        self.steps = find_breakable_rules(self.rubric)
        self._golden = GoldenSuite(self.rubric, load_cases(rubric=self.rubric))
        self.recorded = record_answers(self.rubric, self.exam, answers)

    def remove_step(self, step: str) -> Cascade:
        """Return what the removal of one rule does. The rubric of the exercise stays whole."""
        if step not in self.steps:
            raise UsageError(f"`{step}` cannot be removed; allowed: {', '.join(self.steps)}")
        return compute_cascade(self.recorded, self._golden, step)

    def choose_quiz(self) -> Cascade:
        """Return the removal of a rule for a quiz, chosen by the seed; the answers must show it."""
        cascades = [cascade for cascade in map(self.remove_step, self.steps) if cascade.effect.seen]
        if not cascades:
            raise UsageError("no rule of this rubric can be missed in these answers; give others")
        return Random(f"riddle {self.seed}").choice(cascades)  # noqa: S311 - an exercise
