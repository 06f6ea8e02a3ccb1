"""What a file of another tool becomes: a rubric, an exam, answers and ratings, as plain data.

Writing them to files is the task of the workflow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from markscheme.read.documents import is_name
from markscheme.read.foreign.source import (
    ForeignRecord,
    check_tag_value,
)
from markscheme.vocabulary import Problem

CRITERIA_AXIS = "criteria"
"""The name of the axis, and of the key of an item, that imported criteria belong to."""

Row = Mapping[str, Any]
"""A row of a table, or an object of a document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedDocuments:
    """The documents of an import, and remarks on what they do not hold or hold in another way.

    `answers` and `ratings` are rows; there are none where the file holds none.
    """

    rubric: Row
    exam: Row
    answers: Sequence[Row] = ()
    ratings: Sequence[Row] = ()
    remarks: Sequence[Problem] = ()

    @property
    def items(self) -> Sequence[Row]:
        """The items of the exam."""
        items: Sequence[Row] = self.exam["items"]
        return items

    def count_criteria(self) -> int:
        """Return how many criteria the items have together."""
        return sum(1 for item in self.items for _ in _iterate_entries(item.get(CRITERIA_AXIS, ())))


def _iterate_entries(criteria: Iterable[Row]) -> Iterator[Row]:
    for entry in criteria:
        if "criteria" in entry:
            yield from _iterate_entries(entry["criteria"])
        else:
            yield entry


def build_rubric(name: str, axes: Sequence[Row]) -> Row:
    """Return a rubric with these axes."""
    return {"rubric": name, "version": 1, "axes": list(axes)}


def read_tags(record: ForeignRecord, key: str, *, plain: str) -> dict[str, str]:
    """Return the tags in a list such as `["axis:accuracy", "level:example"]`.

    A tag without a colon, or whose first part is no name, becomes the value of the tag `plain`. A
    name that occurs again gets a number.
    """
    tags: dict[str, str] = {}
    texts = record.get_texts(key) if record.has(key) else []
    for index, text in enumerate(texts):
        name, colon, value = text.partition(":")
        if not (colon and is_name(name) and value):
            name, value = plain, text
        check_tag_value(record.source, (*record.path, key, index), value)
        add_tag(tags, name, value)
    return tags


def add_tag(tags: dict[str, str], name: str, value: str) -> None:
    """Add a tag; a name that is taken gets a number: `theme`, `theme-2`."""
    number, free = 1, name
    while free in tags:
        number += 1
        free = f"{name}-{number}"
    tags[free] = value


def read_points(record: ForeignRecord, key: str) -> int | Decimal:
    """Return points as they are written best: 5 for 5.0, and a decimal otherwise."""
    points = record.get_number(key)
    whole = int(points)
    return whole if whole == points else points


def report_without_points(record: ForeignRecord, key: str, noun: str) -> None:
    """Name a part that counts nothing and is therefore left out."""
    record.add_remark(key, f"is 0, so the {noun} counts nothing: left out")
