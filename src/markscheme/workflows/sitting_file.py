"""The append-only file of one rater's sittings. It names no variant.

It lies beside the file of ratings and holds JSON lines: who rates and with which seed, the places
of the answers in the rater's order (each answer under a blind key), then every mark in the order in
which it was given. A later mark of the same answer and axis replaces an earlier one, and a mark can
be withdrawn. A mark is on the disk when `add_mark` returns, so nothing that a rater was shown as
accepted is lost when the process is killed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from errno import ENOSPC
from hashlib import sha256
from io import FileIO
from pathlib import Path
from typing import Any, TypeVar

from markscheme.vocabulary import InputError, Problem, UsageError, format_value
from markscheme.workflows.rating_file import acquire_lock, sync_file

Value = TypeVar("Value")

SITTING_SUFFIX = ".sitting.jsonl"
_FILE_VERSION = 1
_PLAIN_NAME = re.compile(r"[a-z0-9_-]{1,40}")
_OTHER_CHARACTERS = re.compile(r"[^a-z0-9_-]+")
_ALLOWED = "a line that `markscheme rate` wrote"


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindPlace:
    """A place in a rater's order: its number from 1, the item, and the blind key of the answer."""

    order: int
    item: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SittingMark:
    """What a rater said about one axis of one answer. `text_key` is a digest of the answer.

    A mark without a score and without a note says that the rater was asked for a note and had
    none. `order_known` is false for marks that were read from a file of ratings.
    """

    score: int | None
    note: str
    text_key: str
    at: str | None
    order_known: bool = True


@dataclass(slots=True, kw_only=True)
class SittingRecord:
    """What a sitting file says; `unwritten` are marks changed since the ratings were written."""

    rater: str
    seed: int
    places: list[BlindPlace]
    marks: dict[tuple[int, str], SittingMark]
    unwritten: set[tuple[int, str]]


def find_sitting_path(ratings: Path, rater: str) -> Path:
    """Return the path of a rater's sitting file; names that could clash get a digest."""
    if _PLAIN_NAME.fullmatch(rater):
        name = rater
    else:
        plain = _OTHER_CHARACTERS.sub("-", rater.lower()).strip("-")[:40]
        name = f"{plain}-{sha256(rater.encode()).hexdigest()[:8]}".lstrip("-")
    return ratings.with_name(f"{ratings.stem}.{name}{SITTING_SUFFIX}")


