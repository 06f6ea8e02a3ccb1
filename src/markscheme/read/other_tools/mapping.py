"""Read answers from a file of any shape: the user says under which path each field stands."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from markscheme.read.answers import get_suffix
from markscheme.read.other_tools.formats import to_output
from markscheme.read.other_tools.place import ToolAnswer
from markscheme.read.other_tools.unpack import build_file_error, iter_json_lines, read_unpacked
from markscheme.vocabulary import UsageError

_TEXT_FIELDS = ("item", "output", "subject")
_NUMBER_FIELDS = ("attempt", "latency_ms", "tokens_in", "tokens_out", "cost")
MAPPED_FIELDS = ("rows", *_TEXT_FIELDS, *_NUMBER_FIELDS)
_SUFFIXES = (".json", ".jsonl", ".ndjson", ".csv", ".parquet")


def parse_mapping(entries: Iterable[str]) -> dict[str, str]:
    """Return fields and their paths from entries such as `item=meta.id`.

    Raises:
        UsageError: an entry is no pair, names an unknown field or one twice, or `item` or `output`
            is missing.
    """
    mapping: dict[str, str] = {}
    for entry in entries:
        field, sign, path = entry.partition("=")
        if not sign or not path or field not in MAPPED_FIELDS:
            allowed = ", ".join(MAPPED_FIELDS)
            raise UsageError(f"--map takes FIELD=PATH, not `{entry}`; a field is one of {allowed}")
        if field in mapping:
            raise UsageError(f"--map names `{field}` twice")
        mapping[field] = path
    missing = [f"--map {field}=PATH" for field in ("item", "output") if field not in mapping]
    if missing:
        raise UsageError(f"{' and '.join(missing)} must say where that stands in each row")
    return mapping


def read_mapped_answers(source: str | Path, mapping: Mapping[str, str]) -> Iterator[ToolAnswer]:
    """Yield the answers of a .json, .jsonl, .csv or .parquet file by the paths of a mapping.

    A path names keys and positions with dots between them (`choices.0.text`), or it is a JSON
    pointer (`/choices/0/text`). `rows` is the path of the list of rows in a .json document.

    Raises:
        AnswersError: the file cannot be read, or holds no rows.
        UsageError: the suffix is none of these.
    """
    path = Path(source)
    for row in _read_rows(path, mapping.get("rows")):
        values = {field: _find_value(row, where) for field, where in mapping.items()}
        item, output = values["item"], to_output(values["output"])
        names = (str(item),) if type(item) in {str, int} else ()
        refusal = "" if output is not None else f"there is no output under `{mapping['output']}`"
        subject = values.get("subject")
        numbers = {field: _to_number(values.get(field)) for field in _NUMBER_FIELDS}
        yield ToolAnswer(
            names=names,
            output=output,
            refusal=refusal,
            subject=None if subject in {None, ""} else str(subject),
            **numbers,
        )


def _read_rows(path: Path, rows: str | None) -> Iterable[Any]:
    suffix = get_suffix(path)
    if suffix not in _SUFFIXES:
        raise UsageError(f"`{path}`: --map reads {', '.join(_SUFFIXES)}, also with .gz")
    if rows is not None and suffix != ".json":
        raise UsageError("--map rows=PATH is for a .json document; other files are rows already")
    data = read_unpacked(path)
    if suffix == ".csv":
        try:
            return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))
        except (UnicodeDecodeError, csv.Error) as error:
            raise build_file_error(path, f"this is no CSV in UTF-8: {error}") from None
    if suffix == ".parquet":
        import polars as pl

        try:
            return pl.read_parquet(io.BytesIO(data)).to_dicts()
        except Exception as error:
            raise build_file_error(path, f"this is no Parquet file: {error}") from error
    return _parse_json_rows(path, data, rows, is_lines=suffix != ".json")


def _parse_json_rows(path: Path, data: bytes, rows: str | None, *, is_lines: bool) -> list[Any]:
    if is_lines:
        return [record for _, record in iter_json_lines(data, path)]
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise build_file_error(path, f"not JSON: {error}") from None
    listed = document if rows is None else _find_value(document, rows)
    if not isinstance(listed, list):
        where = "the document" if rows is None else f"`{rows}`"
        hint = "; name the list of rows with --map rows=PATH" if rows is None else ""
        raise build_file_error(path, f"{where} is no list of rows{hint}")
    return listed


def _find_value(node: Any, path: str) -> Any:
    """Return the value at a path, or None if there is none."""
    if isinstance(node, Mapping) and path in node:
        return node[path]
    if path.startswith("/"):
        parts = [part.replace("~1", "/").replace("~0", "~") for part in path[1:].split("/")]
    else:
        parts = path.split(".")
    for part in parts:
        if isinstance(node, Mapping):
            node = node.get(part)
        elif isinstance(node, list) and part.isdecimal() and int(part) < len(node):
            node = node[int(part)]
        else:
            return None
    return node


def _to_number(value: Any) -> Any:
    """Return a number; a text of CSV is read as one, and anything else is left to be refused."""
    if not isinstance(value, str):
        return value
    if not value:
        return None
    try:
        return int(value)
    except ValueError:
        pass
    try:
        return float(value)
    except ValueError:
        return value
