"""The mapping file: which log is the answer to which item, by which variant."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

from markscheme.errors import DocumentError, InputError, Problem, shown
from markscheme.read.complaints import guess, iterate
from markscheme.read.parsing import parse_tree, read_bytes
from markscheme.read.tree import Map, line_of
from markscheme.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from pathlib import Path

_NEEDED = ("log", "item")
_KEYS = (*_NEEDED, "variant", "attempt", "session")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapped:
    """One row of the file; `session` tells apart several sessions of one log."""

    line: int
    log: str
    item: str
    variant: str | None = None
    attempt: int = 1
    session: str | None = None


def read_mapping(path: Path, items: Collection[str]) -> list[Mapped]:
    """Read a mapping of .csv, .jsonl or .yaml (`logs:`); every mistake is told at once."""
    data = read_bytes(path, str(path))
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        told = f"the ending decides the format; use {', '.join(_READERS)}"
        raise InputError([Problem(file=str(path), line=1, field="", message=told)])
    problems: list[Problem] = []
    rows = []
    for line, row in reader(data, str(path)):
        found = dict(_problems(row, items))
        problems += [
            Problem(file=str(path), line=line, field=field, message=said)
            for field, said in found.items()
        ]
        if not found:
            rows.append(_mapped(line, row))
    if problems:
        raise InputError(problems)
    return rows


def _mapped(line: int, row: Mapping[str, Any]) -> Mapped:
    texts = {key: row[key] for key in ("log", "item", "variant", "session") if row.get(key)}
    return Mapped(line=line, attempt=int(row.get("attempt") or 1), **texts)


def _problems(row: Any, items: Collection[str]) -> Iterator[tuple[str, str]]:
    if not isinstance(row, dict):
        yield "", f"must be a mapping with {', '.join(_KEYS)}, not {shown(row)}"
        return
    for key in row:
        if key not in _KEYS:
            yield str(key), f"unknown key; allowed: {', '.join(_KEYS)}{guess(key, _KEYS)}"
    for key in ("log", "item", "variant", "session"):
        value = row.get(key)
        if value is None and key not in _NEEDED:
            continue
        if not isinstance(value, str) or not value:
            yield (
                key,
                "is missing; it is required" if not value else f"must be text: {shown(value)}",
            )
    item = row.get("item")
    if isinstance(item, str) and item and item not in items:
        yield "item", f"{shown(item)} is no item of the exam{guess(item, items)}"
    attempt = row.get("attempt") or 1
    if isinstance(attempt, bool) or not str(attempt).isdecimal() or int(attempt) < 1:
        yield "attempt", f"must be a whole number from 1 on, not {shown(attempt)}"


def _csv_rows(data: bytes, file: str) -> Iterator[tuple[int, Any]]:
    text = _text(data, file)
    reader = csv.DictReader(io.StringIO(text, newline=""), skipinitialspace=True)
    for row in reader:
        beyond = row.pop(None, None)
        yield reader.line_num, row if beyond is None else None


def _json_rows(data: bytes, file: str) -> Iterator[tuple[int, Any]]:
    for line, text in enumerate(_text(data, file).splitlines(), start=1):
        if text.strip():
            try:
                yield line, json.loads(text)
            except ValueError:
                yield line, text


def _yaml_rows(data: bytes, file: str) -> Iterator[tuple[int, Any]]:
    tree = parse_tree(data, file)
    if set(tree) != {"logs"} or not isinstance(tree["logs"], list):
        told = "must be a list of mappings, and the only key of the file"
        raise DocumentError([Problem(file=file, line=tree.line, field="logs", message=told)])
    lines = {
        index: entry.line if isinstance(entry, Map) else line_of(tree, ("logs", index))
        for index, entry in iterate(tree["logs"])
    }
    for index, entry in enumerate(tree["logs"]):
        yield lines.get(index, tree.line), entry


def _text(data: bytes, file: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        message = "is no UTF-8"
        raise InputError([Problem(file=file, line=1, field="", message=message)]) from None


_READERS: Mapping[str, Callable[[bytes, str], Iterator[tuple[int, Any]]]] = {
    ".csv": _csv_rows,
    ".jsonl": _json_rows,
    ".yaml": _yaml_rows,
    ".yml": _yaml_rows,
}
