"""Open answers: a file by its suffix, the standard input, or rows in memory.

`read_answers` streams a file in one pass. `splits` cuts a file into parts instead, for several
processes.
"""

from __future__ import annotations

import codecs
import sys
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from decimal import Decimal
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, cast

from msgspec import structs

from markscheme.read.answers.batch import DEFAULT_LIMITS, AnswerBatch, ReadLimits
from markscheme.read.answers.columns import RawAnswerRows, add_rows, try_add_rows
from markscheme.read.answers.csv import read_csv
from markscheme.read.answers.duplicates import SeenAttempts, reject_duplicates
from markscheme.read.answers.fast import create_template_reader
from markscheme.read.answers.jsonl import has_json_row, read_jsonl
from markscheme.read.answers.rows import KnownItems, RefusedRow
from markscheme.read.answers.text import find_head_fault, make_excerpt
from markscheme.vocabulary import Answer, AnswersError, Problem, UsageError

JSONL_SUFFIXES = (".jsonl", ".ndjson")
_ALLOWED_SUFFIXES = (*JSONL_SUFFIXES, ".parquet", ".csv")
_STDIN_NAME = "<stdin>"
_FILE_HEAD_BYTES = 65_536


def read_answers(
    source: str | Path,
    *,
    items: Collection[str],
    fields: Collection[str] = (),
    limits: ReadLimits = DEFAULT_LIMITS,
) -> Iterator[AnswerBatch]:
    """Stream recorded answers in columns.

    `source` is a file (.jsonl, .ndjson, .parquet, .csv) or `-` for JSONL on the standard input.
    `items` are the ids that an answer may name. `fields` are the text fields of outputs that may
    come as template rows. Every row comes out once, as an answer or as an error of its batch; a
    file without rows yields no batch.

    Raises:
        UsageError: The suffix is not one of these.
        AnswersError: The file cannot be read at all; raised here, or with the first batch.
    """
    known, seen_attempts = KnownItems(items), SeenAttempts()
    if str(source) == "-":
        return _read_text_answers(None, known, seen_attempts, fields, limits)
    if not str(source):
        raise UsageError("the file of answers has no name; name one, or `-` for JSONL on stdin")
    path = Path(source)
    check_readable(path)
    if get_suffix(path) != ".parquet":
        return _read_text_answers(path, known, seen_attempts, fields, limits)
    if path.stat().st_size == 0:
        return iter(())
    # Loads polars.
    from markscheme.read.answers.parquet import read_parquet

    return read_parquet(path, known=known, seen_attempts=seen_attempts, limits=limits)


def get_suffix(path: Path) -> str:
    """Return the suffix of a file, below `.gz` if it is compressed."""
    return Path(path.stem).suffix.lower() if path.suffix.lower() == ".gz" else path.suffix.lower()


def check_readable(path: Path) -> None:
    """Raise with the reason if a file of answers cannot be opened."""
    # A name that no file can have raises here, and again below with a message.
    with suppress(OSError, ValueError):
        if path.is_dir():
            raise AnswersError(
                [build_file_problem(path, "this is a folder; name a file of answers in it")]
            )
        # A pipe can be opened only once, and the head of a file is checked before it is read.
        if path.is_fifo():
            message = "this is a pipe; give `-`, and feed the standard input"
            raise AnswersError([build_file_problem(path, message)])
    if get_suffix(path) not in _ALLOWED_SUFFIXES:
        allowed = ", ".join(_ALLOWED_SUFFIXES)
        raise UsageError(f"`{path}`: answers are read from {allowed}, or `-` for JSONL on stdin")
    if path.name.lower().endswith(".parquet.gz"):
        raise UsageError(f"`{path}`: Parquet is compressed inside; unpack the file first")
    try:
        path.open("rb").close()
    except FileNotFoundError:
        raise AnswersError([build_file_problem(path, "there is no such file")]) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        message = f"this cannot be opened: {reason}"
        raise AnswersError([build_file_problem(path, message)]) from error


