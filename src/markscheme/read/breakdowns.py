"""Published breakdowns: JSON that somebody printed, read with exact numbers and lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

from markscheme.errors import DocumentError, InputError, Problem
from markscheme.read.composed import composed
from markscheme.read.parsing import MAX_BYTES, parse_tree
from markscheme.read.tree import Map, line_of
from markscheme.values import dataclass

Field = tuple[str | int, ...]
_JSON_LINES = (".jsonl", ".ndjson")
_MAX_DIGITS = 100
_MAX_EXPONENT = 400  # doubles end before


@dataclass(frozen=True, kw_only=True)
class Published:
    """A published document: its breakdowns, each with the place it stands at, and the totals.

    `rest` holds the rows that say that nothing was scored: no breakdown and no score.
    """

    file: str
    text: str
    records: tuple[tuple[Field, Mapping[str, Any]], ...]
    rest: tuple[Mapping[str, Any], ...]
    document: Mapping[str, Any]
    by_line: bool

    @property
    def unscored(self) -> int:
        """How many rows hold nothing to check."""
        return len(self.rest)

    @property
    def errors(self) -> int:
        """How many rows were no answers: listed after the items, or as rows of their own."""
        listed, left = self.document.get("errors"), self.document.get("errors_left_out")
        count = len(listed) if isinstance(listed, list) else 0
        count += left if isinstance(left, int) and left > 0 else 0
        bad: int = sum(row.get("status") != "missing" for row in self.rest)
        return count + bad

    def line(self, field: Field) -> int:
        """Return the line of a field, as well as it can be told."""
        if self.by_line:
            return int(field[0]) + 1 if field else 1
        return 1 if self._tree is None else line_of(self._tree, ("", *field))

    def name(self, field: Field) -> str:
        """Return the dotted name of a field; in JSON lines, its name on its line."""
        return ".".join(map(str, field[1:] if self.by_line else field))

    @cached_property
    def _tree(self) -> Map | None:
        """The lines of the document where YAML can read it too; they only serve messages."""
        try:
            return parse_tree(f'{{"": {self.text}}}'.encode(), "")
        except InputError:
            return None


class _Unusable(str):
    """What is wrong with a value, in the place of the value."""

    __slots__ = ()


def read_published(path: str | Path) -> Published:
    """Read one breakdown, a list of them, a whole result, or one breakdown on each line.

    JSON lines are told by the ending of the name, or by a first line that is an object on its own
    in a file that is not one document.
    """
    file, text = str(path), _read(Path(path), str(path))
    if Path(path).suffix.lower() in _JSON_LINES:
        return _of_lines(file, text)
    try:
        document = _parsed(text, file, 1)
    except DocumentError:
        if _begins_with_an_object(text):
            return _of_lines(file, text)
        raise
    return _of_document(file, text, document)


def _begins_with_an_object(text: str) -> bool:
    first = text.lstrip().partition("\n")[0]
    try:
        return isinstance(_parsed(first, "", 1), dict)
    except DocumentError:
        return False


def _of_lines(file: str, text: str) -> Published:
    rows: list[tuple[Field, Any]] = []
    problems: list[Problem] = []
    for index, line in enumerate(text.split("\n")):
        try:
            if line.strip():
                rows.append(((index,), _parsed(line, file, index + 1)))
        except DocumentError as error:
            problems += error.problems
    if problems:
        raise DocumentError(problems)
    return _checked(_published(file, text, rows, {}, by_line=True), rows)


def _of_document(file: str, text: str, document: Any) -> Published:
    totals = document if isinstance(document, dict) else {}
    rows: list[tuple[Field, Any]] = [((), document)]
    if isinstance(document, list):
        rows = [((index,), row) for index, row in enumerate(document)]
    elif isinstance(totals.get("items"), list):
        rows = [(("items", index), row) for index, row in enumerate(totals["items"])]
    return _checked(_published(file, text, rows, totals, by_line=False), rows)


def _published(
    file: str, text: str, rows: list[tuple[Field, Any]], document: Any, *, by_line: bool
) -> Published:
    records = tuple((place, row) for place, row in rows if not _unscored(row))
    return Published(
        file=file,
        text=text,
        records=records,
        rest=tuple(row for _, row in rows if _unscored(row)),
        document=document,
        by_line=by_line,
    )


def _unscored(row: Any) -> bool:
    """Return whether a row says that nothing was scored, and no number beside it."""
    if not isinstance(row, dict) or not {"score", "breakdown"} <= set(row):
        return False
    empty = all(row.get(key) is None for key in ("score", "breakdown", "weighted"))
    return empty and row.get("status") != "scored"


def _read(path: Path, file: str) -> str:
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            _refuse(file, 1, f"larger than {MAX_BYTES // 1024**2} MB, the most that is read")
        return data.decode("utf-8-sig")
    except OSError as error:
        _refuse(file, 1, f"cannot be read: {error.strerror or error}")
    except UnicodeDecodeError:
        _refuse(file, 1, "not UTF-8; save the file as UTF-8")


def _parsed(text: str, file: str, line: int) -> Any:
    try:
        return json.loads(
            text,
            parse_float=_exact,
            parse_int=_exact,
            parse_constant=_no_number,
            object_pairs_hook=_mapping,
        )
    except json.JSONDecodeError as error:
        _refuse(file, line + error.lineno - 1, f"not JSON: {error.msg}")
    except RecursionError:
        _refuse(file, line, "nested too deep")


def _exact(text: str) -> int | Decimal | _Unusable:
    if len(text) > _MAX_DIGITS:
        return _no_number(text)
    if text.lstrip("-").isdigit():
        return int(text)
    try:
        value = Decimal(text)
    except ArithmeticError:
        return _no_number(text)
    return value if abs(value.adjusted()) <= _MAX_EXPONENT else _no_number(text)


def _no_number(text: str) -> _Unusable:
    shown = text if len(text) <= 20 else f"{text[:19]}…"  # noqa: PLR2004 - enough to find it
    return _Unusable(f"{shown} is no number that can be used; finite ones of at most 100 digits")


def _mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object with its texts in NFC; a key that occurs twice has no value."""
    made: dict[str, Any] = {}
    for key, value in pairs:
        twice = _Unusable("the key occurs twice; each key may occur once")
        made[composed(key)] = twice if composed(key) in made else _composed(value)
    return made


