"""One JSON object per line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from markscheme.read.answers.batch import AnswerBatch
from markscheme.read.answers.encoding import fault_in_bytes
from markscheme.read.answers.excerpt import excerpt
from markscheme.read.answers.limits import USUAL, Limits
from markscheme.read.answers.lines import LongLine, split
from markscheme.read.answers.rows import Refused
from markscheme.read.answers.taking import RawRows, columns_taken, take, taken_at_once
from markscheme.read.answers.typed import typed_columns

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from markscheme.read.answers.known import KnownItems
    from markscheme.read.answers.ledger import Ledger

_SMALL = 2_048
_FENCE = 2_718_281_828
_FENCE_TEXT = b"%d" % _FENCE
_FENCE_BETWEEN = b",%d," % _FENCE


def read_jsonl(
    blocks: Iterable[bytes],
    *,
    known: KnownItems,
    ledger: Ledger | None = None,
    limits: Limits = USUAL,
    first_line: int = 1,
) -> Generator[AnswerBatch, None, int]:
    """Yield the answers in a file, or in a part of one that starts with line `first_line`.

    `blocks` are its bytes in pieces of any size. Without a `ledger` repeats are not looked for:
    whoever reads a file in parts enters all of them into one ledger. Returns how many lines it had.
    """
    batch, size, line = AnswerBatch(), 0, first_line
    for stretch in split(blocks, limit=limits.row_bytes):
        before = len(batch)
        if isinstance(stretch, LongLine):
            batch.errors.append(stretch.error(line, limits.row_bytes))
            line += 1
        else:
            line += _take_lines(batch, stretch.text, line, known)
            size += len(stretch.text)
        if ledger:
            ledger.strike(batch, before)  # at once, while the columns are still in the cache
        if batch.rows >= limits.batch_rows or size >= limits.batch_bytes:
            yield batch
            batch, size = AnswerBatch(), 0
    if batch.rows:
        yield batch
    return line - first_line


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
