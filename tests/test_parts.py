"""A part of a file is read at once, and tells what reading it in blocks would tell."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from markscheme.read.answers import (
    AnswerBatch,
    FilePart,
    KnownItems,
    ReadLimits,
    read_jsonl,
    read_part,
)

if TYPE_CHECKING:
    from collections.abc import Generator

KNOWN = KnownItems(["a"])
PIECES = [b"\n", b"\r\n", b"\xef\xbb\xbf", b"nope", b'{"item":"a","output":"Ate."}']


def told(batches: Generator[AnswerBatch, None, int]) -> tuple[Any, ...]:
    """Return the lines of the answers and of the errors, and how many lines there are."""
    lines: list[int] = []
    errors: list[int] = []
    while True:
        try:
            batch = next(batches)
        except StopIteration as end:
            return lines, errors, end.value
        lines += batch.lines
        errors += [error.line for error in batch.errors]


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=9), st.sampled_from([10, 10_000]))
def test_a_part_has_the_lines_that_its_blocks_have(pieces: list[bytes], row_bytes: int) -> None:
    content, limits = b"".join(pieces), ReadLimits(row_bytes=row_bytes)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.jsonl"
        path.write_bytes(b"before\n" + content)
        part = FilePart(path=path, start=7, stop=7 + len(content))
        whole = told(read_part(part, known=KNOWN, limits=limits))
    blocks = [content[:3], content[3:]]
    assert whole == told(read_jsonl(blocks, known=KNOWN, limits=limits))
