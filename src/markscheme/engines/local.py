"""On this machine: in this process, or in several where the answers are many."""

from __future__ import annotations

import os
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Self

from markscheme.read.answers import answer_files, is_folder, parts_of
from markscheme.read.answers.limits import USUAL

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from markscheme.engines.processes import Processes
    from markscheme.engines.scoring import Scoring
    from markscheme.engines.stretches import Stretch
    from markscheme.read.answers import Part
    from markscheme.vocabulary import Exam, Rubric

_THREADS = Path("/proc/self/task")
WORTH_WORKERS = 32_000_000  # bytes; below, starting a worker costs more than it saves
_PACKED = 8  # bytes of text in a byte of Parquet, about


class Local:
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
        self._files = answer_files(answers)
        self.is_folder = is_folder(answers)
        self._workers = self._usual_workers() if workers is None else workers
        self._processes: Processes | None = None
        self._open = ExitStack()

    def _usual_workers(self) -> int:
        """Return how many processes to use: one for each core, if that is worth their start."""
        sizes = [
            path.stat().st_size * (_PACKED if path.suffix.lower() == ".parquet" else 1)
            for path in self._files
        ]
        worth_it = sum(sizes) >= WORTH_WORKERS
        return min(_cores(), sum(sizes) // USUAL.part_bytes) if worth_it else 1

    def __enter__(self) -> Self:
        if self._files and self._workers > 1 and may_fork():
            from markscheme.engines.heaps import share_heaps
            from markscheme.engines.processes import Processes

            share_heaps()
            workers = self._workers - 1
            processes = Processes(self.rubric, self.exam, workers, outputs=self._outputs)
            self._processes = self._open.enter_context(processes)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.close()

    def stretches(self, scoring: Scoring) -> Iterator[Stretch]:
        """Yield the answers scored, in order."""
        if not self._files:
            return scoring.streamed(self.answers)
        if self._processes is None:
            return map(scoring.scorer.score, self._parts())
        return self._processes.scored(self._parts(), scoring.scorer)

    def _parts(self) -> Iterator[Part]:
        named = ((path, path.name if self.is_folder else None) for path in self._files)
        return chain.from_iterable(parts_of(path, file=file) for path, file in named)


def may_fork() -> bool:
    """Whether this process is known to have one thread only."""
    return _THREADS.is_dir() and len(list(_THREADS.iterdir())) == 1


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
