"""How much is held at once: the numbers behind flat memory."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLimits:
    """Bounds of a reader. A row longer than `row_bytes` is an error row and is never held whole.

    A batch is handed on after the block with which it reaches `batch_rows` rows or `batch_bytes`
    bytes. Blocks are small on purpose: what is still in the cache is parsed faster. A part is what
    one process scores at a time.
    """

    row_bytes: int = 10_000_000
    batch_rows: int = 65_536
    batch_bytes: int = 16_777_216
    block_bytes: int = 262_144
    part_bytes: int = 6_291_456


DEFAULT_LIMITS = ReadLimits()
