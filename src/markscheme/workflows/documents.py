"""Loading documents: rubrics, exams, golden cases, and the schemas of their formats."""

from __future__ import annotations

from collections import ChainMap
from functools import partial
from typing import TYPE_CHECKING, Any

from markscheme.mark import STEPS, find_item_problems, get_expectation_key
from markscheme.mark.axes import AXES, EXPECTATIONS
from markscheme.read.documents import list_builtin_names, read_exam, read_rubric
from markscheme.vocabulary import Rubric, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from markscheme.read.golden_cases import GoldenCases
    from markscheme.vocabulary import Axis, Exam

# What items of the built-in exams expect beside the keys that axis kinds look for by themselves.
BUILT_IN_EXPECTATIONS = ("gloss_contains",)


def load_rubric(source: str | Path, *, axes: Iterable[type[Axis]] = ()) -> Rubric:
    """Load a rubric from a file or by its built-in name.

    `axes` are kinds of your own that the rubric may name beside the built-in ones.

    >>> load_rubric("tutor-capstone").axes[0].name
    'correctness'
    """
    return read_rubric(source, kinds=_merge_axis_kinds(axes), steps=STEPS)


def parse_rubric_text(text: str, shown: str, *, axes: Iterable[type[Axis]] = ()) -> Rubric:
    """Return the rubric in a text, which messages call `shown`."""
    from markscheme.read.documents import parse_rubric

    return parse_rubric(text.encode(), shown, kinds=_merge_axis_kinds(axes), steps=STEPS)


def _merge_axis_kinds(own: Iterable[type[Axis]]) -> Mapping[str, type[Axis]]:
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
        return read_exam(sources, expectations=_list_expectations())
    check = partial(find_item_problems, rubric)
    return read_exam(sources, expectations=_list_expectations(rubric), check=check)


def _list_expectations(rubric: Rubric | None = None) -> list[str]:
    """Return the keys that an item may hold for axes: the usual ones, and those of the rubric."""
    own = [get_expectation_key(spec.axis) for spec in rubric or ()]
    return list(dict.fromkeys([*iter_default_expectations(), *filter(None, own)]))


def iter_default_expectations() -> Iterator[str]:
    """Yield the keys of an item that the built-in axis kinds read unless told otherwise."""
    yield from EXPECTATIONS
    yield from BUILT_IN_EXPECTATIONS


def load_cases(*sources: str | Path, rubric: Rubric) -> GoldenCases:
    """Load the golden cases of a rubric: from files or built-in names, else those of its name."""
    from markscheme.read.golden_cases import GoldenCases, read_cases

    named = sources or tuple({rubric.name} & set(list_builtin_names("cases")))
    if not named:
        return GoldenCases()
    check = partial(find_item_problems, rubric)
    return read_cases(named, rubric=rubric, expectations=_list_expectations(rubric), check=check)


def build_json_schemas() -> dict[str, dict[str, Any]]:
    """Return the JSON Schemas of the rubric and exam formats."""
    from markscheme.read.documents import build_exam_schema, build_rubric_schema

    return {
        "rubric": build_rubric_schema(AXES, STEPS),
        "exam": build_exam_schema(list(iter_default_expectations())),
    }
