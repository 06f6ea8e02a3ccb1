"""Read published result files: JSON breakdowns, with exact numbers and the line of each field.

A file holds one breakdown, a list of them, a whole result document, or JSON lines. A value that
cannot be used becomes an `_UnusableValue` while the file is parsed: all problems are found at once.
"""

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
from markscheme.read.special_files import describe_special_file
from markscheme.vocabulary import DocumentError, InputError, Problem

PublishedField = tuple[str | int, ...]
_JSON_LINES = (".jsonl", ".ndjson")
_MAX_DIGITS = 100
_SURROGATE = "a lone surrogate, which is not a character"
# Larger than any exponent of a double, so that every printed double can be read.
_MAX_EXPONENT = 400


@dataclass(frozen=True, kw_only=True)
class PublishedResult:
    """A published document: its breakdowns, each with its place, and the totals.

    `records` are the breakdowns, `unscored_rows` the rows with neither a breakdown nor a score.
    `document` is the whole result with its summary, or empty. `by_line` marks JSON lines.
    """

    file: str
    text: str
    records: tuple[tuple[PublishedField, Mapping[str, Any]], ...]
    unscored_rows: tuple[Mapping[str, Any], ...]
    document: Mapping[str, Any]
    by_line: bool

    @property
    def unscored_count(self) -> int:
        """The number of rows that hold nothing to check."""
        return len(self.unscored_rows)

    @property
    def error_count(self) -> int:
        """The number of rows that were no answers: listed under `errors`, or rows of their own."""
        listed, left_out = self.document.get("errors"), self.document.get("errors_left_out")
        count = len(listed) if isinstance(listed, list) else 0
        count += left_out if isinstance(left_out, int) and left_out > 0 else 0
        count += sum(1 for row in self.unscored_rows if row.get("status") != "missing")
        return count

    def find_line(self, field: PublishedField) -> int:
        """Return the line of a field; 1 if it cannot be found."""
        if self.by_line:
            return int(field[0]) + 1 if field else 1
        return 1 if self._tree is None else find_line(self._tree, ("", *field))

    def format_field(self, field: PublishedField) -> str:
        """Return the dotted name of a field; in JSON lines, its name on its line."""
        return ".".join(map(str, field[1:] if self.by_line else field))

    @cached_property
    def _tree(self) -> YamlMapping | None:
        """The document parsed as YAML, for line numbers in messages; `None` if that fails."""
        try:
            return parse_tree(f'{{"": {self.text}}}'.encode(), "")
        except InputError:
            return None


class _UnusableValue(str):
    """The message that says why a value cannot be used, in the place of the value."""

    __slots__ = ()


def read_published_result(path: str | Path) -> PublishedResult:
    """Read one breakdown, a list of them, a whole result, or one breakdown per line.

    A file is JSON lines if its suffix says so, or if it is not one JSON document and its first line
    is an object.

    Raises:
        DocumentError: with everything that is wrong with the shape of the document.
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
    totals = document if isinstance(document, dict) else {}
    rows: list[tuple[PublishedField, Any]] = [((), document)]
    if isinstance(document, list):
        rows = [((index,), row) for index, row in enumerate(document)]
    elif isinstance(totals.get("items"), list):
        rows = [(("items", index), row) for index, row in enumerate(totals["items"])]
    return _build_published_result(file, text, rows, totals, by_line=False)


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
    return _build_published_result(file, text, rows, {}, by_line=True)


def _build_published_result(
    file: str, text: str, rows: list[tuple[PublishedField, Any]], document: Any, *, by_line: bool
) -> PublishedResult:
    published = PublishedResult(
        file=file,
        text=text,
        records=tuple((place, row) for place, row in rows if not _is_unscored(row)),
        unscored_rows=tuple(row for _, row in rows if _is_unscored(row)),
        document=document,
        by_line=by_line,
    )
    _check_published_result(published, rows)
    return published


def _is_unscored(row: Any) -> bool:
    """Return whether a row states that nothing was scored, and holds no number."""
    if not isinstance(row, dict) or not {"score", "breakdown"} <= set(row):
        return False
    empty = all(row.get(key) is None for key in ("score", "breakdown", "weighted"))
    return empty and row.get("status") != "scored"


def _read_result_file(path: Path, file: str) -> str:
    if fault := describe_special_file(path, allow_shell_pipes=True):
        _refuse_result_file(file, 1, fault)
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
    """Return a JSON object with its texts in NFC; a key that occurs twice is unusable."""
    result: dict[str, Any] = {}
    for raw_key, raw_value in pairs:
        key, value = to_nfc(raw_key), _normalise_value(raw_value)
        if key in result:
            value = _UnusableValue("the key occurs twice; each key may occur once")
        if not _is_encodable(key):
            key, value = _replace_surrogates(key), _UnusableValue(f"the key has {_SURROGATE}")
        result[key] = value
    return result


def _is_encodable(text: str) -> bool:
    return text.isascii() or _replace_surrogates(text) == text


def _replace_surrogates(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _normalise_value(value: Any) -> Any:
    if isinstance(value, list):
        return [_normalise_value(entry) for entry in value]
    if not isinstance(value, str) or isinstance(value, _UnusableValue):
        return value
    return to_nfc(value) if _is_encodable(value) else _UnusableValue(f"has {_SURROGATE}")


def _check_published_result(
    published: PublishedResult, rows: list[tuple[PublishedField, Any]]
) -> None:
    """Raise an error with everything that is wrong with the shape of a document."""
    roots: list[tuple[PublishedField, Any]] = (
        [((), published.document)] if published.document else rows
    )
    problems = [problem for place, root in roots for problem in _find_unusable_values(root, place)]
    for place, record in published.records:
        problems += [((*place, *field), message) for field, message in _find_shape_problems(record)]
    problems += _find_summary_problems(published.document)
    if problems:
        raise DocumentError(
            Problem(
                file=published.file,
                line=published.find_line(field),
                field=published.format_field(field),
                message=message,
            )
            for field, message in problems
        )


def _find_unusable_values(
    value: Any, field: PublishedField
) -> Iterator[tuple[PublishedField, str]]:
    """Yield the unusable values inside a value, each with its place."""
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
    problems: list[tuple[tuple[str, ...], str]] = [
        ((key,), "is missing; a breakdown has `score` and `breakdown`")
        for key in ("score", "breakdown")
        if key not in record
    ]
    if not _is_number_or_null(record.get("score")):
        problems.append((("score",), "must be a number or null"))
    if record.get("breakdown", {}) is None:
        problems.append((("breakdown",), "must be a mapping, or null where nothing is scored"))
    for key in ("breakdown", "weighted"):
        cells = record.get(key)
        if isinstance(cells, dict):
            wrong = (axis for axis, value in cells.items() if not _is_number_or_null(value))
            problems += [((key, axis), "must be a number or null") for axis in wrong]
        elif not isinstance(cells, _UnusableValue | None):
            problems.append(((key,), "must be a mapping of axes to numbers"))
    return problems


def _is_number_or_null(value: Any) -> bool:
    """Return whether a value is a number or null, or was already found unusable."""
    return isinstance(value, int | Decimal | _UnusableValue | None) and not isinstance(value, bool)


def _refuse_result_file(file: str, line: int, message: str) -> NoReturn:
    raise DocumentError([Problem(file=file, line=line, field="", message=message)])
