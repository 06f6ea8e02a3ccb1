"""Published breakdowns: JSON that somebody printed, read with exact numbers and lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

from markscheme.read.documents import MAX_DOCUMENT_BYTES, YamlMapping, find_line, parse_tree
from markscheme.read.nfc import to_nfc
from markscheme.vocabulary import DocumentError, InputError, Problem

PublishedField = tuple[str | int, ...]
_JSON_LINES = (".jsonl", ".ndjson")
_MAX_DIGITS = 100
_MAX_EXPONENT = 400  # doubles end before


@dataclass(frozen=True, kw_only=True)
class PublishedResult:
    """A published document: its breakdowns, each with the place it stands at, and the totals.

    `rest` holds the rows that say that nothing was scored: no breakdown and no score.
    """

    file: str
    text: str
    records: tuple[tuple[PublishedField, Mapping[str, Any]], ...]
    unscored_rows: tuple[Mapping[str, Any], ...]
    document: Mapping[str, Any]
    by_line: bool

    @property
    def unscored_count(self) -> int:
        """How many rows hold nothing to check."""
        return len(self.unscored_rows)

    @property
    def error_count(self) -> int:
        """How many rows were no answers: listed after the items, or as rows of their own."""
        listed, left = self.document.get("errors"), self.document.get("errors_left_out")
        count = len(listed) if isinstance(listed, list) else 0
        count += left if isinstance(left, int) and left > 0 else 0
        bad: int = sum(row.get("status") != "missing" for row in self.unscored_rows)
        return count + bad

    def find_line(self, field: PublishedField) -> int:
        """Return the line of a field, as well as it can be told."""
        if self.by_line:
            return int(field[0]) + 1 if field else 1
        return 1 if self._tree is None else find_line(self._tree, ("", *field))

    def format_field(self, field: PublishedField) -> str:
        """Return the dotted name of a field; in JSON lines, its name on its line."""
        return ".".join(map(str, field[1:] if self.by_line else field))

    @cached_property
    def _tree(self) -> YamlMapping | None:
        """The lines of the document where YAML can read it too; they only serve messages."""
        try:
            return parse_tree(f'{{"": {self.text}}}'.encode(), "")
        except InputError:
            return None


class _UnusableValue(str):
    """What is wrong with a value, in the place of the value."""

    __slots__ = ()


def read_published_result(path: str | Path) -> PublishedResult:
    """Read one breakdown, a list of them, a whole result, or one breakdown on each line.

    JSON lines are told by the ending of the name, or by a first line that is an object on its own
    in a file that is not one document.
    """
    file, text = str(path), _read_result_file(Path(path), str(path))
    if Path(path).suffix.lower() in _JSON_LINES:
        return _parse_json_lines(file, text)
    try:
        document = _parse_json(text, file, 1)
    except DocumentError:
        if _has_object_first_line(text):
            return _parse_json_lines(file, text)
        raise
    return _parse_json_document(file, text, document)


def _has_object_first_line(text: str) -> bool:
    first = text.lstrip().partition("\n")[0]
    try:
        return isinstance(_parse_json(first, "", 1), dict)
    except DocumentError:
        return False


def _parse_json_lines(file: str, text: str) -> PublishedResult:
    rows: list[tuple[PublishedField, Any]] = []
    problems: list[Problem] = []
    for index, line in enumerate(text.split("\n")):
        try:
            if line.strip():
                rows.append(((index,), _parse_json(line, file, index + 1)))
        except DocumentError as error:
            problems += error.problems
    if problems:
        raise DocumentError(problems)
    return _check_published_result(
        _build_published_result(file, text, rows, {}, by_line=True), rows
    )


def _parse_json_document(file: str, text: str, document: Any) -> PublishedResult:
    totals = document if isinstance(document, dict) else {}
    rows: list[tuple[PublishedField, Any]] = [((), document)]
    if isinstance(document, list):
        rows = [((index,), row) for index, row in enumerate(document)]
    elif isinstance(totals.get("items"), list):
        rows = [(("items", index), row) for index, row in enumerate(totals["items"])]
    return _check_published_result(
        _build_published_result(file, text, rows, totals, by_line=False), rows
    )


def _build_published_result(
    file: str, text: str, rows: list[tuple[PublishedField, Any]], document: Any, *, by_line: bool
) -> PublishedResult:
    records = tuple((place, row) for place, row in rows if not _is_unscored(row))
    return PublishedResult(
        file=file,
        text=text,
        records=records,
        unscored_rows=tuple(row for _, row in rows if _is_unscored(row)),
        document=document,
        by_line=by_line,
    )


def _is_unscored(row: Any) -> bool:
    """Return whether a row says that nothing was scored, and no number beside it."""
    if not isinstance(row, dict) or not {"score", "breakdown"} <= set(row):
        return False
    empty = all(row.get(key) is None for key in ("score", "breakdown", "weighted"))
    return empty and row.get("status") != "scored"


def _read_result_file(path: Path, file: str) -> str:
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_DOCUMENT_BYTES + 1)
        if len(data) > MAX_DOCUMENT_BYTES:
            _refuse_result_file(
                file, 1, f"larger than {MAX_DOCUMENT_BYTES // 1024**2} MB, the most that is read"
            )
        return data.decode("utf-8-sig")
    except OSError as error:
        _refuse_result_file(file, 1, f"cannot be read: {error.strerror or error}")
    except UnicodeDecodeError:
        _refuse_result_file(file, 1, "not UTF-8; save the file as UTF-8")


def _parse_json(text: str, file: str, line: int) -> Any:
    try:
        return json.loads(
            text,
            parse_float=_parse_exact_number,
            parse_int=_parse_exact_number,
            parse_constant=_mark_unusable_number,
            object_pairs_hook=_build_json_object,
        )
    except json.JSONDecodeError as error:
        _refuse_result_file(file, line + error.lineno - 1, f"not JSON: {error.msg}")
    except RecursionError:
        _refuse_result_file(file, line, "nested too deep")


def _parse_exact_number(text: str) -> int | Decimal | _UnusableValue:
    if len(text) > _MAX_DIGITS:
        return _mark_unusable_number(text)
    if text.lstrip("-").isdigit():
        return int(text)
    try:
        value = Decimal(text)
    except ArithmeticError:
        return _mark_unusable_number(text)
    return value if abs(value.adjusted()) <= _MAX_EXPONENT else _mark_unusable_number(text)


def _mark_unusable_number(text: str) -> _UnusableValue:
    shown = text if len(text) <= 20 else f"{text[:19]}…"  # noqa: PLR2004 - enough to find it
    return _UnusableValue(
        f"{shown} is no number that can be used; finite ones of at most 100 digits"
    )


def _build_json_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object with its texts in NFC; a key that occurs twice has no value."""
    made: dict[str, Any] = {}
    for key, value in pairs:
        twice = _UnusableValue("the key occurs twice; each key may occur once")
        made[to_nfc(key)] = twice if to_nfc(key) in made else _normalise_value(value)
    return made


