"""Frames as bytes: Arrow's stream format, which is the cheapest to write and to read.

Arrow compresses column by column, which does nothing for a frame of few rows, where the description
of the columns is most of it; a small frame is therefore compressed as a whole.
"""

from __future__ import annotations

import zlib
from io import BytesIO
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
