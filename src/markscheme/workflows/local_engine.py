"""Score on this machine: in this process, or in several where the answers are many."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Self

from markscheme.read.answers import (
    DEFAULT_LIMITS,
    AnswerBatch,
    FilePart,
    is_folder,
    list_answer_files,
    split_file,
)
from markscheme.read.tool_files import is_tool_file
from markscheme.vocabulary import Exam, RowError, Rubric, sentence
from markscheme.workflows.scorer_options import PLAIN_SCORER, ScorerOptions

if TYPE_CHECKING:
    import polars as pl

    from markscheme.workflows.score import Progress
    from markscheme.workflows.scoring_session import Answers, ScoredChunk, ScoringSession
    from markscheme.workflows.workers import WorkerPool

MIN_BYTES_FOR_WORKERS = 32_000_000
"""Size of the answers below which starting a worker costs more than it saves."""
_PARQUET_EXPANSION = 8  # bytes of text in a byte of Parquet, about
_THREADS_FOLDER = Path("/proc/self/task")


class LocalEngine:
    """Scores a file, a folder of files, the standard input or rows in memory, on this machine.

    JSONL and Parquet files are scored in parts; everything else streams through this process.
    `workers` is the number of processes, None to choose it by the size of the files. Workers are
    forked on entering, if polars was not imported before.
    """

    logs = False
    stores_rows = False

    def __init__(
        self,
        rubric: Rubric,
        exam: Exam,
        answers: Answers,
        workers: int | None = 1,
        options: ScorerOptions = PLAIN_SCORER,
    ) -> None:
        self._options = options
        self._rubric = rubric
        self._exam = exam
        self._answers = answers
        path = answers if isinstance(answers, str | Path) else None
        self.label = "the answers" if path is None else str(path)
        is_foreign = path is not None and is_tool_file(path)
        self._files = [] if path is None or is_foreign else list_answer_files(path)
        self.is_folder = path is not None and is_folder(path)
        read = self._files or ([] if path is None or str(path) == "-" else [Path(path)])
        self._states = {file: _read_file_state(file) for file in read}
        self._workers = self._choose_worker_count() if workers is None else workers
        self._pool: WorkerPool | None = None
        self._exit_stack = ExitStack()

    def _choose_worker_count(self) -> int:
        """Return one process for each core, if the files are large enough to be worth it."""
        sizes = [
            path.stat().st_size * (_PARQUET_EXPANSION if path.suffix.lower() == ".parquet" else 1)
            for path in self._files
        ]
        if sum(sizes) < MIN_BYTES_FOR_WORKERS:
            return 1
        return min(_count_cores(), sum(sizes) // DEFAULT_LIMITS.part_bytes)

    def __enter__(self) -> Self:
        if self._files and self._workers > 1 and can_fork():
            # `multiprocessing` is not loaded for small files.
            from markscheme.workflows.workers import WorkerPool

            # This process scores too, so it needs one worker less.
            pool = WorkerPool(self._rubric, self._exam, self._workers - 1, self._options)
            self._pool = self._exit_stack.enter_context(pool)
        return self

    def __exit__(self, *_: object) -> None:
        self._exit_stack.close()

    def iter_frames(self, session: ScoringSession, progress: Progress) -> Iterator[pl.DataFrame]:
        """Score everything; yield the rows in the order of the answers."""
        return session.build_frames(progress(self.score_chunks(session), self.label))

    def score_chunks(self, session: ScoringSession) -> Iterator[ScoredChunk]:
        """Yield the answers scored, in order, and an error for each file that changed meanwhile."""
        if not self._files:
            yield from session.score_answers(self._answers)
        elif self._pool is None:
            yield from map(session.scorer.score, self._iter_parts())
        else:
            yield from self._pool.score_parts(self._iter_parts(), session.scorer)
        changes = AnswerBatch(errors=[_build_change_error(file) for file in self._find_changes()])
        if changes.errors:
            yield session.mark_batch(changes)

    def _find_changes(self) -> list[Path]:
        """Return the files that are not what they were before they were read."""
        return [file for file, state in self._states.items() if _read_file_state(file) != state]

    def _iter_parts(self) -> Iterator[FilePart]:
        named = ((path, path.name if self.is_folder else None) for path in self._files)
        return chain.from_iterable(split_file(path, file=file) for path, file in named)


def _read_file_state(file: Path) -> tuple[int, ...] | None:
    """Return what changes when a file is written, cut or replaced; `None` if there is none."""
    with suppress(OSError, ValueError):
        state = file.stat()
        return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns
    return None


def _build_change_error(file: Path) -> RowError:
    return RowError(
        line=1,
        reason=sentence("the file changed while it was read, so answers may be missing or old"),
        file=file.name,
    )


def can_fork() -> bool:
    """Whether this process is known to have one thread only."""
    return _THREADS_FOLDER.is_dir() and len(list(_THREADS_FOLDER.iterdir())) == 1


def _count_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
