"""Session logs of agents: one module for each format, one neutral transcript."""

from markscheme.read.transcripts.reading import format_names, read_every_log, read_transcripts

__all__ = ["format_names", "read_every_log", "read_transcripts"]
