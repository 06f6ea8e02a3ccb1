"""One JSON object per line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from markscheme.read.answers.batch import AnswerBatch
from markscheme.read.answers.encoding import fault_in_bytes
from markscheme.read.answers.excerpt import excerpt
from markscheme.read.answers.limits import USUAL, Limits
from markscheme.read.answers.lines import Lines, LongLine, split
from markscheme.read.answers.rows import Refused
from markscheme.read.answers.taking import RawRows, columns_taken, take, taken_at_once
from markscheme.read.answers.typed import typed_columns

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterable, Iterator

    from markscheme.read.answers.alike import AlikeLines
    from markscheme.read.answers.known import KnownItems
    from markscheme.read.answers.ledger import Ledger
    from markscheme.read.answers.lines import Stretch

_SMALL = 2_048
_SAMPLE = 16_384
_SLICE = 262_144
_FENCE = 2_718_281_828
_FENCE_TEXT = b"%d" % _FENCE
_FENCE_BETWEEN = b",%d," % _FENCE


def read_jsonl(
    blocks: Iterable[bytes],
    *,
    known: KnownItems,
    ledger: Ledger | None = None,
    alike: AlikeLines | None = None,
    limits: Limits = USUAL,
) -> Generator[AnswerBatch, None, int]:
    """Yield the answers in a file, of which `blocks` are the bytes in pieces of any size.

    Without a `ledger` repeats are not looked for: whoever reads a file in parts enters all of them
    into one ledger. Lines that `alike` reads come as columns. Returns how many lines it had.
    """
    stretches = _gathered(split(blocks, limit=limits.row_bytes), limits)
    return (yield from _read(stretches, known, ledger, alike, limits))


def read_whole(
    text: bytes,
    *,
    known: KnownItems,
    ledger: Ledger | None = None,
    alike: AlikeLines | None = None,
) -> Generator[AnswerBatch, None, int]:
    """Do the same for lines that are there at once, without the last newline; copies nothing."""
    return (yield from _read([Lines(text=text)], known, ledger, alike, USUAL))


def _read(
    stretches: Iterable[Stretch],
    known: KnownItems,
    ledger: Ledger | None,
    alike: AlikeLines | None,
    limits: Limits,
) -> Generator[AnswerBatch, None, int]:
    line = 1
    for stretch in stretches:
        if isinstance(stretch, LongLine):
            yield AnswerBatch(errors=[stretch.error(line, limits.row_bytes)])
            line += 1
            continue
        batch = AnswerBatch()
        count = _taken_alike(batch, stretch.text, line, alike, known) if alike else 0
        if not count:
            for first, text in _slices(stretch.text, line):
                _take_lines(batch, text, first, known)
        if ledger:
            ledger.strike(batch)
        if batch.rows:
            yield batch
        line += count or stretch.text.count(b"\n") + 1
    return line - 1


def alike_lines(known: KnownItems, fields: Collection[str]) -> AlikeLines | None:
    """Return who reads lines with outputs of these `fields` as columns, if anybody can."""
    if not fields:
        return None
    from markscheme.read.answers.alike import AlikeLines
    from markscheme.read.answers.scanner import is_built

    return AlikeLines(known.ids, fields) if is_built() else None


def _gathered(stretches: Iterable[Stretch], limits: Limits) -> Iterator[Stretch]:
    """Join stretches of lines until they reach the size of a batch."""
    texts: list[bytes] = []
    size = rows = 0
    for stretch in stretches:
        if isinstance(stretch, Lines):
            texts.append(stretch.text)
            size += len(stretch.text)
            rows += _about_how_many(stretch.text)
        full = size >= limits.batch_bytes or rows >= limits.batch_rows
        if texts and (full or isinstance(stretch, LongLine)):
            yield Lines(text=b"\n".join(texts))
            texts, size, rows = [], 0, 0
        if isinstance(stretch, LongLine):
            yield stretch
    if texts:
        yield Lines(text=b"\n".join(texts))


def _about_how_many(text: bytes) -> int:
    """Return about how many lines a text has: counting them all takes as long as reading them."""
    head = text[:_SAMPLE]
    return (head.count(b"\n") * len(text)) // max(1, len(head)) + 1


def _taken_alike(
    batch: AnswerBatch, text: bytes, first: int, alike: AlikeLines, known: KnownItems
) -> int:
    """Add lines that are mostly written alike, the others among them one by one.

    Returns how many lines they are, 0 where they are not alike.
    """
    found = alike.read(text, first)
    if found is None:
        return 0
    batch.alike, others, count = found
    lines, raws = [line for line, _ in others], [raw for _, raw in others]
    rows = list(map(_value_of, raws))
    take(batch, RawRows(lines=lines, rows=rows, shown=lambda at: excerpt(raws[at])), known)
    return count


def _slices(text: bytes, first: int) -> Iterator[tuple[int, bytes]]:
    """Yield whole lines in pieces small enough to stay in the cache, with their first line."""
    start = 0
    while start < len(text):
        end = text.find(b"\n", start + _SLICE)
        piece = text[start:] if end < 0 else text[start:end]
        yield first, piece
        first += piece.count(b"\n") + 1
        start += len(piece) + 1


def _take_lines(batch: AnswerBatch, text: bytes, first: int, known: KnownItems) -> int:
    """Add whole lines to the batch; return how many lines they are.

    Lines of which some are not JSON are halved until the others can be taken at once.
    """
    columns = typed_columns(text)
    if columns and (count := columns_taken(batch, first, columns, known)):
        return count
    rows = _values(text)
    if rows and taken_at_once(batch, range(first, first + len(rows)), rows, known):
        return len(rows)
    cut = text.find(b"\n", len(text) // 2)
    if rows is None and cut >= 0 and len(text) > _SMALL:
        count = _take_lines(batch, text[:cut], first, known)
        return count + _take_lines(batch, text[cut + 1 :], first + count, known)
    raws = text.split(b"\n")
    full = [at for at, raw in enumerate(raws) if raw.strip()]
    rows = rows or [_value_of(raws[at]) for at in full]
    lines = [first + at for at in full]
    take(batch, RawRows(lines=lines, rows=rows, shown=lambda at: excerpt(raws[full[at]])), known)
    return len(raws)


def _values(text: bytes) -> list[Any] | None:
    """Return the values of lines of which each is one JSON value; `None` where that is not proved.

    All are parsed as one array, which saves a fifth of the time. A fence between each two proves
    that no value spans lines and that no line holds two: it is a number that the lines do not
    contain, it has only one spelling, and every second element of the array has to be one.
    """
    if _FENCE_TEXT in text:
        return None
    array = text.replace(b"\n", _FENCE_BETWEEN)
    fences = (len(array) - len(text)) // (len(_FENCE_BETWEEN) - 1)
    try:
        values: list[Any] = orjson.loads(b"[%b]" % array)
    except orjson.JSONDecodeError:
        return None
    if len(values) != 2 * fences + 1 or values[1::2].count(_FENCE) != fences:
        return None
    return values[::2]


def _value_of(raw: bytes) -> Any:
    """Return the JSON value of one line, or the reason why it has none."""
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        return Refused(fault_in_bytes(raw) or _fault_in_json(error))


def _fault_in_json(error: orjson.JSONDecodeError) -> str:
    if "surrogate" in error.msg:
        return f"a lone surrogate at column {error.colno}, which is not a character"
    if "depth" in error.msg or "recursion" in error.msg:
        return "nested too deep"
    if error.doc.startswith(("NaN", "Infinity", "-Infinity"), error.pos):
        return f"not JSON: NaN and Infinity are no numbers in JSON (column {error.colno})"
    if error.msg == "unexpected end of data":
        return f"not JSON: the row is cut off after column {error.colno - 1}"
    return f"not JSON: {error.msg} (column {error.colno})"


def holds_a_row(head: bytes) -> bool:
    """Whether some whole line of the beginning of a file is a JSON object."""
    return any(isinstance(_value_of(raw), dict) for raw in head.split(b"\n"))
