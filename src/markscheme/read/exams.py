"""Exams: from one or more YAML files to items, with every mistake of every file told at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from markscheme.errors import DocumentError, Problem
from markscheme.read.complaints import Complaints, iterate, unknown_key
from markscheme.read.fingerprints import exam_fingerprint
from markscheme.read.models import ExamModel
from markscheme.read.sources import locate
from markscheme.read.tree import Map, Seq, read_tree
from markscheme.vocabulary import Exam, Item, Place

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path


def read_exam(sources: Iterable[str | Path], *, expectations: Collection[str]) -> Exam:
    """Read one or more exam files as one exam; items may hold the given expectations."""
    problems: list[Problem] = []
    names: list[str] = []
    items: list[Item] = []
    for source in sources:
        try:
            name, found = _read_exam_file(source, expectations)
        except DocumentError as error:
            problems.extend(error.problems)
        else:
            names.append(name)
            items.extend(found)
    problems.extend(_duplicate_ids(items))
    if problems:
        raise DocumentError(problems)
    return Exam(names=tuple(names), items=tuple(items), fingerprint=exam_fingerprint(names, items))


def _read_exam_file(source: str | Path, expectations: Collection[str]) -> tuple[str, list[Item]]:
    path, file = locate(source, "exams")
    tree = read_tree(path, file)
    complaints = Complaints(tree, file)
    model = cast("ExamModel | None", complaints.check(ExamModel, tree))
    for index, entry in iterate(tree.get("items")):
        _check_keys(entry, ("items", index), expectations, complaints)
    if complaints.problems or model is None:
        raise DocumentError(complaints.problems)
    return model.exam, [_item(tree["items"], index, file) for index in range(len(model.items))]


def _check_keys(
    entry: Map, path: tuple[str | int, ...], expectations: Collection[str], complaints: Complaints
) -> None:
    allowed = ["id", "prompt", "tags", *expectations]
    for key, value in entry.items():
        if key not in allowed:
            complaints.add((*path, key), unknown_key(key, allowed))
        elif value is None and key != "tags":
            complaints.add((*path, key), "is empty; give it a value or leave the key out")


def _item(entries: Seq, index: int, file: str) -> Item:
    entry: Map = entries[index]
    own = {"id", "prompt", "tags"}
    return Item(
        id=entry["id"],
        prompt=entry["prompt"],
        expectations={key: value for key, value in entry.items() if key not in own},
        tags={key: _tag(value) for key, value in (entry.get("tags") or {}).items()},
        place=Place(
            file=file, line=entries.lines[index], field=f"items.{index}", lines=entry.lines
        ),
    )


def _tag(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _duplicate_ids(items: Iterable[Item]) -> Iterable[Problem]:
    first: dict[str, Place] = {}
    for item in items:
        if item.place is None:
            continue
        if item.id in first:
            other = first[item.id]
            where = f"{other.file}:{other.lines['id']}"
            yield Problem(
                file=item.place.file,
                line=item.place.lines["id"],
                field=f"{item.place.field}.id",
                message=f"`{item.id}` occurs twice, first in {where}; each id may occur once",
            )
        else:
            first[item.id] = item.place
