"""From what the user named to a stream of batches: which format it is, and whether it opens.

Answers that are in memory already: rows as mappings, or `Answer` values.
"""

from __future__ import annotations

import codecs
import sys
from collections.abc import Mapping
from contextlib import contextmanager, suppress
from dataclasses import fields
from decimal import Decimal
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markscheme.read.answers.batch import DEFAULT_LIMITS, AnswerBatch, ReadLimits
from markscheme.read.answers.columns import RawAnswerRows, add_rows, try_add_rows
from markscheme.read.answers.csv import read_csv
from markscheme.read.answers.duplicates import SeenAttempts, reject_duplicates
from markscheme.read.answers.encoding import find_head_fault, make_excerpt
from markscheme.read.answers.items import KnownItems
from markscheme.read.answers.jsonl import create_template_reader, has_json_row, read_jsonl
from markscheme.vocabulary import Answer, AnswersError, Problem, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from typing import BinaryIO

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

    `source` is a file (.jsonl, .ndjson, .parquet, .csv) or `-` for JSONL on the standard input;
    `items` are the ids that an answer may name, `fields` those of outputs that may come as columns
    of text where lines are written alike. Every row comes out once, as an answer or as an
    error of its batch; a file without rows gives no batch.

    Raises:
        UsageError: the name does not say which format it is.
        AnswersError: it cannot be read at all; here, or at the first batch.
    """
    known, ledger = KnownItems(items), SeenAttempts()
    if str(source) == "-":
        return _read_text_answers(None, known, ledger, fields, limits)
    if not str(source):
        raise UsageError("the file of answers has no name; name one, or `-` for JSONL on stdin")
    path = Path(source)
    check_readable(path)
    if path.suffix.lower() != ".parquet":
        return _read_text_answers(path, known, ledger, fields, limits)
    if path.stat().st_size == 0:
        return iter(())
    from markscheme.read.answers.parquet import read_parquet

    return read_parquet(path, known=known, seen_attempts=ledger, limits=limits)


def check_readable(path: Path) -> None:
    """Raise with the reason where a file of answers cannot be opened."""
    with suppress(OSError, ValueError):  # a name that no file can have fails to open below
        if path.is_dir():
            raise AnswersError(
                [build_file_problem(path, "this is a folder; name a file of answers in it")]
            )
        if path.is_fifo():  # it can be opened once only, and we look at a file before we read it
            told = "this is a pipe; give `-`, and feed the standard input"
            raise AnswersError([build_file_problem(path, told)])
    if path.suffix.lower() not in _ALLOWED_SUFFIXES:
        allowed = ", ".join(_ALLOWED_SUFFIXES)
        raise UsageError(f"`{path}`: answers are read from {allowed}, or `-` for JSONL on stdin")
    try:
        path.open("rb").close()
    except FileNotFoundError:
        raise AnswersError([build_file_problem(path, "there is no such file")]) from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise AnswersError([build_file_problem(path, f"this cannot be opened: {why}")]) from error


def _read_text_answers(
    path: Path | None,
    known: KnownItems,
    ledger: SeenAttempts,
    fields: Collection[str],
    limits: ReadLimits,
) -> Iterator[AnswerBatch]:
    file = _STDIN_NAME if path is None else str(path)
    is_jsonl = path is None or path.suffix.lower() in JSONL_SUFFIXES
    with _open_stream(path) as stream:
        head = read_head(stream, file)
        check_is_text(head, file, is_jsonl=is_jsonl)
        blocks = chain([head], iter(partial(read_block, stream, file, limits.block_bytes), b""))
        if is_jsonl:
            alike = create_template_reader(known, fields)
            yield from read_jsonl(
                blocks, known=known, seen_attempts=ledger, template_reader=alike, limits=limits
            )
        else:
            yield from read_csv(blocks, known=known, seen_attempts=ledger, file=file, limits=limits)


@contextmanager
def _open_stream(path: Path | None) -> Iterator[BinaryIO]:
    if path is None:
        if sys.stdin is None:
            raise AnswersError([build_file_problem(_STDIN_NAME, "the standard input is closed")])
        yield sys.stdin.buffer
    else:
        with path.open("rb", buffering=0) as stream:
            yield stream


def check_is_text(head: bytes, file: str, *, is_jsonl: bool) -> None:
    """Raise where a file that begins with `head` is no text, and no row of it can be read."""
    fault = find_head_fault(head)
    if fault and not (is_jsonl and has_json_row(head)):
        raise AnswersError([build_file_problem(file, fault)])


def read_head(stream: BinaryIO, file: str) -> bytes:
    """Return the beginning of a stream, which may arrive in small pieces, without its mark."""
    head = b""
    while len(head) < _FILE_HEAD_BYTES and (
        more := read_block(stream, file, _FILE_HEAD_BYTES - len(head))
    ):
        head += more
    return head.removeprefix(codecs.BOM_UTF8)


def read_block(stream: BinaryIO, file: str, size: int) -> bytes:
    """Return the next bytes of a stream."""
    try:
        return stream.read(size)
    except OSError as error:
        raise AnswersError(
            [build_file_problem(file, f"this cannot be read: {error.strerror}")]
        ) from error


def build_file_problem(file: str | Path, message: str) -> Problem:
    """Return what is wrong with a file as a whole."""
    return Problem(file=str(file), line=1, field="", message=message)


def read_rows(
    rows: Iterable[Answer | Mapping[str, Any]], *, items: Collection[str]
) -> Iterator[AnswerBatch]:
    """Stream rows in columns, by the same rules as rows of a file; a line is a position."""
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
    def shown(at: int) -> str:
        try:
            return make_excerpt(str(part[at]))
        except (RecursionError, ValueError):  # too deep, or a number too long to be shown
            return "…"

    return shown


def _to_plain_row(row: Any) -> Any:
    """Return a row as JSON would have given it: a dict with usual numbers."""
    if isinstance(row, Answer):
        row = {field.name: getattr(row, field.name) for field in fields(Answer)}
    if not isinstance(row, Mapping):
        return row
    return {key: _to_plain_value(value) for key, value in row.items()}


def _to_plain_value(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    return dict(value) if isinstance(value, Mapping) else value
