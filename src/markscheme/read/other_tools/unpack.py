"""The content of a file that may be compressed with gzip, within limits; lines of JSON."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from markscheme.read.unpacking import compute_allowance
from markscheme.vocabulary import AnswersError, Problem

_MAX_BYTES = 1024**3


def read_unpacked(path: Path) -> bytes:
    """Return the bytes of a file, unpacked if its name ends in `.gz`.

    Raises:
        AnswersError: the file cannot be read or is too large.
    """
    try:
        with path.open("rb") as raw:
            if path.suffix.lower() != ".gz":
                data = raw.read(_MAX_BYTES + 1)
                allowance = _MAX_BYTES
            else:
                allowance = compute_allowance(path.stat().st_size)
                data = gzip.GzipFile(fileobj=raw).read(allowance + 1)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise build_file_error(path, f"this cannot be read: {reason}") from error
    if len(data) > allowance:
        raise build_file_error(path, f"this is larger than {allowance // 1024**2} MB")
    return data


def build_file_error(path: Path, message: str, line: int = 1) -> AnswersError:
    """Return the error that a file as a whole is not what it should be."""
    return AnswersError([Problem(file=str(path), line=line, field="", message=message)])


def iter_json_lines(data: bytes, path: Path) -> Iterator[tuple[int, Any]]:
    """Yield the number and the value of each line that is not empty.

    Raises:
        AnswersError: a line is not JSON.
    """
    for number, line in enumerate(data.splitlines(), start=1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError) as error:
                raise build_file_error(path, f"not JSON: {error}", number) from None
