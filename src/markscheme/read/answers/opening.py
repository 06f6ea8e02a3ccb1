"""From what the user named to a stream of batches: which format it is, and whether it opens."""

from __future__ import annotations

import codecs
import sys
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from markscheme.errors import AnswersError, Problem, UsageError
from markscheme.read.answers.delimited import read_delimited
from markscheme.read.answers.encoding import fault_in_head
from markscheme.read.answers.jsonl import alike_lines, holds_a_row, read_jsonl
from markscheme.read.answers.known import KnownItems
from markscheme.read.answers.ledger import Ledger
from markscheme.read.answers.limits import USUAL, Limits

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import BinaryIO

    from markscheme.read.answers.batch import AnswerBatch

JSONL = (".jsonl", ".ndjson")
_ALLOWED = (*JSONL, ".parquet", ".csv")
_STDIN = "<stdin>"
_HEAD = 65_536


def read_answers(
    source: str | Path,
    *,
    items: Collection[str],
    fields: Collection[str] = (),
    limits: Limits = USUAL,
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
    known, ledger = KnownItems(items), Ledger()
    if str(source) == "-":
        return _text_answers(None, known, ledger, fields, limits)
    if not str(source):
        raise UsageError("the file of answers has no name; name one, or `-` for JSONL on stdin")
    path = Path(source)
    refuse_unless_readable(path)
    if path.suffix.lower() != ".parquet":
        return _text_answers(path, known, ledger, fields, limits)
    if path.stat().st_size == 0:
        return iter(())
    from markscheme.read.answers.parquet import read_parquet

    return read_parquet(path, known=known, ledger=ledger, limits=limits)


def refuse_unless_readable(path: Path) -> None:
    """Raise with the reason where a file of answers cannot be opened."""
    with suppress(OSError, ValueError):  # a name that no file can have fails to open below
        if path.is_dir():
            raise AnswersError([problem_in(path, "this is a folder; name a file of answers in it")])
        if path.is_fifo():  # it can be opened once only, and we look at a file before we read it
            told = "this is a pipe; give `-`, and feed the standard input"
            raise AnswersError([problem_in(path, told)])
    if path.suffix.lower() not in _ALLOWED:
        allowed = ", ".join(_ALLOWED)
        raise UsageError(f"`{path}`: answers are read from {allowed}, or `-` for JSONL on stdin")
    try:
        path.open("rb").close()
    except FileNotFoundError:
        raise AnswersError([problem_in(path, "there is no such file")]) from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise AnswersError([problem_in(path, f"this cannot be opened: {why}")]) from error


def _text_answers(
    path: Path | None,
    known: KnownItems,
    ledger: Ledger,
    fields: Collection[str],
    limits: Limits,
) -> Iterator[AnswerBatch]:
    file = _STDIN if path is None else str(path)
    is_jsonl = path is None or path.suffix.lower() in JSONL
    with _opened(path) as stream:
        head = head_of(stream, file)
        refuse_unless_text(head, file, is_jsonl=is_jsonl)
        blocks = chain([head], iter(partial(block_of, stream, file, limits.block_bytes), b""))
        if is_jsonl:
            alike = alike_lines(known, fields)
            yield from read_jsonl(blocks, known=known, ledger=ledger, alike=alike, limits=limits)
        else:
            yield from read_delimited(blocks, known=known, ledger=ledger, file=file, limits=limits)


@contextmanager
def _opened(path: Path | None) -> Iterator[BinaryIO]:
    if path is None:
        if sys.stdin is None:
            raise AnswersError([problem_in(_STDIN, "the standard input is closed")])
        yield sys.stdin.buffer
    else:
        with path.open("rb", buffering=0) as stream:
            yield stream


def refuse_unless_text(head: bytes, file: str, *, is_jsonl: bool) -> None:
    """Raise where a file that begins with `head` is no text, and no row of it can be read."""
    fault = fault_in_head(head)
    if fault and not (is_jsonl and holds_a_row(head)):
        raise AnswersError([problem_in(file, fault)])


def head_of(stream: BinaryIO, file: str) -> bytes:
    """Return the beginning of a stream, which may arrive in small pieces, without its mark."""
    head = b""
    while len(head) < _HEAD and (more := block_of(stream, file, _HEAD - len(head))):
        head += more
    return head.removeprefix(codecs.BOM_UTF8)


def block_of(stream: BinaryIO, file: str, size: int) -> bytes:
    """Return the next bytes of a stream."""
    try:
        return stream.read(size)
    except OSError as error:
        raise AnswersError([problem_in(file, f"this cannot be read: {error.strerror}")]) from error


def problem_in(file: str | Path, message: str) -> Problem:
    """Return what is wrong with a file as a whole."""
    return Problem(file=str(file), line=1, field="", message=message)