def _composed(value: Any) -> Any:
    if isinstance(value, list):
        return [_composed(entry) for entry in value]
    plain = isinstance(value, str) and not isinstance(value, _Unusable)
    return composed(value) if plain else value


def _checked(published: Published, rows: list[tuple[Field, Any]]) -> Published:
    """Return what was read, or refuse it with everything that is wrong with its shape."""
    roots: list[tuple[Field, Any]] = [((), published.document)] if published.document else rows
    found = [problem for place, root in roots for problem in _unusable(root, place)]
    for place, record in published.records:
        found += [((*place, *field), message) for field, message in _shape_problems(record)]
    found += _summary_problems(published.document)
    if found:
        file, line, name = published.file, published.line, published.name
        raise DocumentError(
            Problem(file=file, line=line(field), field=name(field), message=message)
            for field, message in found
        )
    return published


def _unusable(value: Any, field: Field) -> Iterator[tuple[Field, str]]:
    """Yield the values inside that cannot be used, each with its place."""
    if isinstance(value, _Unusable):
        yield field, str(value)
    elif isinstance(value, dict | list):
        inside = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in inside:
            yield from _unusable(inner, (*field, key))


def _summary_problems(document: Mapping[str, Any]) -> Iterator[tuple[Field, str]]:
    summary = document.get("summary")
    if not isinstance(summary, dict | _Unusable | None):
        yield ("summary",), "must be a mapping"
    elif isinstance(summary, dict) and not isinstance(summary.get("axes"), dict | _Unusable | None):
        yield ("summary", "axes"), "must be a mapping of axes to numbers"


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
    if record.get("breakdown", {}) is None:
        found.append((("breakdown",), "must be a mapping, or null where nothing is scored"))
    for key in ("breakdown", "weighted"):
        found += _cell_problems(key, record.get(key))
    return found


def _cell_problems(key: str, cells: Any) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(cells, dict):
        for axis, value in cells.items():
            if not _number(value):
                yield (key, axis), "must be a number or null"
    elif not isinstance(cells, _Unusable | None):
        yield (key,), "must be a mapping of axes to numbers"


def _number(value: Any) -> bool:
    """Return whether it is a number or null, or was refused as a number already."""
    return isinstance(value, int | Decimal | _Unusable | None) and not isinstance(value, bool)


def _refuse(file: str, line: int, message: str) -> NoReturn:
    raise DocumentError([Problem(file=file, line=line, field="", message=message)])
