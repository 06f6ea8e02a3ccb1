"""Plan of a live run: what the options of `markscheme run` mean, and what is to be asked.

The command and `markscheme.run` share it, so both refuse the same things with the same words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal, InvalidOperation
from itertools import count
from typing import Any, TypedDict

from markscheme.ask.questions import (
    PromptTemplate,
    ScheduledQuestion,
    compute_question_key,
    load_template,
    order_subjects,
    read_shots,
    shuffle_attempts,
)
from markscheme.ask.rate_limit import RunLimits
from markscheme.ask.secrets import Secrets, environment_secrets
from markscheme.ask.subjects import (
    ALIAS_PARAMETER,
    MODEL_OPTIONS,
    SamplingOptions,
    Subject,
    SubjectOptions,
    TokenPrice,
    create_subject,
)
from markscheme.read.storable import MAX_STORABLE_NUMBER
from markscheme.vocabulary import ErrorCollector, Exam, Rubric, UsageError, format_value


class RunSettings(TypedDict, total=False):
    """The keyword arguments of `markscheme.run`."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """Whom to ask what: every item of the exam, in some attempts, in an order drawn by the seed.

    `remarks` are what the user should know before the first question.
    """

    rubric: Rubric
    exam: Exam
    subjects: tuple[Subject, ...]
    template: PromptTemplate
    limits: RunLimits = field(default_factory=RunLimits)
    attempts: int = 1
    seed: int = 0
    resume: bool = False
    cache: bool = False
    remarks: tuple[str, ...] = ()

    @property
    def session_name(self) -> str:
        """The name under which the journal keeps the replies."""
        return self.exam.name

    @property
    def questions(self) -> int:
        """How many questions there are."""
        return len(self.exam.items) * self.attempts * len(self.subjects)

    @property
    def subject_names(self) -> list[str]:
        """The names of the subjects, in the order in which they were given."""
        return [subject.name for subject in self.subjects]

    def find_alias_target(self, name: str | None) -> str | None:
        """Return what is asked under a name that the user chose; None for a subject's own name."""
        targets = (
            subject.parameters.get(ALIAS_PARAMETER)
            for subject in self.subjects
            if subject.name == name
        )
        return next(targets, None)

    def generate_asks(self) -> Iterator[ScheduledQuestion]:
        """Yield every question in its order; the subject that is asked first alternates."""
        parameters = {subject.name: subject.parameters for subject in self.subjects}
        orders = count()
        attempts = shuffle_attempts(self.exam.items, attempts=self.attempts, seed=self.seed)
        for place, (item, attempt) in enumerate(attempts):
            question = self.template.build_question(item, attempt)
            for name in order_subjects(self.subject_names, place):
                key = compute_question_key(name, parameters[name], question)
                yield ScheduledQuestion(
                    key=key, subject=name, question=question, order=next(orders)
                )


