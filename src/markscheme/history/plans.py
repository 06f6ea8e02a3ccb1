"""Plans: what the options of `markscheme run` mean, for the command line and for the library."""

from __future__ import annotations

from dataclasses import fields
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from markscheme.ask.pace import Limits
from markscheme.ask.subjects import subject_of
from markscheme.ask.subjects.base import Options, Price, Sampling
from markscheme.ask.templates import shots_in, template_of
from markscheme.errors import UsageError, shown
from markscheme.history.asking import Plan
from markscheme.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from markscheme.vocabulary import Exam, Rubric


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The options of `markscheme run`, by the same names and with the same defaults."""

    base_url: str | None = None
    key_env: str | None = None
    template: str | None = None
    examples: str | None = None
    structured: bool = True
    stream: bool = False
    temperature: Decimal | None = None
    max_tokens: int | None = None
    attempts: int = 1
    concurrency: int = 8
    timeout: float = 60.0
    retries: int = 4
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    price: str | None = None
    max_cost: Decimal | None = None
    max_time: float | None = None
    seed: int = 0
    cache: bool = False
    resume: bool = False

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Settings:
        """Return settings by name; one that there is not is wrong usage."""
        known = [field.name for field in fields(cls)]
        unknown = sorted(set(told) - set(known))
        if unknown:
            raise UsageError(f"`{unknown[0]}` is no option of a run; allowed: {', '.join(known)}")
        return cls(**told)

    @property
    def options(self) -> Options:
        """How subjects are reached, and how they are to speak."""
        return Options(
            base_url=self.base_url,
            key_variable=self.key_env,
            sampling=Sampling(temperature=self.temperature, max_tokens=self.max_tokens),
            price=_price(self.price),
            stream=self.stream,
        )

    @property
    def limits(self) -> Limits:
        """How fast they are asked, and when it is enough."""
        return Limits(
            concurrency=self.concurrency,
            timeout=self.timeout,
            retries=self.retries,
            requests_per_minute=self.requests_per_minute,
            tokens_per_minute=self.tokens_per_minute,
            max_cost=self.max_cost,
            max_time=self.max_time,
        )


def plan_of(rubric: Rubric, exam: Exam, subjects: Sequence[str], settings: Settings) -> Plan:
    """Return what is to be asked; what cannot be asked is said before anything is."""
    shots = shots_in(settings.examples, exam.items) if settings.examples else ()
    template = template_of(rubric, settings.template, structured=settings.structured, shots=shots)
    return Plan(
        rubric=rubric,
        exam=exam,
        subjects=tuple(subject_of(named, settings.options) for named in subjects),
        template=template,
        limits=settings.limits,
        attempts=settings.attempts,
        seed=settings.seed,
        resume=settings.resume,
        cache=settings.cache,
    )


def _price(told: str | None) -> Price | None:
    if told is None:
        return None
    tokens_in, _, tokens_out = told.partition(":")
    try:
        amounts = Decimal(tokens_in), Decimal(tokens_out)
    except InvalidOperation:
        amounts = Decimal(-1), Decimal(-1)
    if not all(amount.is_finite() and amount >= 0 for amount in amounts):
        raise UsageError(f"{shown(told)} is no price; write for example 0.15:0.60")
    return Price(tokens_in=amounts[0], tokens_out=amounts[1])
