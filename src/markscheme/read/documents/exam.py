"""Read exams: one or more YAML files become one `Exam`, or one error with every mistake."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from markscheme.read.documents.fingerprint import compute_exam_fingerprint, to_canonical_json
from markscheme.read.documents.models import ExamModel, is_rubric_tree
from markscheme.read.documents.sources import locate_document
from markscheme.read.documents.validation import (
    ProblemCollector,
    describe_unknown_key,
    iterate_mappings,
)
from markscheme.read.documents.yaml import (
    FieldPath,
    YamlMapping,
    YamlSequence,
    find_line,
    read_tree,
)
from markscheme.vocabulary import (
    ROUND_TAG,
    DocumentError,
    Exam,
    FrozenDict,
    Item,
    Problem,
    SourceLocation,
    find_control_character,
    format_value,
)

ItemCheck = Callable[[Item], Iterable[Problem]]
"""Returns what is wrong with an item for the axes that will score it."""
RawEntry = dict[str, Any]
"""An item as it is written in the file, before validation."""
ITEM_KEYS = ("id", "prompt", "tags")
_NO_VALUES = FrozenDict()


def read_exam(
    sources: Iterable[str | Path], *, expectations: Collection[str], check: ItemCheck = lambda _: ()
) -> Exam:
    """Read one or more exam files as one exam.

    `expectations` are the keys that items may have besides `id`, `prompt` and `tags`. `check` is
    called for every item that can be read, even if other items are wrong.
    """
    problems: list[Problem] = []
    names: list[str] = []
    items: list[Item] = []
    for source in sources:
        name, file_items, file_problems = _read_exam_file(source, expectations, check)
        names.append(name)
        items.extend(file_items)
        problems.extend(file_problems)
    problems.extend(find_duplicate_ids(items))
    if problems:
        raise DocumentError(problems)
    return Exam(
        names=tuple(names), items=tuple(items), fingerprint=compute_exam_fingerprint(names, items)
    )


def add_follow_up(exam: Exam, follow_up: Exam) -> Exam:
    """Return an exam with the items of another one as its follow-up: they get the tag `round: 2`.

    Raises:
        DocumentError: an item is in both, or says that it belongs to another round.
    """
    known = {item.id for item in exam.items}
    problems = [problem for item in follow_up.items for problem in _find_misplaced(item, known)]
    if problems:
        raise DocumentError(problems)
    further = (
        dataclasses.replace(item, tags=FrozenDict({**item.tags, ROUND_TAG: "2"}))
        for item in follow_up.items
    )
    items, names = (*exam.items, *further), (*exam.names, *follow_up.names)
    return Exam(names=names, items=items, fingerprint=compute_exam_fingerprint(names, items))


def _find_misplaced(item: Item, known: Collection[str]) -> Iterator[Problem]:
    """Yield why an item cannot be a follow-up to the items that are known already."""
    place = item.place or SourceLocation("follow-up", 1, item.id, {})
    stated = str(item.tags.get(ROUND_TAG, "2"))
    if item.id in known:
        yield Problem(
            file=place.file,
            line=place.get_line("id"),
            field=f"{place.field}.id",
            message=f"`{item.id}` is an item of the main round too; each id may occur once",
        )
    if stated != "2":
        yield Problem(
            file=place.file,
            line=place.line,
            field=f"{place.field}.tags.{ROUND_TAG}",
            message=f"{format_value(stated)} is not the round of a follow-up, which is 2",
        )


def dump_exam(exam: Exam) -> str:
    """Return an exam as JSON text for the store; `parse_exam_text` reads it back."""
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
    """Return the exam in a text written by `dump_exam`; messages call the text `shown`."""
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
    """Return the exam's name, the items that can be read, and every problem of the document."""
    if is_rubric_tree(tree):
        message = "this is a rubric, not an exam; give it with -r (--rubric), and an exam with -e"
        return "", [], [Problem(file=file, line=1, field="", message=message)]
    collector = ProblemCollector(tree, file)
    model = collector.validate_node(ExamModel, tree)
    items = []
    allowed = [*ITEM_KEYS, *expectations]
    for index, entry, place in iterate_item_entries(tree, file):
        check_item_keys(entry, ("items", index), allowed, collector)
        items.append(build_item(entry, place))
    reported = {problem.field for problem in collector.problems}
    item_problems = [
        problem for item in items for problem in check(item) if problem.field not in reported
    ]
    name = model.exam if isinstance(model, ExamModel) else ""
    return name, items, [*collector.problems, *item_problems]


