"""Plans: what the options of `markscheme run` mean, for the command line and for the library."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from markscheme.ask.rate_limit import RunLimits
from markscheme.ask.secrets import environment_secrets
from markscheme.ask.subjects import (
    MODEL_OPTIONS,
    SamplingOptions,
    SubjectOptions,
    TokenPrice,
    create_subject,
)
from markscheme.ask.template import load_template, read_shots
from markscheme.read.storable import MAX_STORABLE_NUMBER
from markscheme.vocabulary import ErrorCollector, UsageError, format_value
from markscheme.workflows.live_session import RunPlan

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import TypedDict

    from markscheme.ask.secrets import Secrets
    from markscheme.ask.subjects import Subject
    from markscheme.ask.template import PromptTemplate
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


_COUNT_OPTIONS = (
    "attempts",
    "concurrency",
    "max_tokens",
    "requests_per_minute",
    "tokens_per_minute",
)
_INTEGER_MINIMUMS = {
    "retries": 0,
    "seed": -MAX_STORABLE_NUMBER,
    **dict.fromkeys(_COUNT_OPTIONS, 1),
}  # each from so much on
_SECONDS_OPTIONS = {"timeout", "max_time"}
_AMOUNT_OPTIONS = {"temperature", "max_cost"}
_SUBJECT_OPTIONS = MODEL_OPTIONS - {"stream"} | {
    "base_url",
    "key_env",
}  # by one of the subjects at least
_TEXT_OPTIONS = {"base_url", "key_env", "template", "examples", "price"}


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
    def from_mapping(cls, told: Mapping[str, Any]) -> Settings:
        """Return settings by name; one that there is not, or that cannot be, is wrong usage."""
        usual = {field.name: field.default for field in fields(cls)}
        with ErrorCollector() as mistakes:
            for name, value in told.items():
                with mistakes.collect_error():
                    _check_setting(name, value, usual)
        return cls(**{name: _convert_setting(name, value) for name, value in told.items()})

    @property
    def options(self) -> SubjectOptions:
        """How subjects are reached, and how they are to speak."""
        return SubjectOptions(
            base_url=self.base_url,
            key_variable=self.key_env,
            sampling=SamplingOptions(temperature=self.temperature, max_tokens=self.max_tokens),
            price=_parse_price(self.price),
            stream=self.stream,
            concurrency=self.concurrency,
        )

    @property
    def limits(self) -> RunLimits:
        """How fast they are asked, and when it is enough."""
        return RunLimits(
            concurrency=self.concurrency,
            timeout=self.timeout,
            retries=self.retries,
            requests_per_minute=self.requests_per_minute,
            tokens_per_minute=self.tokens_per_minute,
            max_cost=self.max_cost,
            max_time=self.max_time,
        )


def build_run_plan(
    rubric: Rubric, exam: Exam, subjects: Sequence[str], settings: Settings
) -> RunPlan:
    """Return what is to be asked; what cannot be asked is said before anything is."""
    _refuse_keys_in_arguments(subjects, settings)
    with ErrorCollector() as mistakes:
        template = _build_template(rubric, exam, settings, mistakes)
        found = _build_subjects(subjects, settings, mistakes)
    return RunPlan(
        rubric=rubric,
        exam=exam,
        subjects=found,
        template=template,
        limits=settings.limits,
        attempts=settings.attempts,
        seed=settings.seed,
        resume=settings.resume,
        cache=settings.cache,
        remarks=tuple(_describe_ignored_options(found, settings)),
    )


def _build_template(
    rubric: Rubric, exam: Exam, settings: Settings, mistakes: ErrorCollector
) -> PromptTemplate:
    """Return how questions are put; examples that cannot be read keep no other mistake back."""
    shots: Iterable[tuple[str, str]] = ()
    with mistakes.collect_error():
        shots = read_shots(settings.examples, exam.items) if settings.examples else ()
    file, structured = settings.template, settings.structured
    with mistakes.collect_error():
        return load_template(rubric, file, structured=structured, shots=shots)
    return load_template(rubric)  # nobody is asked with it: the mistake is told


def _build_subjects(
    named: Sequence[str], settings: Settings, mistakes: ErrorCollector
) -> tuple[Subject, ...]:
    """Return whom to ask; what nobody heeds is known where everybody is."""
    options, found = _build_options(settings, mistakes), []
    for name in named:
        with mistakes.collect_error():
            subject = create_subject(name, options)
            _refuse_keys_in_subject(subject)
            found.append(subject)
    if len({subject.name for subject in found}) < len(found):
        told = "a subject is named twice; every subject of a run must be another one"
        mistakes.add_error(UsageError(told))
    if len(found) == len(named):
        _refuse_unused_options(found, settings, mistakes)
    return tuple(found)


def _build_options(settings: Settings, mistakes: ErrorCollector) -> SubjectOptions:
    """Return how subjects are reached; they are looked for also where the price is none."""
    with mistakes.collect_error():
        return settings.options
    return replace(settings, price=None).options


def _refuse_unused_options(
    subjects: Sequence[Subject], settings: Settings, mistakes: ErrorCollector
) -> None:
    """Refuse an option that would change nothing: who gives it believes that it does."""
    for name in _list_given_options(settings, _SUBJECT_OPTIONS):
        if not any(name in subject.supported_options for subject in subjects):
            whom = ", ".join(format_value(subject.name) for subject in subjects)
            told = f"{_format_option(name)} means nothing to {whom}; leave it out"
            mistakes.add_error(UsageError(told))


def _describe_ignored_options(subjects: Sequence[Subject], settings: Settings) -> Iterator[str]:
    """Say which options change nothing for some of the subjects."""
    for name in _list_given_options(settings, MODEL_OPTIONS):
        for subject in subjects:
            if name not in subject.supported_options:
                yield f"{_format_option(name)} has no effect on {subject.name}"


def _list_given_options(settings: Settings, names: Iterable[str]) -> list[str]:
    """Return the options that were given; a temperature of 0 is one."""
    values = {name: getattr(settings, name) for name in sorted(names)}
    return [name for name, value in values.items() if value is not None and value is not False]


def _format_option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _refuse_keys_in_arguments(subjects: Sequence[str], settings: Settings) -> None:
    """Refuse a key where a name or an address belongs, before anything is made of it."""
    options = {"--base-url": settings.base_url, "--key-env": settings.key_env}
    told = [*(("the subject", named) for named in subjects), *options.items()]
    for what, text in told:
        _refuse_key(what, text or "", environment_secrets())


def _refuse_keys_in_subject(subject: Subject) -> None:
    """Refuse a subject that would be stored with a key, which may come from a variable too."""
    secrets = environment_secrets() | subject.secrets
    _refuse_key("the subject", subject.name, secrets)
    for name, value in subject.parameters.items():
        _refuse_key(f"the {name} of the subject", str(value), secrets)


def _refuse_key(what: str, text: str, secrets: Secrets) -> None:
    hidden = secrets.certain.redact(text)
    if hidden != text:
        told = f"{what} {format_value(hidden)} holds a key, which would be stored and shown"
        raise UsageError(f"{told}; let the subject read it from the environment, see --key-env")


def _check_setting(name: str, value: Any, usual: Mapping[str, Any]) -> None:
    """Refuse an option that there is not, or that cannot be so."""
    if name not in usual:
        raise UsageError(f"`{name}` is no option of a run; allowed: {', '.join(usual)}")
    allowed = _describe_allowed(name, value)
    if allowed and (value is not None or usual[name] is not None):
        raise UsageError(f"`{name}` cannot be {format_value(str(value))}; allowed is {allowed}")


def _describe_allowed(name: str, value: Any) -> str | None:
    """Say what is allowed, where that is not what there is."""
    number = _parse_number(value)
    if name in _INTEGER_MINIMUMS:
        least = _INTEGER_MINIMUMS[name]
        fits = (
            isinstance(value, int) and number is not None and least <= number <= MAX_STORABLE_NUMBER
        )
        return None if fits else "a whole number" if least < 0 else f"a whole number from {least}"
    if name in _SECONDS_OPTIONS:
        fits = number is not None and 0 < number <= MAX_STORABLE_NUMBER
        return None if fits else "a number of seconds above 0"
    if name in _AMOUNT_OPTIONS:
        return (
            None if number is not None and 0 <= number <= MAX_STORABLE_NUMBER else "a number from 0"
        )
    if name in _TEXT_OPTIONS:
        return None if isinstance(value, str) and value else "a text that is not empty"
    return None if isinstance(value, bool) else "True or False"


def _parse_number(value: Any) -> Decimal | None:
    """Return a number exactly; what is none, or beyond all bounds, is none here."""
    if not isinstance(value, int | float | Decimal) or isinstance(value, bool):
        return None
    number = Decimal(value)
    return number if number.is_finite() else None


def _convert_setting(name: str, value: Any) -> Any:
    """Return a setting as it is used: times are floats, amounts are exact."""
    if value is None:
        return None
    if name in _AMOUNT_OPTIONS:
        return Decimal(str(value)) or Decimal(0)  # −0 is the same amount, and the same question
    return float(value) if name in _SECONDS_OPTIONS else value


def _parse_price(told: str | None) -> TokenPrice | None:
    if told is None:
        return None
    tokens_in, _, tokens_out = told.partition(":")
    try:
        amounts = Decimal(tokens_in), Decimal(tokens_out)
    except InvalidOperation:
        amounts = Decimal(-1), Decimal(-1)
    if not all(amount.is_finite() and 0 <= amount <= MAX_STORABLE_NUMBER for amount in amounts):
        raise UsageError(f"{format_value(told)} is no price; write for example 0.15:0.60")
    return TokenPrice(tokens_in=amounts[0], tokens_out=amounts[1])
