"""Where a table goes that a benchmark wrote: between two marks of a document."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

END = "<!-- until here -->"


def write(document: Path, target: str, text: str) -> None:
    """Replace what stands between the mark of a target of the Makefile and the next end."""
    begin = f"<!-- written by `make {target}` -->"
    head, found, rest = document.read_text(encoding="utf-8").partition(begin)
    _, closed, tail = rest.partition(END)
    if not found or not closed:
        raise SystemExit(f"{document} has no place for the table: {begin} … {END}")
    document.write_text(f"{head}{begin}\n\n{text.strip()}\n\n{END}{tail}", encoding="utf-8")
