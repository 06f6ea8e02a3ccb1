"""Answers and cells in chunks of any size, each frame kept once under its digest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from markscheme.digests import digest_of
from markscheme.keep.records import Chunk, Kept

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import polars as pl

    from markscheme.keep.databases import Database

    Blob = tuple[str, bytes]

_ROWS_AT_ONCE = 32_768
_CHUNKS_AT_ONCE = 1_000


def prepared(
    answers: pl.DataFrame | Kept, cells: pl.DataFrame | Kept
) -> tuple[dict[str, Kept], list[Blob]]:
    """Name both frames by their digests; those not known to be kept are encoded."""
    blobs: list[Blob] = []
    kept = {"answers": _named(answers, blobs), "cells": _named(cells, blobs)}
    if kept["answers"].height != kept["cells"].height:
        raise ValueError("answers and cells differ in their number of rows")
    return kept, blobs


def _named(frame: pl.DataFrame | Kept, blobs: list[Blob]) -> Kept:
    if isinstance(frame, Kept):
        return frame
    from markscheme.keep.frames import encoded

    body = encoded(frame)
    blobs.append((digest_of(body), body))
    return Kept(digest=blobs[-1][0], height=frame.height)


def add(database: Database, run: str, chunk: Chunk, blobs: list[Blob]) -> Chunk:
    """Inside a transaction: add the frames that are not there yet, and the chunk."""
    for blob in sorted(blobs):  # in one order, so that two writers cannot block each other
        database.change(
            "INSERT INTO blobs (digest, body) VALUES (?, ?) ON CONFLICT DO NOTHING", blob
        )
    database.change(
        "INSERT INTO chunks (run, seq, height, answers, cells) VALUES (?, ?, ?, ?, ?)",
        [run, chunk.seq, chunk.answers.height, chunk.answers.digest, chunk.cells.digest],
    )
    return chunk


def of_run(database: Database, run: str) -> list[Chunk]:
    """Return the chunks of a run in their order, without their frames."""
    query = "SELECT seq, height, answers, cells FROM chunks WHERE run = ? ORDER BY seq"
    return database.records(query, [run], _chunk)


def _chunk(seq: int, height: int, answers: str, cells: str) -> Chunk:
    return Chunk(
        seq=int(seq),
        answers=Kept(digest=answers, height=int(height)),
        cells=Kept(digest=cells, height=int(height)),
    )


def frames(
    database: Database, run: str, column: Literal["answers", "cells"]
) -> Iterator[pl.DataFrame]:
    """Yield the frames of a run in their order, small ones joined to some thousands of rows."""
    from markscheme.keep.frames import decoded, joined

    query = (
        f"SELECT seq, digest, body FROM chunks JOIN blobs ON digest = {column}"  # noqa: S608 - a literal
        " WHERE run = ? AND seq BETWEEN ? AND ? ORDER BY seq"
    )
    for first, last in _stretches(of_run(database, run)):
        rows = database.rows(query, [run, first, last])
        whole = [row[0] for row in rows] == list(range(first, last + 1))
        if not whole or not all(_undamaged(digest, body) for _, digest, body in rows):
            raise database.damaged(f"the {column} of the run `{run}`")
        yield from joined(decoded(body) for _, _, body in rows)


def _undamaged(digest: str, body: object) -> bool:
    return isinstance(body, bytes) and digest_of(body) == digest


def _stretches(chunks: Iterable[Chunk]) -> Iterator[tuple[int, int]]:
    """Yield the first and last number of neighbours that are not too much to hold at once."""
    stretch: list[Chunk] = []
    height = 0
    for chunk in chunks:
        height += chunk.answers.height
        if stretch and (height > _ROWS_AT_ONCE or len(stretch) == _CHUNKS_AT_ONCE):
            yield stretch[0].seq, stretch[-1].seq
            stretch, height = [], chunk.answers.height
        stretch.append(chunk)
    if stretch:
        yield stretch[0].seq, stretch[-1].seq
