"""What a subject is: something with a name that can be asked a question."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol, Self

from markscheme.ask.secrets import Secrets
from markscheme.read.storable import MAX_STORABLE_NUMBER
from markscheme.vocabulary import EXACT_CONTEXT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from markscheme.ask.questions import Question
    from markscheme.ask.replies import Reply

MILLION = Decimal(1_000_000)
MODEL_OPTIONS = frozenset({"temperature", "max_tokens", "price", "stream"})  # options of a model


class Subject(Protocol):
    """What is examined. It is entered once, asked many questions at a time, and left once.

    `name` is the subject of the stored answers. `parameters` are all that may change what it says;
    they are stored, so they hold no secret; `secrets` are what must not be seen anywhere. `at_once`
    is how many questions it takes at a time, where it takes few. `heeds` are the options of a run
    that mean something to it, by their names; with `stream` it can say when an answer began.
    `remarks` are what came up while it was asked, and is to be known.
    """

    name: str
    parameters: Mapping[str, Any]
    secrets: Secrets
    max_concurrency: int | None
    supported_options: frozenset[str]
    remarks: tuple[str, ...]

    async def ask(self, question: Question) -> Reply:
        """Put one question, once."""
        ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


class BaseSubject:
    """A subject that needs nothing to be opened or closed."""

    name: str = ""
    parameters: Mapping[str, Any]
    secrets: Secrets = Secrets()
    max_concurrency: int | None = None
    supported_options: frozenset[str] = frozenset()
    remarks: tuple[str, ...] = ()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingOptions:
    """How a model is to speak; what is not told is left to the model."""

    temperature: Decimal | None = None
    max_tokens: int | None = None
    seed: int | None = None

    def to_dict(self) -> dict[str, float | int]:
        """Return what is told, as an endpoint takes it."""
        known = {"max_tokens": self.max_tokens, "seed": self.seed}
        told: dict[str, float | int] = {k: v for k, v in known.items() if v is not None}
        return (
            told if self.temperature is None else {"temperature": float(self.temperature), **told}
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenPrice:
    """What a million tokens cost, to the model and from it."""

    tokens_in: Decimal
    tokens_out: Decimal

    def compute_cost(self, tokens_in: int | None, tokens_out: int | None) -> Decimal | None:
        """Return what an answer cost, exactly, where its tokens are known and not beyond belief."""
        if tokens_in is None or tokens_out is None:
            return None
        sent, got = (
            EXACT_CONTEXT.multiply(tokens, price)
            for tokens, price in ((tokens_in, self.tokens_in), (tokens_out, self.tokens_out))
        )
        cost = EXACT_CONTEXT.divide(EXACT_CONTEXT.add(sent, got), MILLION)
        return cost if float(cost) <= MAX_STORABLE_NUMBER else None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectOptions:
    """What the command line says about subjects of every kind."""

    base_url: str | None = None
    key_variable: str | None = None
    sampling: SamplingOptions = SamplingOptions()
    price: TokenPrice | None = None
    stream: bool = False
    concurrency: int | None = None

    def add_cost(self, reply: Reply) -> Reply:
        """Return a reply with what it cost by its tokens, where nobody knows better."""
        if self.price is None or reply.cost is not None or reply.cached:
            return reply
        return replace(reply, cost=self.price.compute_cost(reply.tokens_in, reply.tokens_out))


class Stopwatch:
    """A clock that is started with the question, in whole microseconds."""

    def __init__(self) -> None:
        self._start = time.perf_counter_ns()

    def __call__(self) -> int:
        """Return the time since the start."""
        return (time.perf_counter_ns() - self._start) // 1000
