"""One JSON object per line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from markscheme.read.answers.batch import DEFAULT_LIMITS, AnswerBatch, ReadLimits
from markscheme.read.answers.columns import RawAnswerRows, add_rows, try_add_columns, try_add_rows
from markscheme.read.answers.encoding import find_byte_fault, make_excerpt
from markscheme.read.answers.lines import LongLine, WholeLines, split_lines
from markscheme.read.answers.rows import RefusedRow
from markscheme.read.answers.typed import typed_columns

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterable, Iterator

    from markscheme.read.answers.duplicates import SeenAttempts
    from markscheme.read.answers.fast.line_templates import LineTemplateReader
    from markscheme.read.answers.items import KnownItems
    from markscheme.read.answers.lines import LineChunk

_MIN_SPLIT_BYTES = 2_048
_SAMPLE_BYTES = 16_384
_SLICE_BYTES = 262_144
_SENTINEL = 2_718_281_828
_SENTINEL_TEXT = b"%d" % _SENTINEL
_SENTINEL_SEPARATOR = b",%d," % _SENTINEL


def read_jsonl(
    blocks: Iterable[bytes],
    *,
    known: KnownItems,
    seen_attempts: SeenAttempts | None = None,
    template_reader: LineTemplateReader | None = None,
    limits: ReadLimits = DEFAULT_LIMITS,
) -> Generator[AnswerBatch, None, int]:
    """Yield the answers in a file, of which `blocks` are the bytes in pieces of any size.

    Without a `ledger` repeats are not looked for: whoever reads a file in parts enters all of them
    into one ledger. Lines that `alike` reads come as columns. Returns how many lines it had.
    """
    stretches = _gather_lines(split_lines(blocks, limit=limits.row_bytes), limits)
    return (yield from _read_line_chunks(stretches, known, seen_attempts, template_reader, limits))


def read_jsonl_text(
    text: bytes,
    *,
    known: KnownItems,
    seen_attempts: SeenAttempts | None = None,
    template_reader: LineTemplateReader | None = None,
) -> Generator[AnswerBatch, None, int]:
    """Do the same for lines that are there at once, without the last newline; copies nothing."""
    return (
        yield from _read_line_chunks(
            [WholeLines(text=text)], known, seen_attempts, template_reader, DEFAULT_LIMITS
        )
    )


def _read_line_chunks(
    stretches: Iterable[LineChunk],
    known: KnownItems,
    ledger: SeenAttempts | None,
    alike: LineTemplateReader | None,
    limits: ReadLimits,
) -> Generator[AnswerBatch, None, int]:
    line = 1
    for stretch in stretches:
        if isinstance(stretch, LongLine):
            yield AnswerBatch(errors=[stretch.to_row_error(line, limits.row_bytes)])
            line += 1
            continue
        batch = AnswerBatch()
        count = _add_template_rows(batch, stretch.text, line, alike, known) if alike else 0
        if not count:
            for first, text in _slice_lines(stretch.text, line):
                _add_lines(batch, text, first, known)
        if ledger:
            ledger.reject_duplicates(batch)
        if batch.row_count:
            yield batch
        line += count or stretch.text.count(b"\n") + 1
    return line - 1


def create_template_reader(known: KnownItems, fields: Collection[str]) -> LineTemplateReader | None:
    """Return who reads lines with outputs of these `fields` as columns, if anybody can."""
    if not fields:
        return None
    from markscheme.read.answers.fast.line_templates import LineTemplateReader
    from markscheme.read.answers.fast.scanner import is_available

    return LineTemplateReader(known.ids, fields) if is_available() else None


def _gather_lines(stretches: Iterable[LineChunk], limits: ReadLimits) -> Iterator[LineChunk]:
    """Join stretches of lines until they reach the size of a batch."""
    texts: list[bytes] = []
    size = rows = 0
    for stretch in stretches:
        if isinstance(stretch, WholeLines):
            texts.append(stretch.text)
            size += len(stretch.text)
            rows += _estimate_line_count(stretch.text)
        full = size >= limits.batch_bytes or rows >= limits.batch_rows
        if texts and (full or isinstance(stretch, LongLine)):
            yield WholeLines(text=b"\n".join(texts))
            texts, size, rows = [], 0, 0
        if isinstance(stretch, LongLine):
            yield stretch
    if texts:
        yield WholeLines(text=b"\n".join(texts))


def _estimate_line_count(text: bytes) -> int:
    """Return about how many lines a text has: counting them all takes as long as reading them."""
    head = text[:_SAMPLE_BYTES]
    return (head.count(b"\n") * len(text)) // max(1, len(head)) + 1


def _add_template_rows(
    batch: AnswerBatch, text: bytes, first: int, alike: LineTemplateReader, known: KnownItems
) -> int:
    """Add lines that are mostly written alike, the others among them one by one.

    Returns how many lines they are, 0 where they are not alike.
    """
    found = alike.read_lines(text, first)
    if found is None:
        return 0
    batch.alike, others, count = found
    lines, raws = [line for line, _ in others], [raw for _, raw in others]
    rows = list(map(_parse_json_line, raws))
    add_rows(
        batch,
        RawAnswerRows(lines=lines, rows=rows, excerpt_at=lambda at: make_excerpt(raws[at])),
        known,
    )
    return count


def _slice_lines(text: bytes, first: int) -> Iterator[tuple[int, bytes]]:
    """Yield whole lines in pieces small enough to stay in the cache, with their first line."""
    start = 0
    while start < len(text):
        end = text.find(b"\n", start + _SLICE_BYTES)
        piece = text[start:] if end < 0 else text[start:end]
        yield first, piece
        first += piece.count(b"\n") + 1
        start += len(piece) + 1


def _add_lines(batch: AnswerBatch, text: bytes, first: int, known: KnownItems) -> int:
    """Add whole lines to the batch; return how many lines they are.

    Lines of which some are not JSON are halved until the others can be taken at once.
    """
    columns = typed_columns(text)
    if columns and (count := try_add_columns(batch, first, columns, known)):
        return count
    rows = _parse_lines_as_array(text)
    if rows and try_add_rows(batch, range(first, first + len(rows)), rows, known):
        return len(rows)
    cut = text.find(b"\n", len(text) // 2)
    if rows is None and cut >= 0 and len(text) > _MIN_SPLIT_BYTES:
        count = _add_lines(batch, text[:cut], first, known)
        return count + _add_lines(batch, text[cut + 1 :], first + count, known)
    raws = text.split(b"\n")
    full = [at for at, raw in enumerate(raws) if raw.strip()]
    rows = rows or [_parse_json_line(raws[at]) for at in full]
    lines = [first + at for at in full]
    add_rows(
        batch,
        RawAnswerRows(lines=lines, rows=rows, excerpt_at=lambda at: make_excerpt(raws[full[at]])),
        known,
    )
    return len(raws)


def _parse_lines_as_array(text: bytes) -> list[Any] | None:
    """Return the values of lines of which each is one JSON value; `None` where that is not proved.

    All are parsed as one array, which saves a fifth of the time. A fence between each two proves
    that no value spans lines and that no line holds two: it is a number that the lines do not
    contain, it has only one spelling, and every second element of the array has to be one.
    """
    if _SENTINEL_TEXT in text:
        return None
    array = text.replace(b"\n", _SENTINEL_SEPARATOR)
    fences = (len(array) - len(text)) // (len(_SENTINEL_SEPARATOR) - 1)
    try:
        values: list[Any] = orjson.loads(b"[%b]" % array)
    except orjson.JSONDecodeError:
        return None
    if len(values) != 2 * fences + 1 or values[1::2].count(_SENTINEL) != fences:
        return None
    return values[::2]


def _parse_json_line(raw: bytes) -> Any:
    """Return the JSON value of one line, or the reason why it has none."""
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        return RefusedRow(find_byte_fault(raw) or _describe_json_error(error))


def _describe_json_error(error: orjson.JSONDecodeError) -> str:
    if "surrogate" in error.msg:
        return f"a lone surrogate at column {error.colno}, which is not a character"
    if "depth" in error.msg or "recursion" in error.msg:
        return "nested too deep"
    if error.doc.startswith(("NaN", "Infinity", "-Infinity"), error.pos):
        return f"not JSON: NaN and Infinity are no numbers in JSON (column {error.colno})"
    if error.msg == "unexpected end of data":
        return f"not JSON: the row is cut off after column {error.colno - 1}"
    return f"not JSON: {error.msg} (column {error.colno})"


def has_json_row(head: bytes) -> bool:
    """Whether some whole line of the beginning of a file is a JSON object."""
    return any(isinstance(_parse_json_line(raw), dict) for raw in head.split(b"\n"))
