"""Exams: from one or more YAML files to items, with every mistake of every file told at once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from markscheme.read.documents.fingerprint import compute_exam_fingerprint, to_canonical_json
from markscheme.read.documents.models import ExamModel
from markscheme.read.documents.sources import locate_document
from markscheme.read.documents.validation import (
    ProblemCollector,
    describe_unknown_key,
    iterate_mappings,
)
from markscheme.read.documents.yaml import YamlMapping, YamlSequence, find_line, read_tree
from markscheme.vocabulary import DocumentError, Exam, FrozenDict, Item, Problem, SourceLocation

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path


ItemCheck = Callable[[Item], Iterable[Problem]]
RawEntry = dict[str, Any]
ITEM_KEYS = ("id", "prompt", "tags")
_NO_VALUES = FrozenDict()


def read_exam(
    sources: Iterable[str | Path], *, expectations: Collection[str], check: ItemCheck = lambda _: ()
) -> Exam:
    """Read one or more exam files as one exam.

    Items may hold the given expectations; `check` says what else is wrong with an item, and is
    asked about every item that can be read, whatever is wrong beside it.
    """
    problems: list[Problem] = []
    names: list[str] = []
    items: list[Item] = []
    for source in sources:
        name, found, wrong = _read_exam_file(source, expectations, check)
        names.append(name)
        items.extend(found)
        problems.extend(wrong)
    problems.extend(find_duplicate_ids(items))
    if problems:
        raise DocumentError(problems)
    return Exam(
        names=tuple(names), items=tuple(items), fingerprint=compute_exam_fingerprint(names, items)
    )


def dump_exam(exam: Exam) -> str:
    """Return an exam as one text, from which `exam_of_text` makes the same exam again."""
    items = [
        {
            "id": item.id,
            "prompt": item.prompt,
            "expectations": item.expectations,
            "tags": item.tags,
        }
        for item in exam.items
    ]
    return to_canonical_json({"names": exam.names, "items": items})


def parse_exam_text(text: str, shown: str) -> Exam:
    """Return the exam that was made into a text, which is JSON; messages call it `shown`."""
    try:
        document = json.loads(text, parse_float=Decimal)
    except ValueError as error:
        problem = Problem(file=shown, line=1, field="", message=f"not JSON: {error}")
        raise DocumentError([problem]) from None
    items = [
        Item(
            id=entry["id"],
            prompt=entry["prompt"],
            expectations=FrozenDict.freeze(entry["expectations"]),
            tags=FrozenDict(entry["tags"]),
        )
        for entry in document["items"]
    ]
    names = tuple(document["names"])
    return Exam(names=names, items=tuple(items), fingerprint=compute_exam_fingerprint(names, items))


def _read_exam_file(
    source: str | Path, expectations: Collection[str], check: ItemCheck
) -> tuple[str, list[Item], list[Problem]]:
    path, file = locate_document(source, "exams")
    try:
        tree = read_tree(path, file)
    except DocumentError as error:
        return "", [], list(error.problems)
    return parse_exam_tree(tree, file, expectations, check)


def parse_exam_tree(
    tree: YamlMapping, file: str, expectations: Collection[str], check: ItemCheck
) -> tuple[str, list[Item], list[Problem]]:
    """Return the name of the exam in a tree, the items that can be read, and all that is wrong."""
    complaints = ProblemCollector(tree, file)
    model = complaints.validate_node(ExamModel, tree)
    items = []
    allowed = [*ITEM_KEYS, *expectations]
    for index, entry, place in iterate_item_entries(tree, file):
        check_item_keys(entry, ("items", index), allowed, complaints)
        items.append(build_item(entry, place))
    told = {problem.field for problem in complaints.problems}
    wrong = [problem for item in items for problem in check(item) if problem.field not in told]
    name = model.exam if isinstance(model, ExamModel) else ""
    return name, items, [*complaints.problems, *wrong]


def iterate_item_entries(
    tree: YamlMapping, file: str
) -> Iterator[tuple[int, RawEntry, SourceLocation]]:
    """Yield the items of a tree as they are written, each with its index and its place."""
    entries, line = tree.get("items"), find_line(tree, ("items",))
    lines = entries.lines if isinstance(entries, YamlSequence) else ()
    for index, entry in iterate_mappings(entries):
        own = entry.lines if isinstance(entry, YamlMapping) else _NO_VALUES
        yield (
            index,
            entry,
            SourceLocation(file, lines[index] if lines else line, f"items.{index}", own),
        )


def check_item_keys(
    entry: RawEntry,
    path: tuple[str | int, ...],
    allowed: Collection[str],
    complaints: ProblemCollector,
) -> None:
    """Complain of keys of an item that are not allowed, and of those that hold nothing."""
    for key, value in entry.items():
        if key not in allowed:
            complaints.add_problem((*path, key), describe_unknown_key(key, allowed))
        elif value is None and key != "tags":
            complaints.add_problem((*path, key), "is empty; give it a value or leave the key out")


def build_item(entry: RawEntry, place: SourceLocation, own: Collection[str] = ITEM_KEYS) -> Item:
    """Return an item as it was written; keys that are not its own are what axes expect of it."""
    tags = entry.get("tags")
    return Item(
        id=_coerce_text(entry.get("id")),
        prompt=_coerce_text(entry.get("prompt")),
        expectations=FrozenDict(
            {key: FrozenDict.freeze(it) for key, it in entry.items() if key not in own}
        ),
        tags=FrozenDict({key: format_tag(value) for key, value in tags.items()})
        if isinstance(tags, dict)
        else _NO_VALUES,
        place=place,
    )


def _coerce_text(value: Any) -> str:
    """Return a text; what is none was complained of, and only keeps the rest from being checked."""
    return value if isinstance(value, str) else ""


def format_tag(value: Any) -> str:
    """Return the value of a tag as text, the same in exams and in gates."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def find_duplicate_ids(items: Iterable[Item]) -> Iterable[Problem]:
    """Yield a problem for each id that occurred before, in whichever file."""
    first: dict[str, SourceLocation] = {}
    for item in items:
        if item.place is None or not item.id:
            continue
        if item.id in first:
            other = first[item.id]
            where = f"{other.file}:{other.get_line('id')}"
            yield Problem(
                file=item.place.file,
                line=item.place.get_line("id"),
                field=f"{item.place.field}.id",
                message=f"`{item.id}` occurs twice, first in {where}; each id may occur once",
            )
        else:
            first[item.id] = item.place
