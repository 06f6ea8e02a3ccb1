"""The interface of a subject, the options that every kind gets, and the registry of kinds.

A subject is created from its name, such as `openai:gpt-4o-mini`, `cmd:./answer.sh` or `tutor`.
To add a kind, write a module with a `create_…_subject` function and add it to `SUBJECT_KINDS`.
Users who want a subject of their own need no kind: `python:module:function` takes any callable.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from importlib import import_module
from types import TracebackType
from typing import Any, Protocol, Self

from markscheme.ask.questions import Question
from markscheme.ask.replies import Reply
from markscheme.ask.secrets import Secrets
from markscheme.read.nfc import to_nfc
from markscheme.read.storable import MAX_STORABLE_NUMBER
from markscheme.vocabulary import EXACT_CONTEXT, UsageError, find_control_character, format_value

MILLION = Decimal(1_000_000)
ALIAS_PARAMETER = "alias_of"
"""The parameter of a subject with an alias that says what is asked."""
# The options of a run that have an effect on any language model.
MODEL_OPTIONS = frozenset({"temperature", "max_tokens", "price", "stream"})


class Subject(Protocol):
    """What is examined: an async context manager that is asked many questions at a time.

    - `name` is the subject of the stored answers.
    - `parameters` are all that may change what it says; they are stored, so they hold no secret.
    - `secrets` are the keys that must not be seen anywhere.
    - `max_concurrency` is how many questions it takes at a time; None is no limit of its own.
    - `supported_options` are the options of a run that have an effect on it, by name.
    - `remarks` are what the user should know after it was asked.
    """

    name: str
    parameters: Mapping[str, Any]
    secrets: Secrets
    max_concurrency: int | None
    supported_options: frozenset[str]
    remarks: tuple[str, ...]

    async def ask(self, question: Question) -> Reply:
        """Ask one question, once, and return the reply; an error is a reply too."""
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
    """Sampling parameters of a model; None leaves a parameter to the model."""

    temperature: Decimal | None = None
    max_tokens: int | None = None
    seed: int | None = None

    def to_dict(self) -> dict[str, float | int]:
        """Return the parameters that are set, as an endpoint takes them."""
        temperature = None if self.temperature is None else float(self.temperature)
        parameters = {
            "temperature": temperature,
            "max_tokens": self.max_tokens,
            "seed": self.seed,
        }
        return {name: value for name, value in parameters.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenPrice:
    """Price of a million tokens, into the model and out of it."""

    tokens_in: Decimal
    tokens_out: Decimal

    def compute_cost(self, tokens_in: int | None, tokens_out: int | None) -> Decimal | None:
        """Return the exact cost of an answer; None if its tokens are unknown or unbelievable."""
        if tokens_in is None or tokens_out is None:
            return None
        cost_in = EXACT_CONTEXT.multiply(tokens_in, self.tokens_in)
        cost_out = EXACT_CONTEXT.multiply(tokens_out, self.tokens_out)
        cost = EXACT_CONTEXT.divide(EXACT_CONTEXT.add(cost_in, cost_out), MILLION)
        return cost if float(cost) <= MAX_STORABLE_NUMBER else None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectOptions:
    """The options of a run that subjects need.

    A `judging` subject must reply in JSON: it is asked for it in whatever way its endpoint takes.
    """

    base_url: str | None = None
    key_variable: str | None = None
    sampling: SamplingOptions = SamplingOptions()
    price: TokenPrice | None = None
    stream: bool = False
    concurrency: int | None = None
    judging: bool = False

    def add_cost(self, reply: Reply) -> Reply:
        """Return a reply with its cost by the price of tokens, unless it has a cost already."""
        if self.price is None or reply.cost is not None or reply.cached:
            return reply
        return replace(reply, cost=self.price.compute_cost(reply.tokens_in, reply.tokens_out))


class Stopwatch:
    """Measures the time since it was created, in whole microseconds."""

    def __init__(self) -> None:
        self._start = time.perf_counter_ns()

    def __call__(self) -> int:
        """Return the microseconds since the start."""
        return (time.perf_counter_ns() - self._start) // 1000


SubjectFactory = Callable[[str, SubjectOptions], Subject]


@dataclass(frozen=True, slots=True)
class SubjectKind:
    """How subjects of one kind are named, and which function of which module creates them."""

    module: str
    factory: str
    form: str

    def load_factory(self) -> SubjectFactory:
        """Import the module now: a run must not wait for kinds that it does not use."""
        module = import_module(f"markscheme.ask.subjects.{self.module}")
        factory: SubjectFactory = getattr(module, self.factory)
        return factory


SUBJECT_KINDS = {
    "openai": SubjectKind(
        "endpoint", "create_endpoint_subject", "openai:MODEL, any OpenAI-compatible endpoint"
    ),
    "llm": SubjectKind(
        "llm_plugin", "create_llm_subject", "llm:MODEL, whatever the llm package offers"
    ),
    "cmd": SubjectKind(
        "command", "create_command_subject", "cmd:COMMAND, prompt on stdin or as {prompt}"
    ),
    "python": SubjectKind(
        "function", "create_function_subject", "python:MODULE:FUNCTION, a function of a text"
    ),
    "tutor": SubjectKind("tutor", "create_tutor_subject", "tutor or tutor:flawed, the bundled one"),
    "replay": SubjectKind("replay", "create_replay_subject", "replay:FILE, recorded answers"),
    "local": SubjectKind(
        "local_model",
        "create_local_model_subject",
        "local:smollm2, a real model on this machine",
    ),
}


# The name that a user gives a subject, before the subject itself.
_ALIAS_PATTERN = re.compile(r"(?P<alias>\w[\w.-]*)=(?P<subject>.+)", re.DOTALL)


def split_alias(name: str) -> tuple[str | None, str]:
    """Split `small=openai:gpt-5-mini` into the user's own name and the subject.

    Only what stands before a known kind is an alias: a `=` inside a command is part of it.
    """
    match = _ALIAS_PATTERN.fullmatch(name)
    if match is None or match["subject"].partition(":")[0] not in SUBJECT_KINDS:
        return None, name
    return to_nfc(match["alias"]), match["subject"]


def create_subject(name: str, options: SubjectOptions) -> Subject:
    """Create the subject that a name stands for; nothing is opened yet.

    An alias is its name in runs and reports. What is asked becomes one of its parameters: these are
    stored, and keep answers of another subject under the same alias apart.
    """
    alias, real_name = split_alias(name)
    kind, _, rest = real_name.partition(":")
    if kind not in SUBJECT_KINDS:
        forms = "; ".join(known.form for known in SUBJECT_KINDS.values())
        raise UsageError(f"{format_value(name)} is no subject; a subject is one of {forms}")
    subject = SUBJECT_KINDS[kind].load_factory()(rest, options)
    if alias is not None:
        subject.parameters = {**subject.parameters, ALIAS_PARAMETER: subject.name}
        subject.name = alias
    if found := find_control_character(subject.name):
        why = f"the subject {format_value(subject.name)} holds the control character `{found}`"
        raise UsageError(f"{why}; give it a name of your own: -s NAME=SUBJECT")
    return subject
