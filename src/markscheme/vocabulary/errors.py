"""Every error that markscheme raises on purpose.

MarkschemeError                exit code   when
├── UsageError                 2           the call is wrong (unknown name, wrong option)
├── InputError                 3           an input is invalid; carries every Problem found
│   ├── DocumentError          3           a rubric or an exam is invalid
│   └── AnswersError           3           a file of answers cannot be read at all
└── StoreError                             the store of runs cannot do what it was asked
    ├── StoreUnavailableError  2           not writable, locked, full, out of reach
    └── StoreInvalidError      3           damaged, not a store, or written by a newer markscheme

An error behind which `find_shortage` sees a full disk or spent memory ends with exit code 4. Any
other exception that escapes is a bug of markscheme and ends with exit code 70.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import total_ordering
from operator import attrgetter
from typing import Self

from msgspec import Struct

from markscheme.vocabulary.printing import escape_line


@total_ordering
class Problem(Struct, frozen=True, kw_only=True):
    """One mistake in one file: its line, its field, what is wrong and what is allowed."""

    file: str
    line: int
    field: str
    message: str

    def __str__(self) -> str:
        # Files and keys may be named by anybody; a problem stays on its line.
        field = f"{escape_line(self.field)}: " if self.field else ""
        return f"{escape_line(self.file)}:{self.line}: {field}{self.message}"

    def __lt__(self, other: object) -> bool:
        return (
            _problem_sort_key(self) < _problem_sort_key(other)
            if isinstance(other, Problem)
            else NotImplemented
        )


_problem_sort_key = attrgetter("file", "line", "field", "message")


class Terminated(SystemExit):
    """The process was asked to end (SIGTERM or the like).

    Unlike a `SystemExit` raised by a subject's own code, which is recorded as a failed answer,
    this one always ends the process.
    """


class MarkschemeError(Exception):
    """The base class of every error that markscheme raises on purpose."""


class UsageError(MarkschemeError):
    """The call itself is wrong: an unknown name, a wrong option.

    `problems` holds the mistakes in input files that are reported together with it.
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
    """A rubric or an exam is invalid."""


class AnswersError(InputError):
    """A file of answers cannot be read at all. One bad row is a `RowError` record."""


class ErrorCollector:
    """Context manager that collects errors and raises all of them at once on exit.

    >>> with ErrorCollector() as errors:
    ...     with errors.collect_error():
    ...         raise UsageError("no exam is named")
    ...     with errors.collect_error():
    ...         raise UsageError("no answers are named")
    Traceback (most recent call last):
    ...
    markscheme.vocabulary.errors.UsageError: no exam is named
    no answers are named
    """

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
            # The only error is the one being raised: let it go on, with its traceback and cause.
            return
        if self._errors and (error is None or error is self._errors[-1]):
            combined = _combine_errors(self._errors)
            raise combined from combined.__cause__

    def add_error(self, error: UsageError | InputError) -> None:
        """Keep an error, to be raised on exit."""
        self._errors.append(error)

    @contextmanager
    def collect_error(self) -> Iterator[None]:
        """Catch the error that ends this block, keep it, and continue after the block."""
        try:
            yield
        except (UsageError, InputError) as error:
            self.add_error(error)


def _combine_errors(errors: Sequence[UsageError | InputError]) -> UsageError | InputError:
    """Return several errors as one: an `InputError` if all are, else a `UsageError`."""
    if len(errors) == 1:
        return errors[0]
    problems = tuple(problem for error in errors for problem in error.problems)
    if all(isinstance(error, InputError) for error in errors):
        return InputError(problems)
    combined = UsageError("\n".join(dict.fromkeys(map(str, errors))))
    combined.problems = problems
    return combined


class StoreError(MarkschemeError):
    """The store of runs cannot do what it was asked. Nothing was changed."""


class StoreUnavailableError(StoreError):
    """The store cannot be used at the moment: not writable, locked, full, out of reach."""


class StoreInvalidError(StoreError):
    """The file is not a store that can be read: damaged, another file, or a newer version."""


def format_value(value: object) -> str:
    """Return a value as messages show it: short, printable, on one line.

    >>> format_value("Paris"), format_value(3), format_value(None)
    ('`Paris`', 'the number 3', 'nothing')
    """
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


def describe_character(character: str) -> str:
    r"""Return the code and the name of a character.

    >>> describe_character("\u200b")
    'U+200B ZERO WIDTH SPACE'
    """
    name = unicodedata.name(character, "")
    return f"U+{ord(character):04X} {name}".rstrip()
