"""Plans: what the options of `markscheme run` mean, for the command line and for the library."""

from __future__ import annotations

from dataclasses import fields, replace
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from markscheme.ask.keys import in_reach
from markscheme.ask.pace import Limits
from markscheme.ask.subjects import subject_of
from markscheme.ask.subjects.base import SPEAKING, Options, Price, Sampling
from markscheme.ask.templates import shots_in, template_of
from markscheme.errors import Mistakes, UsageError, shown
from markscheme.history.asking import Plan
from markscheme.read.sound import LARGEST
from markscheme.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import TypedDict

    from markscheme.ask.keys import Secrets
    from markscheme.ask.subjects.base import Subject
    from markscheme.ask.templates import Template
    from markscheme.vocabulary import Exam, Rubric

    class RunSettings(TypedDict, total=False):
        """What `markscheme.run` takes by name."""

        base_url: str | None
        key_env: str | None
        template: str | None
        examples: str | None
        structured: bool
        stream: bool
        temperature: Decimal | float | None
        max_tokens: int | None
        attempts: int
        concurrency: int
        timeout: float
        retries: int
        requests_per_minute: int | None
        tokens_per_minute: int | None
        price: str | None
        max_cost: Decimal | float | None
        max_time: float | None
        seed: int
        cache: bool
        resume: bool


