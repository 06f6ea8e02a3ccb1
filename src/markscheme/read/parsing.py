"""Documents from files: bytes, text, tree. Closed and bounded.

Most are written plainly and read line by line (`plainly`); the others, and all with which something
is wrong, go through a parser (`events`). Both give the same values on the same lines.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from typing import TYPE_CHECKING

from markscheme.errors import DocumentError, Problem
from markscheme.read.plainly import read_plainly

if TYPE_CHECKING:
    from pathlib import Path

    from markscheme.read.tree import YamlMapping

MAX_DOCUMENT_BYTES = 32 * 1024 * 1024


def read_tree(path: Path, shown: str) -> YamlMapping:
    """Return the one mapping in the YAML file `path`, which messages call `shown`."""
    return parse_tree(read_document_bytes(path, shown), shown)


def read_document_bytes(path: Path, shown: str) -> bytes:
    """Return what is in a file that is not too large for a document."""
    try:
        return _read_limited_bytes(path, shown)
    except OSError as error:
        raise _build_document_error(
            shown, 1, f"cannot be read: {error.strerror or error}"
        ) from None


def _read_limited_bytes(path: Path, shown: str) -> bytes:
    if path.is_dir():
        raise _build_document_error(shown, 1, "is a folder; a YAML file is needed")
    with path.open("rb") as file:
        data: bytes = file.read(MAX_DOCUMENT_BYTES + 1)
    if len(data) > MAX_DOCUMENT_BYTES:
        limit = MAX_DOCUMENT_BYTES // (1024 * 1024)
        raise _build_document_error(
            shown, 1, f"the file is larger than {limit} MB, the most that is read"
        )
    return data


def parse_tree(data: bytes, shown: str) -> YamlMapping:
    """Return the one mapping in `data`, with the problems that did not keep it from being read."""
    text = decode_document(data, shown)
    tree = read_plainly(text)
    if tree is not None:
        return tree
    from markscheme.read.events import parse_yaml  # noqa: PLC0415 - the parser takes time to load

    return parse_yaml(text, shown)


def decode_document(data: bytes, shown: str) -> str:
    """Return the text in `data`, with or without a mark of its encoding."""
    data = data.removeprefix(BOM_UTF8)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"not UTF-8: byte 0x{data[error.start]:02x} at position {error.start}"
        raise _build_document_error(shown, line, f"{message}; save the file as UTF-8") from None


def _build_document_error(shown: str, line: int, message: str) -> DocumentError:
    return DocumentError([Problem(file=shown, line=line, field="", message=message)])
