"""What a judged run will ask and cost, before anything is asked.

Tokens are counted by a tokenizer of the package, which may not be the model's own; replies are
estimated by what they must at least hold. Without the extra that holds the tokenizer, tokens in and
cost are unknown.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any

from markscheme.mark.axes import Tokenizer, has_token_counter, load_token_counter
from markscheme.vocabulary import EXACT_CONTEXT, format_plain
from markscheme.workflows.judge_plan import JudgeCall, JudgePlan
from markscheme.workflows.run_plan import parse_price

TOKENIZER = Tokenizer.O200K
_TOKENS_PER_CALL = 8  # what chat formats add around two messages
_TOKENS_PER_REPLY = 8  # the JSON around the marks
_TOKENS_PER_MARK = 45  # an id, at most 20 words of `why` and a verdict, as JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeEstimate:
    """How many calls a judged run makes, with how many tokens, for how much."""

    answers: int
    distinct_answers: int
    calls: dict[str, int]
    questions: int
    tokens_in: int | None
    tokens_out: int
    cost: Decimal | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; the cost is null where tokens or the price of a judge are unknown."""
        return {
            "answers": self.answers,
            "distinct_answers": self.distinct_answers,
            "questions": self.questions,
            "calls": sum(self.calls.values()),
            "calls_by_judge": self.calls,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "tokenizer": TOKENIZER.value,
            "cost": None if self.cost is None else format_plain(self.cost),
        }


def estimate_judging(plan: JudgePlan) -> JudgeEstimate:
    """Count the calls of a plan and their tokens, and return what they will cost."""
    has_tokens = has_token_counter()
    calls = Counter({judge.name: 0 for judge in plan.judge.judges})
    tokens_in: Counter[str] = Counter()
    tokens_out: Counter[str] = Counter()
    for call in plan.calls:
        name = call.judge.name
        calls[name] += 1
        if has_tokens:
            tokens_in[name] += count_call_tokens(call)
        tokens_out[name] += _TOKENS_PER_REPLY + _TOKENS_PER_MARK * len(call.questions)
    return JudgeEstimate(
        answers=len(plan.answers),
        distinct_answers=len({_identify(answer.calls) for answer in plan.answers}),
        calls=dict(calls),
        questions=sum(len(call.questions) for call in plan.calls),
        tokens_in=tokens_in.total() if has_tokens else None,
        tokens_out=tokens_out.total(),
        cost=_compute_cost(plan, tokens_in, tokens_out) if has_tokens else None,
    )


def _identify(calls: Any) -> tuple[str, ...]:
    """Return what equal answers to equal questions have in common: the words of their calls."""
    return tuple(call.prompt.user for parts in calls.values() for call in parts)


def count_call_tokens(call: JudgeCall) -> int:
    """Return the tokens of the words of a call."""
    count = load_token_counter(TOKENIZER.value)
    return _count_shared(call.prompt.system) + count(call.prompt.user) + _TOKENS_PER_CALL


@cache
def _count_shared(text: str) -> int:
    """Count the tokens of instructions, which all calls of a judge share."""
    return load_token_counter(TOKENIZER.value)(text)


def _compute_cost(
    plan: JudgePlan, tokens_in: Counter[str], tokens_out: Counter[str]
) -> Decimal | None:
    total = Decimal(0)
    for judge in plan.judge.judges:
        price = parse_price(judge.price or plan.settings.price)
        if price is None:
            return None
        cost = price.compute_cost(tokens_in[judge.name], tokens_out[judge.name])
        if cost is None:
            return None
        total = EXACT_CONTEXT.add(total, cost)
    return total