class SittingFile:
    """An open sitting file. It is locked until it is closed: a rater sits in one terminal only."""

    def __init__(self, path: Path, rater: str, seed: int | None) -> None:
        """Open the file, or create it; `seed` is needed for a new one only, and is 0 by default."""
        self.path = path
        self._file: FileIO | None = None
        try:
            self.record = self._open_file(rater, seed)
            self._check_owner(rater, seed)
        except OSError as error:
            self.close()
            raise UsageError(f"`{path}` cannot be written: {error.strerror or error}") from error
        except BaseException:
            self.close()
            raise

    def _open_file(self, rater: str, seed: int | None) -> SittingRecord:
        # Unbuffered: after a failed write nothing may be written later.
        self._file = self.path.open("a+b", buffering=0)
        if not acquire_lock(self._file, wait=False):
            raise UsageError(
                f"`{rater}` is rating in another terminal (`{self.path}` is in use); end that first"
            )
        self._file.seek(0)
        data = self._cut_torn_line(self._file.read())
        if not data:
            head = {"sitting": _FILE_VERSION, "rater": rater, "seed": seed or 0}
            data = _format_line(head)
            self._append([head])
        return _parse_sitting(data, self.path)

    def _cut_torn_line(self, data: bytes) -> bytes:
        """Cut a last line that was never finished: the rater was not told that it was accepted."""
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data) and self._file is not None:
            self._file.truncate(len(whole))
            sync_file(self._file)
        return whole

    def _check_owner(self, rater: str, seed: int | None) -> None:
        if self.record.rater != rater:
            raise UsageError(f"`{self.path}` belongs to the rater `{self.record.rater}`")
        if seed not in {None, self.record.seed}:
            message = f"`{rater}` began with --seed {self.record.seed} (`{self.path}`)"
            raise UsageError(f"{message}; leave --seed out, or write to another --output")

    def close(self) -> None:
        """Close the file and release its lock."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def add_places(self, places: Sequence[BlindPlace]) -> None:
        """Append places to the order."""
        self._append(
            {"order": place.order, "item": place.item, "answer": place.key} for place in places
        )
        self.record.places += places

    def add_marks(self, marks: Mapping[tuple[int, str], SittingMark | None]) -> None:
        """Append marks; they are on the disk when this returns. `None` withdraws a mark."""
        self._append(_build_mark_line(*key, mark) for key, mark in marks.items())
        for key, mark in marks.items():
            _apply_mark(self.record, key, mark)

    def add_written(self, at: str) -> None:
        """Record that the ratings were written under the names of their variants."""
        self._append([{"written": at}])
        self.record.unwritten.clear()

    def _append(self, lines: Iterable[Mapping[str, Any]]) -> None:
        content = b"".join(map(_format_line, lines))
        if self._file is None or not content:
            return
        try:
            if self._file.write(content) < len(content):
                raise OSError(ENOSPC, "No space left on device")  # noqa: TRY301
            sync_file(self._file)
        except OSError as error:
            message = f"`{self.path}` cannot be written: {error.strerror or error}"
            raise UsageError(message) from error


def _build_mark_line(order: int, axis: str, mark: SittingMark | None) -> dict[str, Any]:
    place: dict[str, Any] = {"order": order, "axis": axis}
    if mark is None:
        return {**place, "withdrawn": True}
    line = {**place, "score": mark.score, "note": mark.note, "text": mark.text_key, "at": mark.at}
    return line if mark.order_known else {**line, "order_known": False}


def _format_line(line: Mapping[str, Any]) -> bytes:
    return json.dumps(line, ensure_ascii=False).encode() + b"\n"


def _apply_mark(record: SittingRecord, key: tuple[int, str], mark: SittingMark | None) -> None:
    record.unwritten.add(key)
    if mark is None:
        record.marks.pop(key, None)
    else:
        record.marks[key] = mark


def _parse_sitting(data: bytes, path: Path) -> SittingRecord:
    """Return what a sitting file says; raise `InputError` with every line that is wrong."""
    problems: list[Problem] = []
    record: SittingRecord | None = None
    for number, raw in enumerate(data.split(b"\n")[:-1], start=1):
        try:
            line = json.loads(raw)
            if not isinstance(line, dict):
                raise TypeError  # noqa: TRY301 - one place says what is allowed
            if record is None:
                record = _parse_head(line)
            else:
                _apply_line(record, line)
        except (ValueError, TypeError, KeyError, RecursionError):
            shown = format_value(raw.decode(errors="replace")[:80])
            message = f"{shown} cannot be read; needed is {_ALLOWED}"
            problems.append(Problem(file=str(path), line=number, field="line", message=message))
            if record is None:
                break
    if record is None and not problems:
        problems.append(
            Problem(file=str(path), line=1, field="line", message=f"is empty; needed is {_ALLOWED}")
        )
    if record is None or problems:
        raise InputError(problems)
    return record


def _parse_head(line: Mapping[str, Any]) -> SittingRecord:
    if line["sitting"] != _FILE_VERSION:
        raise ValueError
    rater, seed = _expect(line["rater"], str), _expect(line["seed"], int)
    return SittingRecord(rater=rater, seed=seed, places=[], marks={}, unwritten=set())


def _apply_line(record: SittingRecord, line: Mapping[str, Any]) -> None:
    """Apply one line to the record; raise `ValueError`, `TypeError` or `KeyError` for a bad one."""
    if "written" in line:
        record.unwritten.clear()
        return
    order = _expect(line["order"], int)
    if "item" in line:
        if order != len(record.places) + 1:
            raise ValueError
        item, key = _expect(line["item"], str), _expect(line["answer"], str)
        record.places.append(BlindPlace(order=order, item=item, key=key))
        return
    if not 1 <= order <= len(record.places):
        raise ValueError
    axis = _expect(line["axis"], str)
    if line.get("withdrawn"):
        _apply_mark(record, (order, axis), None)
        return
    mark = SittingMark(
        score=None if line["score"] is None else _expect(line["score"], int),
        note=_expect(line["note"], str),
        text_key=_expect(line["text"], str),
        at=None if line["at"] is None else _expect(line["at"], str),
        order_known=line.get("order_known", True) is True,
    )
    _apply_mark(record, (order, axis), mark)


def _expect(value: Any, kind: type[Value]) -> Value:
    """Return a value of exactly this type; raise `TypeError` for any other (a bool is no int)."""
    if type(value) is not kind:
        raise TypeError
    return value
