"""A file of another tool, as a tree whose fields know their line.

`parse_json_source`, `parse_jsonl_source` and `parse_yaml_source` return a `ForeignSource`; its
`ForeignRecord`s give typed access to objects. Mistakes and remarks are collected on the source,
so that all of them are reported at once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Protocol

from markscheme.read.documents import (
    FieldPath,
    YamlMapping,
    YamlSequence,
    decode_document,
    find_line,
    parse_yaml_value,
)
from markscheme.read.storable import find_text_fault
from markscheme.vocabulary import (
    InputError,
    Problem,
    describe_character,
    find_control_character,
    format_value,
)

MAX_TEXT_CHARACTERS = 100_000
"""The longest text that a document may hold; answers may be longer."""
_MAX_DIGITS = 50
_MAX_PROBLEMS = 1_000
# The tokens of JSON: a text, a sign, or a number or word.
_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)


class LineFinder(Protocol):
    """Finds the lines of many fields at once, or those of the objects that they are missing in."""

    def __call__(self, paths: Collection[FieldPath]) -> Mapping[FieldPath, int]:
        """Return the line of each path."""


@dataclass(slots=True, kw_only=True)
class ForeignSource:
    """The tree of a file, with what is wrong in it and what has no place in our documents."""

    file: str
    root: Any
    find_lines: LineFinder
    is_lines: bool = False
    problems: list[Problem] = field(default_factory=list)
    _faults: list[tuple[FieldPath, str]] = field(default_factory=list)
    _remarks: dict[tuple[str, str], list[FieldPath]] = field(default_factory=dict)

    def add_problem(self, path: FieldPath, message: str) -> None:
        """Record a mistake and go on."""
        if len(self._faults) < _MAX_PROBLEMS:
            self._faults.append((path, message))

    def add_remark(self, path: FieldPath, message: str) -> None:
        """Record what the reader should know. Equal remarks on fields of one name become one."""
        name = str(path[-1]) if path else ""
        self._remarks.setdefault((name, message), []).append(path)

    def raise_problems(self) -> None:
        """Raise an error with every mistake, if there is any.

        Raises:
            InputError: the file holds what cannot be understood or expressed.
        """
        lines = self.find_lines({path for path, _ in self._faults})
        faults = (self._build_problem(path, lines[path], text) for path, text in self._faults)
        if problems := [*self.problems, *faults]:
            raise InputError(problems)

    def list_remarks(self) -> tuple[Problem, ...]:
        """Return the remarks, each with the place where it occurs first and how often it does."""
        places = {key: paths[0] for key, paths in self._remarks.items()}
        lines = self.find_lines(set(places.values()))
        return tuple(
            self._build_problem(places[key], lines[places[key]], _count_times(key[1], len(paths)))
            for key, paths in self._remarks.items()
        )

    def _build_problem(self, path: FieldPath, line: int, message: str) -> Problem:
        parts = path[1:] if self.is_lines else path
        return Problem(file=self.file, line=line, field=".".join(map(str, parts)), message=message)


def _count_times(message: str, times: int) -> str:
    return message if times == 1 else f"{message} ({times:,} times; this is the first)"


class ForeignRecord:
    """An object in a source. Its getters report what is wrong and return an empty value then."""

    __slots__ = ("fields", "path", "source")

    def __init__(self, source: ForeignSource, path: FieldPath, fields: Mapping[str, Any]) -> None:
        self.source, self.path, self.fields = source, path, fields
        if isinstance(fields, _RepeatedKeys):
            for key in fields.repeated:
                self.add_problem(key, "the key occurs twice; each key may occur once")

    def add_problem(self, key: str | int, message: str) -> None:
        """Record a mistake in a field."""
        self.source.add_problem((*self.path, key), message)

    def add_remark(self, key: str | int, message: str) -> None:
        """Record a remark on a field."""
        self.source.add_remark((*self.path, key), message)

    def has(self, key: str) -> bool:
        """Return whether a field is there and is not null."""
        return self.fields.get(key) is not None

    def check_keys(self, known: Collection[str]) -> None:
        """Name the fields that have no place in our documents."""
        for key in self.fields:
            if key not in known:
                self.add_remark(key, "has no place in the documents: left out")

    def get_text(self, key: str, *, longest: int | None = MAX_TEXT_CHARACTERS) -> str:
        """Return a text, which must be there and not be empty."""
        value = self._get_required(key, str, "a text is needed")
        if value is None:
            return ""
        if not value.strip():
            self.add_problem(key, "is empty; a text is needed")
        return check_text(self.source, (*self.path, key), value, longest=longest)

    def get_optional_text(self, key: str, *, longest: int | None = MAX_TEXT_CHARACTERS) -> str:
        """Return a text; without the field, or if it is null or empty, an empty text."""
        is_empty = self.fields.get(key) is None or self.fields[key] == ""
        return "" if is_empty else self.get_text(key, longest=longest)

    def get_answer(self, key: str) -> str:
        """Return the text of an answer, which must be there and may be empty."""
        value = self._get_required(key, str, "a text is needed")
        path = (*self.path, key)
        return "" if value is None else check_text(self.source, path, value, longest=None)

    def get_number(self, key: str) -> Decimal:
        """Return a finite number, which must be there; if it is wrong, 1, so that checks go on."""
        value = self._get_required(key, int | Decimal, "a number is needed")
        if value is None or isinstance(value, bool):
            if value is not None:
                self.add_problem(key, f"is {format_value(value)}; a number is needed")
            return Decimal(1)
        number = Decimal(value)
        if not number.is_finite() or len(format(number, "f")) > _MAX_DIGITS:
            self.add_problem(key, f"numbers of up to {_MAX_DIGITS} digits can be used")
            return Decimal(1)
        return number

    def get_flag(self, key: str) -> bool | None:
        """Return true or false, or None after reporting that it is neither."""
        flag = self._get_required(key, bool, "true or false is needed")
        return flag if isinstance(flag, bool) else None

    def get_list(self, key: str) -> list[Any]:
        """Return a list, which must be there."""
        return self._get_required(key, list, "a list is needed") or []

    def get_texts(self, key: str, *, longest: int | None = MAX_TEXT_CHARACTERS) -> list[str]:
        """Return a list of texts; an entry that is no text is reported and left out."""
        texts = []
        for index, value in enumerate(self.get_list(key)):
            path = (*self.path, key, index)
            if isinstance(value, str):
                texts.append(check_text(self.source, path, value, longest=longest))
            else:
                self.source.add_problem(path, f"is {format_value(value)}; a text is needed")
        return texts

    def get_record(self, key: str) -> ForeignRecord | None:
        """Return an object, which must be there; None if it is not."""
        value = self._get_required(key, dict, "an object is needed")
        return None if value is None else ForeignRecord(self.source, (*self.path, key), value)

    def get_records(self, key: str) -> list[ForeignRecord]:
        """Return a list of objects; an entry that is no object is reported and left out."""
        return list(iterate_records(self.source, (*self.path, key), self.get_list(key)))

    def _get_required(self, key: str, kind: Any, needed: str) -> Any:
        value = self.fields.get(key)
        if key not in self.fields:
            self.add_problem(key, f"is missing; {needed}")
        elif not isinstance(value, kind):
            self.add_problem(key, f"is {format_value(value)}; {needed}")
            return None
        return value


def iterate_records(
    source: ForeignSource, path: FieldPath, values: Sequence[Any]
) -> Iterator[ForeignRecord]:
    """Yield the objects of a list; report the entries that are none."""
    for index, value in enumerate(values):
        if isinstance(value, dict):
            yield ForeignRecord(source, (*path, index), value)
        else:
            source.add_problem((*path, index), f"is {format_value(value)}; an object is needed")


def check_text(source: ForeignSource, path: FieldPath, text: str, *, longest: int | None) -> str:
    """Report a text that our documents cannot hold; return the text, or an empty one then."""
    if fault := find_text_fault(text):
        source.add_problem(path, f"holds {fault}")
        return ""
    if longest is not None and len(text) > longest:
        message = f"has {len(text):,} characters; a document takes texts of up to {longest:,}"
        source.add_problem(path, message)
        return ""
    return text


def check_tag_value(source: ForeignSource, path: FieldPath, text: str) -> str:
    """Report a control character in what becomes the value of a tag; return the text."""
    if character := find_control_character(text):
        shown = describe_character(character) if len(character) == 1 else character
        source.add_problem(path, f"holds the control character `{shown}`; tags have none")
    return text


# Parsing


class _RepeatedKeys(dict[str, Any]):
    """An object in which keys occur twice."""

    repeated: tuple[str, ...] = ()


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) == len(pairs):
        return entries
    keys = [key for key, _ in pairs]
    repeated = _RepeatedKeys(entries)
    repeated.repeated = tuple(sorted({key for key in keys if keys.count(key) > 1}))
    return repeated


_DECODER = json.JSONDecoder(object_pairs_hook=_build_object, parse_float=Decimal)


def _parse_json(text: str) -> tuple[Any, str | None, int]:
    """Return the value of a JSON text, or why it is none and on which line of the text."""
    try:
        return _DECODER.decode(text), None, 1
    except json.JSONDecodeError as error:
        return None, f"not JSON: {error.msg}", error.lineno
    except RecursionError:
        return None, "is nested too deeply to be read", 1
    except ValueError:
        return None, "not JSON: a number has too many digits", 1


def parse_json_source(data: bytes, file: str) -> ForeignSource:
    """Parse one JSON value.

    Raises:
        InputError: the file is not UTF-8 or not JSON.
    """
    text = decode_document(data, file)
    root, fault, line = _parse_json(text)
    if fault is not None:
        raise InputError([Problem(file=file, line=line, field="", message=fault)])

    def find_lines(paths: Collection[FieldPath]) -> Mapping[FieldPath, int]:
        return find_json_lines(text, paths)

    return ForeignSource(file=file, root=root, find_lines=find_lines)


def parse_jsonl_source(data: bytes, file: str) -> ForeignSource:
    """Parse JSON lines: the root is the list of rows. A line that is not JSON is a problem."""
    rows, numbers, problems = [], [], []
    for number, line in enumerate(decode_document(data, file).split("\n"), start=1):
        if not line.strip():
            continue
        value, fault, _ = _parse_json(line)
        if fault is not None:
            problems.append(Problem(file=file, line=number, field="", message=fault))
            continue
        rows.append(value)
        numbers.append(number)

    def find_lines(paths: Collection[FieldPath]) -> Mapping[FieldPath, int]:
        return {path: numbers[int(path[0])] if path else 1 for path in paths}

    return ForeignSource(
        file=file, root=rows, find_lines=find_lines, is_lines=True, problems=problems
    )


def parse_yaml_source(data: bytes, file: str) -> ForeignSource:
    """Parse one YAML document, which may be a list.

    Raises:
        DocumentError: the file is not YAML, or uses something that is not allowed.
    """
    root, problems = parse_yaml_value(decode_document(data, file), file)

    def find_lines(paths: Collection[FieldPath]) -> Mapping[FieldPath, int]:
        is_tree = isinstance(root, YamlMapping | YamlSequence)
        return {path: find_line(root, path) if is_tree else 1 for path in paths}

    return ForeignSource(file=file, root=root, find_lines=find_lines, problems=list(problems))


def find_json_lines(text: str, paths: Collection[FieldPath]) -> Mapping[FieldPath, int]:
    r"""Return the line of each field in a JSON text, or that of the deepest part that is there.

    >>> find_json_lines('{"a":\n [{"b": 1},\n  {}]}', [("a", 0, "b"), ("a", 1, "c")])
    {('a', 0, 'b'): 2, ('a', 1, 'c'): 3}
    """
    wanted = {path[:depth] for path in paths for depth in range(1, len(path) + 1)}
    lines: dict[FieldPath, int] = {(): 1}
    if wanted:
        for path, line in _iterate_json_paths(text):
            if path in wanted:
                lines.setdefault(path, line)
    return {
        path: next(
            lines[path[:depth]] for depth in range(len(path), -1, -1) if path[:depth] in lines
        )
        for path in paths
    }


def _iterate_json_paths(text: str) -> Iterator[tuple[FieldPath, int]]:
    """Yield the path and line of each key and list entry of a valid JSON text."""
    # For each open container, the key or index of the value that is being read; of an object,
    # None where a key comes next.
    place: list[str | int | None] = []
    line, counted, is_new = 1, 0, True
    for token in _JSON_TOKEN.finditer(text):
        sign = token[0]
        line += text.count("\n", counted, token.start())
        counted = token.start()
        if sign == ",":
            last = place[-1]
            place[-1] = last + 1 if isinstance(last, int) else None
            is_new = True
        elif sign in "]}":
            place.pop()
            is_new = False
        elif sign == ":":
            is_new = False
        elif place and place[-1] is None:
            place[-1] = json.loads(sign)
            yield tuple(place), line  # type: ignore[arg-type]
            is_new = False
        else:
            if is_new and place:
                yield tuple(place), line  # type: ignore[arg-type]
            is_new = sign in "[{"
            if is_new:
                place.append(None if sign == "{" else 0)
