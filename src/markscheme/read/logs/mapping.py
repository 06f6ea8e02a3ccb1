"""The mapping file: which log is the answer to which item, by which variant."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markscheme.errors import DocumentError, InputError, Problem, format_value
from markscheme.read.complaints import iterate_mappings, suggest_match
from markscheme.read.parsing import parse_tree, read_document_bytes
from markscheme.read.tree import YamlMapping, find_line

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from pathlib import Path

_REQUIRED_KEYS = ("log", "item")
_MAPPING_KEYS = (*_REQUIRED_KEYS, "variant", "attempt", "session")


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingRow:
    """One row of the file; `session` tells apart several sessions of one log."""

    line: int
    log: str
    item: str
    variant: str | None = None
    attempt: int = 1
    session: str | None = None


def read_mapping(path: Path, items: Collection[str]) -> list[MappingRow]:
    """Read a mapping of .csv, .jsonl or .yaml (`logs:`); every mistake is told at once."""
    data = read_document_bytes(path, str(path))
    reader = _MAPPING_READERS.get(path.suffix.lower())
    if reader is None:
        told = f"the ending decides the format; use {', '.join(_MAPPING_READERS)}"
        raise InputError([Problem(file=str(path), line=1, field="", message=told)])
    problems: list[Problem] = []
    rows = []
    for line, row in reader(data, str(path)):
        found = dict(_find_mapping_problems(row, items))
        problems += [
            Problem(file=str(path), line=line, field=field, message=said)
            for field, said in found.items()
        ]
        if not found:
            rows.append(_build_mapping_row(line, row))
    if problems:
        raise InputError(problems)
    return rows


def _build_mapping_row(line: int, row: Mapping[str, Any]) -> MappingRow:
    texts = {key: row[key] for key in ("log", "item", "variant", "session") if row.get(key)}
    return MappingRow(line=line, attempt=int(row.get("attempt") or 1), **texts)


def _find_mapping_problems(row: Any, items: Collection[str]) -> Iterator[tuple[str, str]]:
    if not isinstance(row, dict):
        yield "", f"must be a mapping with {', '.join(_MAPPING_KEYS)}, not {format_value(row)}"
        return
    for key in row:
        if key not in _MAPPING_KEYS:
            yield (
                str(key),
                f"unknown key; allowed: {', '.join(_MAPPING_KEYS)}{suggest_match(key, _MAPPING_KEYS)}",
            )
    for key in ("log", "item", "variant", "session"):
        value = row.get(key)
        if value is None and key not in _REQUIRED_KEYS:
            continue
        if not isinstance(value, str) or not value:
            yield (
                key,
                "is missing; it is required"
                if not value
                else f"must be text: {format_value(value)}",
            )
    item = row.get("item")
    if isinstance(item, str) and item and item not in items:
        yield "item", f"{format_value(item)} is no item of the exam{suggest_match(item, items)}"
    attempt = row.get("attempt") or 1
    if isinstance(attempt, bool) or not str(attempt).isdecimal() or int(attempt) < 1:
        yield "attempt", f"must be a whole number from 1 on, not {format_value(attempt)}"


def _read_csv_mapping(data: bytes, file: str) -> Iterator[tuple[int, Any]]:
    text = _decode_mapping(data, file)
    reader = csv.DictReader(io.StringIO(text, newline=""), skipinitialspace=True)
    for row in reader:
        beyond = row.pop(None, None)
        yield reader.line_num, row if beyond is None else None


def _read_jsonl_mapping(data: bytes, file: str) -> Iterator[tuple[int, Any]]:
    for line, text in enumerate(_decode_mapping(data, file).splitlines(), start=1):
        if text.strip():
            try:
                yield line, json.loads(text)
            except ValueError:
                yield line, text


def _read_yaml_mapping(data: bytes, file: str) -> Iterator[tuple[int, Any]]:
    tree = parse_tree(data, file)
    if set(tree) != {"logs"} or not isinstance(tree["logs"], list):
        told = "must be a list of mappings, and the only key of the file"
        raise DocumentError([Problem(file=file, line=tree.line, field="logs", message=told)])
    lines = {
        index: entry.line if isinstance(entry, YamlMapping) else find_line(tree, ("logs", index))
        for index, entry in iterate_mappings(tree["logs"])
    }
    for index, entry in enumerate(tree["logs"]):
        yield lines.get(index, tree.line), entry


def _decode_mapping(data: bytes, file: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        message = "is no UTF-8"
        raise InputError([Problem(file=file, line=1, field="", message=message)]) from None


_MAPPING_READERS: Mapping[str, Callable[[bytes, str], Iterator[tuple[int, Any]]]] = {
    ".csv": _read_csv_mapping,
    ".jsonl": _read_jsonl_mapping,
    ".yaml": _read_yaml_mapping,
    ".yml": _read_yaml_mapping,
}
