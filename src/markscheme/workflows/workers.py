"""Few heaps for all threads: what one thread has freed another can use, so memory stays flat.

polars works in threads, and allocators give each thread a heap of its own. Parts of answers are
read, marked and written in different threads, so every heap would come to hold as much as one.

Several processes on one machine, forked before any thread has started.

A fork copies only the thread that calls it; a lock that another thread holds would stay locked for
ever in the copy. polars starts threads when it is imported, so the workers are forked before that,
with the rubric and the exam in their memory, and import it themselves.

A worker gets parts through its pipe and leaves each scored stretch in a file in memory, so that it
never waits for anyone to read. Whatever a worker does not give back, because it failed or was
killed, this process scores itself when its turn has come.

On this machine: in this process, or in several where the answers are many.
"""

from __future__ import annotations

import ctypes
import gc
import os
import pickle
import signal
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import chain, cycle
from multiprocessing import connection, get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from markscheme.read.answers import DEFAULT_LIMITS, is_folder, list_answer_files, split_file

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from markscheme.read.answers import FilePart
    from markscheme.vocabulary import Exam, Rubric
    from markscheme.workflows.score import ScoringSession
    from markscheme.workflows.scored_chunk import ChunkScorer, ScoredChunk

_M_ARENA_MAX = -8  # of glibc


def limit_malloc_arenas() -> None:
    """Let threads share heaps; call it before polars is loaded. Whoever set this up is obeyed."""
    os.environ.setdefault("_RJEM_MALLOC_CONF", "narenas:2")  # read by the allocator of polars
    with suppress(AttributeError, OSError, TypeError):  # where the system has no such allocator
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


_QUEUE_LENGTH = 2  # parts that a worker has: the one it scores, and the next
_WORKER_GONE_ERRORS = (EOFError, OSError)


@dataclass(slots=True, kw_only=True)
class _WorkerProcess:
    """A forked process; `given` are the numbers of the parts it has, in order."""

    process: ForkProcess
    pipe: Connection
    slots: Iterator[int]
    assigned: deque[int] = field(default_factory=deque)


class WorkerPool:
    """So many workers beside this process; forks them on entering, ends them on leaving."""

    def __init__(
        self,
        rubric: Rubric,
        exam: Exam,
        count: int,
        *,
        outputs: bool = False,
        messages: bool = False,
    ) -> None:
        self._outputs = outputs
        self._messages = messages
        self._rubric = rubric
        self._exam = exam
        self._count = count
        self._workers: list[_WorkerProcess] = []
        self._slot_files: list[int] = []

    def __enter__(self) -> Self:
        gc.freeze()  # what is shared stays shared where the collector does not write to it
        for _ in range(self._count):
            self._workers.append(self._fork_worker())
        return self

    def _fork_worker(self) -> _WorkerProcess:
        context = get_context("fork")
        pipe, end = context.Pipe()
        slots = [os.memfd_create("stretch") for _ in range(_QUEUE_LENGTH)]
        others = [worker.pipe for worker in self._workers]
        process = context.Process(
            target=_run_worker_process,
            args=(end, [pipe, *others], slots, self._create_scorer),
            daemon=True,
        )
        process.start()
        end.close()
        self._slot_files += slots
        return _WorkerProcess(process=process, pipe=pipe, slots=cycle(slots))

    def _create_scorer(self) -> ChunkScorer:
        from markscheme.workflows.scored_chunk import ChunkScorer

        return ChunkScorer(self._rubric, self._exam, outputs=self._outputs, messages=self._messages)

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
        for file in self._slot_files:
            os.close(file)

    def score_parts(self, parts: Iterator[FilePart], scorer: ChunkScorer) -> Iterator[ScoredChunk]:
        """Yield the parts scored, in order; this process does its share."""
        return _PartScheduler(self._workers, parts, scorer).iter_chunks()


