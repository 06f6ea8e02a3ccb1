"""Session logs of agents: read the transcript of one session, or score a folder of logs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from markscheme.mark import check_exam, mark_answer
from markscheme.read.session_logs import LogFolder, read_logs
from markscheme.vocabulary import (
    Breakdown,
    Exam,
    RowError,
    Rubric,
    SessionMetrics,
    Transcript,
    UsageError,
)
from markscheme.weigh.totals import OperationGroup, OperationsCollector

if TYPE_CHECKING:
    import polars as pl

    from markscheme.workflows.score import Progress
    from markscheme.workflows.scoring_session import ScoringSession


def read_transcript(
    path: str | Path, log_format: str | None = None, *, session: str | None = None
) -> Transcript:
    """Read what an agent did from its session log, whatever tool wrote it.

    The format is detected from the content; `log_format` forces one. `session` names one session
    of a log that holds several.

    Raises:
        UsageError: there is no such format or session, or there are several sessions.
        InputError: it cannot be read, or no format is recognised.
    """
    from markscheme.read.transcripts import read_transcripts

    transcripts = [entry for _, entry in read_transcripts(path, log_format, session=session)]
    if len(transcripts) > 1:
        names = ", ".join(f"`{transcript.session}`" for transcript in transcripts[:10])
        raise UsageError(f"`{path}` holds {len(transcripts)} sessions; name one of {names}")
    return transcripts[0]


class LogEngine:
    """Scores a folder of session logs in this process: reading them is nearly all of the work."""

    is_folder = False
    logs = True
    stores_rows = False

    def __init__(self, logs: LogFolder, label: str) -> None:
        self.label = label
        self._logs = logs

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: no process was started."""

    def iter_frames(self, session: ScoringSession, progress: Progress) -> Iterator[pl.DataFrame]:
        """Score all logs; yield the rows."""
        return session.build_frames(progress(session.score_logs(self._logs), self.label))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExaminedLog:
    """One session: its breakdown, and what was measured in it."""

    item: str
    variant: str | None
    attempt: int
    file: str
    breakdown: Breakdown
    metrics: SessionMetrics


@dataclass(frozen=True, slots=True, kw_only=True)
class ExaminedLogs:
    """The sessions of a folder of logs, the logs that could not be placed, and the measures."""

    logs: tuple[ExaminedLog, ...]
    errors: tuple[RowError, ...]
    operations: tuple[OperationGroup, ...]


def examine_logs(
    rubric: Rubric,
    exam: Exam,
    logs: str | Path,
    *,
    mapping: str | Path | None = None,
    log_format: str | None = None,
) -> ExaminedLogs:
    """Mark a folder of logs: one breakdown for each item, variant and attempt.

    Raises:
        UsageError: there is no such folder, or the rubric has no axes.
        InputError: there is no log in it, or the mapping file is wrong.
    """
    check_exam(rubric, exam)
    folder = read_logs(logs, exam.items, mapping=mapping, log_format=log_format)
    items = {item.id: item for item in exam.items}
    operations = OperationsCollector(exam)
    operations.add_answers(folder.answers)
    return ExaminedLogs(
        logs=tuple(
            ExaminedLog(
                item=answer.item,
                variant=answer.variant,
                attempt=answer.attempt,
                file=answer.file,
                breakdown=mark_answer(rubric, items[answer.item], answer.output, answer.transcript),
                metrics=answer.metrics,
            )
            for answer in folder.answers
        ),
        errors=folder.errors,
        operations=operations.build_groups(),
    )
