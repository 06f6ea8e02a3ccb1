"""Marking in columns: many answers at once, equal cells shared, no object per row.

Each axis gives a column of codes into a table of cells. A cell is judged once for each text and
item and then looked up, so that the definition in `scoring` stays the only judge.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from markscheme.mark.axes.base import TextAxis
from markscheme.mark.responses import read_response
from markscheme.mark.scoring import judged, leading_axis
from markscheme.vocabulary import Cell

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from markscheme.vocabulary import Exam, Item, Response, Rubric

REMEMBERED = 50_000


@dataclass(slots=True)
class CellTable:
    """The different cells of one axis so far, each judged once and found again by its key."""

    cells: list[Cell] = field(default_factory=list)
    codes: dict[Hashable, int] = field(default_factory=dict)

    def add(self, cell: Cell, key: Hashable = None) -> int:
        """Return the code of a new cell, remembered under its key if it has one."""
        code = len(self.cells)
        self.cells.append(cell)
        if key is not None:
            self.codes[key] = code
        return code

    def clear(self) -> None:
        """Forget everything, so that memory stays flat over any number of answers."""
        self.cells = []
        self.codes = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """A batch of answers after marking: for each the item, the reading, what was got, the cells.

    `codes` has one column for each axis, with positions in the table of that axis.
    """

    items: list[int]
    readings: list[str]
    got: list[str]
    codes: list[list[int]]
    cells: list[list[Cell]]


class Marker:
    """Marks batches of answers under one rubric and exam, remembering what it has judged."""

    def __init__(self, rubric: Rubric, exam: Exam) -> None:
        self.rubric = rubric
        self.items: tuple[Item, ...] = exam.items
        self.index: dict[str, int] = {item.id: i for i, item in enumerate(exam.items)}
        self._fields = rubric.fields
        self._got = getattr(leading_axis(rubric), "reads", None)
        self._tables = [CellTable() for _ in rubric.axes]

    def mark(self, items: Sequence[str], outputs: Sequence[str | Mapping[str, Any]]) -> Marked:
        """Mark one batch: each output as the answer to the item beside it."""
        for table in self._tables:
            if len(table.cells) > REMEMBERED:
                table.clear()
        indices = [self.index[name] for name in items]
        responses = [read_response(output, self._fields) for output in outputs]
        codes = [self._column(axis, indices, responses) for axis in range(len(self.rubric.axes))]
        return Marked(
            items=indices,
            readings=[response.reading.value for response in responses],
            got=[response.text_of(self._got) for response in responses],
            codes=codes,
            cells=[table.cells for table in self._tables],
        )

    def _column(self, axis: int, indices: list[int], responses: list[Response]) -> list[int]:
        spec, table = self.rubric.axes[axis].axis, self._tables[axis]
        codes: list[int] = []
        for index, response in zip(indices, responses, strict=True):
            key = _key(spec, index, response)
            code = None if key is None else table.codes.get(key)
            if code is None:
                code = table.add(judged(spec, response, self.items[index]), key)
            codes.append(code)
        return codes


def _key(axis: Any, index: int, response: Response) -> Hashable:
    """Return what a cell of this axis depends on, or nothing where that is not known."""
    if response.lacking or getattr(type(axis), "mark", None) is not TextAxis.mark:
        return None
    return index, response.text_of(axis.reads)
