"""A file or a folder of answers in parts that can be scored apart, by whatever engine.

The cuts depend on the files alone, never on who scores the parts, so that every engine sees the
same parts in the same order. The lines of a part are numbered from 1: whoever puts the parts
together knows how many lines went before.
"""

from __future__ import annotations

import codecs
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from markscheme.errors import AnswersError, UsageError
from markscheme.read.answers.jsonl import read_jsonl, read_whole
from markscheme.read.answers.limits import USUAL, Limits
from markscheme.read.answers.opening import (
    JSONL,
    block_of,
    head_of,
    problem_in,
    refuse_unless_readable,
    refuse_unless_text,
)
from markscheme.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from typing import BinaryIO

    from markscheme.read.answers.alike import AlikeLines
    from markscheme.read.answers.batch import AnswerBatch
    from markscheme.read.answers.known import KnownItems
    from markscheme.read.answers.ledger import Ledger

PARQUET = ".parquet"
_IN_PARTS = (*JSONL, PARQUET)
_LOOK = 16_384
_UNSEEN = (".", "_")  # how names begin that other tools put beside their files


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A stretch of a file: bytes from the start of one line to the start of another, or rows.

    `file` is the name that its rows are told with, where the answers are a folder.
    """

    path: Path
    start: int
    stop: int
    file: str | None = None


def answer_files(source: str | Path) -> list[Path]:
    """Return the files to read in parts: one, or those of a folder by name; none where it streams.

    CSV, whose lines do not tell where a record starts, and what is no regular file stream.
    """
    path = Path(source)
    if str(source) in {"", "-"}:
        return []
    if is_folder(path):
        return _files_in(path)
    refuse_unless_readable(path)
    return [path] if path.suffix.lower() in _IN_PARTS and path.is_file() else []


def is_folder(source: str | Path) -> bool:
    """Whether this is a folder; a name that no file can have is none, and fails to open later."""
    with suppress(OSError, ValueError):
        return Path(source).is_dir()
    return False


def _files_in(folder: Path) -> list[Path]:
    try:
        found = sorted(path for path in folder.iterdir() if not path.name.startswith(_UNSEEN))
    except OSError as error:
        raise AnswersError([problem_in(folder, f"this cannot be read: {error.strerror}")]) from None
    if not found:
        raise AnswersError([problem_in(folder, "this folder holds no files of answers")])
    odd = [path.name for path in found if path.suffix.lower() not in _IN_PARTS]
    if odd:
        named = ", ".join(f"`{name}`" for name in odd[:5])
        raise UsageError(f"`{folder}`: a folder of answers holds {_told()} files; not {named}")
    for path in found:
        refuse_unless_readable(path)
    return found


def _told() -> str:
    return f"{', '.join(_IN_PARTS[:-1])} and {_IN_PARTS[-1]}"


def parts_of(path: Path, *, file: str | None = None, limits: Limits = USUAL) -> Iterator[Part]:
    """Yield the parts of one file, in order."""
    if path.suffix.lower() == PARQUET:
        cuts = _parquet_cuts(path, limits)
    else:
        cuts = _jsonl_cuts(path, limits)
    for start, stop in cuts:
        yield Part(path=path, start=start, stop=stop, file=file)


def read_part(
    part: Part,
    *,
    known: KnownItems,
    ledger: Ledger | None = None,
    alike: AlikeLines | None = None,
    limits: Limits = USUAL,
) -> Generator[AnswerBatch, None, int]:
    """Yield the answers of a part; return how many lines it has."""
    if part.path.suffix.lower() == PARQUET:
        from markscheme.read.answers.parquet import read_slice

        batch = read_slice(part.path, range(part.start, part.stop), known=known)
        if ledger:
            ledger.strike(batch)
        yield batch
        return part.stop - part.start
    with part.path.open("rb", buffering=0) as stream:
        if part.stop - part.start <= limits.row_bytes:
            text = b"".join(_blocks(stream, _unended(stream, part), limits.row_bytes))
            return (yield from read_whole(text, known=known, ledger=ledger, alike=alike))
        blocks = _blocks(stream, part, limits.row_bytes)
        return (
            yield from read_jsonl(blocks, known=known, ledger=ledger, alike=alike, limits=limits)
        )


def lines_in(part: Part, limits: Limits = USUAL) -> int:
    """Count the lines of a part without reading them."""
    if part.path.suffix.lower() == PARQUET:
        return part.stop - part.start
    with part.path.open("rb", buffering=0) as stream:
        return sum(block.count(b"\n") for block in _blocks(stream, part, limits.block_bytes))


def _unended(stream: BinaryIO, part: Part) -> Part:
    """Return the part without its last newline."""
    stream.seek(part.stop - 1)
    ended = block_of(stream, str(part.path), 1) == b"\n"
    return replace(part, stop=part.stop - ended)


def _blocks(stream: BinaryIO, part: Part, size: int) -> Iterator[bytes]:
    stream.seek(part.start)
    at = part.start
    while at < part.stop and (block := block_of(stream, str(part.path), min(size, part.stop - at))):
        at += len(block)
        yield block


def _parquet_cuts(path: Path, limits: Limits) -> Iterator[tuple[int, int]]:
    if path.stat().st_size == 0:
        return
    from markscheme.read.answers.parquet import slices_of

    yield from ((rows.start, rows.stop) for rows in slices_of(path, limits))


def _jsonl_cuts(path: Path, limits: Limits) -> Iterator[tuple[int, int]]:
    """Yield where the parts start and stop: each stops after the line that fills it."""
    with path.open("rb", buffering=0) as stream:
        head = head_of(stream, str(path))
        refuse_unless_text(head, str(path), is_jsonl=True)
        stream.seek(0)
        marked = stream.read(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8
        start = len(codecs.BOM_UTF8) if marked else 0
        while True:
            stop = _line_end(stream, start + limits.part_bytes, str(path))
            if stop > start:
                yield start, stop
            if stop - start < limits.part_bytes:
                return
            start = stop


def _line_end(stream: BinaryIO, position: int, file: str) -> int:
    """Return where the line ends in which the byte before `position` is, or where the file does."""
    at = stream.seek(position - 1)
    while block := block_of(stream, file, _LOOK):
        end = block.find(b"\n")
        if end >= 0:
            return at + end + 1
        at += len(block)
    return stream.seek(0, 2)
