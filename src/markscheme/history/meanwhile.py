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

    from markscheme.ask.runner import Asked
    from markscheme.history.asking import Examined, Onlooker, Plan
    from markscheme.history.beginning import Beginning
    from markscheme.history.live_runs import LiveRun
    from markscheme.history.marking import Marking

_FEW, _MANY = 500, 5_000  # replies that are marked at once: each time costs as much as 300 more
_AT_THE_END = ("markscheme.keep.chunks", "markscheme.keep.frames")  # loaded by their first use
_SLICE = 0.0002  # seconds for which the thread may hold others up


class Meanwhile:
    """Marks replies in a thread of its own; the store is left alone until the end."""

    def __init__(self, plan: Plan, runs: Beginning | None, onlooker: Onlooker) -> None:
        self._plan, self._runs, self._onlooker = plan, runs, onlooker
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="markscheme marking")
        self._begun: list[Future[None]] = []
        self._waiting: list[Asked] = []
        self._left = plan.questions
        self._enough = min(_MANY, max(_FEW, plan.questions * 9 // 10))
        self._markings: dict[str, Marking] = {}
        self._slice = sys.getswitchinterval()

    def __enter__(self) -> Self:
        sys.setswitchinterval(_SLICE)
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown(cancel_futures=True)
        sys.setswitchinterval(self._slice)

    @property
    def onlooker(self) -> Onlooker:
        """Who looks on: we, and for us the other one."""
        return replace(self._onlooker, watch=self._watch, load=self._load)

    def _load(self) -> None:
        """Load what scores, now that there is something to wait for."""
        self._begun.append(self._thread.submit(self._prepare))

    def _watch(self, asked: Asked) -> None:
        self._waiting.append(asked)
        self._left -= 1
        if len(self._waiting) >= self._enough or not self._left:
            self._mark()
        self._onlooker.watch(asked)

    def _mark(self) -> None:
        some, self._waiting = self._waiting, []
        self._begun.append(self._thread.submit(self._take, some))

    def finish(self, examined: Examined) -> list[LiveRun]:
        """Mark what is left; return the run of each subject, all of them stored at once."""
        if self._waiting or not self._begun:
            self._mark()
        for begun in self._begun:
            begun.result()
        with self._runs.store.together() if self._runs else nullcontext():
            return [marking.finish(examined) for marking in self._markings.values()]

    def _prepare(self) -> None:
        if self._markings:
            return
        from markscheme.history.marking import Marking  # noqa: PLC0415 - polars, while others wait
        from markscheme.history.recording import Recorder  # noqa: PLC0415 - the same

        if hasattr(signal, "siginterrupt"):  # not on Windows
            signal.siginterrupt(signal.SIGINT, True)  # polars made waits deaf to it
        for subject in self._plan.subjects:
            recorder = Recorder(self._runs) if self._runs else None
            self._markings[subject.name] = Marking(self._plan, subject.name, recorder)
        for module in _AT_THE_END if self._runs else ():
            import_module(module)
        self._onlooker.load()

    def _take(self, some: list[Asked]) -> None:
        self._prepare()
        for name, marking in self._markings.items():
            marking.take([asked for asked in some if asked.ask.subject == name])
