"""Progress on a terminal; silence in a pipe, but for a line now and then of a long run."""

from __future__ import annotations

import math
import sys
import time
from contextlib import contextmanager, suppress
from decimal import Decimal
from threading import Lock
from typing import TYPE_CHECKING, Protocol, TypeVar

from markscheme.ask.replies import Fault
from markscheme.exact import plain
from markscheme.tell.tallies import Tally

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from markscheme.ask.runner import Asked
    from markscheme.ask.states import State
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

    class Place(Protocol):
        """Where it is shown how a run goes."""

        def count(self) -> None:
            """Take note of one more question that is done."""

        def tell(self, done: int, rate: float, lines: Sequence[Sequence[str]]) -> None:
            """Show what is known, in lines of parts."""

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
def asking(rubric: Rubric, exam: Exam, subjects: Sequence[str], total: int) -> Iterator[Asking]:
    """Give whom to tell of every question that is done, and show how the run goes on stderr.

    On a terminal lines that change; in a pipe a plain line every ten seconds, whatever happens.
    """
    items = {item.id: item for item in exam.items}
    tallies = {name: Tally(rubric, items) for name in subjects}
    if not sys.stderr.isatty():
        yield Asking(tallies, _Pipe(total), every=_EVERY)
        return
    from markscheme.tell.standing import Standing  # noqa: PLC0415 - only where a person watches

    with Standing(total) as standing:
        yield Asking(tallies, standing, every=_REDRAWN)


class Asking:
    """Hears every reply and how the subjects do, and tells it every so many seconds.

    Replies come from the thread that keeps them, how the subjects do from the one that asks.
    """

    def __init__(self, tallies: dict[str, Tally], place: Place, *, every: float) -> None:
        self._tallies, self._place, self._every = tallies, place, every
        self._states: Sequence[State] = ()
        self._told, self._told_of = time.monotonic(), 0
        self._telling = Lock()

    @property
    def _done(self) -> int:
        return sum(tally.done for tally in self._tallies.values())

    def heard(self, asked: Asked) -> None:
        """Count one reply."""
        self._tallies[asked.ask.subject].count(asked)
        self._place.count()
        self._tell_if_due()

    def look(self, states: Sequence[State]) -> None:
        """Take how the subjects do, also while nobody answers; what was done before is past."""
        if not self._states:
            self._told, self._told_of = time.monotonic(), self._done
        self._states = states
        self._tell_if_due()

    def _tell_if_due(self) -> None:
        """Tell what is known, unless that was done just now or is being done."""
        if time.monotonic() - self._told >= self._every and self._telling.acquire(blocking=False):
            try:
                self._tell()
            finally:
                self._telling.release()

    def _tell(self) -> None:
        now, done = time.monotonic(), self._done
        rate = (done - self._told_of) / max(now - self._told, 1e-9)
        self._told, self._told_of = now, done
        lines = [*_troubles(self._states, still=not rate), *(self._known(rate) if done else ())]
        self._place.tell(done, rate, lines)

    def _known(self, rate: float) -> list[list[str]]:
        """Return what is known of the answers; each of several subjects has a line of its own."""
        for tally in self._tallies.values():
            tally.mark()
        cost = sum((tally.cost for tally in self._tallies.values()), Decimal(0))
        pace = [f"{rate:.1f}/s", *([f"cost {plain(cost)}"] if cost else [])]
        if len(self._tallies) == 1:
            (tally,) = self._tallies.values()
            return [[*tally.told(), *pace, *tally.axes()]]
        each = ([f"{name}: {one.done:,} done", *one.told()] for name, one in self._tallies.items())
        return [*each, pace]


class _Pipe:
    """Prints plain lines."""

    def __init__(self, total: int) -> None:
        self._total = total

    def count(self) -> None:
        """Do nothing: a line tells of many."""

    def tell(self, done: int, rate: float, lines: Sequence[Sequence[str]]) -> None:
        """Print one line; who read it may be gone, and the run goes on."""
        left = f", about {(self._total - done) / rate:.0f} s left" if rate else ""
        said = [f"{done:,} of {self._total:,} done{left}", *map(", ".join, lines)]
        with suppress(OSError):
            sys.stderr.write(f"{'; '.join(said)}\n")


def _troubles(states: Sequence[State], *, still: bool) -> Iterator[list[str]]:
    """Yield what holds the run up; where it stands still and nothing is wrong, what is waited for.

    Of several subjects each says who it is.
    """
    found = [line for state in states for line in _trouble(state, named=len(states) > 1)]
    running = sum(state.running for state in states)
    yield from found or ([[f"{running:,} under way"]] if still and running else [])


def _trouble(state: State, *, named: bool) -> Iterator[list[str]]:
    failed = dict(state.failed)
    if state.busy:
        refusals = failed.pop(Fault.BUSY, 0)
        many = f"{refusals:,} refusal{'' if refusals == 1 else 's'}"
        yield [f"{state.subject} is busy ({many})", _again(state.again)]
    if failed:
        tries = sum(failed.values())
        kinds = ", ".join(f"{kind} {n:,}" for kind, n in failed.items())
        who = f"{state.subject}: " if named else ""
        many = "1 try" if tries == 1 else f"{tries:,} tries"
        quiet = [_again(state.again)] if state.again and not state.busy else []
        yield [f"{who}{many} failed: {kinds if len(failed) > 1 else next(iter(failed))}", *quiet]


def _again(seconds: float) -> str:
    return f"asked again in {math.ceil(seconds):,} s" if seconds else "asked again now"
