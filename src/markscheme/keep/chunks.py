"""Answers and cells of a run, stored in chunks: Arrow frames, each kept once under its digest.

Frames are in Arrow's stream format, the cheapest to write and to read. Arrow compresses column by
column, which gains nothing in a frame of few rows, where the schema is most of the bytes; a small
frame is therefore compressed as a whole. polars is imported late: a live run opens the store first.
"""

from __future__ import annotations

import zlib
from io import BytesIO
from typing import TYPE_CHECKING, Literal

from markscheme.keep.records import StoredChunk, StoredFrame
from markscheme.vocabulary import compute_digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import polars as pl

    from markscheme.keep.database import Database

    Blob = tuple[str, bytes]

# First bytes of a stream that is not compressed as a whole.
_ARROW_STREAM_PREFIX = b"\xff\xff\xff\xff"
_SMALL_FRAME_ROWS = 256
_ZLIB_LEVEL = 1
_ROWS_AT_ONCE = 32_768
_CHUNKS_AT_ONCE = 1_000


def encode_frame(frame: pl.DataFrame) -> bytes:
    """Return a frame as bytes."""
    import polars as pl

    small = frame.height <= _SMALL_FRAME_ROWS
    stream = frame.rechunk().write_ipc_stream(
        None,
        compression="uncompressed" if small else "zstd",
        # String views would write the whole buffers that a slice was cut from.
        compat_level=pl.CompatLevel.oldest(),
    )
    return zlib.compress(stream.getvalue(), _ZLIB_LEVEL) if small else stream.getvalue()


def decode_frame(body: bytes) -> pl.DataFrame:
    """Return the frame of these bytes."""
    import polars as pl

    return pl.read_ipc_stream(
        BytesIO(body if body.startswith(_ARROW_STREAM_PREFIX) else zlib.decompress(body))
    )


def join_frames(frames: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Join neighbours that have the same columns."""
    import polars as pl

    same_schema: list[pl.DataFrame] = []
    for frame in frames:
        if same_schema and same_schema[0].schema != frame.schema:
            yield pl.concat(same_schema)
            same_schema = []
        same_schema.append(frame)
    if same_schema:
        yield pl.concat(same_schema)


def prepare_frames(
    answers: pl.DataFrame | StoredFrame, cells: pl.DataFrame | StoredFrame
) -> tuple[dict[str, StoredFrame], list[Blob]]:
    """Refer to both frames by their digests; encode those that are not in the store yet."""
    blobs: list[Blob] = []
    frames = {"answers": _store_frame(answers, blobs), "cells": _store_frame(cells, blobs)}
    if frames["answers"].height != frames["cells"].height:
        raise ValueError("answers and cells differ in their number of rows")
    return frames, blobs


def _store_frame(frame: pl.DataFrame | StoredFrame, blobs: list[Blob]) -> StoredFrame:
    if isinstance(frame, StoredFrame):
        return frame
    body = encode_frame(frame)
    blobs.append((compute_digest(body), body))
    return StoredFrame(digest=blobs[-1][0], height=frame.height)


def insert_chunk(
    database: Database, run: str, chunk: StoredChunk, blobs: list[Blob]
) -> StoredChunk:
    """Insert the chunk and the frames that are not there yet; call it in a transaction."""
    # In one order for all writers, so that two of them cannot block each other.
    for blob in sorted(blobs):
        database.execute_change(
            "INSERT INTO blobs (digest, body) VALUES (?, ?) ON CONFLICT DO NOTHING", blob
        )
    database.execute_change(
        "INSERT INTO chunks (run, seq, height, answers, cells) VALUES (?, ?, ?, ?, ?)",
        [run, chunk.seq, chunk.answers.height, chunk.answers.digest, chunk.cells.digest],
    )
    return chunk


def fetch_chunks(database: Database, run: str) -> list[StoredChunk]:
    """Return the chunks of a run in order, without their frames."""
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
    """Yield the frames of a run in order, small ones joined to some thousands of rows."""
    query = (
        f"SELECT seq, digest, body FROM chunks JOIN blobs ON digest = {column}"  # noqa: S608 - a literal
        " WHERE run = ? AND seq BETWEEN ? AND ? ORDER BY seq"
    )
    for first, last in _group_chunks(fetch_chunks(database, run)):
        rows = database.fetch_rows(query, [run, first, last])
        is_complete = [row[0] for row in rows] == list(range(first, last + 1))
        if not is_complete or not all(_is_intact(digest, body) for _, digest, body in rows):
            raise database.build_damage_error(f"the {column} of the run `{run}`")
        yield from join_frames(decode_frame(body) for _, _, body in rows)


def _is_intact(digest: str, body: object) -> bool:
    return isinstance(body, bytes) and compute_digest(body) == digest


def _group_chunks(chunks: Iterable[StoredChunk]) -> Iterator[tuple[int, int]]:
    """Yield first and last numbers of groups of chunks that are small enough to hold at once."""
    group: list[StoredChunk] = []
    height = 0
    for chunk in chunks:
        height += chunk.answers.height
        if group and (height > _ROWS_AT_ONCE or len(group) == _CHUNKS_AT_ONCE):
            yield group[0].seq, group[-1].seq
            group, height = [], chunk.answers.height
        group.append(chunk)
    if group:
        yield group[0].seq, group[-1].seq
