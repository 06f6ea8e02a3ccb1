"""The order in which answers were asked, where the file of answers is a recording of a live run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from markscheme.read.nfc import to_nfc

if TYPE_CHECKING:
    from collections.abc import Iterator

_RECORDING_SUFFIXES = (".jsonl", ".ndjson")
AttemptKey = tuple[str, str, int]


def read_recorded_order(answers: object) -> dict[AttemptKey, int]:
    """Return the `order` of each answer by item, subject and attempt; nothing where there is none.

    Numbers that occur twice are of several recordings, and say nothing of one another.
    """
    if (
        not isinstance(answers, str | Path)
        or Path(answers).suffix.lower() not in _RECORDING_SUFFIXES
    ):
        return {}
    path = Path(answers)
    found = dict(_read_order_rows(path)) if path.is_file() else {}
    return found if len(set(found.values())) == len(found) else {}


def _read_order_rows(path: Path) -> Iterator[tuple[AttemptKey, int]]:
    """Yield what the lines say; whether they are answers is decided by those who read them."""
    with path.open("rb") as lines:
        for line in lines:
            row = _parse_recorded_row(line)
            item, subject = row.get("item"), row.get("subject")
            place, attempt = row.get("order"), row.get("attempt")
            attempt = 1 if attempt is None else attempt
            named = isinstance(item, str) and isinstance(subject, str) and not row.get("cached")
            if named and isinstance(place, int) and isinstance(attempt, int):
                yield (to_nfc(str(item)), to_nfc(str(subject)), attempt), place


def _parse_recorded_row(line: bytes) -> dict[str, Any]:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        return {}
    return row if isinstance(row, dict) else {}
