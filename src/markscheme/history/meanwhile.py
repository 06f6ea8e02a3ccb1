"""Meanwhile: what is to be done with the answers is made ready, and begun, while others are asked.

Asking is waiting, so a thread beside it costs no time; but it must let go as soon as an answer
comes.
"""

from __future__ import annotations

import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from concurrent.futures import Future

    from markscheme.ask.runner import AskedQuestion
    from markscheme.history.asking import LiveSessionResult, RunObserver, RunPlan
    from markscheme.history.beginning import RunWriter
    from markscheme.history.live_runs import LiveRun
    from markscheme.history.marking import SubjectMarker

_FEW, _MANY = 500, 5_000  # replies that are marked at once: each time costs as much as 300 more
_LATE_MODULES = ("markscheme.keep.chunks", "markscheme.keep.frames")  # loaded by their first use
_SWITCH_INTERVAL_SECONDS = 0.0002  # seconds for which the thread may hold others up


class BackgroundMarker:
    """Marks replies in a thread of its own; the store is left alone until the end."""

    def __init__(self, plan: RunPlan, run_writer: RunWriter | None, observer: RunObserver) -> None:
        self._plan, self._run_writer, self._observer = plan, run_writer, observer
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="markscheme marking")
        self._futures: list[Future[None]] = []
        self._queue: list[AskedQuestion] = []
        self._remaining = plan.questions
        self._batch_size = min(_MANY, max(_FEW, plan.questions * 9 // 10))
        self._markers: dict[str, SubjectMarker] = {}
        self._switch_interval = sys.getswitchinterval()

    def __enter__(self) -> Self:
        sys.setswitchinterval(_SWITCH_INTERVAL_SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown(cancel_futures=True)
        sys.setswitchinterval(self._switch_interval)

    @property
    def observer(self) -> RunObserver:
        """Who looks on: we, and for us the other one."""
        return replace(self._observer, on_reply=self._queue_reply, on_waiting=self._submit_prepare)

    def _submit_prepare(self) -> None:
        """Load what scores, now that there is something to wait for."""
        self._futures.append(self._thread.submit(self._prepare_markers))

    def _queue_reply(self, asked: AskedQuestion) -> None:
        self._queue.append(asked)
        self._remaining -= 1
        if len(self._queue) >= self._batch_size or not self._remaining:
            self._submit_batch()
        self._observer.on_reply(asked)

    def _submit_batch(self) -> None:
        some, self._queue = self._queue, []
        self._futures.append(self._thread.submit(self._mark_batch, some))

    def finish_runs(self, examined: LiveSessionResult) -> list[LiveRun]:
        """Mark what is left; return the run of each subject, all of them stored at once."""
        if self._queue or not self._futures:
            self._submit_batch()
        for begun in self._futures:
            begun.result()
        with self._run_writer.store.transaction() if self._run_writer else nullcontext():
            return [marking.finish_run(examined) for marking in self._markers.values()]

    def _prepare_markers(self) -> None:
        if self._markers:
            return
        from markscheme.history.marking import SubjectMarker  # noqa: PLC0415 - polars, while others wait
        from markscheme.history.recording import RunRecorder  # noqa: PLC0415 - the same

        if hasattr(signal, "siginterrupt"):  # not on Windows
            signal.siginterrupt(signal.SIGINT, True)  # polars made waits deaf to it
        for subject in self._plan.subjects:
            recorder = RunRecorder(self._run_writer) if self._run_writer else None
            self._markers[subject.name] = SubjectMarker(self._plan, subject.name, recorder)
        for module in _LATE_MODULES if self._run_writer else ():
            import_module(module)
        self._observer.on_waiting()

    def _mark_batch(self, some: list[AskedQuestion]) -> None:
        self._prepare_markers()
        for name, marking in self._markers.items():
            marking.mark_replies([asked for asked in some if asked.scheduled.subject == name])
