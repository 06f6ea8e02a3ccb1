"""Check an axis of your own: does it keep the contract that every command relies on?

>>> from markscheme.mark.axes import MaxWords
>>> check_axis(MaxWords(limit=3), passes=["one two"], misses=["one two three four"])
"""

from __future__ import annotations

import dataclasses
import json
import pickle
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from enum import Enum
from typing import Any

from markscheme.mark import mark_answer
from markscheme.mark.axes import AXES, find_axis_problem
from markscheme.vocabulary import (
    Axis,
    AxisSpec,
    Cell,
    Exam,
    FrozenDict,
    Item,
    MarkschemeError,
    Rubric,
    Status,
)
from markscheme.workflows.documents import parse_rubric_text
from markscheme.workflows.score import score

_SHOWN_LENGTH = 40

UNUSUAL_OUTPUTS = (
    "",
    " \n\t",
    "Ate.",
    "He ate an apple yesterday. Comió una manzana ayer.",
    '{"correction": "ate", "spanish_gloss": "comió", "explanation": "past simple"}',
    '```json\n{"correction": "ate"}\n```',
    "[1, 2, 3]",
    "null",
    '{"correction": 7}',
    "## Memory\n\n- `src/app.py:12`\n",
    "e\u0301 \u00e9 \u202e \u0000 \U0001f600",
    "word " * 2_000,
)
"""Answers that every axis must mark without an exception, whatever it says about them."""


def check_axis(
    axis: Axis,
    *,
    item: Item | None = None,
    passes: Iterable[str] = (),
    misses: Iterable[str] = (),
) -> None:
    """Check that an axis with its parameters keeps the contract of axes.

    `item` is one that the axis can mark; by default it has no expectations. Each of the answers
    `passes` must get the value 1, and each of `misses` less than 1.

    Raises:
        AssertionError: the axis breaks the contract; the message names every point.
    """
    item = item or Item(id="check-1", prompt="Correct the sentence.")
    problems = [*_check_class(axis)]
    if not problems:
        problems += _check_rubric(axis)
        problems += _check_item(axis, item)
        problems += _check_copy(axis)
        problems += _check_marks(axis, item, (*UNUSUAL_OUTPUTS, *passes, *misses))
        problems += _check_values(axis, item, passes, misses)
    if problems:
        lines = "\n".join(f"- {problem}" for problem in problems)
        raise AssertionError(f"`{type(axis).__name__}` is no sound axis:\n{lines}")


def _check_class(axis: Axis) -> Iterator[str]:
    if isinstance(axis, type):
        yield f"give an axis with its parameters, not the class: {axis.__name__}(…)"
    elif type(axis) not in AXES.values():
        problem = find_axis_problem(type(axis))
        if problem is not None:
            yield problem


def _check_rubric(axis: Axis) -> Iterator[str]:
    """A rubric that names the axis with these parameters must give the same axis."""
    problems = list(axis.parameter_problems())
    if problems:
        yield f"`parameter_problems` refuses its own parameters: {problems[0]}"
        return
    entry = {"name": "checked", "kind": axis.kind, "weight": 1, **_list_stated(axis)}
    text = json.dumps({"rubric": "check", "axes": [entry]})
    given = [] if type(axis) in AXES.values() else [type(axis)]
    try:
        read = parse_rubric_text(text, "the rubric of the check", axes=given).axes[0].axis
    except MarkschemeError as error:
        yield f"a rubric cannot state its parameters: {error}"
        return
    if read != axis:
        yield f"a rubric with its parameters gives another axis: {read!r}, not {axis!r}"


def _list_stated(axis: Axis) -> dict[str, Any]:
    """Return the parameters that are not at their defaults, as a document states them."""
    fields = dataclasses.fields(axis)  # type: ignore[arg-type]
    stated = {field.name: (getattr(axis, field.name), field.default) for field in fields}
    return {name: _to_plain(value) for name, (value, default) in stated.items() if value != default}


