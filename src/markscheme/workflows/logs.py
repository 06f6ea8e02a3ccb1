"""Session logs of agents: read the transcript of one session, or score a folder of logs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Self

from markscheme.read.session_logs import LogFolder
from markscheme.vocabulary import Transcript, UsageError, format_value

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

    >>> from pathlib import Path
    >>> asked = '{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}'
    >>> _ = Path("session.json").write_text('{"messages": [' + asked + "]}")
    >>> read_transcript("session.json").final_text
    'Hello.'

    Raises:
        UsageError: there is no such format or session, or there are several sessions.
        InputError: it cannot be read, or no format is recognised.
    """
    from markscheme.read.transcripts import read_transcripts

    transcripts = [entry for _, entry in read_transcripts(path, log_format, session=session)]
    if len(transcripts) > 1:
        names = ", ".join(format_value(transcript.session) for transcript in transcripts[:10])
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
