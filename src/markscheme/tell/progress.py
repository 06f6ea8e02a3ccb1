"""Progress on stderr: of scoring a file, and of asking live subjects.

On a terminal it is drawn anew twice a second; in a pipe a plain line is printed every ten seconds,
so that short runs stay silent.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from decimal import Decimal
from threading import Lock
from typing import TYPE_CHECKING, Protocol, TypeVar

from markscheme.ask.replies import Fault
from markscheme.vocabulary import format_decimal, format_plain

if TYPE_CHECKING:
    # These load polars or asyncio, which scoring a few answers must not wait for.
    from markscheme.ask.runner import AskedQuestion, SubjectState
    from markscheme.weigh.live import RunningScore
    from markscheme.weigh.totals import AnswerCounts
    from markscheme.workflows.live_session import RunObserver

_PIPE_INTERVAL = 10.0  # seconds between two lines in a pipe
_TERMINAL_INTERVAL = 0.5  # seconds between two changes of what a terminal shows


class HasScoreCounts(Protocol):
    """A scored chunk, as far as progress needs to know it."""

    @property
    def answers(self) -> int:
        """How many answers it has."""

    @property
    def counts(self) -> AnswerCounts:
        """Counts of its answers and errors."""


S = TypeVar("S", bound=HasScoreCounts)


def show_scoring_progress(chunks: Iterable[S], label: str) -> Iterator[S]:
    """Yield the chunks, and count their answers on stderr if that is a terminal."""
    if not sys.stderr.isatty():
        yield from chunks
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from markscheme.tell.console import TerminalConsole

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=TerminalConsole(sys.stderr), transient=True) as progress:
        task = progress.add_task(f"reading {label}")
        answers = errors = 0
        for chunk in chunks:
            yield chunk
            answers += chunk.answers
            errors += chunk.counts.errors
            bad = f", {errors:,} bad rows" if errors else ""
            progress.update(task, description=f"{answers:,} answers scored{bad}")


class ProgressDisplay(Protocol):
    """Where the progress of a live run is shown."""

    def count_question(self) -> None:
        """Count one more question that is done."""

    def show_status(self, done: int, rate: float, lines: Sequence[Sequence[str]]) -> None:
        """Show the status, in lines of parts."""


@contextmanager
def show_asking_progress(subjects: Sequence[str], total: int) -> Iterator[AskingProgress]:
    """Show on stderr how a live run goes; its `observer` is to be given to the run."""
    if sys.stderr.isatty():
        from markscheme.tell.terminal_progress import TerminalProgress

        with TerminalProgress(total) as display:
            yield AskingProgress(subjects, display, interval=_TERMINAL_INTERVAL, total=total)
    else:
        yield AskingProgress(subjects, _PipeProgress(total), interval=_PIPE_INTERVAL)


class AskingProgress:
    """Collects replies, scores and states of a live run, and shows them every few seconds.

    Replies come from the thread that commits them, scores from the one that marks, and states from
    the event loop. With a `total`, the last score is shown at once when all questions are done.
    """

    def __init__(
        self,
        subjects: Sequence[str],
        display: ProgressDisplay,
        *,
        interval: float,
        total: int | None = None,
    ) -> None:
        self._subjects = {name: _SubjectProgress() for name in subjects}
        self._display, self._interval, self._total = display, interval, total
        self._states: Sequence[SubjectState] = ()
        self._refreshed_at, self._refreshed_count = time.monotonic(), 0
        self._refresh_lock = Lock()

    @property
    def observer(self) -> RunObserver:
        """The callbacks through which a run reports to this progress."""
        from markscheme.workflows.live_session import RunObserver

        return RunObserver(
            on_reply=self._count_reply,
            on_states=self._update_states,
            on_score=self._update_score,
            score_interval=self._interval,
        )

    @property
    def _done_count(self) -> int:
        return sum(subject.done for subject in self._subjects.values())

    def _count_reply(self, asked: AskedQuestion) -> None:
        self._subjects[asked.scheduled.subject].count_reply(asked)
        self._display.count_question()
        self._refresh_if_due()

    def _update_score(self, subject: str, score: RunningScore) -> None:
        self._subjects[subject].score = score
        if self._done_count == self._total:
            with self._refresh_lock:
                self._refresh()
        else:
            self._refresh_if_due()

    def _update_states(self, states: Sequence[SubjectState]) -> None:
        if not self._states:
            # Answers from before a run was resumed are no part of its rate.
            self._refreshed_at, self._refreshed_count = time.monotonic(), self._done_count
        self._states = states
        self._refresh_if_due()

    def _refresh_if_due(self) -> None:
        """Show the status, unless that was done just now or another thread is doing it."""
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
        """Return one line for a single subject; several have one each, and one for all."""
        cost = sum((subject.cost for subject in self._subjects.values()), Decimal(0))
        pace = [f"{rate:.1f}/s", *([f"cost {format_plain(cost)}"] if cost else [])]
        if len(self._subjects) == 1:
            (subject,) = self._subjects.values()
            return [[*subject.format_summary(), *pace, *subject.format_axes()]]
        each = (
            [f"{name}: {subject.done:,} done", *subject.format_summary()]
            for name, subject in self._subjects.items()
        )
        return [*each, pace]


class _SubjectProgress:
    """Counts of one subject's replies, and its latest score."""

    def __init__(self) -> None:
        self.done = self._errors = 0
        self.cost = Decimal(0)
        self.score: RunningScore | None = None

    def count_reply(self, asked: AskedQuestion) -> None:
        self.done += 1
        self._errors += asked.reply.fault is not None
        self.cost += asked.reply.cost or 0

    def format_summary(self) -> list[str]:
        """Return the mean with its interval, and how many questions ended with an error."""
        errors = "1 error" if self._errors == 1 else f"{self._errors:,} errors"
        mean = self.score.mean if self.score else None
        text = f"score {format_decimal(mean, 3)}"
        if self.score and self.score.interval:
            low, high = self.score.interval
            text += f" [{max(0.0, low):.3f}, {min(1.0, high):.3f}]"
        return [text, errors]

    def format_axes(self) -> list[str]:
        """Return the mean of each axis."""
        axes = self.score.axes if self.score else {}
        return [f"{axis} {format_decimal(mean, 2)}" for axis, mean in axes.items()]


class _PipeProgress:
    """Prints a plain line now and then."""

    def __init__(self, total: int) -> None:
        self._total = total

    def count_question(self) -> None:
        """Do nothing: lines are printed by the clock."""

    def show_status(self, done: int, rate: float, lines: Sequence[Sequence[str]]) -> None:
        """Print one line."""
        left = f", about {(self._total - done) / rate:.0f} s left" if rate else ""
        parts = [f"{done:,} of {self._total:,} done{left}", *map(", ".join, lines)]
        # The reader of the pipe may be gone; the run goes on without it.
        with suppress(OSError):
            sys.stderr.write(f"{'; '.join(parts)}\n")


def _format_troubles(states: Sequence[SubjectState], *, still: bool) -> Iterator[list[str]]:
    """Yield lines about what holds the run up.

    Where nothing does and still no answer came lately, tell how many questions are under way.
    """
    lines = [
        line for state in states for line in _format_subject_trouble(state, named=len(states) > 1)
    ]
    running = sum(state.running for state in states)
    yield from lines or ([[f"{running:,} under way"]] if still and running else [])


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
