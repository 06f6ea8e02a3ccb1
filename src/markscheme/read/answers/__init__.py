"""Recorded answers, streamed in columns from JSONL, Parquet, CSV or the standard input.

The blocks of a file become lines (`lines`) or records (`records`), those become raw rows (`jsonl`,
`delimited`, `parquet`), and those become answers or error rows (`taking`): all at once where they
are regular (`columns`), else by the definition of a row (`rows`); lines that are written `alike`
become columns without ever being rows. The `ledger` finds repeats. Large files and folders are read
in `parts`, each by itself.
"""

from markscheme.read.answers.batch import AnswerBatch
from markscheme.read.answers.jsonl import create_template_reader, read_jsonl
from markscheme.read.answers.items import KnownItems
from markscheme.read.answers.duplicates import AttemptRanges, SeenAttempts, reject_duplicates
from markscheme.read.answers.batch import ReadLimits
from markscheme.read.answers.sources import read_rows
from markscheme.read.answers.sources import read_answers
from markscheme.read.answers.splits import FilePart, count_part_lines, is_folder, list_answer_files, read_part, split_file

__all__ = (
    "AnswerBatch",
    "AttemptRanges",
    "KnownItems",
    "SeenAttempts",
    "ReadLimits",
    "FilePart",
    "create_template_reader",
    "list_answer_files",
    "is_folder",
    "count_part_lines",
    "split_file",
    "read_answers",
    "read_jsonl",
    "read_part",
    "read_rows",
    "reject_duplicates",
)
