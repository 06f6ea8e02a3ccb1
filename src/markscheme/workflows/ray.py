"""Score on Ray: plain tasks over shares of the answers, on this machine or on a cluster.

A task scores consecutive parts of one file, with the same code as every engine, and writes their
rows to a Parquet file of its own. It returns little: exact counts, ranges of attempts, the first
bad rows. Nothing is shuffled; the driver merges shares in order, as it would merge single parts.
"""

from __future__ import annotations

import os
import socket
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from markscheme.mark.axes import FILE_MODULE_PREFIX
from markscheme.read.answers import (
    AttemptRanges,
    FilePart,
    count_part_lines,
    is_folder,
    list_answer_files,
    split_file,
)
from markscheme.vocabulary import Exam, RowError, Rubric, UsageError
from markscheme.weigh.totals import AnswerCounts
from markscheme.workflows.output_files import create_folder_atomically, read_folder_rows

if TYPE_CHECKING:
    import polars as pl

    from markscheme.workflows.score import Progress
    from markscheme.workflows.scoring_session import ScoringSession

PARTS_IN_A_SHARE = 13
RETRIES = 5
_SHARES_PER_CORE = 4  # tasks submitted ahead, for each core
_LOOPBACK = "127.0.0.1"
_CONNECT_TIMEOUT = 10  # seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What one task scores: consecutive parts of one file, after `lines_before` lines of it."""

    number: int
    parts: tuple[FilePart, ...]
    lines_before: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareTotals:
    """What a task returns."""

    counts: AnswerCounts
    attempts: AttemptRanges
    errors: list[RowError]
    answers: int


def format_share_filename(number: int) -> str:
    """Return the name of the file that a share is written to."""
    return f"part-{number:05}.parquet"


class RayEngine:
    """Scores a file or a folder of answers with Ray into a folder of Parquet files.

    Without an address, Ray is started here, for this run, with `workers` CPUs.
    """

    logs = False
    stores_rows = True

    def __init__(
        self,
        rubric: Rubric,
        exam: Exam,
        answers: object,
        destination: Path,
        *,
        address: str | None = None,
        workers: int | None = None,
    ) -> None:
        self._rubric = rubric
        self._exam = exam
        self._destination = destination
        self.label = str(answers)
        path = answers if isinstance(answers, str | Path) else ""
        self.is_folder = is_folder(path) if path else False
        self._files = [file.resolve() for file in list_answer_files(path)]
        if not self._files:
            raise UsageError(f"`{answers}`: Ray reads .jsonl and .parquet, a file or a folder")
        self._address = address
        self._workers = workers
        self._ray = _import_ray()
        self._started_here = False

    def __enter__(self) -> Self:
        if not self._ray.is_initialized():
            self._start_ray()
        self._score_task = self._ray.remote(max_retries=RETRIES)(score_share)
        self._count_task = self._ray.remote(max_retries=RETRIES)(count_lines)
        self._send_plugin_modules()
        self._task_context = self._ray.put((self._rubric, self._exam, self.is_folder))
        return self

    def _send_plugin_modules(self) -> None:
        """Send the code of plugin files with the rubric: a cluster does not have the files."""
        modules = {type(spec.axis).__module__ for spec in self._rubric}
        for name in modules:
            if name.startswith(FILE_MODULE_PREFIX):
                self._ray.cloudpickle.register_pickle_by_value(sys.modules[name])

    def _start_ray(self) -> None:
        local_options = {
            "num_cpus": self._workers,
            "include_dashboard": False,
            "_node_ip_address": _LOOPBACK,
        }
        try:
            _refuse_unless_listening(self._address)
            self._ray.init(
                address=self._address or "local",
                log_to_driver=False,
                logging_level="ERROR",
                **({} if self._address else local_options),
            )
        except (OSError, ValueError, RuntimeError) as error:
            where = f"reached at `{self._address}`" if self._address else "started here"
            raise UsageError(f"Ray cannot be {where}: {error}") from None
        self._started_here = True

    def __exit__(self, *_: object) -> None:
        if self._started_here:
            self._ray.shutdown()

    def iter_frames(self, session: ScoringSession, progress: Progress) -> Iterator[pl.DataFrame]:
        """Score everything into the folder, then yield its rows, file by file."""
        with create_folder_atomically(self._destination) as folder:
            for _ in progress(self.score_shares(session, folder), self.label):
                pass
        yield from read_folder_rows(self._destination)

    def score_shares(self, session: ScoringSession, folder: Path) -> Iterator[ShareTotals]:
        """Score everything into files in a folder; yield what each task returns, in order.

        A share with attempts that an earlier share answered is scored again without them.
        """
        from markscheme.workflows.sinks import FileSink, write_rows

        number = 0
        for share, task in self._iter_submitted_shares(folder):
            totals = self._get_share_totals(task, share)
            duplicates = session.seen_attempts.find_seen(totals.attempts)
            if duplicates:
                again = self._submit_share(share, folder, duplicates)
                totals = self._get_share_totals(again, share)
            session.seen_attempts.record_ranges(totals.attempts)
            session.tally.counts.merge(totals.counts)
            session.add_errors(totals.errors)
            number = share.number + 1
            yield totals
        missing = list(session.build_missing_frames())
        if missing:
            sink = FileSink(folder / format_share_filename(number))
            write_rows(missing, [sink], session.build_result)

    def _iter_submitted_shares(self, folder: Path) -> Iterator[tuple[Share, Any]]:
        """Yield shares in order, each with its task; some tasks are submitted ahead."""
        shares = self._iter_shares()
        ahead = _SHARES_PER_CORE * int(self._ray.cluster_resources().get("CPU", 1))
        tasks = deque((share, self._submit_share(share, folder)) for share in islice(shares, ahead))
        while tasks:
            yield tasks.popleft()
            tasks.extend((share, self._submit_share(share, folder)) for share in islice(shares, 1))

    def _submit_share(
        self, share: Share, folder: Path, answered_before: AttemptRanges | None = None
    ) -> Any:
        return self._score_task.remote(self._task_context, share, answered_before or [], folder)

    def _iter_shares(self) -> Iterator[Share]:
        number = 0
        for path in self._files:
            parts = split_file(path, file=path.name if self.is_folder else None)
            groups = []
            while group := tuple(islice(parts, PARTS_IN_A_SHARE)):
                groups.append(group)
            # The lines of the last group are not needed: no group comes after it.
            counts = self._ray.get([self._count_task.remote(group) for group in groups[:-1]])
            for group, lines_before in zip(groups, accumulate(counts, initial=0), strict=False):
                yield Share(number=number, parts=group, lines_before=lines_before)
                number += 1

    def _get_share_totals(self, task: Any, share: Share) -> ShareTotals:
        """Wait for a task; raise the error it raised as itself, not as Ray's."""
        errors = self._ray.exceptions
        try:
            totals: ShareTotals = self._ray.get(task)
        except errors.RayTaskError as error:
            raise (error.cause or error) from None
        except errors.RayError as error:
            place = f"`{share.parts[0].path}` from byte {share.parts[0].start}"
            message = f"Ray lost the task for {place} {RETRIES + 1} times"
            raise UsageError(f"{message}: {type(error).__name__}; nothing was written") from None
        return totals


