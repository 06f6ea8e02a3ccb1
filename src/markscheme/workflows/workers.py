"""Worker processes on this machine, forked before any thread has started.

A fork copies only the thread that calls it, and a lock held by another thread would stay locked for
ever in the copy. polars starts threads when it is imported, so workers are forked before that, with
the rubric and the exam in their memory, and import polars themselves.

A worker receives file parts through a pipe and leaves each scored chunk in a file in memory
(memfd), so it never waits for a reader. What a worker does not give back, because it failed or was
killed, this process scores itself when the part's turn comes.
"""

from __future__ import annotations

import os
import pickle
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import cycle
from multiprocessing import connection, get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess
from typing import TYPE_CHECKING, Self

from markscheme.read.answers import FilePart
from markscheme.vocabulary import Exam, Rubric
from markscheme.workflows.scorer_options import ScorerOptions

if TYPE_CHECKING:
    from markscheme.workflows.scoring_session import ChunkScorer, ScoredChunk

_QUEUE_LENGTH = 2  # parts assigned to a worker: the one it scores, and the next
_WORKER_GONE_ERRORS = (EOFError, OSError)


@dataclass(slots=True, kw_only=True)
class _WorkerProcess:
    """A forked process; `assigned` are the numbers of the parts it has, in order."""

    process: ForkProcess
    pipe: Connection
    slots: Iterator[int]
    assigned: deque[int] = field(default_factory=deque)


class WorkerPool:
    """Workers beside this process; forks them on entering, ends them on leaving."""

    def __init__(self, rubric: Rubric, exam: Exam, count: int, options: ScorerOptions) -> None:
        self._options = options
        self._rubric = rubric
        self._exam = exam
        self._count = count
        self._workers: list[_WorkerProcess] = []
        self._slot_files: list[int] = []

    def __enter__(self) -> Self:
        for _ in range(self._count):
            self._workers.append(self._fork_worker())
        return self

    def _fork_worker(self) -> _WorkerProcess:
        context = get_context("fork")
        pipe, worker_end = context.Pipe()
        slots = [os.memfd_create("chunk") for _ in range(_QUEUE_LENGTH)]
        other_pipes = [worker.pipe for worker in self._workers]
        process = context.Process(
            target=_run_worker_process,
            args=(worker_end, [pipe, *other_pipes], slots, self._create_scorer),
            daemon=True,
        )
        process.start()
        worker_end.close()
        self._slot_files += slots
        return _WorkerProcess(process=process, pipe=pipe, slots=cycle(slots))

    def _create_scorer(self) -> ChunkScorer:
        from markscheme.workflows.scoring_session import ChunkScorer

        return ChunkScorer(self._rubric, self._exam, self._options)

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.process.kill()
            worker.pipe.close()
            worker.process.join()
        for file in self._slot_files:
            os.close(file)

    def score_parts(self, parts: Iterator[FilePart], scorer: ChunkScorer) -> Iterator[ScoredChunk]:
        """Yield the parts scored, in order; this process scores some of them."""
        return _PartScheduler(self._workers, parts, scorer).iter_chunks()


class _PartScheduler:
    """Gives parts to workers and yields their chunks in order; few at a time, to bound memory."""

    def __init__(
        self, workers: list[_WorkerProcess], parts: Iterator[FilePart], scorer: ChunkScorer
    ) -> None:
        self._workers = workers
        self._parts = enumerate(parts)
        self._scorer = scorer
        self._max_in_progress = (_QUEUE_LENGTH + 1) * (len(workers) + 1)
        self._next_number = 0
        self._is_exhausted = False
        self._in_progress: dict[int, FilePart] = {}
        self._finished: dict[int, ScoredChunk] = {}

    def iter_chunks(self) -> Iterator[ScoredChunk]:
        while not self._is_exhausted or self._in_progress:
            self._assign_parts()
            self._collect_results(0)
            due = self._next_number
            if due in self._finished:
                del self._in_progress[due]
                self._next_number += 1
                yield self._finished.pop(due)
            elif due in self._in_progress and not any(
                due in worker.assigned for worker in self._workers
            ):
                # The worker that had this part is gone.
                self._score_here(due)
            elif (number := self._fetch_part()) is not None:
                self._score_here(number)
            else:
                self._collect_results(None)

    def _score_here(self, number: int) -> None:
        self._finished[number] = self._scorer.score(self._in_progress[number])

    def _fetch_part(self) -> int | None:
        """Take the next part; return None if too many are in progress or none is left."""
        if len(self._in_progress) >= self._max_in_progress or self._is_exhausted:
            return None
        number, part = next(self._parts, (None, None))
        if part is None or number is None:
            self._is_exhausted = True
            return None
        self._in_progress[number] = part
        return number

    def _assign_parts(self) -> None:
        """Fill the queues of the workers, each with one part before any gets a second."""
        for _ in range(_QUEUE_LENGTH):
            for worker in list(self._workers):
                if len(worker.assigned) >= _QUEUE_LENGTH:
                    continue
                number = self._fetch_part()
                if number is None:
                    return
                worker.assigned.append(number)
                try:
                    worker.pipe.send(self._in_progress[number])
                except _WORKER_GONE_ERRORS:
                    self._workers.remove(worker)

    def _collect_results(self, timeout: float | None) -> None:
        """Load the chunks that workers have finished."""
        pipes = {worker.pipe: worker for worker in self._workers if worker.assigned}
        for pipe in connection.wait(list(pipes), timeout) if pipes else ():
            worker = pipes[pipe]  # type: ignore[index]
            try:
                is_scored = worker.pipe.recv()
            except _WORKER_GONE_ERRORS:
                self._workers.remove(worker)
                continue
            number, slot = worker.assigned.popleft(), next(worker.slots)
            if is_scored:
                with open(slot, "rb", closefd=False) as file:
                    file.seek(0)
                    self._finished[number] = pickle.load(file)  # noqa: S301 - our own worker wrote it


def _run_worker_process(
    pipe: Connection,
    other_pipes: Sequence[Connection],
    slots: Sequence[int],
    create_scorer: Callable[[], ChunkScorer],
) -> None:
    """Score parts until there are no more: the body of a worker."""
    for other in other_pipes:
        other.close()
    # Ctrl-C goes to all processes of a terminal; the one that forked this worker ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        # A signal that is ignored, as under `nohup`, stays ignored.
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    os.environ["POLARS_MAX_THREADS"] = "1"
    scorer = create_scorer()
    with suppress(*_WORKER_GONE_ERRORS):
        for slot in cycle(slots):
            pipe.send(_score_into_slot(scorer, pipe.recv(), slot))


def _score_into_slot(scorer: ChunkScorer, part: FilePart, slot: int) -> bool:
    """Leave the scored part in the slot; return False if it failed."""
    try:
        with open(slot, "wb", closefd=False) as file:
            file.seek(0)
            pickle.dump(scorer.score(part).pack(), file, protocol=5)
    except Exception:  # noqa: BLE001 - the other process scores the part again and raises the error
        return False
    return True
