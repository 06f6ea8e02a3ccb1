"""Loading documents: rubrics, exams, golden cases, and the schemas of their formats."""

from __future__ import annotations

from collections import ChainMap
from functools import partial
from typing import TYPE_CHECKING, Any

from markscheme.errors import UsageError
from markscheme.mark.axes import AXES, EXPECTATIONS
from markscheme.mark.normalise import STEPS
from markscheme.mark.scoring import expectation_of, item_problems
from markscheme.read.exams import read_exam
from markscheme.read.rubrics import read_rubric
from markscheme.read.sources import built_in
from markscheme.vocabulary import Rubric

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from markscheme.read.cases import Cases
    from markscheme.vocabulary import Axis, Exam

# What items of the built-in exams expect beside the keys that axis kinds look for by themselves.
BUILT_IN_EXPECTATIONS = ("gloss_contains",)


def load_rubric(source: str | Path, *, axes: Iterable[type[Axis]] = ()) -> Rubric:
    """Load a rubric from a file or by its built-in name.

    `axes` are kinds of your own that the rubric may name beside the built-in ones.

    >>> load_rubric("tutor-capstone").axes[0].name
    'correctness'
    """
    return read_rubric(source, kinds=_kinds(axes), steps=STEPS)


def rubric_of_text(text: str, shown: str, *, axes: Iterable[type[Axis]] = ()) -> Rubric:
    """Return the rubric in a text, which messages call `shown`."""
    from markscheme.read.rubrics import parse_rubric

    return parse_rubric(text.encode(), shown, kinds=_kinds(axes), steps=STEPS)


def _kinds(own: Iterable[type[Axis]]) -> Mapping[str, type[Axis]]:
    """Return the kinds that a rubric may name; a built-in one is loaded when it is named."""
    return ChainMap({axis.kind: axis for axis in own}, AXES)  # type: ignore[arg-type]


def load_exam(*sources: str | Path, rubric: Rubric | str | Path | None = None) -> Exam:
    """Load one exam from one or more files or built-in names.

    With a rubric, items may hold what its axes expect, and must hold what they need.

    >>> load_exam("capstone", "capstone-extra").names
    ('capstone', 'capstone-extra')
    """
    if rubric is not None and not isinstance(rubric, Rubric):
        rubric = load_rubric(rubric)
    if not sources:
        raise UsageError("no exam is named; name at least one file or built-in exam")
    if rubric is None:
        return read_exam(sources, expectations=_expectations())
    check = partial(item_problems, rubric)
    return read_exam(sources, expectations=_expectations(rubric), check=check)


def _expectations(rubric: Rubric | None = None) -> list[str]:
    """Return the keys that an item may hold for axes: the usual ones, and those of the rubric."""
    own = [expectation_of(spec.axis) for spec in rubric or ()]
    return list(dict.fromkeys([*usual_expectations(), *filter(None, own)]))


def usual_expectations() -> Iterator[str]:
    """Yield the keys of an item that the built-in axis kinds read unless told otherwise."""
    yield from EXPECTATIONS
    yield from BUILT_IN_EXPECTATIONS


def load_cases(*sources: str | Path, rubric: Rubric) -> Cases:
    """Load the golden cases of a rubric: from files or built-in names, else those of its name."""
    from markscheme.read.cases import Cases, read_cases

    named = sources or tuple({rubric.name} & set(built_in("cases")))
    if not named:
        return Cases()
    check = partial(item_problems, rubric)
    return read_cases(named, rubric=rubric, expectations=_expectations(rubric), check=check)


def json_schemas() -> dict[str, dict[str, Any]]:
    """Return the JSON Schemas of the rubric and exam formats."""
    from markscheme.read.schemas import exam_schema, rubric_schema

    return {
        "rubric": rubric_schema(AXES, STEPS),
        "exam": exam_schema(list(usual_expectations())),
    }
