"""On Ray: plain tasks over shares of the answers, on this machine or on a cluster.

A task runs the same scoring as every engine over some parts of one file and writes their rows to a
Parquet file of its own. What comes back is small: exact counts, runs of attempts, the first bad
rows. Nothing is shuffled; the driver puts shares together in order, as it would single parts.
"""

from __future__ import annotations

import os
import socket
from collections import deque
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Self

from markscheme.read.answers import (
    AttemptRanges,
    FilePart,
    count_part_lines,
    is_folder,
    list_answer_files,
    split_file,
)
from markscheme.vocabulary import RowError, UsageError
from markscheme.weigh.totals import AnswerCounts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from types import TracebackType

    import polars as pl

    from markscheme.vocabulary import Exam, Rubric
    from markscheme.workflows.score import ScoringSession

PARTS_IN_A_SHARE = 13
RETRIES = 5
_SHARES_PER_CORE = 4  # shares under way for each core
_LOOPBACK = "127.0.0.1"
_CONNECT_TIMEOUT = 10  # seconds that a cluster may take to answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What one task scores: consecutive parts of one file, after so many lines of it."""

    number: int
    parts: tuple[FilePart, ...]
    lines_before: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareTotals:
    """What a task gives back."""

    counts: AnswerCounts
    attempts: AttemptRanges
    errors: list[RowError]
    answers: int


def format_share_filename(number: int) -> str:
    """Return the name of the file that a share is written to."""
    return f"part-{number:05}.parquet"


class RayEngine:
    """Scores a file or a folder of answers with Ray; starts one here where no address is given."""

    def __init__(
        self,
        rubric: Rubric,
        exam: Exam,
        answers: str | Path,
        *,
        address: str | None = None,
        workers: int | None = None,
    ) -> None:
        self.rubric = rubric
        self.exam = exam
        self.answers = answers
        self.is_folder = is_folder(answers)
        self._files = [path.resolve() for path in list_answer_files(answers)]
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
        self._task_context = self._ray.put((self.rubric, self.exam, self.is_folder))
        return self

    def _start_ray(self) -> None:
        here = {
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
                **({} if self._address else here),
            )
        except (OSError, ValueError, RuntimeError) as error:
            where = f"reached at `{self._address}`" if self._address else "started here"
            raise UsageError(f"Ray cannot be {where}: {error}") from None
        self._started_here = True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._started_here:
            self._ray.shutdown()

    def score_shares(self, scoring: ScoringSession, folder: Path) -> Iterator[ShareTotals]:
        """Score everything into files in a folder; yield what each task gave back, in order.

        A share that holds attempts which were answered before it is scored again without them.
        """
        number = 0
        for share, task in self._iter_submitted_shares(folder):
            total = self._get_share_totals(task, share)
            known = scoring.ledger.find_seen(total.attempts)
            if known:
                total = self._get_share_totals(self._submit_share(share, folder, known), share)
            scoring.ledger.record_ranges(total.attempts)
            scoring.tally.counts.merge(total.counts)
            scoring.add_errors(total.errors)
            number = share.number + 1
            yield total
        _write_missing_rows(scoring, folder / format_share_filename(number))

    def _iter_submitted_shares(self, folder: Path) -> Iterator[tuple[Share, Any]]:
        """Yield shares in order, each with its task; some tasks run ahead."""
        shares = self._iter_shares()
        ahead = _SHARES_PER_CORE * int(self._ray.cluster_resources().get("CPU", 1))
        tasks = deque((share, self._submit_share(share, folder)) for share in islice(shares, ahead))
        while tasks:
            yield tasks.popleft()
            tasks.extend((share, self._submit_share(share, folder)) for share in islice(shares, 1))

    def _submit_share(self, share: Share, folder: Path, struck: AttemptRanges | None = None) -> Any:
        return self._score_task.remote(self._task_context, share, struck or [], folder)

    def _iter_shares(self) -> Iterator[Share]:
        number = 0
        for path in self._files:
            before = 0
            groups = list(
                _group_parts(split_file(path, file=path.name if self.is_folder else None))
            )
            for group, lines in zip(groups, self._count_group_lines(groups), strict=True):
                yield Share(number=number, parts=group, lines_before=before)
                number, before = number + 1, before + lines

    def _count_group_lines(self, groups: list[tuple[FilePart, ...]]) -> Iterable[int]:
        """Return how many lines each group has, if any comes after it and has to know."""
        counts: list[int] = self._ray.get([self._count_task.remote(group) for group in groups[:-1]])
        return [*counts, *([0] if groups else [])]

    def _get_share_totals(self, task: Any, share: Share) -> ShareTotals:
        """Return what a task gave back; what it raised is raised here as itself."""
        lost = self._ray.exceptions.RayError
        try:
            total: ShareTotals = self._ray.get(task)
        except self._ray.exceptions.RayTaskError as error:
            raise (error.cause or error) from None
        except lost as error:
            place = f"`{share.parts[0].path}` from byte {share.parts[0].start}"
            told = f"Ray lost the task for {place} {RETRIES + 1} times"
            raise UsageError(f"{told}: {type(error).__name__}; nothing was written") from None
        return total


def score_share(
    given: tuple[Rubric, Exam, bool], share: Share, struck: AttemptRanges, folder: Path
) -> ShareTotals:
    """Score a share and write its rows: the body of a task, which may run more than once."""
    os.environ.setdefault("POLARS_MAX_THREADS", "1")  # a task has one core
    from markscheme.workflows.attempt_ranges import count_attempts, merge_attempt_ranges
    from markscheme.workflows.output_files import write_frames
    from markscheme.workflows.score import ScoringSession

    rubric, exam, files = given
    scoring = ScoringSession(rubric, exam, files=files)
    scoring.continue_after(share.parts[0].path, share.lines_before, struck)
    attempts: AttemptRanges = []

    def rows() -> Iterator[pl.DataFrame]:
        for part in share.parts:
            stretch = scoring.merge_chunk(scoring.scorer.score(part))
            attempts.extend(stretch.attempts)
            yield from scoring.build_chunk_frames(stretch)

    write_frames(
        rows(), folder / format_share_filename(share.number), scoring.schema, scoring.build_result
    )
    counts = scoring.tally.counts
    counts.compact_rows()
    return ShareTotals(
        counts=counts,
        attempts=merge_attempt_ranges(attempts),
        errors=scoring.errors,
        answers=count_attempts(attempts),
    )


def count_lines(parts: tuple[FilePart, ...]) -> int:
    """Count the lines of parts: the body of a task."""
    return sum(map(count_part_lines, parts))


def _group_parts(parts: Iterator[FilePart]) -> Iterator[tuple[FilePart, ...]]:
    while group := tuple(islice(parts, PARTS_IN_A_SHARE)):
        yield group


def _write_missing_rows(scoring: ScoringSession, path: Path) -> None:
    from markscheme.workflows.output_files import write_frames

    frames = list(scoring.build_missing_frames())
    if frames:
        write_frames(frames, path, scoring.schema, scoring.build_result)


def _refuse_unless_listening(address: str | None) -> None:
    """Raise at once where nobody listens; Ray would try for minutes and then end this process."""
    host, colon, port = (address or "").rpartition(":")
    if colon and port.isdecimal() and "/" not in host:
        socket.create_connection((host, int(port)), timeout=_CONNECT_TIMEOUT).close()


def _import_ray() -> Any:
    """Import Ray, which reports to nobody from here."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # or it warns of a change
    try:
        import ray
    except ImportError:
        told = "Ray is not installed; it comes with an extra"
        raise UsageError(f'{told}: pip install "markscheme[ray]"') from None
    return ray
