"""What the learner portal serves: cards to practise, an exam to sit, and their rubric.

`load_portal` reads the documents once. Learners of a class get what the class file says; without
one, the portal has a single learner, who needs no account.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from pathlib import Path

from markscheme.learn import DailyLimits, SchedulerName, split_axes
from markscheme.mark import mark_answer
from markscheme.read.documents import ClassDocument, read_class
from markscheme.read.rating_scores import find_questions
from markscheme.vocabulary import Exam, Item, Rubric, UsageError
from markscheme.workflows.documents import load_exam, load_rubric
from markscheme.workflows.practice import PracticeSettings

DEFAULT_RUBRIC = "tutor-capstone"
PRACTICE_EXAM = "practice"
DEFAULT_EXAMS = ("capstone", "capstone-extra")
DEFAULT_MINUTES = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Portal:
    """The documents of a portal. `replayed` is the deck of the exam's own items, by choice."""

    practice: PracticeSettings
    replayed: PracticeSettings
    exam: Exam
    minutes: int = DEFAULT_MINUTES
    class_name: str | None = None

    @property
    def rubric(self) -> Rubric:
        """The rubric that cards and papers are marked by."""
        return self.practice.rubric

    def get_deck(self, name: str) -> PracticeSettings:
        """Return the deck of this name: `exam` is the exam's items, all others the practice."""
        return self.replayed if name == "exam" else self.practice


def load_portal(
    exams: Sequence[str | Path] = (),
    rubric: str | Path | None = None,
    *,
    zone: tzinfo | None = None,
) -> Portal:
    """Load a portal without a class.

    With `exams`, their items are both practised and asked; without, there is the practice set, and
    the capstone as the exam.
    """
    return _build_portal(
        ClassDocument(
            name="",
            rubric=str(rubric or DEFAULT_RUBRIC),
            practice=tuple(map(str, exams)) or (PRACTICE_EXAM,),
            exams=tuple(map(str, exams)) or DEFAULT_EXAMS,
            minutes=DEFAULT_MINUTES,
            new_per_day=DailyLimits().new,
            reviews_per_day=DailyLimits().reviews,
            scheduler=SchedulerName.SM2,
            hesitation=True,
        ),
        zone,
    )


def load_class_portal(path: str | Path, *, zone: tzinfo | None = None) -> Portal:
    """Load the portal of a class from its file."""
    described = read_class(path)
    return replace(_build_portal(described, zone), class_name=described.name)


def _build_portal(described: ClassDocument, zone: tzinfo | None) -> Portal:
    rubric = load_rubric(described.rubric)
    exam = load_exam(*described.exams, rubric=rubric)
    practice = PracticeSettings(
        rubric=rubric,
        items=load_exam(*described.practice, rubric=rubric).items,
        scheduler=SchedulerName(described.scheduler),
        limits=DailyLimits(new=described.new_per_day, reviews=described.reviews_per_day),
        hesitation=described.hesitation,
        zone=zone,
    )
    _check_marked_by_code(rubric, (*practice.items, *exam.items))
    return Portal(
        practice=practice,
        replayed=replace(practice, items=exam.items),
        exam=exam,
        minutes=described.minutes,
    )


def _check_marked_by_code(rubric: Rubric, items: Iterable[Item]) -> None:
    """Refuse a rubric whose leading axis people or judges mark: a learner is answered at once."""
    why = "nobody marks a learner's answers but the program"
    if not rubric.axes:
        raise UsageError(f"the rubric `{rubric.name}` has no axis that scores; {why}")
    asked = find_questions(rubric)
    for item in items:
        lead, _ = split_axes(rubric, item)
        if lead.name in asked and mark_answer(rubric, item, "").cells[lead.name].value is None:
            message = f"`{lead.name}` of the rubric `{rubric.name}` is marked by people or judges"
            raise UsageError(f"{message}, for example on the item `{item.id}`; {why}")
