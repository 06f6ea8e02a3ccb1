"""The definition of a score: one answer, axis by axis, in exact arithmetic.

Everything faster must agree with `mark_answer`, cell by cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from msgspec import structs

from markscheme.mark.axis_cells import mark_cell
from markscheme.mark.axis_values import combine_axis_values, to_exact_weight
from markscheme.mark.response import read_response
from markscheme.vocabulary import (
    Axis,
    AxisSpec,
    AxisValue,
    Breakdown,
    Cell,
    DocumentError,
    Exam,
    FrozenDict,
    Item,
    Mark,
    Problem,
    Rubric,
    ScoreBounds,
    Transcript,
    UsageError,
)


def mark_answer(
    rubric: Rubric,
    item: Item,
    output: str | Mapping[str, Any],
    transcript: Transcript | None = None,
    marks: Mapping[str, Sequence[Mark]] = FrozenDict(),
) -> Breakdown:
    """Mark one raw output as the answer to one item.

    `transcript` is the log of what an agent did for the answer. Without it, axes that judge what
    was done abstain. `marks` are those of people or judges by axis; an axis that is made of marks
    abstains without them.
    """
    unknown = marks.keys() - {spec.name for spec in rubric}
    if unknown:
        raise UsageError(f"the rubric `{rubric.name}` has no axis `{min(unknown)}` to mark")
    response = structs.replace(read_response(output, rubric.fields), transcript=transcript)
    cells = {
        spec.name: mark_cell(spec.axis, response, item, marks.get(spec.name, ())) for spec in rubric
    }
    leading = find_leading_axis(rubric)
    score = combine_values(rubric, [cells[spec.name].axis_value for spec in rubric])
    return Breakdown(
        item=item.id,
        reading=response.reading,
        expected=get_expected(leading, item),
        got=response.text_of(getattr(leading, "reads", None)),
        cells=cells,
        weighted={spec.name: weigh_cell(spec, cells[spec.name]) for spec in rubric},
        score=score if isinstance(score, Fraction) else None,
        bounds=score if isinstance(score, ScoreBounds) else None,
    )


def weigh_cell(spec: AxisSpec, cell: Cell) -> Fraction | None:
    """Return the weighted value of a cell, or `None` if it has no value."""
    return None if cell.value is None else to_exact_weight(spec.weight) * cell.value


def compute_score(rubric: Rubric, values: Sequence[AxisValue]) -> Fraction | None:
    """Return the exact weighted mean, or `None` if any value is unknown or none applies."""
    score = combine_values(rubric, values)
    return score if isinstance(score, Fraction) else None


def combine_values(rubric: Rubric, values: Sequence[AxisValue]) -> AxisValue:
    """Return the score that the values of the axes add up to, or what is known of it."""
    return combine_axis_values([spec.weight for spec in rubric], values)


def find_leading_axis(rubric: Rubric) -> Axis | None:
    """Return the first axis that compares with an expectation of the item, if there is one.

    The text it reads is shown as `got`, and what it expects as `expected`.
    """
    return next((spec.axis for spec in rubric if get_expectation_key(spec.axis) is not None), None)


def get_expectation_key(axis: Axis | None) -> str | None:
    """Return the key of the item that an axis reads; axes of plugins need not have one."""
    return getattr(axis, "expectation", None)


def get_expected(axis: Axis | None, item: Item) -> Any:
    """Return what an axis expects of the item."""
    return item.expectations.get(get_expectation_key(axis) or "")


def check_axes(rubric: Rubric) -> None:
    """Raise `UsageError` if the rubric has no axes."""
    if not rubric.axes:
        raise UsageError(f"the rubric `{rubric.name}` has no axes, so it can score nothing")


def check_exam(rubric: Rubric, exam: Exam) -> None:
    """Raise `DocumentError` with all items that lack what the axes need."""
    check_axes(rubric)
    problems = [problem for item in exam.items for problem in find_item_problems(rubric, item)]
    if problems:
        raise DocumentError(problems)


def find_item_problems(rubric: Rubric, item: Item) -> Iterator[Problem]:
    """Yield a problem for each thing that the axes need and the item lacks."""
    for spec in rubric.axes:
        for field, message in spec.axis.item_problems(item):
            place = item.place
            yield Problem(
                file=place.file if place else "exam",
                line=place.get_line(field) if place else 1,
                field=f"{place.field if place else item.id}.{field}",
                message=f"{message} (axis `{spec.name}` reads it, item `{item.id}`)",
            )
