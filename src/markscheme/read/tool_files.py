"""Recognise a file of another tool, without loading what reads it: most answers are our own."""

from __future__ import annotations

import json
import zlib
from contextlib import suppress
from pathlib import Path

from markscheme.read.answers import get_suffix

_LINE_SUFFIXES = (".jsonl", ".ndjson")
_HEAD_BYTES = 1 << 16


def is_tool_file(source: str | Path) -> bool:
    """Return whether a file is one of another tool: by its suffix, or by its first line."""
    path = Path(source)
    suffix = get_suffix(path)
    if suffix in {".json", ".eval"}:
        return True
    if suffix not in _LINE_SUFFIXES or not path.is_file():
        return False
    # A damaged file is reported when it is read.
    with suppress(OSError, EOFError, zlib.error, ValueError, RecursionError):
        record = json.loads(_read_first_line(path))
        if isinstance(record, dict) and "item" not in record:
            from markscheme.read.other_tools import is_tool_record

            return is_tool_record(record)
    return False


def _read_first_line(path: Path) -> bytes:
    """Return the first line that is not empty."""
    if path.suffix.lower() == ".gz":
        import gzip

        with gzip.open(path) as packed:
            return _find_first_line(packed.readlines(_HEAD_BYTES))
    with path.open("rb") as stream:
        return _find_first_line(stream.readlines(_HEAD_BYTES))


def _find_first_line(lines: list[bytes]) -> bytes:
    return next((line for line in lines if line.strip()), b"")
