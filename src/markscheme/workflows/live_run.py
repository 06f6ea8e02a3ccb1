"""Live runs: what is known of a run whose answers came from a live subject, and its records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markscheme.ask.replies import Fault
from markscheme.weigh.live import LiveRunSummary
from markscheme.weigh.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from markscheme.ask.runner import AskedQuestion

_NOT_ASKED_RECORD: Mapping[str, Any] = {
    "order": None,
    "tries": 0,
    "finish_reason": None,
    "first_token_ms": None,
    "cached": False,
    "error": None,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveRun:
    """The run of one subject: its result, what is known of how it was asked, its id if stored."""

    result: Result
    live: LiveRunSummary
    id: str | None

    def to_dict(self) -> dict[str, Any]:
        """Return the document of `markscheme score`, with what a live run knows of each answer."""
        document = self.result.to_dict()
        told = self._asked_by_attempt
        for row in document["items"]:
            found = told.get((row["item"], row["attempt"] or 1))  # a missing one has no attempt
            row["asked"] = None if found is None else build_asked_record(found)
        live = {**self.live.to_dict(), "unanswered": self._list_unanswered(told)}
        return {**document, "live": live, "run": self.id}

    def build_answer_records(self) -> Iterator[dict[str, Any]]:
        """Yield each question as a row of an answers file; one that was not asked is an error."""
        yield from map(build_answer_record, self.live.asked)
        for row in self._list_unanswered(self._asked_by_attempt):
            if not row["tries"] and row["error"] is None:
                error = {"kind": Fault.FAILED.value, "why": "it was not asked"}
                named = {"item": row["item"], "subject": self.live.subject}
                yield {**named, "attempt": row["attempt"], "tries": 0, "error": error}

    @property
    def _asked_by_attempt(self) -> dict[tuple[str, int], AskedQuestion]:
        return {
            (one.scheduled.question.item, one.scheduled.question.attempt): one
            for one in self.live.asked
        }

    def _list_unanswered(
        self, told: Mapping[tuple[str, int], AskedQuestion]
    ) -> list[dict[str, Any]]:
        """Return each question that has no answer; one that was not asked has no error either."""
        items = [item.id for item in self.result.exam.items]
        attempts = range(1, self.live.questions // len(items) + 1)
        every = (
            (item, attempt, told.get((item, attempt))) for attempt in attempts for item in items
        )
        return [
            {
                "item": item,
                "attempt": attempt,
                **(build_asked_record(one) if one else _NOT_ASKED_RECORD),
            }
            for item, attempt, one in every
            if one is None or one.reply.text is None
        ]


def build_asked_record(asked: AskedQuestion) -> dict[str, Any]:
    """Return how a question was asked, and how it ended."""
    reply = asked.reply
    first = reply.first_token_us
    error = None if reply.fault is None else {"kind": reply.fault.value, "why": reply.why}
    return {
        "order": asked.scheduled.order,
        "tries": asked.tries,
        "finish_reason": reply.finish_reason,
        "first_token_ms": None if first is None else first / 1000,
        "cached": reply.cached,
        "error": error,
    }


def build_answer_record(asked: AskedQuestion) -> dict[str, Any]:
    """Return a reply as a row of an answers file, which `score` and `replay:` read."""
    told = build_answer_row(asked) | build_asked_record(asked)
    return {name: value for name, value in told.items() if value is not None and value is not False}


def build_answer_row(asked: AskedQuestion) -> dict[str, Any]:
    """Return of a reply what is scored and measured."""
    reply, question = asked.reply, asked.scheduled.question
    told = {
        "item": question.item,
        "subject": asked.scheduled.subject,
        "attempt": question.attempt,
        "output": reply.text,
        "latency_ms": None if reply.latency_us is None else reply.latency_us / 1000,
        "tokens_in": reply.tokens_in,
        "tokens_out": reply.tokens_out,
        "cost": None if reply.cost is None else float(reply.cost),
    }
    return {name: value for name, value in told.items() if value is not None}