def _to_plain(value: Any) -> Any:
    match value:
        case Enum():
            return value.value
        case Decimal():
            return int(value) if value == int(value) else float(value)
        case Mapping():
            return {str(key): _to_plain(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_to_plain(inner) for inner in value]
        case _:
            return value


def _check_item(axis: Axis, item: Item) -> Iterator[str]:
    """Problems of an item are reported as pairs, never by an exception."""
    bare = Item(id="check-0", prompt="", expectations=FrozenDict())
    for name, candidate in (("an item without expectations", bare), ("the item", item)):
        try:
            problems = list(axis.item_problems(candidate))
        except Exception as error:  # noqa: BLE001 - this is what is checked
            yield f"`item_problems` raises for {name}: {type(error).__name__}: {error}"
            continue
        if not all(_is_pair_of_texts(problem) for problem in problems):
            yield f"`item_problems` must yield pairs of field and message, not {problems[0]!r}"
        elif candidate is item and problems:
            yield f"`item_problems` refuses the item: {': '.join(problems[0])}"


def _is_pair_of_texts(problem: Any) -> bool:
    return isinstance(problem, tuple) and [type(part) for part in problem] == [str, str]


def _check_copy(axis: Axis) -> Iterator[str]:
    """Worker processes get axes by pickle."""
    try:
        copy = pickle.loads(pickle.dumps(axis))  # noqa: S301 - our own bytes
    except Exception as error:  # noqa: BLE001 - this is what is checked
        yield f"it cannot be pickled, so no worker process can use it: {error}"
        return
    if copy != axis:
        yield "its pickled copy is another axis"


def _check_marks(axis: Axis, item: Item, outputs: tuple[str, ...]) -> Iterator[str]:
    """Every answer gets a cell with a reason; equal answers get equal cells, in any order."""
    cells = [_mark(axis, item, output) for output in outputs]
    again = [_mark(axis, item, output) for output in reversed(outputs)][::-1]
    for output, cell, other in zip(outputs, cells, again, strict=True):
        shown = repr(output if len(output) <= _SHOWN_LENGTH else f"{output[:_SHOWN_LENGTH]}…")
        if cell.status is Status.FAILED:
            yield f"{shown}: {cell.reason}"
        elif not cell.reason:
            yield f"{shown}: the cell has no reason; say what was seen"
        elif cell != other:
            yield f"{shown}: the second time it got another cell: {other!r} after {cell!r}"
    yield from _compare_with_batch(axis, item, outputs, cells)


def _compare_with_batch(
    axis: Axis, item: Item, outputs: tuple[str, ...], cells: list[Cell]
) -> Iterator[str]:
    """Scoring many answers at once, where equal keys share a cell, must give the same cells."""
    exam = Exam(names=("check",), items=(item,), fingerprint="b2:check")
    rows = [{"item": item.id, "output": o, "attempt": n} for n, o in enumerate(outputs)]
    frame = score(_build_rubric(axis), exam, rows).frame
    for row in frame.filter(frame["error"].is_null()).iter_rows(named=True):
        cell = cells[row["attempt"]]
        alone = None if cell.value is None else float(cell.value)
        if row["breakdown"]["checked"] != alone:
            together = row["breakdown"]["checked"]
            yield f"{outputs[row['attempt']]!r}: {together} among others, {alone} alone"


def _check_values(
    axis: Axis, item: Item, passes: Iterable[str], misses: Iterable[str]
) -> Iterator[str]:
    for output in passes:
        cell = _mark(axis, item, output)
        if cell.value != 1:
            yield f"{output!r} should pass: {cell.value}, {cell.reason}"
    for output in misses:
        cell = _mark(axis, item, output)
        if cell.value is None or cell.value == 1:
            yield f"{output!r} should miss: {cell.value}, {cell.reason}"


def _mark(axis: Axis, item: Item, output: str) -> Cell:
    return mark_answer(_build_rubric(axis), item, output).cells["checked"]


def _build_rubric(axis: Axis) -> Rubric:
    spec = AxisSpec(name="checked", weight=Decimal(1), axis=axis)
    return Rubric(name="check", version=1, axes=(spec,), gates=(), fingerprint="b2:check")
