"""Frames as bytes: Arrow's stream format, which is the cheapest to write and to read.

Arrow compresses column by column, which does nothing for a frame of few rows, where the description
of the columns is most of it; a small frame is therefore compressed as a whole.

Answers and cells in chunks of any size, each frame kept once under its digest.
"""

from __future__ import annotations

import zlib
from io import BytesIO
from typing import TYPE_CHECKING, Literal

import polars as pl

from markscheme.keep.records import StoredChunk, StoredFrame
from markscheme.vocabulary import compute_digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markscheme.keep.database import Database

    Blob = tuple[str, bytes]

_ARROW_STREAM_PREFIX = b"\xff\xff\xff\xff"  # how a stream begins that is not compressed as a whole
_SMALL_FRAME_ROWS = 256
_ZLIB_LEVEL = 1


def encode_frame(frame: pl.DataFrame) -> bytes:
    """Return a frame as bytes."""
    small = frame.height <= _SMALL_FRAME_ROWS
    stream = frame.rechunk().write_ipc_stream(
        None,
        compression="uncompressed" if small else "zstd",
        compat_level=pl.CompatLevel.oldest(),  # views would drag along what they were cut from
    )
    return zlib.compress(stream.getvalue(), _ZLIB_LEVEL) if small else stream.getvalue()


def decode_frame(body: bytes) -> pl.DataFrame:
    """Return the frame of these bytes."""
    return pl.read_ipc_stream(
        BytesIO(body if body.startswith(_ARROW_STREAM_PREFIX) else zlib.decompress(body))
    )


def join_frames(frames: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Yield neighbours with the same columns as one frame."""
    alike: list[pl.DataFrame] = []
    for frame in frames:
        if alike and alike[0].schema != frame.schema:
            yield pl.concat(alike)
            alike = []
        alike.append(frame)
    if alike:
        yield pl.concat(alike)


_ROWS_AT_ONCE = 32_768
_CHUNKS_AT_ONCE = 1_000


def prepare_frames(
    answers: pl.DataFrame | StoredFrame, cells: pl.DataFrame | StoredFrame
) -> tuple[dict[str, StoredFrame], list[Blob]]:
    """Name both frames by their digests; those not known to be kept are encoded."""
    blobs: list[Blob] = []
    kept = {"answers": _store_frame(answers, blobs), "cells": _store_frame(cells, blobs)}
    if kept["answers"].height != kept["cells"].height:
        raise ValueError("answers and cells differ in their number of rows")
    return kept, blobs


def _store_frame(frame: pl.DataFrame | StoredFrame, blobs: list[Blob]) -> StoredFrame:
    if isinstance(frame, StoredFrame):
        return frame

    body = encode_frame(frame)
    blobs.append((compute_digest(body), body))
    return StoredFrame(digest=blobs[-1][0], height=frame.height)


def insert_chunk(
    database: Database, run: str, chunk: StoredChunk, blobs: list[Blob]
) -> StoredChunk:
    """Inside a transaction: add the frames that are not there yet, and the chunk."""
    for blob in sorted(blobs):  # in one order, so that two writers cannot block each other
        database.execute_change(
            "INSERT INTO blobs (digest, body) VALUES (?, ?) ON CONFLICT DO NOTHING", blob
        )
    database.execute_change(
        "INSERT INTO chunks (run, seq, height, answers, cells) VALUES (?, ?, ?, ?, ?)",
        [run, chunk.seq, chunk.answers.height, chunk.answers.digest, chunk.cells.digest],
    )
    return chunk


def fetch_chunks(database: Database, run: str) -> list[StoredChunk]:
    """Return the chunks of a run in their order, without their frames."""
    query = "SELECT seq, height, answers, cells FROM chunks WHERE run = ? ORDER BY seq"
    return database.fetch_records(query, [run], _parse_chunk_row)


def _parse_chunk_row(seq: int, height: int, answers: str, cells: str) -> StoredChunk:
    return StoredChunk(
        seq=int(seq),
        answers=StoredFrame(digest=answers, height=int(height)),
        cells=StoredFrame(digest=cells, height=int(height)),
    )


def read_frames(
    database: Database, run: str, column: Literal["answers", "cells"]
) -> Iterator[pl.DataFrame]:
    """Yield the frames of a run in their order, small ones joined to some thousands of rows."""
    query = (
        f"SELECT seq, digest, body FROM chunks JOIN blobs ON digest = {column}"  # noqa: S608 - a literal
        " WHERE run = ? AND seq BETWEEN ? AND ? ORDER BY seq"
    )
    for first, last in _group_chunks(fetch_chunks(database, run)):
        rows = database.fetch_rows(query, [run, first, last])
        whole = [row[0] for row in rows] == list(range(first, last + 1))
        if not whole or not all(_is_intact(digest, body) for _, digest, body in rows):
            raise database.build_damage_error(f"the {column} of the run `{run}`")
        yield from join_frames(decode_frame(body) for _, _, body in rows)


def _is_intact(digest: str, body: object) -> bool:
    return isinstance(body, bytes) and compute_digest(body) == digest


def _group_chunks(chunks: Iterable[StoredChunk]) -> Iterator[tuple[int, int]]:
    """Yield the first and last number of neighbours that are not too much to hold at once."""
    stretch: list[StoredChunk] = []
    height = 0
    for chunk in chunks:
        height += chunk.answers.height
        if stretch and (height > _ROWS_AT_ONCE or len(stretch) == _CHUNKS_AT_ONCE):
            yield stretch[0].seq, stretch[-1].seq
            stretch, height = [], chunk.answers.height
        stretch.append(chunk)
    if stretch:
        yield stretch[0].seq, stretch[-1].seq