def iterate_item_entries(
    tree: YamlMapping, file: str
) -> Iterator[tuple[int, RawEntry, SourceLocation]]:
    """Yield the index, the raw entry and the source location of every item of a document."""
    entries, items_line = tree.get("items"), find_line(tree, ("items",))
    lines = entries.lines if isinstance(entries, YamlSequence) else ()
    for index, entry in iterate_mappings(entries):
        key_lines = _collect_lines(entry) if isinstance(entry, YamlMapping) else _NO_VALUES
        line = lines[index] if lines else items_line
        yield index, entry, SourceLocation(file, line, f"items.{index}", key_lines)


def _collect_lines(entry: YamlMapping) -> Mapping[str, int]:
    """Return the lines of the keys of an item, and those of the entries of lists of mappings."""
    nested = [
        (key, value)
        for key, value in entry.items()
        if isinstance(value, YamlSequence) and any(isinstance(one, YamlMapping) for one in value)
    ]
    if not nested:
        return entry.lines
    lines = dict(entry.lines)
    open_nodes: list[tuple[str, Any]] = list(nested)
    while open_nodes:
        path, node = open_nodes.pop()
        if isinstance(node, YamlMapping):
            inner = [(f"{path}.{key}", node.lines[key], value) for key, value in node.items()]
        elif isinstance(node, YamlSequence):
            numbered = enumerate(zip(node.lines, node, strict=True))
            inner = [(f"{path}.{at}", line, value) for at, (line, value) in numbered]
        else:
            continue
        lines |= {name: line for name, line, _ in inner}
        open_nodes += [(name, value) for name, _, value in inner]
    return lines


def check_item_keys(
    entry: RawEntry,
    path: FieldPath,
    allowed: Collection[str],
    collector: ProblemCollector,
) -> None:
    """Report the keys of an item that are not allowed or empty, and tags that are no names."""
    for key, value in entry.items():
        if key not in allowed:
            collector.add_problem((*path, key), describe_unknown_key(key, allowed))
        elif value is None and key != "tags":
            collector.add_problem((*path, key), "is empty; give it a value or leave the key out")
    tags = entry.get("tags")
    for tag, value in tags.items() if isinstance(tags, dict) else ():
        if isinstance(value, str) and (found := find_control_character(value)):
            message = f"{format_value(value)} holds the control character `{found}`"
            collector.add_problem((*path, "tags", tag), f"{message}; the value of a tag has none")


def build_item(
    entry: RawEntry, place: SourceLocation, own_keys: Collection[str] = ITEM_KEYS
) -> Item:
    """Build an item from its raw entry. All keys but `own_keys` are expectations for axes."""
    tags = entry.get("tags")
    return Item(
        id=_coerce_text(entry.get("id")),
        prompt=_coerce_text(entry.get("prompt")),
        expectations=FrozenDict(
            {key: FrozenDict.freeze(value) for key, value in entry.items() if key not in own_keys}
        ),
        tags=FrozenDict({key: format_tag(value) for key, value in tags.items()})
        if isinstance(tags, dict)
        else _NO_VALUES,
        place=place,
    )


def _coerce_text(value: Any) -> str:
    """Return a text. Anything else was reported already; an empty text lets the checks go on."""
    return value if isinstance(value, str) else ""


def format_tag(value: Any) -> str:
    """Return the value of a tag as text, so that exams and gates can be compared."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def find_duplicate_ids(items: Iterable[Item]) -> Iterable[Problem]:
    """Yield a problem for each id that occurred before, in this file or another."""
    first: dict[str, SourceLocation] = {}
    for item in items:
        if item.place is None or not item.id:
            continue
        if item.id in first:
            earlier = first[item.id]
            where = f"{earlier.file}:{earlier.get_line('id')}"
            yield Problem(
                file=item.place.file,
                line=item.place.get_line("id"),
                field=f"{item.place.field}.id",
                message=f"`{item.id}` occurs twice, first in {where}; each id may occur once",
            )
        else:
            first[item.id] = item.place
