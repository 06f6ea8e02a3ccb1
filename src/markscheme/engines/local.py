"""On this machine: in this process, or in several where the answers are many."""

from __future__ import annotations

import os
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Self

from markscheme.read.answers import is_folder, list_answer_files, split_file
from markscheme.read.answers.limits import DEFAULT_LIMITS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from markscheme.engines.processes import WorkerPool
    from markscheme.engines.scoring import ScoringSession
    from markscheme.engines.stretches import ScoredChunk
    from markscheme.read.answers import FilePart
    from markscheme.vocabulary import Exam, Rubric

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
    ) -> None:
        self._outputs = outputs
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
            from markscheme.engines.heaps import limit_malloc_arenas
            from markscheme.engines.processes import WorkerPool

            limit_malloc_arenas()
            workers = self._workers - 1
            processes = WorkerPool(self.rubric, self.exam, workers, outputs=self._outputs)
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
