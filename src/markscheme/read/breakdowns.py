"""Published breakdowns: JSON that somebody printed, read with exact numbers and lines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn

from markscheme.errors import DocumentError, InputError, Problem
from markscheme.read.tree import MAX_BYTES, Map, line_of, parse_tree

Field = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A published document: its breakdowns, each with the place it stands at, and the totals."""

    file: str
    records: tuple[tuple[Field, Mapping[str, Any]], ...]
    document: Mapping[str, Any]
    tree: Map | None
    by_line: bool

    def line(self, field: Field) -> int:
        """Return the line of a field, as well as it can be told."""
        if self.by_line:
            return int(field[0]) + 1 if field else 1
        return 1 if self.tree is None else line_of(self.tree, field)


def read_published(path: str | Path) -> Published:
    """Read one breakdown, a list of them, a whole result, or one breakdown on each line."""
    file = str(path)
    data = _read(Path(path), file)
    records: list[tuple[Field, Any]]
    if Path(path).suffix == ".jsonl":
        rows = [(i, text) for i, text in enumerate(data.split("\n")) if text.strip()]
        records = [((i,), _parsed(text, file, i + 1)) for i, text in rows]
        return _checked(file, records, {}, None, by_line=True)
    document = _parsed(data, file, 1)
    tree = _tree(data)
    if isinstance(document, list):
        return _checked(file, [((i,), r) for i, r in enumerate(document)], {}, tree)
    if isinstance(document, dict) and isinstance(document.get("items"), list):
        records = [(("items", i), r) for i, r in enumerate(document["items"])]
        return _checked(file, records, document, tree)
    return _checked(file, [((), document)], {}, tree)


def _read(path: Path, file: str) -> str:
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            _refuse(file, 1, "", f"larger than {MAX_BYTES // 1024**2} MB, the most that is read")
        return data.decode("utf-8-sig")
    except OSError as error:
        _refuse(file, 1, "", f"cannot be read: {error.strerror or error}")
    except UnicodeDecodeError:
        _refuse(file, 1, "", "not UTF-8; save the file as UTF-8")


def _parsed(text: str, file: str, line: int) -> Any:
    def constant(name: str) -> NoReturn:
        _refuse(file, line, "", f"{name} is no number that can be used")

    try:
        return json.loads(text, parse_float=Decimal, parse_constant=constant)
    except json.JSONDecodeError as error:
        _refuse(file, line + error.lineno - 1, "", f"not JSON: {error.msg}")
    except RecursionError:
        _refuse(file, line, "", "nested too deep")


def _tree(data: str) -> Map | None:
    """Return the lines of the document where YAML can read it too; they only serve messages."""
    try:
        return parse_tree(data.encode(), "")
    except InputError:
        return None


def _checked(
    file: str,
    records: list[tuple[Any, Any]],
    document: Mapping[str, Any],
    tree: Map | None,
    *,
    by_line: bool = False,
) -> Published:
    published = Published(
        file=file, records=tuple(records), document=document, tree=tree, by_line=by_line
    )
    problems = [
        Problem(
            file=file,
            line=published.line(place),
            field=".".join(map(str, (*place, *field))),
            message=message,
        )
        for place, record in records
        for field, message in _shape_problems(record)
    ]
    if problems:
        raise DocumentError(problems)
    return published


def _shape_problems(record: Any) -> list[tuple[tuple[str, ...], str]]:
    if not isinstance(record, dict):
        return [((), "is no breakdown; a JSON object with `score` and `breakdown` is needed")]
    found: list[tuple[tuple[str, ...], str]] = [
        ((key,), "is missing; a breakdown has `score` and `breakdown`")
        for key in ("score", "breakdown")
        if key not in record
    ]
    if not _number(record.get("score")):
        found.append((("score",), "must be a number or null"))
    for key in ("breakdown", "weighted"):
        inner = record.get(key, {})
        if not isinstance(inner, dict):
            found.append(((key,), "must be a mapping of axes to numbers"))
            continue
        found += [
            ((key, axis), "must be a number or null") for axis, v in inner.items() if not _number(v)
        ]
    return found


def _number(value: Any) -> bool:
    return value is None or (isinstance(value, int | Decimal) and not isinstance(value, bool))


def _refuse(file: str, line: int, field: str, message: str) -> NoReturn:
    raise DocumentError([Problem(file=file, line=line, field=field, message=message)])
