"""Read the order in which answers were asked from a file that a live run recorded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import orjson

from markscheme.read.nfc import to_nfc

_RECORDING_SUFFIXES = (".jsonl", ".ndjson")
AttemptKey = tuple[str, str, int]


def read_recorded_order(answers: object) -> dict[AttemptKey, int]:
    """Return the `order` of each answer by item, subject and attempt; empty if none is recorded.

    If a number occurs twice, the file holds several recordings. Their orders cannot be compared, so
    the result is empty.
    """
    if not isinstance(answers, str | Path):
        return {}
    path = Path(answers)
    if path.suffix.lower() not in _RECORDING_SUFFIXES or not path.is_file():
        return {}
    order = dict(_read_order_rows(path))
    return order if len(set(order.values())) == len(order) else {}


def _read_order_rows(path: Path) -> Iterator[tuple[AttemptKey, int]]:
    """Yield the order of each line that has one; other readers check whether it is an answer."""
    with path.open("rb") as lines:
        for line in lines:
            try:
                row = orjson.loads(line)
            except orjson.JSONDecodeError:
                continue
            if not isinstance(row, dict):
                continue
            item, subject = row.get("item"), row.get("subject")
            order, attempt = row.get("order"), row.get("attempt")
            attempt = 1 if attempt is None else attempt
            # A cached reply was not asked at that moment.
            if row.get("cached") or not isinstance(item, str) or not isinstance(subject, str):
                continue
            if isinstance(order, int) and isinstance(attempt, int):
                yield (to_nfc(item), to_nfc(subject), attempt), order