_INTEGER_MINIMUMS = {
    "retries": 0,
    "seed": -MAX_STORABLE_NUMBER,
    "attempts": 1,
    "concurrency": 1,
    "max_tokens": 1,
    "requests_per_minute": 1,
    "tokens_per_minute": 1,
}
_SECONDS_OPTIONS = {"timeout", "max_time"}
_AMOUNT_OPTIONS = {"temperature", "max_cost"}
# Each of these must mean something to at least one of the subjects.
_SUBJECT_OPTIONS = MODEL_OPTIONS - {"stream"} | {"base_url", "key_env"}
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
    def from_mapping(cls, options: Mapping[str, Any]) -> Settings:
        """Build settings from options by name; raise `UsageError` for unknown or invalid ones."""
        defaults = {known.name: known.default for known in fields(cls)}
        with ErrorCollector() as mistakes:
            for name, value in options.items():
                with mistakes.collect_error():
                    _check_setting(name, value, defaults)
        return cls(**{name: _convert_setting(name, value) for name, value in options.items()})

    @property
    def options(self) -> SubjectOptions:
        """The options that every kind of subject gets."""
        return SubjectOptions(
            base_url=self.base_url,
            key_variable=self.key_env,
            sampling=SamplingOptions(temperature=self.temperature, max_tokens=self.max_tokens),
            price=parse_price(self.price),
            stream=self.stream,
            concurrency=self.concurrency,
        )

    @property
    def limits(self) -> RunLimits:
        """How fast subjects are asked, and when the run stops."""
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
    """Build the plan of a run; refuse all that is wrong with it before anything is asked."""
    refuse_keys_in_arguments(subjects, settings)
    with ErrorCollector() as mistakes:
        template = _build_template(rubric, exam, settings, mistakes)
        created = build_subjects(subjects, settings, mistakes)
    return RunPlan(
        rubric=rubric,
        exam=exam,
        subjects=created,
        template=template,
        limits=settings.limits,
        attempts=settings.attempts,
        seed=settings.seed,
        resume=settings.resume,
        cache=settings.cache,
        remarks=tuple(_describe_ignored_options(created, settings)),
    )


def _build_template(
    rubric: Rubric, exam: Exam, settings: Settings, mistakes: ErrorCollector
) -> PromptTemplate:
    """Load template and examples; a mistake in one does not hide a mistake in the other."""
    shots: Iterable[tuple[str, str]] = ()
    with mistakes.collect_error():
        shots = read_shots(settings.examples, exam.items) if settings.examples else ()
    file, structured = settings.template, settings.structured
    with mistakes.collect_error():
        return load_template(rubric, file, structured=structured, shots=shots)
    # Not used: the collected mistake is raised before anything is asked.
    return load_template(rubric)


def build_subjects(
    names: Sequence[str], settings: Settings, mistakes: ErrorCollector, *, judging: bool = False
) -> tuple[Subject, ...]:
    """Create the subjects, and collect every mistake in their names and options.

    Subjects that are `judging` are asked for JSON in whatever way they take.
    """
    options = replace(_build_options(settings, mistakes), judging=judging)
    subjects: list[Subject] = []
    for name in names:
        with mistakes.collect_error():
            subject = create_subject(name, options)
            _refuse_keys_in_subject(subject)
            subjects.append(subject)
    if len({subject.name for subject in subjects}) < len(subjects):
        why = "a subject is named twice; every subject of a run must be another one"
        mistakes.add_error(UsageError(why))
    # An option is unused only if no subject uses it, so every subject must be known.
    if len(subjects) == len(names):
        _refuse_unused_options(subjects, settings, mistakes)
    return tuple(subjects)


def _build_options(settings: Settings, mistakes: ErrorCollector) -> SubjectOptions:
    """Return the options of subjects; without the price, where that cannot be read."""
    with mistakes.collect_error():
        return settings.options
    return replace(settings, price=None).options


def _refuse_unused_options(
    subjects: Sequence[Subject], settings: Settings, mistakes: ErrorCollector
) -> None:
    """Refuse an option that has no effect on any subject."""
    for name in _list_given_options(settings, _SUBJECT_OPTIONS):
        if not any(name in subject.supported_options for subject in subjects):
            shown = ", ".join(format_value(subject.name) for subject in subjects)
            why = f"{_format_option(name)} means nothing to {shown}; leave it out"
            mistakes.add_error(UsageError(why))


def _describe_ignored_options(subjects: Sequence[Subject], settings: Settings) -> Iterator[str]:
    """Yield a remark for each option that has no effect on one of the subjects."""
    for name in _list_given_options(settings, MODEL_OPTIONS):
        for subject in subjects:
            if name not in subject.supported_options:
                yield f"{_format_option(name)} has no effect on {subject.name}"


def _list_given_options(settings: Settings, names: Iterable[str]) -> list[str]:
    """Return the options that were given; a temperature of 0 counts as given."""
    values = {name: getattr(settings, name) for name in sorted(names)}
    return [name for name, value in values.items() if value is not None and value is not False]


