"""Read JSONL: one JSON object per line."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Iterator
from typing import Any

import orjson

from markscheme.read.answers.batch import DEFAULT_LIMITS, AnswerBatch, ReadLimits
from markscheme.read.answers.columns import RawAnswerRows, add_rows, try_add_rows
from markscheme.read.answers.duplicates import SeenAttempts
from markscheme.read.answers.fast import TemplateReader
from markscheme.read.answers.rows import KnownItems, RefusedRow
from markscheme.read.answers.text import (
    LineChunk,
    LongLine,
    WholeLines,
    find_byte_fault,
    make_excerpt,
    split_lines,
)

_SAMPLE_BYTES = 16_384
_SLICE_BYTES = 65_536


def read_jsonl(
    blocks: Iterable[bytes],
    *,
    known: KnownItems,
    seen_attempts: SeenAttempts | None = None,
    template_reader: TemplateReader | None = None,
    limits: ReadLimits = DEFAULT_LIMITS,
) -> Generator[AnswerBatch, None, int]:
    """Yield the answers of a file whose bytes arrive in blocks of any size; return its line count.

    Without `seen_attempts`, duplicates are not looked for: whoever reads a file in parts checks all
    parts against one `SeenAttempts`. Lines that `template_reader` matches come as template rows.
    """
    chunks = _gather_lines(split_lines(blocks, limit=limits.row_bytes), limits)
    return (yield from _read_line_chunks(chunks, known, seen_attempts, template_reader, limits))


def read_jsonl_text(
    text: bytes,
    *,
    known: KnownItems,
    seen_attempts: SeenAttempts | None = None,
    template_reader: TemplateReader | None = None,
) -> Generator[AnswerBatch, None, int]:
    """Do the same for whole lines in memory, without the last newline; nothing is copied."""
    chunks = [WholeLines(text=text)]
    return (
        yield from _read_line_chunks(chunks, known, seen_attempts, template_reader, DEFAULT_LIMITS)
    )


def _read_line_chunks(
    chunks: Iterable[LineChunk],
    known: KnownItems,
    seen_attempts: SeenAttempts | None,
    template_reader: TemplateReader | None,
    limits: ReadLimits,
) -> Generator[AnswerBatch, None, int]:
    line = 1
    for chunk in chunks:
        if isinstance(chunk, LongLine):
            yield AnswerBatch(errors=[chunk.to_row_error(line, limits.row_bytes)])
            line += 1
            continue
        batch = AnswerBatch()
        match = template_reader(chunk.text, line) if template_reader else None
        if match:
            batch.template_rows = match.rows
            _add_each_line(batch, match.unmatched, known)
            line += match.line_count
        else:
            line += _add_lines(batch, chunk.text, line, known)
        if seen_attempts:
            seen_attempts.reject_duplicates(batch)
        if batch.row_count:
            yield batch
    return line - 1


def _gather_lines(chunks: Iterable[LineChunk], limits: ReadLimits) -> Iterator[LineChunk]:
    """Join chunks of lines until they reach the size of a batch."""
    texts: list[bytes] = []
    size = rows = 0
    for chunk in chunks:
        if isinstance(chunk, WholeLines):
            texts.append(chunk.text)
            size += len(chunk.text)
            rows += _estimate_line_count(chunk.text)
        full = size >= limits.batch_bytes or rows >= limits.batch_rows
        if texts and (full or isinstance(chunk, LongLine)):
            yield WholeLines(text=b"\n".join(texts))
            texts, size, rows = [], 0, 0
        if isinstance(chunk, LongLine):
            yield chunk
    if texts:
        yield WholeLines(text=b"\n".join(texts))


def _estimate_line_count(text: bytes) -> int:
    """Estimate the number of lines; counting them all takes as long as reading them."""
    head = text[:_SAMPLE_BYTES]
    return (head.count(b"\n") * len(text)) // max(1, len(head)) + 1


def _add_lines(batch: AnswerBatch, text: bytes, first: int, known: KnownItems) -> int:
    """Add whole lines, of which the first has the number `first`; return how many there are."""
    line, start = first, 0
    while start < len(text):
        # Slices are small so that they stay in the processor's cache, and so that one bad line
        # costs only its neighbours the way through the definition.
        end = text.find(b"\n", start + _SLICE_BYTES)
        piece = text[start:] if end < 0 else text[start:end]
        raws = piece.split(b"\n")
        try:
            rows = list(map(orjson.loads, raws))
        except orjson.JSONDecodeError:
            rows = []
        if not rows or not try_add_rows(batch, range(line, line + len(rows)), rows, known):
            numbered = [(line + at, raw) for at, raw in enumerate(raws) if raw.strip()]
            _add_each_line(batch, numbered, known)
        line += len(raws)
        start += len(piece) + 1
    return text.count(b"\n") + 1


def _add_each_line(
    batch: AnswerBatch, numbered: list[tuple[int, bytes]], known: KnownItems
) -> None:
    """Parse each line by itself and add it, as an answer or as an error."""
    raw_rows = RawAnswerRows(
        lines=[line for line, _ in numbered],
        rows=[_parse_json_line(raw) for _, raw in numbered],
        excerpt_at=lambda at: make_excerpt(numbered[at][1]),
    )
    add_rows(batch, raw_rows, known)


def _parse_json_line(raw: bytes) -> Any:
    """Return the JSON value of one line, or a `RefusedRow` with the reason."""
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        if "surrogate" in error.msg or "infinity" in error.msg:
            return _parse_unusual_line(raw, error)
        return RefusedRow(find_byte_fault(raw) or _describe_json_error(error))


def _parse_unusual_line(raw: bytes, error: orjson.JSONDecodeError) -> Any:
    """Parse a line with long numbers or half a surrogate pair, which orjson refuses.

    They may stand where they harm nothing; `parse_answer` names the field where they do, as it does
    for rows of the library.
    """
    try:
        return json.loads(raw.decode(), parse_constant=_refuse_constant)
    except RecursionError:
        return RefusedRow("nested too deep")
    except UnicodeDecodeError:
        return RefusedRow(find_byte_fault(raw) or _describe_json_error(error))
    except json.JSONDecodeError as fault:
        return RefusedRow(f"not JSON: {fault.msg} (column {fault.colno})")
    except ValueError as fault:
        return RefusedRow(f"not JSON: {fault}")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number in JSON")


def _describe_json_error(error: orjson.JSONDecodeError) -> str:
    if "depth" in error.msg or "recursion" in error.msg:
        return "nested too deep"
    if error.doc.startswith(("NaN", "Infinity", "-Infinity"), error.pos):
        return f"not JSON: NaN and Infinity are no numbers in JSON (column {error.colno})"
    if error.msg == "unexpected end of data":
        return f"not JSON: the row is cut off after column {error.colno - 1}"
    return f"not JSON: {error.msg} (column {error.colno})"


def has_json_row(head: bytes) -> bool:
    """Return whether some line in the beginning of a file is a JSON object."""
    return any(isinstance(_parse_json_line(raw), dict) for raw in head.split(b"\n"))