def _read_text_answers(
    path: Path | None,
    known: KnownItems,
    seen_attempts: SeenAttempts,
    fields: Collection[str],
    limits: ReadLimits,
) -> Iterator[AnswerBatch]:
    file = _STDIN_NAME if path is None else str(path)
    is_jsonl = path is None or get_suffix(path) in JSONL_SUFFIXES
    with _open_stream(path) as stream:
        head = read_head(stream, file)
        check_is_text(head, file, is_jsonl=is_jsonl)
        blocks = chain([head], iter(partial(read_block, stream, file, limits.block_bytes), b""))
        if is_jsonl:
            yield from read_jsonl(
                blocks,
                known=known,
                seen_attempts=seen_attempts,
                template_reader=create_template_reader(known, fields),
                limits=limits,
            )
        else:
            yield from read_csv(
                blocks, known=known, seen_attempts=seen_attempts, file=file, limits=limits
            )


@contextmanager
def _open_stream(path: Path | None) -> Iterator[BinaryIO]:
    if path is None:
        if sys.stdin is None:
            raise AnswersError([build_file_problem(_STDIN_NAME, "the standard input is closed")])
        yield sys.stdin.buffer
    elif path.suffix.lower() == ".gz":
        import gzip

        with gzip.open(path) as packed:
            yield cast("BinaryIO", packed)
    else:
        with path.open("rb", buffering=0) as stream:
            yield stream


def check_is_text(head: bytes, file: str, *, is_jsonl: bool) -> None:
    """Raise if a file that begins with `head` is no text and none of its rows can be read."""
    fault = find_head_fault(head)
    if fault and not (is_jsonl and has_json_row(head)):
        raise AnswersError([build_file_problem(file, fault)])


def read_head(stream: BinaryIO, file: str) -> bytes:
    """Return the beginning of a stream, even if it arrives in small pieces, without the BOM."""
    head = b""
    while len(head) < _FILE_HEAD_BYTES and (
        more := read_block(stream, file, _FILE_HEAD_BYTES - len(head))
    ):
        head += more
    return head.removeprefix(codecs.BOM_UTF8)


def read_block(stream: BinaryIO, file: str, size: int) -> bytes:
    """Return the next bytes of a stream; raise `AnswersError` if it cannot be read."""
    try:
        return stream.read(size)
    # A `.gz` file that is damaged or cut raises the last two.
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise AnswersError([build_file_problem(file, f"this cannot be read: {reason}")]) from error


def build_file_problem(file: str | Path, message: str) -> Problem:
    """Return a problem with a file as a whole."""
    return Problem(file=str(file), line=1, field="", message=message)


def read_rows(
    rows: Iterable[Answer | Mapping[str, Any]], *, items: Collection[str]
) -> Iterator[AnswerBatch]:
    """Stream rows in columns, by the same rules as rows of a file; lines are positions from 1."""
    return reject_duplicates(_build_batches(rows, KnownItems(items)), SeenAttempts())


def _build_batches(
    rows: Iterable[Answer | Mapping[str, Any]], known: KnownItems
) -> Iterator[AnswerBatch]:
    stream, first = map(_to_plain_row, rows), 1
    while part := list(islice(stream, DEFAULT_LIMITS.batch_rows)):
        batch = AnswerBatch()
        lines = range(first, first + len(part))
        if not try_add_rows(batch, lines, part, known):
            add_rows(
                batch,
                RawAnswerRows(lines=lines, rows=part, excerpt_at=_make_excerpt_getter(part)),
                known,
            )
        yield batch
        first += len(part)


def _make_excerpt_getter(part: list[Any]) -> Callable[[int], str]:
    def excerpt_at(position: int) -> str:
        if isinstance(part[position], RefusedRow):
            return ""
        try:
            return make_excerpt(str(part[position]))
        # The row is nested too deep, or holds a number too long to be printed.
        except (RecursionError, ValueError):
            return "…"

    return excerpt_at


def _to_plain_row(row: Any) -> Any:
    """Return a row as a JSON parser would: a dict with plain numbers."""
    if isinstance(row, Answer):
        row = structs.asdict(row)
    if not isinstance(row, Mapping):
        return row
    return {key: _to_plain_value(value) for key, value in row.items()}


def _to_plain_value(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    return dict(value) if isinstance(value, Mapping) else value