def _normalise_value(value: Any) -> Any:
    if isinstance(value, list):
        return [_normalise_value(entry) for entry in value]
    plain = isinstance(value, str) and not isinstance(value, _UnusableValue)
    return to_nfc(value) if plain else value


def _check_published_result(
    published: PublishedResult, rows: list[tuple[PublishedField, Any]]
) -> PublishedResult:
    """Return what was read, or refuse it with everything that is wrong with its shape."""
    roots: list[tuple[PublishedField, Any]] = (
        [((), published.document)] if published.document else rows
    )
    found = [problem for place, root in roots for problem in _find_unusable_values(root, place)]
    for place, record in published.records:
        found += [((*place, *field), message) for field, message in _find_shape_problems(record)]
    found += _find_summary_problems(published.document)
    if found:
        file, line, name = published.file, published.find_line, published.format_field
        raise DocumentError(
            Problem(file=file, line=line(field), field=name(field), message=message)
            for field, message in found
        )
    return published


def _find_unusable_values(
    value: Any, field: PublishedField
) -> Iterator[tuple[PublishedField, str]]:
    """Yield the values inside that cannot be used, each with its place."""
    if isinstance(value, _UnusableValue):
        yield field, str(value)
    elif isinstance(value, dict | list):
        inside = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in inside:
            yield from _find_unusable_values(inner, (*field, key))


def _find_summary_problems(document: Mapping[str, Any]) -> Iterator[tuple[PublishedField, str]]:
    summary = document.get("summary")
    if not isinstance(summary, dict | _UnusableValue | None):
        yield ("summary",), "must be a mapping"
    elif isinstance(summary, dict) and not isinstance(
        summary.get("axes"), dict | _UnusableValue | None
    ):
        yield ("summary", "axes"), "must be a mapping of axes to numbers"


def _find_shape_problems(record: Any) -> list[tuple[tuple[str, ...], str]]:
    if not isinstance(record, dict):
        return [((), "is no breakdown; a JSON object with `score` and `breakdown` is needed")]
    found: list[tuple[tuple[str, ...], str]] = [
        ((key,), "is missing; a breakdown has `score` and `breakdown`")
        for key in ("score", "breakdown")
        if key not in record
    ]
    if not _is_number_or_null(record.get("score")):
        found.append((("score",), "must be a number or null"))
    if record.get("breakdown", {}) is None:
        found.append((("breakdown",), "must be a mapping, or null where nothing is scored"))
    for key in ("breakdown", "weighted"):
        found += _find_cell_problems(key, record.get(key))
    return found


def _find_cell_problems(key: str, cells: Any) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(cells, dict):
        for axis, value in cells.items():
            if not _is_number_or_null(value):
                yield (key, axis), "must be a number or null"
    elif not isinstance(cells, _UnusableValue | None):
        yield (key,), "must be a mapping of axes to numbers"


def _is_number_or_null(value: Any) -> bool:
    """Return whether it is a number or null, or was refused as a number already."""
    return isinstance(value, int | Decimal | _UnusableValue | None) and not isinstance(value, bool)


def _refuse_result_file(file: str, line: int, message: str) -> NoReturn:
    raise DocumentError([Problem(file=file, line=line, field="", message=message)])
