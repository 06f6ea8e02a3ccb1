"""Session logs as answers: which item and variant each is of, and what is measured in it."""

from markscheme.read.logs.measured import METRICS, Measured, measured
from markscheme.read.logs.reading import LoggedAnswer, Logs, read_logs

__all__ = ("METRICS", "LoggedAnswer", "Logs", "Measured", "measured", "read_logs")
