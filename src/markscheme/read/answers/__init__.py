"""Recorded answers, streamed in columns from JSONL, Parquet, CSV or the standard input.

The blocks of a file become lines (`lines`) or records (`records`), those become raw rows (`jsonl`,
`delimited`, `parquet`), and those become answers or error rows (`taking`): all at once where they
are regular (`columns`), else by the definition of a row (`rows`); lines that are written `alike`
become columns without ever being rows. The `ledger` finds repeats. Large files and folders are read
in `parts`, each by itself.
"""

from markscheme.read.answers.batch import (
    DEFAULT_LIMITS,
    AnswerBatch,
    ReadLimits,
    TemplateRows,
    copy_texts,
    get_measured_schema,
)
from markscheme.read.answers.columns import RawAnswerRows, add_each_row
from markscheme.read.answers.csv import CsvRecord, CsvRecordReader
from markscheme.read.answers.duplicates import AttemptRanges, SeenAttempts, reject_duplicates
from markscheme.read.answers.fast.scanner import (
    CAPTURE_ABSENT,
    CAPTURE_INNER_TEXT,
    CAPTURE_INTEGER,
    CAPTURE_NAME,
    CAPTURE_NUMBER,
    CAPTURE_TEXT,
    NULL_TEXT,
    encode_capture,
    encode_literal,
    scan_lines,
)
from markscheme.read.answers.items import KnownItems
from markscheme.read.answers.jsonl import create_template_reader, read_jsonl
from markscheme.read.answers.rows import RefusedRow, parse_answer, parse_integer, parse_number
from markscheme.read.answers.sources import read_answers, read_rows
from markscheme.read.answers.splits import (
    FilePart,
    count_part_lines,
    is_folder,
    list_answer_files,
    read_part,
    split_file,
)

__all__ = [
    "CAPTURE_ABSENT",
    "CAPTURE_INNER_TEXT",
    "CAPTURE_INTEGER",
    "CAPTURE_NAME",
    "CAPTURE_NUMBER",
    "CAPTURE_TEXT",
    "DEFAULT_LIMITS",
    "NULL_TEXT",
    "AnswerBatch",
    "AttemptRanges",
    "CsvRecord",
    "CsvRecordReader",
    "FilePart",
    "KnownItems",
    "RawAnswerRows",
    "ReadLimits",
    "RefusedRow",
    "SeenAttempts",
    "TemplateRows",
    "add_each_row",
    "copy_texts",
    "count_part_lines",
    "create_template_reader",
    "encode_capture",
    "encode_literal",
    "get_measured_schema",
    "is_folder",
    "list_answer_files",
    "parse_answer",
    "parse_integer",
    "parse_number",
    "read_answers",
    "read_jsonl",
    "read_part",
    "read_rows",
    "reject_duplicates",
    "scan_lines",
    "split_file",
]