def score_share(
    context: tuple[Rubric, Exam, bool], share: Share, answered_before: AttemptRanges, folder: Path
) -> ShareTotals:
    """Score a share and write its rows: the body of a task, which may run more than once."""
    # A task has one core.
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    from markscheme.workflows.scoring_session import (
        ScoringSession,
        count_attempts,
        merge_attempt_ranges,
    )
    from markscheme.workflows.sinks import FileSink, write_rows

    rubric, exam, files = context
    session = ScoringSession(rubric, exam, files=files)
    session.continue_after(share.parts[0].path, share.lines_before, answered_before)
    attempts: AttemptRanges = []

    def build_frames() -> Iterator[pl.DataFrame]:
        for part in share.parts:
            chunk = session.merge_chunk(session.scorer.score(part))
            attempts.extend(chunk.attempts)
            yield from session.build_chunk_frames(chunk)

    sink = FileSink(folder / format_share_filename(share.number))
    write_rows(build_frames(), [sink], session.build_result)
    counts = session.tally.counts
    counts.compact_rows()
    return ShareTotals(
        counts=counts,
        attempts=merge_attempt_ranges(attempts),
        errors=session.errors,
        answers=count_attempts(attempts),
    )


def count_lines(parts: tuple[FilePart, ...]) -> int:
    """Count the lines of parts: the body of a task."""
    return sum(map(count_part_lines, parts))


def _refuse_unless_listening(address: str | None) -> None:
    """Raise OSError if nothing listens: Ray would try for minutes and then end this process."""
    host, colon, port = (address or "").rpartition(":")
    if colon and port.isdecimal() and "/" not in host:
        socket.create_connection((host, int(port)), timeout=_CONNECT_TIMEOUT).close()


def _import_ray() -> Any:
    """Import Ray with its usage reports switched off."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    # Without this, Ray warns that the meaning of the variable will change.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError:
        message = "Ray is not installed; it comes with an extra"
        raise UsageError(f'{message}: pip install "markscheme[ray]"') from None
    return ray
