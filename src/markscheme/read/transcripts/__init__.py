"""Session logs of agents: one module for each format, one neutral transcript."""

from markscheme.read.transcripts.draft import Draft
from markscheme.read.transcripts.reading import list_format_names, read_log_folder, read_transcripts

__all__ = [
    "Draft",
    "list_format_names",
    "read_log_folder",
    "read_transcripts",
]
