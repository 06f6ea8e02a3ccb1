"""What is known of a subject while it is asked: how much is done, the mean so far, errors, cost.

How a run stands, on a terminal: a line that moves, and below it what is known so far.

Progress on a terminal; silence in a pipe, but for a line now and then of a long run.
"""

from __future__ import annotations

import math
import sys
import time
from collections import Counter
from contextlib import contextmanager, suppress
from decimal import Decimal
from fractions import Fraction
from threading import Lock
from typing import TYPE_CHECKING, Protocol, TypeVar

from rich.cells import cell_len
from rich.console import Console, Group
from rich.constrain import Constrain
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeRemainingColumn
from rich.text import Text

from markscheme.ask.replies import Fault
from markscheme.mark import mark_answer
from markscheme.vocabulary import compute_mean, format_decimal, format_plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rich.console import RenderableType

    from markscheme.ask.runner import AskedQuestion, SubjectState
    from markscheme.vocabulary import Exam, Item, Rubric
    from markscheme.weigh.totals import AnswerCounts

    class HasScoreCounts(Protocol):
        """Anything that was scored."""

        @property
        def answers(self) -> int:
            """How many answers it has."""

        @property
        def counts(self) -> AnswerCounts:
            """What was counted."""

    class ProgressDisplay(Protocol):
        """Where it is shown how a run goes."""

        def count_question(self) -> None:
            """Take note of one more question that is done."""

        def show_status(self, done: int, rate: float, lines: Sequence[Sequence[str]]) -> None:
            """Show what is known, in lines of parts."""

    S = TypeVar("S", bound=HasScoreCounts)


class SubjectProgress:
    """One subject's replies, counted as they come and marked when somebody wants to know."""

    def __init__(self, rubric: Rubric, items: Mapping[str, Item]) -> None:
        self._rubric, self._items = rubric, items
        self._unmarked: list[AskedQuestion] = []
        self._scores: Counter[Fraction] = Counter()
        self._axes: dict[str, Counter[Fraction]] = {spec.name: Counter() for spec in rubric}
        self.done = self._errors = 0
        self.cost = Decimal(0)

    def count_reply(self, asked: AskedQuestion) -> None:
        """Count one reply."""
        self.done += 1
        self._errors += asked.reply.fault is not None
        self.cost += asked.reply.cost or 0
        self._unmarked.append(asked)

    def mark_new_replies(self) -> None:
        """Mark what came since the last time; only who watches pays for it."""
        some = self._unmarked[:]
        del self._unmarked[: len(some)]  # others may come meanwhile
        for asked in some:
            if asked.reply.text is not None:
                self._add_marks(asked.scheduled.question.item, asked.reply.text)

    def _add_marks(self, item: str, text: str) -> None:
        found = mark_answer(self._rubric, self._items[item], text)
        if found.score is not None:
            self._scores[found.score] += 1
        for axis, cell in found.cells.items():
            if cell.value is not None:
                self._axes[axis][cell.value] += 1

    def format_summary(self) -> list[str]:
        """Return the mean with its interval, and how many ended with an error."""
        errors = "1 error" if self._errors == 1 else f"{self._errors:,} errors"
        return [self._format_mean(), errors]

    def format_axes(self) -> list[str]:
        """Return the mean of each axis."""
        return [
            f"{axis} {format_decimal(_compute_mean(found), 2)}"
            for axis, found in self._axes.items()
        ]

    def _format_mean(self) -> str:
        from markscheme.weigh.stats import SampleStatistics

        told = f"score {format_decimal(_compute_mean(self._scores), 3)}"
        sample = SampleStatistics.from_counts(self._scores)
        if sample is None:
            return told
        low, high = sample.compute_interval()
        return f"{told} [{max(0.0, low):.3f}, {min(1.0, high):.3f}]"


def _compute_mean(counts: Counter[Fraction]) -> Fraction | None:
    """Return the mean of values that are counted: few are different, however many there are."""
    return compute_mean(
        sum((value * n for value, n in counts.items()), Fraction(0)), counts.total()
    )


_INTERRUPT_WIDTH = len(
    "^C"
)  # which a terminal writes behind the last line, and would begin another one


class TerminalProgress(Progress):
    """What is shown while a subject is asked; it is gone when everybody was."""

    def __init__(self, total: int) -> None:
        columns = (
            SpinnerColumn(),
            TextColumn("{task.completed}/{task.total}"),
            TimeRemainingColumn(),
            TextColumn("left"),
        )
        self._out = Console(stderr=True)
        self._lines: Sequence[Sequence[str]] = (("asking",),)
        super().__init__(*columns, console=self._out, transient=True)
        self._task = self.add_task("", total=total)

    def count_question(self) -> None:
        """Count one question that is done."""
        self.advance(self._task)

    def show_status(self, done: int, rate: float, lines: Sequence[Sequence[str]]) -> None:
        """Say what is known anew; how many are done is counted here."""
        del done, rate
        self._lines = lines or self._lines

    def get_renderable(self) -> RenderableType:
        """Return what is drawn, in as many lines as there are columns for."""
        width = max(1, self._out.width - _INTERRUPT_WIDTH)
        lines = [line for parts in self._lines for line in _wrap_parts(parts, width)]
        known = Text("\n".join(lines), no_wrap=True, overflow="ellipsis")
        return Constrain(Group(self.make_tasks_table(self.tasks), known), width)


def _wrap_parts(parts: Sequence[str], width: int) -> list[str]:
    """Break a list between its parts, never within one."""
    lines = [parts[0]]
    for part in parts[1:]:
        longer = f"{lines[-1]}, {part}"
        if cell_len(longer) < width:
            lines[-1] = longer
        else:
            lines[-1] += ","
            lines.append(part)
    return lines


