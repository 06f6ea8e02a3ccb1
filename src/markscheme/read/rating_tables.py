"""Tables of ratings as people keep them: any delimiter, any Unicode encoding, workbooks, wide rows.

A long table has one row for each rating, with the columns `axis` and `score`. A wide table has one
row for each answer, and one column for each axis. `parse_layout` tells them apart by the header;
`RatingLayout.split_row` turns a row of either kind into ratings. Columns of other names are left
out. What a header may mean in two ways is refused.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from markscheme.read.documents import suggest_match
from markscheme.vocabulary import ChoiceAxis, NoteAxis, ScaleAxis, UsageError, format_value

RatedQuestion: TypeAlias = ScaleAxis | ChoiceAxis | NoteAxis
"""An axis that can have a column of its own in a table of ratings."""

WORKBOOK_SUFFIXES = (".xlsx", ".xlsm", ".xls", ".ods")
_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_UTF_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    # UTF-32 before UTF-16: its mark begins with that of UTF-16.
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
# Excel writes this line to name the delimiter of the file.
_DELIMITER_LINE = re.compile(rb'\A"?sep=(.)"?\r?\n')
_SAMPLE_BYTES = 1_000
_MIN_NAMES = 2


class TableError(ValueError):
    """A table cannot be read at all; `column` is the part of the file that it is about."""

    def __init__(self, message: str, column: str = "") -> None:
        super().__init__(message)
        self.column = column


def decode_table(data: bytes) -> bytes:
    """Return a text file as UTF-8 without a byte order mark; UTF-16 is detected by mark or zeros.

    Bytes that are not Unicode are left as they are: whether they are Latin-1 or another code page
    cannot be told, so the reader refuses them with their lines.

    Raises:
        TableError: the bytes are no text.
    """
    mark = next((mark for mark in _UTF_MARKS if data.startswith(mark)), b"")
    encoding = _UTF_MARKS.get(mark) or _guess_unmarked_encoding(data)
    if encoding == "utf-8":
        return data.removeprefix(mark)
    try:
        return data[len(mark) :].decode(encoding).encode()
    except UnicodeError as error:
        message = (
            f"begins as {encoding.upper()}, but is broken at byte {getattr(error, 'start', 0)}"
        )
        raise TableError(f"{message}; save it as UTF-8") from error


def _guess_unmarked_encoding(data: bytes) -> str:
    sample = data[:_SAMPLE_BYTES]
    if b"\0" not in sample:
        return "utf-8"
    even, odd = sample[::2], sample[1::2]
    if odd.count(0) > len(odd) // 2 and not even.count(0):
        return "utf-16-le"
    if even.count(0) > len(even) // 2 and not odd.count(0):
        return "utf-16-be"
    raise TableError("this is no text; save it as CSV in UTF-8, or name a workbook `.xlsx`")


def split_delimiter_line(data: bytes) -> tuple[str | None, bytes]:
    """Return the delimiter that Excel's `sep=` line names, if there is one, and a blank line."""
    match = _DELIMITER_LINE.match(data)
    if match is None:
        return None, data
    # The line stays, empty, so that line numbers are those of the file.
    return match[1].decode("latin-1"), b"\n" + data[match.end() :]


def find_delimiter(header: str, names: Collection[str]) -> str:
    """Return the delimiter that splits a header into most of these names; a comma if none does.

    Raises:
        TableError: two delimiters split it equally well.
    """
    counts = {}
    for delimiter in _DELIMITERS:
        try:
            cells = next(csv.reader([header], delimiter=delimiter), [])
        except csv.Error:
            cells = []
        counts[delimiter] = sum(cell.strip().casefold() in names for cell in cells)
    most = max(counts.values())
    best = [delimiter for delimiter, count in counts.items() if count == most]
    if most >= _MIN_NAMES and len(best) > 1:
        told = " or ".join(_DELIMITERS[delimiter] for delimiter in best)
        raise TableError(f"the columns may be separated by {told}; use one of them", "header")
    return best[0] if most >= _MIN_NAMES else ","