def _format_option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def refuse_keys_in_arguments(subjects: Sequence[str], settings: Settings) -> None:
    """Refuse a key where a subject, an address or a variable is named."""
    for subject in subjects:
        _refuse_key("the subject", subject, environment_secrets())
    _refuse_key("--base-url", settings.base_url or "", environment_secrets())
    _refuse_key("--key-env", settings.key_env or "", environment_secrets())


def _refuse_keys_in_subject(subject: Subject) -> None:
    """Refuse a subject whose name or parameters, which are stored, hold a key."""
    secrets = environment_secrets() | subject.secrets
    _refuse_key("the subject", subject.name, secrets)
    for name, value in subject.parameters.items():
        _refuse_key(f"the {name} of the subject", str(value), secrets)


def _refuse_key(what: str, text: str, secrets: Secrets) -> None:
    redacted = secrets.certain.redact(text)
    if redacted != text:
        why = f"{what} {format_value(redacted)} holds a key, which would be stored and shown"
        raise UsageError(f"{why}; let the subject read it from the environment, see --key-env")


def _check_setting(name: str, value: Any, defaults: Mapping[str, Any]) -> None:
    """Refuse an option that does not exist, or a value that it cannot have."""
    if name not in defaults:
        raise UsageError(f"`{name}` is no option of a run; allowed: {', '.join(defaults)}")
    allowed = _describe_allowed(name, value)
    if allowed and (value is not None or defaults[name] is not None):
        raise UsageError(f"`{name}` cannot be {format_value(str(value))}; allowed is {allowed}")


def _describe_allowed(name: str, value: Any) -> str | None:
    """Return a description of the allowed values, or None if `value` is valid."""
    number = _parse_number(value)
    is_in_range = number is not None and number <= MAX_STORABLE_NUMBER
    if name in _INTEGER_MINIMUMS:
        minimum = _INTEGER_MINIMUMS[name]
        if isinstance(value, int) and is_in_range and value >= minimum:
            return None
        return "a whole number" if minimum < 0 else f"a whole number from {minimum}"
    if name in _SECONDS_OPTIONS:
        return None if is_in_range and value > 0 else "a number of seconds above 0"
    if name in _AMOUNT_OPTIONS:
        return None if is_in_range and value >= 0 else "a number from 0"
    if name in _TEXT_OPTIONS:
        return None if isinstance(value, str) and value else "a text that is not empty"
    return None if isinstance(value, bool) else "True or False"


def _parse_number(value: Any) -> Decimal | None:
    """Return a number exactly, or None for anything that is not a finite number."""
    if not isinstance(value, int | float | Decimal) or isinstance(value, bool):
        return None
    number = Decimal(value)
    return number if number.is_finite() else None


def _convert_setting(name: str, value: Any) -> Any:
    """Convert a setting to the type that is used: times are floats, amounts are exact."""
    if value is None:
        return None
    if name in _AMOUNT_OPTIONS:
        # −0 becomes 0: parameters are part of a question's key, and the two mean the same.
        return Decimal(str(value)) or Decimal(0)
    return float(value) if name in _SECONDS_OPTIONS else value


def parse_price(price: str | None) -> TokenPrice | None:
    """Return the price in `IN:OUT`, per million tokens; raise `UsageError` if it is none."""
    if price is None:
        return None
    tokens_in, _, tokens_out = price.partition(":")
    try:
        amounts = Decimal(tokens_in), Decimal(tokens_out)
    except InvalidOperation:
        amounts = Decimal(-1), Decimal(-1)
    if not all(amount.is_finite() and 0 <= amount <= MAX_STORABLE_NUMBER for amount in amounts):
        raise UsageError(f"{format_value(price)} is no price; write for example 0.15:0.60")
    return TokenPrice(tokens_in=amounts[0], tokens_out=amounts[1])
