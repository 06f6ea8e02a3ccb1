"""Read the transcript of one session from an agent's session log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.vocabulary import Transcript, UsageError

if TYPE_CHECKING:
    from pathlib import Path


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
