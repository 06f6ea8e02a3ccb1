"""Recorded answers as a subject: a file of answers, or a recording that is built in."""

from __future__ import annotations

from decimal import Decimal
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import orjson

from markscheme.ask.replies import Fault, Reply
from markscheme.ask.subjects.base import BaseSubject, Options
from markscheme.errors import AnswersError, Problem, UsageError
from markscheme.read.sources import built_in, locate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.ask.questions import Question


class ReplaySubject(BaseSubject):
    """Says again what was said to an item and attempt, with what was measured then."""

    def __init__(self, name: str, replies: dict[tuple[str, int], Reply]) -> None:
        self.name = name
        told = repr(sorted(replies.items(), key=lambda pair: pair[0]))
        self.parameters: dict[str, Any] = {"content": blake2b(told.encode()).hexdigest()[:40]}
        self._replies = replies

    async def ask(self, question: Question) -> Reply:
        """Look the answer up."""
        found = self._replies.get((question.item, question.attempt))
        return found or Reply.failed(Fault.FAILED, "the recording holds no answer to this item")


def _rows(source: str) -> Iterator[tuple[int, Any]]:
    path, shown = locate(source, "answers", ".jsonl")
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise UsageError(f"cannot read `{shown}`: {error.strerror or error}") from error
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                yield number, orjson.loads(line)
            except orjson.JSONDecodeError as error:
                told = Problem(file=shown, line=number, field="", message=f"not JSON: {error}")
                raise AnswersError([told]) from error


def _reply(row: Any) -> Reply:
    """Return an answers row as the reply that it records."""
    if "error" in row:
        return Reply.failed(Fault(row["error"]["kind"]), row["error"]["why"])
    output = row["output"]
    first, latency = row.get("first_token_ms"), row.get("latency_ms")
    return Reply(
        text=output if isinstance(output, str) else orjson.dumps(output).decode(),
        finish_reason=row.get("finish_reason"),
        tokens_in=row.get("tokens_in"),
        tokens_out=row.get("tokens_out"),
        cost=None if row.get("cost") is None else Decimal(str(row["cost"])),
        latency_us=None if latency is None else round(latency * 1000),
        first_token_us=None if first is None else round(first * 1000),
    )


def subject(rest: str, options: Options) -> ReplaySubject:
    """Read the recording; a row must name an item and hold an output or an error."""
    del options
    if not rest:
        known = ", ".join(built_in("answers", ".jsonl"))
        raise UsageError(f"`replay:` names no file; built in are {known}")
    replies: dict[tuple[str, int], Reply] = {}
    for number, row in _rows(rest):
        try:
            replies[row["item"], row.get("attempt", 1)] = _reply(row)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            told = f"must hold `item`, and `output` or `error`: {error!r}"
            problem = Problem(file=rest, line=number, field="", message=told)
            raise AnswersError([problem]) from error
    return ReplaySubject(f"replay:{rest}", replies)
