"""Read tables of other libraries: anything with `__arrow_c_stream__`, such as pandas or pyarrow."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard

from markscheme.read.answers import AnswerBatch, read_rows
from markscheme.vocabulary import Answer, UsageError

if TYPE_CHECKING:
    import polars as pl


class ArrowTable(Protocol):
    """A table that other libraries can read without a copy: the Arrow PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the table as a capsule of an Arrow stream."""
        ...


def is_table(value: object) -> TypeGuard[ArrowTable]:
    """Return whether a value is a table: polars, pandas, pyarrow, DuckDB, datasets and others."""
    return hasattr(value, "__arrow_c_stream__") and not isinstance(value, type)


def read_table(table: Any, what: str, required: Collection[str]) -> pl.DataFrame:
    """Return a table as a polars frame.

    Raises:
        UsageError: the table cannot be read, or lacks one of the `required` columns.
    """
    import polars as pl

    try:
        frame = table if isinstance(table, pl.DataFrame) else pl.DataFrame(table)
    # Each library has its own errors; pandas needs pyarrow for this and raises `ImportError`.
    except Exception as error:
        kind = type(table).__name__
        message = f"the {kind} of {what} cannot be read as an Arrow table"
        advice = "install pyarrow, or give a list of rows"
        raise UsageError(f"{message} ({type(error).__name__}: {error}); {advice}") from error
    missing = [f"`{name}`" for name in required if name not in frame.columns]
    if missing:
        present = ", ".join(f"`{name}`" for name in frame.columns[:10]) or "none"
        message = f"the table of {what} has no column {' and no column '.join(missing)}"
        raise UsageError(f"{message}; its columns are {present}")
    return frame


def read_answers_in_memory(
    answers: ArrowTable | Iterable[Answer | Mapping[str, Any]], items: Collection[str]
) -> Iterator[AnswerBatch]:
    """Stream the rows of a table or of an iterable in columns.

    Raises:
        UsageError: this is neither, or the table has no columns of answers.
    """
    if is_table(answers):
        frame = read_table(answers, "answers", ("item", "output"))
        return read_rows(frame.iter_rows(named=True), items=items)
    rows: Any = answers
    if not isinstance(rows, Iterable) or isinstance(rows, dict | bytes):
        raise UsageError("the answers must be a file's path, a table, or a list of rows")
    return read_rows(rows, items=items)
