"""Several processes on one machine, forked before any thread has started.

A fork copies only the thread that calls it; a lock that another thread holds would stay locked for
ever in the copy. polars starts threads when it is imported, so the workers are forked before that,
with the rubric and the exam in their memory, and import it themselves.

A worker gets parts through its pipe and leaves each scored stretch in a file in memory, so that it
never waits for anyone to read. Whatever a worker does not give back, because it failed or was
killed, this process scores itself when its turn has come.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import cycle
from multiprocessing import connection, get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from markscheme.engines.stretches import Scorer, Stretch
    from markscheme.read.answers import Part
    from markscheme.vocabulary import Exam, Rubric

_QUEUE = 2  # parts that a worker has: the one it scores, and the next
_GONE = (EOFError, OSError)


@dataclass(slots=True, kw_only=True)
class _Worker:
    """A forked process; `given` are the numbers of the parts it has, in order."""

    process: ForkProcess
    pipe: Connection
    slots: Iterator[int]
    given: deque[int] = field(default_factory=deque)


class Processes:
    """So many workers beside this process; forks them on entering, ends them on leaving."""

    def __init__(self, rubric: Rubric, exam: Exam, count: int, *, outputs: bool = False) -> None:
        self._outputs = outputs
        self._rubric = rubric
        self._exam = exam
        self._count = count
        self._workers: list[_Worker] = []
        self._files: list[int] = []

    def __enter__(self) -> Self:
        gc.freeze()  # what is shared stays shared where the collector does not write to it
        for _ in range(self._count):
            self._workers.append(self._forked())
        return self

    def _forked(self) -> _Worker:
        context = get_context("fork")
        pipe, end = context.Pipe()
        slots = [os.memfd_create("stretch") for _ in range(_QUEUE)]
        others = [worker.pipe for worker in self._workers]
        process = context.Process(
            target=_work,
            args=(end, [pipe, *others], slots, self._scorer),
            daemon=True,
        )
        process.start()
        end.close()
        self._files += slots
        return _Worker(process=process, pipe=pipe, slots=cycle(slots))

    def _scorer(self) -> Scorer:
        from markscheme.engines.stretches import Scorer

        return Scorer(self._rubric, self._exam, outputs=self._outputs)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for worker in self._workers:
            worker.process.kill()
            worker.pipe.close()
            worker.process.join()
        for file in self._files:
            os.close(file)

    def scored(self, parts: Iterator[Part], scorer: Scorer) -> Iterator[Stretch]:
        """Yield the parts scored, in order; this process does its share."""
        return _Round(self._workers, parts, scorer).stretches()


class _Round:
    """Parts on their way through the workers; a few at a time, so that memory stays flat."""

    def __init__(self, workers: list[_Worker], parts: Iterator[Part], scorer: Scorer) -> None:
        self._workers = workers
        self._parts = enumerate(parts)
        self._scorer = scorer
        self._ahead = (_QUEUE + 1) * (len(workers) + 1)
        self._due = 0
        self._all_given = False
        self._given: dict[int, Part] = {}
        self._done: dict[int, Stretch] = {}

    def stretches(self) -> Iterator[Stretch]:
        while not self._all_given or self._given:
            self._hand_out()
            self._take_in(0)
            if self._due in self._done:
                yield self._next()
            elif self._due in self._given and not self._is_out(self._due):
                self._score_here(self._due)
            elif (number := self._fetch()) is not None:
                self._score_here(number)
            else:
                self._take_in(None)

    def _next(self) -> Stretch:
        del self._given[self._due]
        stretch = self._done.pop(self._due)
        self._due += 1
        return stretch

    def _is_out(self, number: int) -> bool:
        """Whether some worker has the part."""
        return any(number in worker.given for worker in self._workers)

    def _score_here(self, number: int) -> None:
        self._done[number] = self._scorer.score(self._given[number])

    def _fetch(self) -> int | None:
        """Take the next part off the list, unless too many are under way or none is left."""
        if len(self._given) >= self._ahead or self._all_given:
            return None
        number, part = next(self._parts, (None, None))
        if part is None or number is None:
            self._all_given = True
            return None
        self._given[number] = part
        return number

    def _hand_out(self) -> None:
        """Fill the queues of the workers."""
        for _ in range(_QUEUE):
            for worker in list(self._workers):
                if len(worker.given) < _QUEUE and (number := self._fetch()) is not None:
                    worker.given.append(number)
                    try:
                        worker.pipe.send(self._given[number])
                    except _GONE:
                        self._workers.remove(worker)

    def _take_in(self, timeout: float | None) -> None:
        """Take what the workers have scored."""
        pipes = {worker.pipe: worker for worker in self._workers if worker.given}
        for pipe in connection.wait(list(pipes), timeout) if pipes else ():
            worker = pipes[pipe]  # type: ignore[index]
            try:
                scored = worker.pipe.recv()
            except _GONE:
                self._workers.remove(worker)
                continue
            number, slot = worker.given.popleft(), next(worker.slots)
            if scored:
                with open(slot, "rb", closefd=False) as file:
                    file.seek(0)
                    self._done[number] = pickle.load(file)  # noqa: S301 - our own worker wrote it


def _work(
    pipe: Connection,
    others: Sequence[Connection],
    slots: Sequence[int],
    make_scorer: Callable[[], Scorer],
) -> None:
    """Score parts until there are no more; the body of a worker."""
    for other in others:
        other.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever forked it ends it
    for number in (signal.SIGTERM, signal.SIGHUP):
        if callable(signal.getsignal(number)):  # else `nohup` wants us to go on
            signal.signal(number, signal.SIG_DFL)
    os.environ["POLARS_MAX_THREADS"] = "1"
    scorer = make_scorer()
    with suppress(*_GONE):
        for slot in cycle(slots):
            pipe.send(_is_scored(scorer, pipe.recv(), slot))


def _is_scored(scorer: Scorer, part: Any, slot: int) -> bool:
    """Leave the scored part in the slot; what fails here will fail aloud where it is due."""
    try:
        with open(slot, "wb", closefd=False) as file:
            file.seek(0)
            pickle.dump(scorer.score(part).packed(), file, protocol=5)
    except Exception:  # noqa: BLE001 - scored again by the process that reports it
        return False
    return True