_COUNTS = ("attempts", "concurrency", "max_tokens", "requests_per_minute", "tokens_per_minute")
_WHOLE = {"retries": 0, "seed": -LARGEST, **dict.fromkeys(_COUNTS, 1)}  # each from so much on
_SECONDS = {"timeout", "max_time"}
_AMOUNTS = {"temperature", "max_cost"}
_HEEDED = SPEAKING - {"stream"} | {"base_url", "key_env"}  # by one of the subjects at least
_TEXTS = {"base_url", "key_env", "template", "examples", "price"}


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
        """Return settings by name; one that there is not, or that cannot be, is wrong usage."""
        usual = {field.name: field.default for field in fields(cls)}
        with Mistakes() as mistakes:
            for name, value in told.items():
                with mistakes.noted():
                    _check(name, value, usual)
        return cls(**{name: _taken(name, value) for name, value in told.items()})

    @property
    def options(self) -> Options:
        """How subjects are reached, and how they are to speak."""
        return Options(
            base_url=self.base_url,
            key_variable=self.key_env,
            sampling=Sampling(temperature=self.temperature, max_tokens=self.max_tokens),
            price=_price(self.price),
            stream=self.stream,
            concurrency=self.concurrency,
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
    _refuse_keys_in(subjects, settings)
    with Mistakes() as mistakes:
        template = _template(rubric, exam, settings, mistakes)
        found = _subjects(subjects, settings, mistakes)
    return Plan(
        rubric=rubric,
        exam=exam,
        subjects=found,
        template=template,
        limits=settings.limits,
        attempts=settings.attempts,
        seed=settings.seed,
        resume=settings.resume,
        cache=settings.cache,
        remarks=tuple(_without_effect(found, settings)),
    )


def _template(rubric: Rubric, exam: Exam, settings: Settings, mistakes: Mistakes) -> Template:
    """Return how questions are put; examples that cannot be read keep no other mistake back."""
    shots: Iterable[tuple[str, str]] = ()
    with mistakes.noted():
        shots = shots_in(settings.examples, exam.items) if settings.examples else ()
    file, structured = settings.template, settings.structured
    with mistakes.noted():
        return template_of(rubric, file, structured=structured, shots=shots)
    return template_of(rubric)  # nobody is asked with it: the mistake is told


def _subjects(named: Sequence[str], settings: Settings, mistakes: Mistakes) -> tuple[Subject, ...]:
    """Return whom to ask; what nobody heeds is known where everybody is."""
    options, found = _options(settings, mistakes), []
    for name in named:
        with mistakes.noted():
            subject = subject_of(name, options)
            _refuse_keys_of(subject)
            found.append(subject)
    if len({subject.name for subject in found}) < len(found):
        told = "a subject is named twice; every subject of a run must be another one"
        mistakes.note(UsageError(told))
    if len(found) == len(named):
        _refuse_what_nobody_heeds(found, settings, mistakes)
    return tuple(found)


def _options(settings: Settings, mistakes: Mistakes) -> Options:
    """Return how subjects are reached; they are looked for also where the price is none."""
    with mistakes.noted():
        return settings.options
    return replace(settings, price=None).options


def _refuse_what_nobody_heeds(
    subjects: Sequence[Subject], settings: Settings, mistakes: Mistakes
) -> None:
    """Refuse an option that would change nothing: who gives it believes that it does."""
    for name in _told(settings, _HEEDED):
        if not any(name in subject.heeds for subject in subjects):
            whom = ", ".join(shown(subject.name) for subject in subjects)
            told = f"{_as_option(name)} means nothing to {whom}; leave it out"
            mistakes.note(UsageError(told))


def _without_effect(subjects: Sequence[Subject], settings: Settings) -> Iterator[str]:
    """Say which options change nothing for some of the subjects."""
    for name in _told(settings, SPEAKING):
        for subject in subjects:
            if name not in subject.heeds:
                yield f"{_as_option(name)} has no effect on {subject.name}"


def _told(settings: Settings, names: Iterable[str]) -> list[str]:
    """Return the options that were given; a temperature of 0 is one."""
    values = {name: getattr(settings, name) for name in sorted(names)}
    return [name for name, value in values.items() if value is not None and value is not False]


def _as_option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _refuse_keys_in(subjects: Sequence[str], settings: Settings) -> None:
    """Refuse a key where a name or an address belongs, before anything is made of it."""
    options = {"--base-url": settings.base_url, "--key-env": settings.key_env}
    told = [*(("the subject", named) for named in subjects), *options.items()]
    for what, text in told:
        _refuse_a_key(what, text or "", in_reach())


def _refuse_keys_of(subject: Subject) -> None:
    """Refuse a subject that would be stored with a key, which may come from a variable too."""
    secrets = in_reach() | subject.secrets
    _refuse_a_key("the subject", subject.name, secrets)
    for name, value in subject.parameters.items():
        _refuse_a_key(f"the {name} of the subject", str(value), secrets)


def _refuse_a_key(what: str, text: str, secrets: Secrets) -> None:
    hidden = secrets.certain.hidden(text)
    if hidden != text:
        told = f"{what} {shown(hidden)} holds a key, which would be stored and shown"
        raise UsageError(f"{told}; let the subject read it from the environment, see --key-env")


def _check(name: str, value: Any, usual: Mapping[str, Any]) -> None:
    """Refuse an option that there is not, or that cannot be so."""
    if name not in usual:
        raise UsageError(f"`{name}` is no option of a run; allowed: {', '.join(usual)}")
    allowed = _allowed(name, value)
    if allowed and (value is not None or usual[name] is not None):
        raise UsageError(f"`{name}` cannot be {shown(str(value))}; allowed is {allowed}")


def _allowed(name: str, value: Any) -> str | None:
    """Say what is allowed, where that is not what there is."""
    number = _number(value)
    if name in _WHOLE:
        least = _WHOLE[name]
        fits = isinstance(value, int) and number is not None and least <= number <= LARGEST
        return None if fits else "a whole number" if least < 0 else f"a whole number from {least}"
    if name in _SECONDS:
        fits = number is not None and 0 < number <= LARGEST
        return None if fits else "a number of seconds above 0"
    if name in _AMOUNTS:
        return None if number is not None and 0 <= number <= LARGEST else "a number from 0"
    if name in _TEXTS:
        return None if isinstance(value, str) and value else "a text that is not empty"
    return None if isinstance(value, bool) else "True or False"


def _number(value: Any) -> Decimal | None:
    """Return a number exactly; what is none, or beyond all bounds, is none here."""
    if not isinstance(value, int | float | Decimal) or isinstance(value, bool):
        return None
    number = Decimal(value)
    return number if number.is_finite() else None


def _taken(name: str, value: Any) -> Any:
    """Return a setting as it is used: times are floats, amounts are exact."""
    if value is None:
        return None
    if name in _AMOUNTS:
        return Decimal(str(value)) or Decimal(0)  # −0 is the same amount, and the same question
    return float(value) if name in _SECONDS else value


def _price(told: str | None) -> Price | None:
    if told is None:
        return None
    tokens_in, _, tokens_out = told.partition(":")
    try:
        amounts = Decimal(tokens_in), Decimal(tokens_out)
    except InvalidOperation:
        amounts = Decimal(-1), Decimal(-1)
    if not all(amount.is_finite() and 0 <= amount <= LARGEST for amount in amounts):
        raise UsageError(f"{shown(told)} is no price; write for example 0.15:0.60")
    return Price(tokens_in=amounts[0], tokens_out=amounts[1])
