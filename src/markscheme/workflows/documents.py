"""Load rubrics, exams and golden cases with the built-in axis kinds and normalisation steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markscheme.mark import STEPS, find_item_problems, get_expectation_key
from markscheme.mark.axes import AXES, CHECKS, EXPECTATIONS, AxisRegistry
from markscheme.read.documents import (
    build_exam,
    list_builtin_names,
    parse_rubric,
    read_exam,
    read_rubric,
)
from markscheme.vocabulary import Axis, Exam, Rubric, UsageError

if TYPE_CHECKING:
    from markscheme.read.golden_cases import GoldenCases
    from markscheme.read.tables import ArrowTable

# Expectation keys of the built-in exams that no axis kind reads by default.
BUILT_IN_EXPECTATIONS = ("gloss_contains",)


def load_rubric(source: str | Path, *, axes: Iterable[type[Axis]] = ()) -> Rubric:
    """Load a rubric from a file or by its built-in name.

    `axes` are axis kinds of your own that the rubric may name besides the built-in ones and those
    of installed plugins.

    >>> load_rubric("tutor-capstone").axes[0].name
    'correctness'
    """
    return read_rubric(source, kinds=AxisRegistry(axes), steps=STEPS)


def parse_rubric_text(text: str, shown: str, *, axes: Iterable[type[Axis]] = ()) -> Rubric:
    """Return the rubric in a text, which messages call `shown`."""
    return parse_rubric(text.encode(), shown, kinds=AxisRegistry(axes), steps=STEPS)


def load_exam(*sources: str | Path, rubric: Rubric | str | Path | None = None) -> Exam:
    """Load one exam from one or more files or built-in names.

    With a rubric, the items must have what its axes need, and may have any key that they read.

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


def exam(
    rows: Iterable[Mapping[str, Any]] | ArrowTable,
    *,
    name: str,
    rubric: Rubric | str | Path | None = None,
) -> Exam:
    """Build an exam in memory, with the same refusals as for a file.

    Each row is an item: `id`, `prompt`, what the axes expect of it, and `tags`. A table (polars,
    pandas, pyarrow and others) has them as columns; a key of an item may be null there. With a
    rubric, the items must have what its axes need, and may have any key that they read.

    >>> rows = [{"id": "c-1", "prompt": "The capital of Peru?", "expected_contains": ["Lima"]}]
    >>> exam(rows, name="capitals")
    Exam('capitals', items=1)

    Raises:
        DocumentError: the rows are no exam; the error holds every problem, with its row as line.
        UsageError: the rows are no list of mappings and no table.
    """
    from markscheme.read.tables import is_table, read_table

    if rubric is not None and not isinstance(rubric, Rubric):
        rubric = load_rubric(rubric)
    if is_table(rows):
        frame = read_table(rows, "items", ("id", "prompt"))
        rows = [
            {key: value for key, value in row.items() if value is not None}
            for row in frame.iter_rows(named=True)
        ]
    if not isinstance(rows, Iterable) or isinstance(rows, str | bytes | Mapping):
        raise UsageError("the items must be a list of rows, or a table such as a polars frame")
    check = partial(find_item_problems, rubric) if rubric else lambda _: ()
    return build_exam(rows, name=name, expectations=_list_expectations(rubric), check=check)


def _list_expectations(rubric: Rubric | None = None) -> list[str]:
    """Return the expectation keys that an item may have: the default ones, and the rubric's."""
    of_rubric = [get_expectation_key(spec.axis) for spec in rubric or ()]
    return list(dict.fromkeys([*iter_default_expectations(), *filter(None, of_rubric)]))


def iter_default_expectations() -> Iterator[str]:
    """Yield the expectation keys that an item may have without a rubric."""
    yield from EXPECTATIONS
    yield from BUILT_IN_EXPECTATIONS


def load_cases(*sources: str | Path, rubric: Rubric) -> GoldenCases:
    """Load golden cases for a rubric from files or built-in names.

    Without sources, load the built-in cases that have the rubric's name, if there are any.
    """
    from markscheme.read.golden_cases import GoldenCases, read_cases

    sources = sources or tuple({rubric.name} & set(list_builtin_names("cases")))
    if not sources:
        return GoldenCases()
    check = partial(find_item_problems, rubric)
    return read_cases(sources, rubric=rubric, expectations=_list_expectations(rubric), check=check)


def build_json_schemas(kinds: Mapping[str, type[Axis]] = AXES) -> dict[str, dict[str, Any]]:
    """Return the JSON Schemas of rubrics, exams, judges and panels, and of results and gates.

    A rubric may name the axis `kinds`: by default the built-in ones; an `AxisRegistry` has those of
    plugins too.
    """
    from markscheme.read.documents import json_schema
    from markscheme.weigh.result_schema import build_gate_schema, build_result_schema

    return {
        "rubric": json_schema.build_rubric_schema(kinds, STEPS),
        "exam": json_schema.build_exam_schema(list(iter_default_expectations()), CHECKS, STEPS),
        "judge": json_schema.build_judge_schema(),
        "panel": json_schema.build_panel_schema(),
        "result": build_result_schema(),
        "gate": build_gate_schema(),
    }
