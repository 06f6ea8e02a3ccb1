"""Find the item that an answer of another tool belongs to, and number its attempts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from markscheme.read.answers import RefusedRow
from markscheme.vocabulary import Exam, format_value

_MEASURES = ("latency_ms", "tokens_in", "tokens_out", "cost")


class ToolAnswer(Struct, frozen=True, kw_only=True):
    """One answer as another tool recorded it.

    `names` may name the item, the likeliest first. If none does, the item is the only one whose
    prompt equals `prompt`. An answer with a `refusal` could not be given or read. Without an
    `attempt`, answers of one subject to one item are numbered in their order.
    """

    names: tuple[str, ...]
    prompt: str = ""
    output: Any = None
    refusal: str = ""
    subject: str | None = None
    attempt: int | None = None
    latency_ms: float | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None


def place_answers(answers: Iterable[ToolAnswer], exam: Exam) -> Iterator[Any]:
    """Yield each answer as a row of `read_rows`, or as a refused row with its reason."""
    ids = {item.id for item in exam.items}
    prompts = Counter(_fold(item.prompt) for item in exam.items)
    by_prompt = {
        _fold(item.prompt): item.id for item in exam.items if prompts[_fold(item.prompt)] == 1
    }
    attempts: Counter[tuple[str | None, str]] = Counter()
    for answer in answers:
        item = next((name for name in answer.names if name in ids), None)
        item = item or by_prompt.get(_fold(answer.prompt))
        if item is None:
            yield RefusedRow(_describe_unplaced(answer))
        elif answer.refusal:
            yield RefusedRow(f"`{item}`: {answer.refusal}")
        else:
            attempts[answer.subject, item] += 1
            number = attempts[answer.subject, item] if answer.attempt is None else answer.attempt
            yield _build_row(answer, item, number)


def _build_row(answer: ToolAnswer, item: str, attempt: int) -> Mapping[str, Any]:
    row = {"item": item, "output": answer.output, "subject": answer.subject, "attempt": attempt}
    measures = {name: getattr(answer, name) for name in _MEASURES}
    return row | {name: value for name, value in measures.items() if value is not None}


def _describe_unplaced(answer: ToolAnswer) -> str:
    names = ", ".join(format_value(name) for name in answer.names[:3])
    said = f"neither {names} nor its prompt" if names else "its prompt does not"
    return f"no item of the exam fits: {said} names one; --map item=PATH says where it is named"


def _fold(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip().casefold()