def read_workbook(path: Path, names: Collection[str] | None) -> Iterator[tuple[int, list[Any]]]:
    """Yield the rows of the sheet with the ratings, each with its number; the header comes first.

    `names` are those that a header may hold; without them, it may hold any.

    Raises:
        UsageError: the package that reads workbooks is not installed.
        TableError: it is no workbook, or not exactly one sheet has a header of these names.
    """
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError as error:
        message = f"`{path}` is a workbook; to read it: pip install 'markscheme[xlsx]'"
        raise UsageError(f"{message}; or save it as CSV") from error
    try:
        with CalamineWorkbook.from_path(path) as workbook:
            sheets = {
                name: workbook.get_sheet_by_name(name).to_python(skip_empty_area=False)
                for name in workbook.sheet_names
            }
    # The reader is written in Rust, and its panics are no `Exception` of Python's own kinds.
    except (CalamineError, OSError, ValueError) as error:
        raise TableError(f"cannot be read as a workbook: {error}") from error
    rated = [name for name, rows in sheets.items() if _has_header(rows, names)]
    if len(rated) != 1:
        what = "no sheet has" if not rated else f"the sheets {', '.join(rated)} all have"
        message = f"{what} a header with item, variant and rater; one sheet must have it"
        raise TableError(message, "header")
    for number, row in enumerate(sheets[rated[0]], start=1):
        cells = [_convert_workbook_cell(cell) for cell in row]
        if any(cell != "" for cell in cells):
            yield number, cells


def _has_header(rows: Sequence[Sequence[Any]], names: Collection[str] | None) -> bool:
    first = next((row for row in rows if any(cell != "" for cell in row)), [])
    header = {str(cell).strip().casefold() for cell in first} - {""}
    needed = {"item", "variant", "rater"}
    known = header if names is None else header & set(names)
    return needed <= header and known > needed


