"""Split a file or a folder of answers into parts that can be scored independently.

The cuts depend on the files alone, never on who scores the parts, so that every engine sees the
same parts in the same order. The lines of a part are numbered from 1; whoever merges the parts adds
the number of lines before it.
"""

from __future__ import annotations

import codecs
from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct, structs

from markscheme.read.answers.batch import DEFAULT_LIMITS, AnswerBatch, ReadLimits
from markscheme.read.answers.duplicates import SeenAttempts
from markscheme.read.answers.fast import TemplateReader
from markscheme.read.answers.jsonl import read_jsonl, read_jsonl_text
from markscheme.read.answers.rows import KnownItems
from markscheme.read.answers.sources import (
    JSONL_SUFFIXES,
    build_file_problem,
    check_is_text,
    check_readable,
    read_block,
    read_head,
)
from markscheme.vocabulary import AnswersError, UsageError

PARQUET_SUFFIX = ".parquet"
_SPLITTABLE_SUFFIXES = (*JSONL_SUFFIXES, PARQUET_SUFFIX)
_SEARCH_BLOCK_BYTES = 16_384
# Tools such as Spark write files with these prefixes next to their data.
_HIDDEN_PREFIXES = (".", "_")


class FilePart(Struct, frozen=True, kw_only=True):
    """A range of a file: bytes from the start of one line to the start of another, or rows.

    `file` names the file in its rows, if the answers are a folder.
    """

    path: Path
    start: int
    stop: int
    file: str | None = None


def list_answer_files(source: str | Path) -> list[Path]:
    """Return the files to read in parts: one, or those of a folder sorted by name.

    Return none if the source can only be streamed: CSV, because a line does not show where a record
    starts, and anything that is no regular file.
    """
    path = Path(source)
    if str(source) in {"", "-"}:
        return []
    if is_folder(path):
        return _list_folder_files(path)
    check_readable(path)
    return [path] if path.suffix.lower() in _SPLITTABLE_SUFFIXES and path.is_file() else []


def is_folder(source: str | Path) -> bool:
    """Return whether this is a folder; a name that no file can have fails to open later."""
    with suppress(OSError, ValueError):
        return Path(source).is_dir()
    return False


def _list_folder_files(folder: Path) -> list[Path]:
    try:
        files = sorted(
            path for path in folder.iterdir() if not path.name.startswith(_HIDDEN_PREFIXES)
        )
    except OSError as error:
        message = f"this cannot be read: {error.strerror}"
        raise AnswersError([build_file_problem(folder, message)]) from None
    if not files:
        raise AnswersError([build_file_problem(folder, "this folder holds no files of answers")])
    others = [path.name for path in files if path.suffix.lower() not in _SPLITTABLE_SUFFIXES]
    if others:
        named = ", ".join(f"`{name}`" for name in others[:5])
        allowed = f"{', '.join(_SPLITTABLE_SUFFIXES[:-1])} and {_SPLITTABLE_SUFFIXES[-1]}"
        raise UsageError(f"`{folder}`: a folder of answers holds {allowed} files; not {named}")
    for path in files:
        check_readable(path)
    return files


def split_file(
    path: Path, *, file: str | None = None, limits: ReadLimits = DEFAULT_LIMITS
) -> Iterator[FilePart]:
    """Yield the parts of one file, in order."""
    if path.suffix.lower() == PARQUET_SUFFIX:
        cuts = _cut_parquet(path, limits)
    else:
        cuts = _cut_jsonl(path, limits)
    for start, stop in cuts:
        yield FilePart(path=path, start=start, stop=stop, file=file)


def read_part(
    part: FilePart,
    *,
    known: KnownItems,
    seen_attempts: SeenAttempts | None = None,
    template_reader: TemplateReader | None = None,
    limits: ReadLimits = DEFAULT_LIMITS,
) -> Generator[AnswerBatch, None, int]:
    """Yield the answers of a part; return how many lines it has."""
    if part.path.suffix.lower() == PARQUET_SUFFIX:
        # Loads polars.
        from markscheme.read.answers.parquet import read_parquet_slice

        batch = read_parquet_slice(part.path, range(part.start, part.stop), known=known)
        if seen_attempts:
            seen_attempts.reject_duplicates(batch)
        yield batch
        return part.stop - part.start
    with part.path.open("rb", buffering=0) as stream:
        if part.stop - part.start <= limits.row_bytes:
            text = b"".join(
                _read_part_blocks(stream, _trim_last_newline(stream, part), limits.row_bytes)
            )
            return (
                yield from read_jsonl_text(
                    text, known=known, seen_attempts=seen_attempts, template_reader=template_reader
                )
            )
        blocks = _read_part_blocks(stream, part, limits.row_bytes)
        return (
            yield from read_jsonl(
                blocks,
                known=known,
                seen_attempts=seen_attempts,
                template_reader=template_reader,
                limits=limits,
            )
        )


def count_part_lines(part: FilePart, limits: ReadLimits = DEFAULT_LIMITS) -> int:
    """Count the lines of a part without parsing them."""
    if part.path.suffix.lower() == PARQUET_SUFFIX:
        return part.stop - part.start
    with part.path.open("rb", buffering=0) as stream:
        return sum(
            block.count(b"\n") for block in _read_part_blocks(stream, part, limits.block_bytes)
        )


def _trim_last_newline(stream: BinaryIO, part: FilePart) -> FilePart:
    """Return the part without its last newline."""
    stream.seek(part.stop - 1)
    ends_in_newline = read_block(stream, str(part.path), 1) == b"\n"
    return structs.replace(part, stop=part.stop - ends_in_newline)


def _read_part_blocks(stream: BinaryIO, part: FilePart, size: int) -> Iterator[bytes]:
    stream.seek(part.start)
    at = part.start
    while at < part.stop and (
        block := read_block(stream, str(part.path), min(size, part.stop - at))
    ):
        at += len(block)
        yield block


def _cut_parquet(path: Path, limits: ReadLimits) -> Iterator[tuple[int, int]]:
    if path.stat().st_size == 0:
        return
    from markscheme.read.answers.parquet import list_parquet_slices

    yield from ((rows.start, rows.stop) for rows in list_parquet_slices(path, limits))


def _cut_jsonl(path: Path, limits: ReadLimits) -> Iterator[tuple[int, int]]:
    """Yield the start and stop of each part; a part stops after the line that fills it."""
    with path.open("rb", buffering=0) as stream:
        head = read_head(stream, str(path))
        check_is_text(head, str(path), is_jsonl=True)
        stream.seek(0)
        has_mark = stream.read(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8
        start = len(codecs.BOM_UTF8) if has_mark else 0
        while True:
            stop = _find_line_end(stream, start + limits.part_bytes, str(path))
            if stop > start:
                yield start, stop
            if stop - start < limits.part_bytes:
                return
            start = stop


def _find_line_end(stream: BinaryIO, position: int, file: str) -> int:
    """Return the end of the line that holds the byte before `position`, or of the file."""
    at = stream.seek(position - 1)
    while block := read_block(stream, file, _SEARCH_BLOCK_BYTES):
        end = block.find(b"\n")
        if end >= 0:
            return at + end + 1
        at += len(block)
    return stream.seek(0, 2)
