"""Recorded answers as a subject: an answers file, or a built-in recording."""

from __future__ import annotations

from codecs import BOM_UTF8
from decimal import Decimal
from hashlib import blake2b
from typing import Any

import orjson
from msgspec import structs

from markscheme.ask.questions import Question
from markscheme.ask.replies import Fault, Reply
from markscheme.ask.subjects.base import BaseSubject, SubjectOptions
from markscheme.read.answers import (
    KnownItems,
    RefusedRow,
    parse_answer,
    parse_integer,
    parse_number,
)
from markscheme.read.documents import list_builtin_names, locate_document
from markscheme.read.nfc import to_nfc
from markscheme.read.special_files import describe_special_file
from markscheme.vocabulary import AnswersError, Problem, UsageError, format_plain, format_value

RecordingKey = tuple[str, int]  # item and attempt
_MAX_PROBLEMS = 20  # problems listed one by one; a file with more is most likely no recording


class ReplaySubject(BaseSubject):
    """Returns the recorded reply to an item and attempt, with the figures measured back then."""

    supported_options = frozenset({"price"})

    def __init__(
        self, name: str, replies: dict[RecordingKey, Reply], options: SubjectOptions
    ) -> None:
        self.name = name
        # The content is a parameter, so that `--resume` asks anew when the file changes.
        content = repr(sorted(replies.items(), key=lambda pair: pair[0]))
        self.parameters: dict[str, Any] = {"content": blake2b(content.encode()).hexdigest()[:40]}
        self._replies = replies
        self._options = options

    async def ask(self, question: Question) -> Reply:
        """Look the reply up."""
        reply = self._replies.get((question.item, question.attempt))
        if reply is None:
            return Reply.from_fault(Fault.FAILED, "the recording holds no answer to this item")
        return self._options.add_cost(reply)


class _RecordingReader:
    """Reads the rows of a recording, and collects replies and problems."""

    def __init__(self, file: str) -> None:
        self.replies: dict[RecordingKey, Reply] = {}
        self.problems: list[Problem] = []
        self._file = file
        self._lines: dict[RecordingKey, int] = {}
        self._subject: str | None = None

    def add_row(self, number: int, line: bytes) -> None:
        """Read one row."""
        try:
            key, subject, reply = _parse_recorded_row(line)
            self._check_row(key, subject)
        except (RefusedRow, orjson.JSONDecodeError) as error:
            prefix = "not JSON: " if isinstance(error, orjson.JSONDecodeError) else ""
            message = f"{prefix}{error}"
            self.problems.append(Problem(file=self._file, line=number, field="", message=message))
        else:
            self._lines[key], self.replies[key] = number, reply
            self._subject = self._subject or subject

    def _check_row(self, key: RecordingKey, subject: str | None) -> None:
        """Refuse a row of another subject, and a second reply to the same item and attempt."""
        if self._subject and subject and subject != self._subject:
            other, first = format_value(subject), format_value(self._subject)
            why = f"an answer of {other}, but those above are of {first}"
            raise RefusedRow(f"{why}; one subject is replayed at a time")
        if key in self._lines:
            why = f"item {format_value(key[0])}, attempt {key[1]} is there twice"
            raise RefusedRow(f"{why}: line {self._lines[key]} holds it too")


def _parse_recorded_row(line: bytes) -> tuple[RecordingKey, str | None, Reply]:
    """Parse a row of an answers file, by the rules of `score`, as the reply that it records."""
    row = orjson.loads(line)
    item = row.get("item") if isinstance(row, dict) else None
    known = KnownItems([to_nfc(item)] if isinstance(item, str) else [])
    failed = isinstance(row, dict) and row.get("error") is not None
    # A row with an error has no output, which `score` would refuse.
    answer = {**row, "output": ""} if failed else row
    item, output, subject, attempt, latency, tokens_in, tokens_out, cost = parse_answer(
        answer, known
    )
    text = output if isinstance(output, str) else orjson.dumps(output).decode()
    fault, why = _parse_fault(row["error"]) if failed else (None, "")
    finish_reason, cached, served = (row.get(key) for key in ("finish_reason", "cached", "served"))
    if not isinstance(finish_reason, str | None):
        raise RefusedRow("`finish_reason` must be text")
    if not isinstance(served, str | None):
        raise RefusedRow("`served` must be text")
    if not isinstance(cached, bool | None):
        raise RefusedRow("`cached` must be true or false")
    reply = Reply(
        text=None if failed else text,
        fault=fault,
        why=why,
        finish_reason=finish_reason,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost=None if cost is None else Decimal(format_plain(Decimal(str(cost)))),
        latency_us=_to_microseconds(latency),
        first_token_us=_to_microseconds(parse_number("first_token_ms", row.get("first_token_ms"))),
        cached=bool(cached),
        served=served,
        tries=parse_integer("tries", row.get("tries"), 1),
    )
    return (item, attempt), subject, reply


def _parse_fault(error: Any) -> tuple[Fault, str]:
    kinds = ", ".join(Fault)
    match error:
        case {"kind": str(kind), "why": str(why)} if kind in set(Fault):
            return Fault(kind), why
    raise RefusedRow(f"`error` must be an object with `why` and `kind`, which is one of {kinds}")


def _to_microseconds(milliseconds: float | None) -> int | None:
    return None if milliseconds is None else round(milliseconds * 1000)


def _read_recording(source: str) -> dict[RecordingKey, Reply]:
    path, file = locate_document(source, "answers", ".jsonl")
    if fault := describe_special_file(path):
        raise UsageError(f"`{file}` {fault}")
    try:
        lines = path.read_bytes().removeprefix(BOM_UTF8).splitlines()
    except OSError as error:
        raise UsageError(f"cannot read `{file}`: {error.strerror or error}") from error
    recording = _RecordingReader(file)
    for number, line in enumerate(lines, start=1):
        if line.strip():
            recording.add_row(number, line)
    if recording.problems:
        problems = recording.problems[:_MAX_PROBLEMS]
        left = len(recording.problems) - _MAX_PROBLEMS
        if left > 0:
            more = f"{left:,} more lines from here on cannot be replayed"
            problems.append(structs.replace(recording.problems[_MAX_PROBLEMS], message=more))
        raise AnswersError(problems)
    return recording.replies


def create_replay_subject(rest: str, options: SubjectOptions) -> ReplaySubject:
    """Read the recording, and create its subject.

    Each row must name an item and hold an output or an error.
    """
    if not rest:
        known = ", ".join(list_builtin_names("answers", ".jsonl"))
        raise UsageError(f"`replay:` names no file; built in are {known}")
    return ReplaySubject(f"replay:{rest}", _read_recording(rest), options)
