"""What is known of a live run beside its scores: errors, latency, tries, cost."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from markscheme.ask.runner import AskedQuestion
from markscheme.exact import sum_amounts
from markscheme.weigh.latencies import LatencySummary

if TYPE_CHECKING:
    from collections.abc import Callable

    from markscheme.ask.replies import Reply

N = TypeVar("N", int, Decimal)


@dataclass(frozen=True, kw_only=True)
class LiveRunSummary:
    """What is known of a live run beside its scores.

    `beside` names the sittings of the subjects that were asked in turns with this one.
    """

    subject: str
    sitting: str | None
    seed: int
    asked: tuple[AskedQuestion, ...]
    questions: int
    stopped: str | None
    beside: tuple[str, ...] = ()

    @property
    def answered(self) -> int:
        """How many questions have an answer."""
        return sum(one.reply.text is not None for one in self.asked)

    @property
    def faults(self) -> Counter[str]:
        """How many questions ended with each kind of error."""
        return Counter(one.reply.fault.value for one in self.asked if one.reply.fault)

    @cached_property
    def latency(self) -> LatencySummary | None:
        """How long answers took."""
        return LatencySummary.from_measured(one.reply.latency_us for one in self.asked)

    @cached_property
    def first_token(self) -> LatencySummary | None:
        """How long the first token took, where answers were streamed."""
        return LatencySummary.from_measured(one.reply.first_token_us for one in self.asked)

    @property
    def cost(self) -> Decimal | None:
        """What the answers cost, where that is known of every one; the cache costs nothing.

        Where all came from the cache nothing tells a price, so that is not known either.
        """
        return _sum_if_complete([reply.cost for reply in self._uncached_replies], sum_amounts)

    @property
    def tokens_in(self) -> int | None:
        """How many tokens were sent for answers, where that is known of every one."""
        return _sum_if_complete([reply.tokens_in for reply in self._uncached_replies], sum)

    @property
    def tokens_out(self) -> int | None:
        """How many tokens the answers have, where that is known of every one."""
        return _sum_if_complete([reply.tokens_out for reply in self._uncached_replies], sum)

    @property
    def _uncached_replies(self) -> list[Reply]:
        """The answers that were not taken from the cache."""
        replies = (one.reply for one in self.asked)
        return [reply for reply in replies if reply.text is not None and not reply.cached]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return dict(self._plain_data)

    @cached_property
    def _plain_data(self) -> dict[str, Any]:
        replies = [one.reply for one in self.asked]
        reasons = Counter(reply.finish_reason for reply in replies if reply.finish_reason)
        latency, first = self.latency, self.first_token
        return {
            "subject": self.subject,
            "sitting": self.sitting,
            "beside": list(self.beside),
            "seed": self.seed,
            "questions": self.questions,
            "answered": self.answered,
            "cached": sum(reply.cached for reply in replies),
            "faults": dict(sorted(self.faults.items())),
            "not_asked": self.questions - len(replies),
            "tries": sum(one.tries for one in self.asked),
            "finish_reasons": dict(sorted(reasons.items())),
            "latency_ms": latency and latency.to_dict(),
            "first_token_ms": first and first.to_dict(),
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "cost": None if self.cost is None else format(self.cost, "f"),
            "stopped": self.stopped,
        }


def _sum_if_complete(values: list[N | None], add: Callable[[list[N]], N]) -> N | None:
    """Return the sum, where there is something and every value is known."""
    known = [value for value in values if value is not None]
    return add(known) if known and len(known) == len(values) else None