class _PartScheduler:
    """Parts on their way through the workers; a few at a time, so that memory stays flat."""

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
            if self._next_number in self._finished:
                yield self._pop_next_chunk()
            elif self._next_number in self._in_progress and not self._is_assigned(
                self._next_number
            ):
                self._score_here(self._next_number)
            elif (number := self._fetch_part()) is not None:
                self._score_here(number)
            else:
                self._collect_results(None)

    def _pop_next_chunk(self) -> ScoredChunk:
        del self._in_progress[self._next_number]
        stretch = self._finished.pop(self._next_number)
        self._next_number += 1
        return stretch

    def _is_assigned(self, number: int) -> bool:
        """Whether some worker has the part."""
        return any(number in worker.assigned for worker in self._workers)

    def _score_here(self, number: int) -> None:
        self._finished[number] = self._scorer.score(self._in_progress[number])

    def _fetch_part(self) -> int | None:
        """Take the next part off the list, unless too many are under way or none is left."""
        if len(self._in_progress) >= self._max_in_progress or self._is_exhausted:
            return None
        number, part = next(self._parts, (None, None))
        if part is None or number is None:
            self._is_exhausted = True
            return None
        self._in_progress[number] = part
        return number

    def _assign_parts(self) -> None:
        """Fill the queues of the workers."""
        for _ in range(_QUEUE_LENGTH):
            for worker in list(self._workers):
                if (
                    len(worker.assigned) < _QUEUE_LENGTH
                    and (number := self._fetch_part()) is not None
                ):
                    worker.assigned.append(number)
                    try:
                        worker.pipe.send(self._in_progress[number])
                    except _WORKER_GONE_ERRORS:
                        self._workers.remove(worker)

    def _collect_results(self, timeout: float | None) -> None:
        """Take what the workers have scored."""
        pipes = {worker.pipe: worker for worker in self._workers if worker.assigned}
        for pipe in connection.wait(list(pipes), timeout) if pipes else ():
            worker = pipes[pipe]  # type: ignore[index]
            try:
                scored = worker.pipe.recv()
            except _WORKER_GONE_ERRORS:
                self._workers.remove(worker)
                continue
            number, slot = worker.assigned.popleft(), next(worker.slots)
            if scored:
                with open(slot, "rb", closefd=False) as file:
                    file.seek(0)
                    self._finished[number] = pickle.load(file)  # noqa: S301 - our own worker wrote it


def _run_worker_process(
    pipe: Connection,
    others: Sequence[Connection],
    slots: Sequence[int],
    make_scorer: Callable[[], ChunkScorer],
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
    with suppress(*_WORKER_GONE_ERRORS):
        for slot in cycle(slots):
            pipe.send(_score_into_slot(scorer, pipe.recv(), slot))


def _score_into_slot(scorer: ChunkScorer, part: Any, slot: int) -> bool:
    """Leave the scored part in the slot; what fails here will fail aloud where it is due."""
    try:
        with open(slot, "wb", closefd=False) as file:
            file.seek(0)
            pickle.dump(scorer.score(part).pack(), file, protocol=5)
    except Exception:  # noqa: BLE001 - scored again by the process that reports it
        return False
    return True


_THREADS_FOLDER = Path("/proc/self/task")
MIN_BYTES_FOR_WORKERS = 32_000_000  # bytes; below, starting a worker costs more than it saves
_PARQUET_EXPANSION = 8  # bytes of text in a byte of Parquet, about


class LocalEngine:
    """Scores a file or a folder of answers; a file that cannot be read in parts streams.

    Workers are forked on entering, so enter before anything starts threads: before polars.
    """

    logs = False

    def __init__(
        self,
        rubric: Rubric,
        exam: Exam,
        answers: str | Path,
        workers: int | None = 1,
        *,
        outputs: bool = False,
        messages: bool = False,
    ) -> None:
        self._outputs = outputs
        self._messages = messages
        self.rubric = rubric
        self.exam = exam
        self.answers = answers
        self._files = list_answer_files(answers)
        self.is_folder = is_folder(answers)
        self._workers = self._choose_worker_count() if workers is None else workers
        self._pool: WorkerPool | None = None
        self._exit_stack = ExitStack()

    def _choose_worker_count(self) -> int:
        """Return how many processes to use: one for each core, if that is worth their start."""
        sizes = [
            path.stat().st_size * (_PARQUET_EXPANSION if path.suffix.lower() == ".parquet" else 1)
            for path in self._files
        ]
        worth_it = sum(sizes) >= MIN_BYTES_FOR_WORKERS
        return min(_count_cores(), sum(sizes) // DEFAULT_LIMITS.part_bytes) if worth_it else 1

    def __enter__(self) -> Self:
        if self._files and self._workers > 1 and can_fork():
            limit_malloc_arenas()
            workers = self._workers - 1
            processes = WorkerPool(
                self.rubric,
                self.exam,
                workers,
                outputs=self._outputs,
                messages=self._messages or self._outputs,
            )
            self._pool = self._exit_stack.enter_context(processes)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._exit_stack.close()

    def score_chunks(self, scoring: ScoringSession) -> Iterator[ScoredChunk]:
        """Yield the answers scored, in order."""
        if not self._files:
            return scoring.score_answers(self.answers)
        if self._pool is None:
            return map(scoring.scorer.score, self._iter_parts())
        return self._pool.score_parts(self._iter_parts(), scoring.scorer)

    def _iter_parts(self) -> Iterator[FilePart]:
        named = ((path, path.name if self.is_folder else None) for path in self._files)
        return chain.from_iterable(split_file(path, file=file) for path, file in named)


def can_fork() -> bool:
    """Whether this process is known to have one thread only."""
    return _THREADS_FOLDER.is_dir() and len(list(_THREADS_FOLDER.iterdir())) == 1


def _count_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