_PIPE_INTERVAL = 10.0  # seconds between two lines in a pipe
_TERMINAL_INTERVAL = 0.5


def show_scoring_progress(stretches: Iterable[S], label: str) -> Iterator[S]:
    """Hand the stretches on, and show on stderr how many answers went by if a person watches."""
    if not sys.stderr.isatty():
        yield from stretches
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

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
def show_asking_progress(
    rubric: Rubric, exam: Exam, subjects: Sequence[str], total: int
) -> Iterator[AskingProgress]:
    """Give whom to tell of every question that is done, and show how the run goes on stderr.

    On a terminal lines that change; in a pipe a plain line every ten seconds, whatever happens.
    """
    items = {item.id: item for item in exam.items}
    tallies = {name: SubjectProgress(rubric, items) for name in subjects}
    if not sys.stderr.isatty():
        yield AskingProgress(tallies, _PipeProgress(total), every=_PIPE_INTERVAL)
        return

    with TerminalProgress(total) as standing:
        yield AskingProgress(tallies, standing, every=_TERMINAL_INTERVAL)


class AskingProgress:
    """Hears every reply and how the subjects do, and tells it every so many seconds.

    Replies come from the thread that keeps them, how the subjects do from the one that asks.
    """

    def __init__(
        self, tallies: dict[str, SubjectProgress], place: ProgressDisplay, *, every: float
    ) -> None:
        self._subjects, self._display, self._interval = tallies, place, every
        self._states: Sequence[SubjectState] = ()
        self._refreshed_at, self._refreshed_count = time.monotonic(), 0
        self._refresh_lock = Lock()

    @property
    def _done_count(self) -> int:
        return sum(tally.done for tally in self._subjects.values())

    def count_reply(self, asked: AskedQuestion) -> None:
        """Count one reply."""
        self._subjects[asked.scheduled.subject].count_reply(asked)
        self._display.count_question()
        self._refresh_if_due()

    def update_states(self, states: Sequence[SubjectState]) -> None:
        """Take how the subjects do, also while nobody answers; what was done before is past."""
        if not self._states:
            self._refreshed_at, self._refreshed_count = time.monotonic(), self._done_count
        self._states = states
        self._refresh_if_due()

    def _refresh_if_due(self) -> None:
        """Tell what is known, unless that was done just now or is being done."""
        if time.monotonic() - self._refreshed_at >= self._interval and self._refresh_lock.acquire(
            blocking=False
        ):
            try:
                self._refresh()
            finally:
                self._refresh_lock.release()

    def _refresh(self) -> None:
        now, done = time.monotonic(), self._done_count
        rate = (done - self._refreshed_count) / max(now - self._refreshed_at, 1e-9)
        self._refreshed_at, self._refreshed_count = now, done
        lines = [
            *_format_troubles(self._states, still=not rate),
            *(self._format_status_lines(rate) if done else ()),
        ]
        self._display.show_status(done, rate, lines)

    def _format_status_lines(self, rate: float) -> list[list[str]]:
        """Return what is known of the answers; each of several subjects has a line of its own."""
        for tally in self._subjects.values():
            tally.mark_new_replies()
        cost = sum((tally.cost for tally in self._subjects.values()), Decimal(0))
        pace = [f"{rate:.1f}/s", *([f"cost {format_plain(cost)}"] if cost else [])]
        if len(self._subjects) == 1:
            (tally,) = self._subjects.values()
            return [[*tally.format_summary(), *pace, *tally.format_axes()]]
        each = (
            [f"{name}: {one.done:,} done", *one.format_summary()]
            for name, one in self._subjects.items()
        )
        return [*each, pace]


class _PipeProgress:
    """Prints plain lines."""

    def __init__(self, total: int) -> None:
        self._total = total

    def count_question(self) -> None:
        """Do nothing: a line tells of many."""

    def show_status(self, done: int, rate: float, lines: Sequence[Sequence[str]]) -> None:
        """Print one line; who read it may be gone, and the run goes on."""
        left = f", about {(self._total - done) / rate:.0f} s left" if rate else ""
        said = [f"{done:,} of {self._total:,} done{left}", *map(", ".join, lines)]
        with suppress(OSError):
            sys.stderr.write(f"{'; '.join(said)}\n")


def _format_troubles(states: Sequence[SubjectState], *, still: bool) -> Iterator[list[str]]:
    """Yield what holds the run up; where it stands still and nothing is wrong, what is waited for.

    Of several subjects each says who it is.
    """
    found = [
        line for state in states for line in _format_subject_trouble(state, named=len(states) > 1)
    ]
    running = sum(state.running for state in states)
    yield from found or ([[f"{running:,} under way"]] if still and running else [])


def _format_subject_trouble(state: SubjectState, *, named: bool) -> Iterator[list[str]]:
    failed = dict(state.failed)
    if state.busy:
        refusals = failed.pop(Fault.BUSY, 0)
        many = f"{refusals:,} refusal{'' if refusals == 1 else 's'}"
        yield [f"{state.subject} is busy ({many})", _format_retry_delay(state.seconds_until_retry)]
    if failed:
        tries = sum(failed.values())
        kinds = ", ".join(f"{kind} {n:,}" for kind, n in failed.items())
        who = f"{state.subject}: " if named else ""
        many = "1 try" if tries == 1 else f"{tries:,} tries"
        quiet = (
            [_format_retry_delay(state.seconds_until_retry)]
            if state.seconds_until_retry and not state.busy
            else []
        )
        yield [f"{who}{many} failed: {kinds if len(failed) > 1 else next(iter(failed))}", *quiet]


def _format_retry_delay(seconds: float) -> str:
    return f"asked again in {math.ceil(seconds):,} s" if seconds else "asked again now"
