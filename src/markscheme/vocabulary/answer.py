"""One answer of a subject to an item, and the error record of a row that is not an answer."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from msgspec import Struct


class Answer(Struct, frozen=True, kw_only=True):
    """What a subject answered to one item, with its latency, tokens and cost if they are known."""

    item: str
    output: str | Mapping[str, Any]
    subject: str | None = None
    attempt: int = 1
    latency_ms: Decimal | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: Decimal | None = None


class RowError(Struct, frozen=True, kw_only=True):
    """A row of an answers file that is not a valid answer. It is counted and shown, never dropped.

    `file` is set if the answers are a folder of files.
    """

    line: int
    reason: str
    item: str | None = None
    excerpt: str = ""
    file: str | None = None

    @property
    def place(self) -> str:
        """The file and line of the row, as messages show them."""
        return f"line {self.line}" if self.file is None else f"{self.file}, line {self.line}"