def _convert_workbook_cell(cell: Any) -> Any:
    """Return a cell as CSV would have it: workbooks keep every number as a float."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return cell if isinstance(cell, str | bool) else str(cell)


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisColumn:
    """The columns of one axis in a wide table: its score or words, and notes on it."""

    axis: str
    header: str
    value: int | None = None
    note: int | None = None
    is_note_axis: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingLayout:
    """What each column of a table holds: `shared` columns by name, and those of the axes."""

    width: int
    headers: tuple[str, ...]
    shared: Mapping[str, int]
    axes: tuple[AxisColumn, ...] = ()

    def split_row(self, cells: Sequence[Any]) -> Iterator[tuple[dict[str, Any], dict[str, str]]]:
        """Yield the ratings in a row, each with the headers that its problems should name.

        A note of the whole row is kept with its first score: a wide table does not say which axis
        it is about. A note axis without words was not answered.
        """
        shared = {name: cells[at] for name, at in self.shared.items()}
        if not self.axes:
            yield shared, {}
            return
        row_note = shared.pop("note", "")
        for column in self.axes:
            value = "" if column.value is None else cells[column.value]
            note = "" if column.note is None else cells[column.note]
            named = dict.fromkeys(("axis", "score", "note"), column.header)
            if column.is_note_axis:
                if str(value).strip():
                    yield {**shared, "axis": column.axis, "score": "", "note": value}, named
                continue
            if str(row_note).strip():
                note, row_note = "; ".join(filter(None, (str(note).strip(), str(row_note)))), ""
            yield {**shared, "axis": column.axis, "score": value, "note": note}, named


def parse_layout(
    header: Sequence[Any],
    columns: Sequence[str],
    required: Sequence[str],
    axes: Sequence[RatedQuestion] | None,
) -> tuple[RatingLayout, list[tuple[str, str]]]:
    """Return the layout that a header stands for, and its problems as (field, message).

    `columns` are those of a long table, `required` the ones that it must have. Without `axes`, all
    other columns of a table that is not long are axes.
    """
    names = [str(name).strip() for name in header]
    folded = [name.casefold() for name in names]
    if axes is None:
        axes = _find_unnamed_axes(names, columns)
    parser = _HeaderParser(names, folded, columns, axes)
    parser.parse()
    wide = bool(parser.values)
    if wide and (mixed := [name for name in ("axis", "score") if name in parser.shared]):
        told = ", ".join(parser.values)
        message = f"stands beside columns of axes ({told}); keep one column for each axis, or one"
        parser.problems += [(name, f"{message} row for each score") for name in mixed]
    needed = [name for name in required if not wide or name not in {"axis", "score"}]
    listed = ", ".join(columns)
    for name in needed:
        if name not in parser.shared:
            more = "" if wide or name not in {"axis", "score"} else "; or a column for each axis"
            parser.problems.append((name, f"the column is missing; columns: {listed}{more}"))
    kinds = {axis.name: isinstance(axis, NoteAxis) for axis in axes}
    layout = RatingLayout(
        width=len(names),
        headers=tuple(names),
        shared=parser.shared,
        axes=tuple(
            AxisColumn(
                axis=axis.name,
                header=names[parser.values[axis.name]],
                value=parser.values[axis.name],
                note=parser.notes.get(axis.name),
                is_note_axis=kinds[axis.name],
            )
            for axis in axes
            if axis.name in parser.values
        ),
    )
    return layout, parser.problems


def _find_unnamed_axes(names: Sequence[str], columns: Sequence[str]) -> list[ScaleAxis]:
    """Return an axis for each column of a wide table that is no known column and no note."""
    folded = {name.casefold() for name in names}
    if folded & {"axis", "score"}:
        return []
    axes = [name for name in names if name and name.casefold() not in columns]
    noted = {f"{name} note".casefold() for name in axes}
    return [ScaleAxis(name=n, question="", anchors={}) for n in axes if n.casefold() not in noted]


def list_axis_headers(axes: Sequence[RatedQuestion]) -> dict[str, str]:
    """Return the axis that each header means: the name of an axis, its label, or its own title."""
    titles = [axis.title.casefold() for axis in axes]
    headers: dict[str, str] = {}
    for axis in axes:
        label = f"{axis.name} {axis.title}".strip()
        headers |= dict.fromkeys((axis.name.casefold(), label.casefold()), axis.name)
        title = axis.title.casefold()
        if title and titles.count(title) == 1:
            headers.setdefault(title, axis.name)
    return headers


class _HeaderParser:
    """Sorts the columns of a header: shared ones, values and notes of axes; others are left out."""

    def __init__(
        self,
        names: Sequence[str],
        folded: Sequence[str],
        columns: Sequence[str],
        axes: Sequence[RatedQuestion],
    ) -> None:
        self._names, self._folded, self._columns = names, folded, columns
        self._axis_headers = list_axis_headers(axes)
        self.shared: dict[str, int] = {}
        self.values: dict[str, int] = {}
        self.notes: dict[str, int] = {}
        self.problems: list[tuple[str, str]] = []

    def parse(self) -> None:
        """Sort every column; collect the problems."""
        for at, name in enumerate(self._folded):
            if name in self._columns:
                self._place(self.shared, name, at)
            elif name in self._axis_headers:
                self._place(self.values, self._axis_headers[name], at)
            elif (axis := self._find_noted_axis(name)) is not None:
                self._place(self.notes, axis, at)
            elif name:
                self._check_unknown(at, name)

    def _place(self, group: dict[str, int], key: str, at: int) -> None:
        if key in group:
            message = "the column occurs twice"
            if self._folded[group[key]] != self._folded[at]:
                message = f"means the same as the column {format_value(self._names[group[key]])}"
            self.problems.append((self._names[at], message))
        group.setdefault(key, at)

    def _find_noted_axis(self, name: str) -> str | None:
        """Return the axis of a column such as `Q-01 note`, `Q-01_note` or `note Q-01`."""
        match = re.fullmatch(r"(?:note[ _:-]+)?(.+?)(?:[ _:-]+note)?", name)
        inner = match[1] if match is not None else name
        return self._axis_headers.get(inner) if inner != name else None

    def _check_unknown(self, at: int, name: str) -> None:
        """Refuse a column whose name is nearly a known one: it may be a slip of the pen."""
        hint = suggest_match(name, [*self._columns, *self._axis_headers])
        if hint:
            listed = ", ".join(self._columns)
            message = f"unknown column {format_value(name)}; columns: {listed}{hint}"
            self.problems.append((f"column {at + 1}", message))
