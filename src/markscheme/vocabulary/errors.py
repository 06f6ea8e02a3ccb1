"""Every error that markscheme raises on purpose.

MarkschemeError              exit code   when
├── UsageError               2           the call itself makes no sense (unknown name, wrong option)
├── InputError               3           an input is invalid; carries every Problem found
│   ├── DocumentError        3           a rubric or an exam
│   └── AnswersError         3           a file of answers that cannot be read at all
└── StoreError                           the store of runs cannot do what it was asked
    ├── StoreUnavailableError  2         not writable, locked, full, out of reach
    └── StoreInvalidError      3         damaged, no store at all, or of a newer markscheme

Anything else that escapes is our bug and ends with exit code 70.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import total_ordering
from operator import attrgetter
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


@total_ordering
@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One mistake in one file: where it is, which field it is about, what is wrong and allowed."""

    file: str
    line: int
    field: str
    message: str

    def __str__(self) -> str:
        field = f"{self.field}: " if self.field else ""
        return f"{self.file}:{self.line}: {field}{self.message}"

    def __lt__(self, other: object) -> bool:
        return (
            _problem_sort_key(self) < _problem_sort_key(other)
            if isinstance(other, Problem)
            else NotImplemented
        )


_problem_sort_key = attrgetter("file", "line", "field", "message")


class Terminated(SystemExit):
    """Somebody ended the process; unlike the exit of a function that is called, it is obeyed."""


class MarkschemeError(Exception):
    """The root of the tree above."""


class UsageError(MarkschemeError):
    """The call cannot be carried out as it was made.

    `problems` are those of its files, where these are told beside other mistakes.
    """

    problems: tuple[Problem, ...] = ()


class InputError(MarkschemeError):
    """An input is invalid. `problems` holds every mistake that was found, in file order."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(sorted(set(problems)))
        super().__init__("\n".join(map(str, self.problems)))

    def __reduce__(self) -> tuple[type[InputError], tuple[tuple[Problem, ...]]]:
        return type(self), (self.problems,)


class DocumentError(InputError):
    """A rubric or an exam is refused."""


class AnswersError(InputError):
    """A file of answers cannot be read at all (a bad row is a record, not this error)."""


class ErrorCollector:
    """Goes on after a mistake, and raises all of them at once where it is left."""

    def __init__(self) -> None:
        self._errors: list[UsageError | InputError] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: object
    ) -> None:
        if isinstance(error, UsageError | InputError):
            self.add_error(error)
        if len(self._errors) == 1 and error is self._errors[0]:
            return  # it goes on as it came, with its cause
        if self._errors and (error is None or error is self._errors[-1]):
            together = _combine_errors(self._errors)
            raise together from together.__cause__

    def add_error(self, error: UsageError | InputError) -> None:
        """Keep a mistake for later."""
        self._errors.append(error)

    @contextmanager
    def collect_error(self) -> Iterator[None]:
        """Keep the mistake that ends what is done inside, and go on behind it."""
        try:
            yield
        except (UsageError, InputError) as error:
            self.add_error(error)


def _combine_errors(errors: Sequence[UsageError | InputError]) -> UsageError | InputError:
    """Return several errors as one: of files, if all are, else of the call; each told once."""
    if len(errors) == 1:
        return errors[0]
    problems = tuple(problem for error in errors for problem in error.problems)
    if all(isinstance(error, InputError) for error in errors):
        return InputError(problems)
    told = UsageError("\n".join(dict.fromkeys(map(str, errors))))
    told.problems = problems
    return told


class StoreError(MarkschemeError):
    """The store of runs cannot do what it was asked; nothing is half done."""


class StoreUnavailableError(StoreError):
    """The store cannot be used here and now: not writable, locked, full, out of reach."""


class StoreInvalidError(StoreError):
    """What is there cannot be read as a store: damaged, something else, or of a newer version."""


def format_value(value: object) -> str:
    """Return a value as a message shows it: short, printable, on one line."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case str():
            return f"`{_escape_unprintable(value)}`"
        case dict():
            return "a mapping"
        case list() | tuple():
            return "a list"
        case _:
            return f"the number {_truncate_text(str(value))}"


def _escape_unprintable(text: str) -> str:
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in _truncate_text(text))


def _truncate_text(text: str, width: int = 60) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"
