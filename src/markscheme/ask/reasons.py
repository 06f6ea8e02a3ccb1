"""Why a run ends before everything is asked: sentences that are kept, and told in any language.

What stands in `words` is somebody else's, and the same in every language.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.ask.replies import Fault
from markscheme.sentences import sentence

if TYPE_CHECKING:
    from decimal import Decimal

    from markscheme.ask.replies import Reply

_SCHEMA_WORDS = ("response_format", "json_schema")  # of an endpoint that knows no schemas


def describe_time_limit_reached(limit: float) -> str:
    """Say that there is no time left."""
    return sentence("--max-time of {limit} s is over", limit=f"{limit:g}")


def describe_budget_spent(limit: Decimal) -> str:
    """Say that there is no money left."""
    return sentence("--max-cost of {limit} is spent; allow more to go on", limit=limit)


def describe_unknown_cost(reply: Reply) -> str:
    """Say that nobody knows what an answer cost; a price helps where it tells its tokens."""
    if reply.tokens_in is None or reply.tokens_out is None:
        return sentence(
            "--max-cost cannot be kept: the subject tells neither its cost nor its tokens"
        )
    return sentence("--max-cost cannot be kept: the subject does not tell its cost; see --price")


def describe_always_busy(subject: str, times: int, reply: Reply) -> str:
    """Say that a subject answers nobody."""
    return sentence(
        "{subject} said {n} times in a row that it is busy: {words}",
        subject=subject,
        n=times,
        words=reply.why,
    )


def describe_first_questions_failed(subject: str, questions: int, reply: Reply) -> str:
    """Say how the first questions ended, with what helps where a subject knows no schemas."""
    told = {"subject": subject, "n": questions, "words": reply.why}
    if reply.fault is Fault.UNREACHABLE:
        return sentence("{subject} was unreachable for the first {n} questions: {words}", **told)
    if any(word in reply.why for word in _SCHEMA_WORDS):
        return sentence(
            "{subject} rejected the first {n} questions: {words}; --no-structured leaves it out",
            **told,
        )
    return sentence("{subject} rejected the first {n} questions: {words}", **told)
