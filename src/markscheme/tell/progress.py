"""Progress on a terminal; silence in a pipe, but for a line now and then of a long run."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager, suppress
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol, TypeVar

from markscheme.exact import mean, plain, show
from markscheme.mark.scoring import mark_answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from markscheme.ask.runner import Asked
    from markscheme.vocabulary import Exam, Rubric
    from markscheme.weigh.aggregate import Counts

    class Scored(Protocol):
        """Anything that was scored."""

        @property
        def answers(self) -> int:
            """How many answers it has."""

        @property
        def counts(self) -> Counts:
            """What was counted."""

    S = TypeVar("S", bound=Scored)

_EVERY = 10.0  # seconds between two lines in a pipe
_REDRAWN = 0.5


def watched(stretches: Iterable[S], label: str) -> Iterator[S]:
    """Hand the stretches on, and show on stderr how many answers went by if a person watches."""
    if not sys.stderr.isatty():
        yield from stretches
        return
    from rich.console import Console  # noqa: PLC0415 - only where a person watches
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(f"reading {label}")
        answers = errors = 0
        for stretch in stretches:
            yield stretch
            answers += stretch.answers
            errors += stretch.counts.errors
            bad = f", {errors:,} bad rows" if errors else ""
            progress.update(task, description=f"{answers:,} answers scored{bad}")


@contextmanager
def asking(rubric: Rubric, exam: Exam, total: int) -> Iterator[Callable[[Asked], None]]:
    """Give what is told of every question that is done, and show how the run goes on stderr.

    On a terminal lines that change; in a pipe a plain line every ten seconds.
    """
    watched = _Asking(rubric, exam, total)
    if not sys.stderr.isatty():
        yield watched.heard_in_a_pipe
        return
    from markscheme.tell.standing import Standing  # noqa: PLC0415 - only where a person watches

    with Standing(total) as standing:
        yield lambda asked: standing.tell(watched.heard(asked, every=_REDRAWN))


class _Asking:
    """What is known while a subject is asked: the mean so far, per axis, errors, rate, cost."""

    def __init__(self, rubric: Rubric, exam: Exam, total: int) -> None:
        self._rubric = rubric
        self._items = {item.id: item for item in exam.items}
        self._total = total
        self._new: list[Asked] = []
        self._scores: list[Fraction] = []
        self._axes: dict[str, list[Fraction]] = {spec.name: [] for spec in rubric}
        self._done = self._errors = 0
        self._cost = Decimal(0)
        self._told, self._told_of, self._rate = time.monotonic(), 0, 0.0

    def heard(self, asked: Asked, *, every: float) -> list[str] | None:
        """Count one reply; return what is known every so many seconds."""
        self._done += 1
        self._errors += asked.reply.fault is not None
        self._cost += asked.reply.cost or 0
        self._new.append(asked)
        now = time.monotonic()
        if now - self._told < every:
            return None
        self._rate = (self._done - self._told_of) / (now - self._told)  # what was resumed is past
        self._told, self._told_of = now, self._done
        return self._known()

    def heard_in_a_pipe(self, asked: Asked) -> None:
        """Print a line every ten seconds."""
        told = self.heard(asked, every=_EVERY)
        if told is not None:
            left = (self._total - self._done) / self._rate
            done = f"{self._done:,} of {self._total:,} done, about {left:.0f} s left"
            with suppress(OSError):  # who read it went away; the run goes on
                sys.stderr.write(f"{done}; {', '.join(told)}\n")

    def _known(self) -> list[str]:
        self._mark()
        parts = [self._mean(), f"{self._errors:,} errors", f"{self._rate:.1f}/s"]
        parts += [f"cost {plain(self._cost)}"] if self._cost else []
        return parts + [f"{axis} {show(_mean(found), 2)}" for axis, found in self._axes.items()]

    def _mark(self) -> None:
        """Mark what came since the last line; only who watches pays for it."""
        for asked in self._new:
            if asked.reply.text is not None:
                found = mark_answer(
                    self._rubric, self._items[asked.ask.question.item], asked.reply.text
                )
                if found.score is not None:
                    self._scores.append(found.score)
                for axis, cell in found.cells.items():
                    if cell.value is not None:
                        self._axes[axis].append(cell.value)
        self._new.clear()

    def _mean(self) -> str:
        from markscheme.weigh.statistics import Sample  # noqa: PLC0415 - only where a line is told

        told = f"score {show(_mean(self._scores), 3)}"
        sample = Sample.of(self._scores)
        if sample is None:
            return told
        low, high = sample.interval()
        return f"{told} [{max(0.0, low):.3f}, {min(1.0, high):.3f}]"


def _mean(values: list[Fraction]) -> Fraction | None:
    return mean(sum(values, Fraction(0)), len(values))
