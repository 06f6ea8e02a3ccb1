"""Recorded answers, streamed in columns from JSONL, Parquet, CSV or the standard input.

The blocks of a file become lines (`lines`) or records (`records`), those become raw rows (`jsonl`,
`delimited`, `parquet`), and those become answers or error rows (`taking`): all at once where they
are regular (`columns`), else by the definition of a row (`rows`); lines that are written `alike`
become columns without ever being rows. The `ledger` finds repeats. Large files and folders are read
in `parts`, each by itself.
"""

from markscheme.read.answers.batch import AnswerBatch
from markscheme.read.answers.jsonl import alike_lines, read_jsonl
from markscheme.read.answers.known import KnownItems
from markscheme.read.answers.ledger import Attempts, Ledger, strike_repeats
from markscheme.read.answers.limits import Limits
from markscheme.read.answers.memory import read_rows
from markscheme.read.answers.opening import read_answers
from markscheme.read.answers.parts import (
    Part,
    answer_files,
    is_folder,
    lines_in,
    parts_of,
    read_part,
)

__all__ = (
    "AnswerBatch",
    "Attempts",
    "KnownItems",
    "Ledger",
    "Limits",
    "Part",
    "alike_lines",
    "answer_files",
    "is_folder",
    "lines_in",
    "parts_of",
    "read_answers",
    "read_jsonl",
    "read_part",
    "read_rows",
    "strike_repeats",
)
