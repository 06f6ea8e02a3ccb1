"""Read the file of a class: which exams and cards its learners get, and how they practise.

    class: 7b
    rubric: tutor-capstone
    practice: [practice]
    exams: [capstone]
    minutes: 30
    new_per_day: 10

Learners and what they answered are in the store; the file holds no person.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, cast

from msgspec import Struct

from markscheme.read.documents.models import Name
from markscheme.read.documents.validation import Constraints, Model, ProblemCollector, alias_key
from markscheme.read.documents.yaml import read_tree
from markscheme.vocabulary import DocumentError

_Source = Annotated[str, Constraints(shortest=1)]
_PerDay = Annotated[int, Constraints(at_least=0, at_most=10_000)]


class ClassModel(Model):
    """A class of learners."""

    class_: Name = alias_key("class")
    rubric: _Source = "tutor-capstone"
    practice: Annotated[list[_Source], Constraints(shortest=1)] = ["practice"]  # noqa: RUF012 - never changed
    exams: Annotated[list[_Source], Constraints(shortest=1)] = ["capstone", "capstone-extra"]  # noqa: RUF012 - never changed
    minutes: Annotated[int, Constraints(at_least=1, at_most=1_440)] = 30
    new_per_day: _PerDay = 20
    reviews_per_day: _PerDay = 200
    scheduler: Literal["sm2", "sm2-delphi", "fsrs"] = "sm2"
    hesitation: bool = True


class ClassDocument(Struct, frozen=True, kw_only=True):
    """A class as its file describes it. Sources are files or built-in names."""

    name: str
    rubric: str
    practice: tuple[str, ...]
    exams: tuple[str, ...]
    minutes: int
    new_per_day: int
    reviews_per_day: int
    scheduler: str
    hesitation: bool


def read_class(path: str | Path) -> ClassDocument:
    """Read the file of a class.

    Raises:
        DocumentError: something is wrong; the error holds every problem.
    """
    shown = str(path)
    tree = read_tree(Path(path), shown)
    collector = ProblemCollector(tree, shown)
    model = cast("ClassModel | None", collector.validate_node(ClassModel, tree))
    if collector.problems or model is None:
        raise DocumentError(collector.problems)
    return ClassDocument(
        name=model.class_,
        rubric=model.rubric,
        practice=tuple(model.practice),
        exams=tuple(model.exams),
        minutes=model.minutes,
        new_per_day=model.new_per_day,
        reviews_per_day=model.reviews_per_day,
        scheduler=model.scheduler,
        hesitation=model.hesitation,
    )
