"""Recorded answers, streamed in columns from JSONL, CSV, Parquet, the standard input or memory.

`sources` opens a source and `splits` cuts large files and folders into parts. `jsonl`, `csv` and
`parquet` parse rows; `text` splits bytes into lines. `rows` defines which row is an answer, and
`columns` checks many rows at once. `duplicates` rejects a second answer to the same attempt. `fast`
reads lines of one program straight into columns. `native_stderr` hides panics of libraries.
Everything ends as an `AnswerBatch` (`batch`).
Nothing here reads a rubric or judges an answer, and importing this package does not load polars.
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
from markscheme.read.answers.fast import create_template_reader
from markscheme.read.answers.jsonl import read_jsonl
from markscheme.read.answers.native_stderr import hide_native_stderr
from markscheme.read.answers.rows import (
    KnownItems,
    RefusedRow,
    parse_answer,
    parse_integer,
    parse_number,
)
from markscheme.read.answers.sources import get_suffix, read_answers, read_rows
from markscheme.read.answers.splits import (
    FilePart,
    count_part_lines,
    is_folder,
    list_answer_files,
    read_part,
    split_file,
)

__all__ = [
    "DEFAULT_LIMITS",
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
    "get_measured_schema",
    "get_suffix",
    "hide_native_stderr",
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
    "split_file",
]
