"""Readers of agents' session logs: one module for each log format, one neutral `Transcript`.

`reading` finds the log files and their format, `log` reads a file whatever its encoding or damage,
a module in `formats` understands the records, and `draft` collects them. Nothing here judges what
an agent did: that is for the axes in `mark`.

To add a format:

1. Copy a small module such as `formats/gemini.py` and give it a `FORMAT = LogFormat(...)`.
2. `can_read_log(log)` recognises the content by `log.sample`; it must be false for other formats.
3. `read_log(log)` passes what `log.iter_records()` yields to a `Draft`, in the order of the log.
   What it does not know goes to `Draft.add_unknown_kind`, and calls in places that it does not read
   are found by `Draft.add_unread_calls`: a log with either is incomplete.
4. Add `FORMAT` to `FORMATS` in `formats/__init__.py`; the first that recognises a log reads it.
5. Add a row and a section to `docs/transcripts.md`, and a sample with expected values to the tests.
   `make fuzz-logs` changes every sample in `tests/logs`.
"""

from markscheme.read.transcripts.code_mode import NestedCall, ScriptReading, read_script
from markscheme.read.transcripts.draft import Draft
from markscheme.read.transcripts.reading import list_format_names, read_log_folder, read_transcripts

__all__ = [
    "Draft",
    "NestedCall",
    "ScriptReading",
    "list_format_names",
    "read_log_folder",
    "read_script",
    "read_transcripts",
]
