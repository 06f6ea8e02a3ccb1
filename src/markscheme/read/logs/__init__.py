"""Session logs as answers: which item and variant each is of, and what is measured in it."""

from markscheme.read.logs.measured import measure_transcript
from markscheme.read.logs.reading import LogFolder, LoggedAnswer, read_logs

__all__ = ("LoggedAnswer", "LogFolder", "measure_transcript", "read_logs")
