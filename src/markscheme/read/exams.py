"""Exams: from one or more YAML files to items, with every mistake of every file told at once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from markscheme.errors import DocumentError, Problem
from markscheme.frozen import Frozen
from markscheme.read.complaints import Complaints, iterate, unknown_key
from markscheme.read.fingerprints import canonical, exam_fingerprint
from markscheme.read.models import ExamModel
from markscheme.read.parsing import read_tree
from markscheme.read.sources import locate
from markscheme.read.tree import Map, Seq, line_of
from markscheme.vocabulary import Exam, Item, Place

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path


Check = Callable[[Item], Iterable[Problem]]
Entry = dict[str, Any]
ITEM_KEYS = ("id", "prompt", "tags")
_NONE = Frozen()


def read_exam(
    sources: Iterable[str | Path], *, expectations: Collection[str], check: Check = lambda _: ()
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
    problems.extend(duplicate_ids(items))
    if problems:
        raise DocumentError(problems)
    return Exam(names=tuple(names), items=tuple(items), fingerprint=exam_fingerprint(names, items))


def exam_text(exam: Exam) -> str:
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
    return canonical({"names": exam.names, "items": items})


def exam_of_text(text: str, shown: str) -> Exam:
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
            expectations=Frozen.of(entry["expectations"]),
            tags=Frozen(entry["tags"]),
        )
        for entry in document["items"]
    ]
    names = tuple(document["names"])
    return Exam(names=names, items=tuple(items), fingerprint=exam_fingerprint(names, items))


def _read_exam_file(
    source: str | Path, expectations: Collection[str], check: Check
) -> tuple[str, list[Item], list[Problem]]:
    path, file = locate(source, "exams")
    try:
        tree = read_tree(path, file)
    except DocumentError as error:
        return "", [], list(error.problems)
    return exam_of(tree, file, expectations, check)


def exam_of(
    tree: Map, file: str, expectations: Collection[str], check: Check
) -> tuple[str, list[Item], list[Problem]]:
    """Return the name of the exam in a tree, the items that can be read, and all that is wrong."""
    complaints = Complaints(tree, file)
    model = complaints.check(ExamModel, tree)
    items = []
    allowed = [*ITEM_KEYS, *expectations]
    for index, entry, place in item_entries(tree, file):
        check_keys(entry, ("items", index), allowed, complaints)
        items.append(item_of(entry, place))
    told = {problem.field for problem in complaints.problems}
    wrong = [problem for item in items for problem in check(item) if problem.field not in told]
    name = model.exam if isinstance(model, ExamModel) else ""
    return name, items, [*complaints.problems, *wrong]


def item_entries(tree: Map, file: str) -> Iterator[tuple[int, Entry, Place]]:
    """Yield the items of a tree as they are written, each with its index and its place."""
    entries, line = tree.get("items"), line_of(tree, ("items",))
    lines = entries.lines if isinstance(entries, Seq) else ()
    for index, entry in iterate(entries):
        own = entry.lines if isinstance(entry, Map) else _NONE
        yield index, entry, Place(file, lines[index] if lines else line, f"items.{index}", own)


def check_keys(
    entry: Entry, path: tuple[str | int, ...], allowed: Collection[str], complaints: Complaints
) -> None:
    """Complain of keys of an item that are not allowed, and of those that hold nothing."""
    for key, value in entry.items():
        if key not in allowed:
            complaints.add((*path, key), unknown_key(key, allowed))
        elif value is None and key != "tags":
            complaints.add((*path, key), "is empty; give it a value or leave the key out")


def item_of(entry: Entry, place: Place, own: Collection[str] = ITEM_KEYS) -> Item:
    """Return an item as it was written; keys that are not its own are what axes expect of it."""
    tags = entry.get("tags")
    return Item(
        id=_text(entry.get("id")),
        prompt=_text(entry.get("prompt")),
        expectations=Frozen({key: Frozen.of(it) for key, it in entry.items() if key not in own}),
        tags=Frozen({key: tag_text(value) for key, value in tags.items()})
        if isinstance(tags, dict)
        else _NONE,
        place=place,
    )


def _text(value: Any) -> str:
    """Return a text; what is none was complained of, and only keeps the rest from being checked."""
    return value if isinstance(value, str) else ""


def tag_text(value: Any) -> str:
    """Return the value of a tag as text, the same in exams and in gates."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def duplicate_ids(items: Iterable[Item]) -> Iterable[Problem]:
    """Yield a problem for each id that occurred before, in whichever file."""
    first: dict[str, Place] = {}
    for item in items:
        if item.place is None or not item.id:
            continue
        if item.id in first:
            other = first[item.id]
            where = f"{other.file}:{other.line_of('id')}"
            yield Problem(
                file=item.place.file,
                line=item.place.line_of("id"),
                field=f"{item.place.field}.id",
                message=f"`{item.id}` occurs twice, first in {where}; each id may occur once",
            )
        else:
            first[item.id] = item.place
