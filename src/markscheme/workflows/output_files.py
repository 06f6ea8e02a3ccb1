"""Results as files and streams: JSON, JSON lines, Parquet, CSV. Rows flow through, none are kept.

A file appears under its name only when it is whole: it is written beside it and then renamed.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, BinaryIO

import orjson

from markscheme.vocabulary import MESSAGE_COLUMN, UsageError, write_path
from markscheme.weigh.records import iter_item_records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import polars as pl

    from markscheme.weigh.result import Result

    Frames = Iterator[pl.DataFrame]

_ROW_GROUP_SIZE = 32_768  # rows that the writer holds back; smaller groups make a larger index
_WRITER_TIMEOUT = 2.0  # seconds for a writer that is given up to end what it has begun
RESULT_SUFFIXES = (".json", ".jsonl", ".parquet", ".csv")
_SQLITE_HEADER = b"SQLite format 3\0"


def check_destination(
    name: str, inputs: Iterable[str], suffixes: tuple[str, ...] = RESULT_SUFFIXES
) -> Path:
    """Return the path, or say at once why nothing can be written there.

    Where the ending decides the format, `suffixes` are the allowed ones.
    """
    path = Path(name)
    if path.exists() and any(Path(i).exists() and path.samefile(i) for i in inputs if i):
        raise UsageError(f"`{name}` is an input of this run; write to another file")
    if suffixes and path.suffix.lower() not in suffixes:
        raise UsageError(f"`{name}`: the ending decides the format; use {', '.join(suffixes)}")
    if path.is_dir():
        raise UsageError(f"`{name}` is a folder; name a file")
    if _is_sqlite_file(path):
        raise UsageError(f"`{name}` is a database, the store perhaps; write to another file")
    if not path.parent.is_dir():
        raise UsageError(f"`{name}`: the folder `{path.parent}` does not exist")
    if not os.access(path.parent, os.W_OK):
        raise UsageError(f"`{name}`: the folder `{path.parent}` cannot be written to")
    return path


def _is_sqlite_file(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_SQLITE_HEADER)) == _SQLITE_HEADER
    except OSError:
        return False


def check_folder(name: str) -> Path:
    """Return the path of a folder to make, or say at once why it cannot be made."""
    path = Path(name)
    if path.suffix.lower() in RESULT_SUFFIXES:
        raise UsageError(f"`{name}`: this engine writes a folder of Parquet files; name a folder")
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise UsageError(f"`{name}` exists; name a new folder, or an empty one")
    if not path.parent.is_dir():
        raise UsageError(f"`{name}`: the folder `{path.parent}` does not exist")
    if not os.access(path.parent, os.W_OK):
        raise UsageError(f"`{name}`: the folder `{path.parent}` cannot be written to")
    return path


def stream_json_document(
    frames: Iterable[pl.DataFrame],
    stream: BinaryIO,
    result: Callable[[], Result],
    more: Callable[[], Mapping[str, Any]] = dict,
) -> Frames:
    """Write the JSON document of a run while its rows flow past, and hand every frame on.

    `result` gives the run as it stands: before the rows for the head, after them for the totals;
    `more` is asked after the rows for what else the document says.
    """
    stream.write(b"{\n")
    head = result().head().items()
    stream.writelines(b'"%s": %s,\n' % (key.encode(), orjson.dumps(value)) for key, value in head)
    stream.write(b'"items": [')
    separator = b"\n"
    for frame in frames:
        for record in iter_item_records(frame):
            stream.write(separator + orjson.dumps(record))
            separator = b",\n"
        yield frame
    stream.write(b"\n]")
    tail = {**result().tail(), **more()}.items()
    stream.writelines(b',\n"%s": %s' % (key.encode(), orjson.dumps(value)) for key, value in tail)
    stream.write(b"\n}\n")
    stream.flush()


def write_frames(
    frames: Iterable[pl.DataFrame], path: Path, schema: pl.Schema, result: Callable[[], Result]
) -> None:
    """Write all rows to the file, in the format of its ending."""
    # The hidden column of messages is for pages and the store; no file has it.
    frames = (frame.drop(MESSAGE_COLUMN, strict=False) for frame in frames)
    schema = type(schema)((name, kind) for name, kind in schema.items() if name != MESSAGE_COLUMN)
    with _create_file_atomically(path) as partial:
        if path.suffix.lower() == ".parquet":
            _write_parquet(frames, schema, partial)
        else:
            with partial.open("wb") as stream:
                _write_stream(frames, stream, path.suffix.lower(), schema, result)


def write_file_atomically(path: Path, content: bytes) -> None:
    """Write a file at once."""
    with _create_file_atomically(path) as partial:
        partial.write_bytes(content)


def append_to_file(path: Path, content: bytes) -> None:
    """Add to the end of a file that others add to as well."""
    try:
        with path.open("ab") as stream:
            stream.write(content)
    except OSError as error:
        raise UsageError(f"`{path}` cannot be written: {error.strerror or error}") from None


@contextmanager
def _create_file_atomically(path: Path) -> Iterator[Path]:
    """Give a file to write that takes its name when all of it was written."""
    try:
        with write_path(path) as partial:
            partial.touch(exist_ok=False)  # whoever may not write here is told before the work
            yield partial
    except OSError as error:
        raise UsageError(f"`{path}` cannot be written: {error.strerror or error}") from None


@contextmanager
def create_folder_atomically(folder: Path) -> Iterator[Path]:
    """Give a folder to write to, which gets its name only when all is written."""
    with write_path(folder.parent.resolve() / folder.name) as partial:
        partial.mkdir()
        yield partial
        for left in partial.glob(".*.partial"):  # by a writer that was killed
            left.unlink()


def read_folder_rows(folder: Path) -> Frames:
    """Yield the rows that were written to a folder, file by file."""
    import polars as pl

    for path in sorted(folder.glob("*.parquet")):
        yield pl.read_parquet(path, glob=False)


def drain_frames(frames: Iterable[pl.DataFrame]) -> None:
    """Let the rows flow to nowhere."""
    for _ in frames:
        pass


def _write_stream(
    frames: Iterable[pl.DataFrame],
    stream: BinaryIO,
    suffix: str,
    schema: pl.Schema,
    result: Callable[[], Result],
) -> None:
    if suffix == ".json":
        drain_frames(stream_json_document(frames, stream, result))
    elif suffix == ".jsonl":
        _write_jsonl(frames, stream)
    else:
        _write_csv(frames, stream, schema)


def _write_jsonl(frames: Iterable[pl.DataFrame], stream: BinaryIO) -> None:
    for frame in frames:
        stream.writelines(
            orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
            for row in frame.iter_rows(named=True)
        )


def _write_csv(frames: Iterable[pl.DataFrame], stream: BinaryIO, schema: pl.Schema) -> None:
    """Write flat columns: `breakdown.correctness`; what was expected as a JSON list."""
    first = True
    for frame in _ensure_one_frame(frames, schema):
        _flatten_columns(frame).write_csv(stream, include_header=first)
        first = False


def _ensure_one_frame(frames: Iterable[pl.DataFrame], schema: pl.Schema) -> Frames:
    import polars as pl

    empty = True
    for frame in frames:
        empty = False
        yield frame
    if empty:
        yield pl.DataFrame(schema=schema)


def _flatten_columns(frame: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    columns: list[pl.Series] = []
    for column in frame.iter_columns():
        if isinstance(column.dtype, pl.Struct):
            fields = column.struct.unnest().iter_columns()
            columns.extend(field.alias(f"{column.name}.{field.name}") for field in fields)
        elif isinstance(column.dtype, pl.List):
            texts = [
                None if row is None else orjson.dumps(row).decode() for row in column.to_list()
            ]
            columns.append(pl.Series(column.name, texts, dtype=pl.String))
        else:
            columns.append(column)
    return pl.DataFrame(columns)


def _write_parquet(frames: Iterable[pl.DataFrame], schema: pl.Schema, path: Path) -> None:
    """Stream into polars' writer; an error of ours on the way comes out as itself.

    The writer has a thread of its own: an interruption that is raised in the middle of it could
    come out as any error, or while it is about to make the file once more.
    """
    from polars.io.plugins import register_io_source

    raised: list[BaseException] = []
    given_up, ended = Event(), Event()

    def source(*_: object) -> Frames:
        try:
            for frame in frames:
                if given_up.is_set():
                    return
                yield frame
        except BaseException as error:
            raised.append(error)
            raise

    def write() -> None:
        try:
            register_io_source(source, schema=schema).sink_parquet(
                path, compression="lz4", statistics=False, row_group_size=_ROW_GROUP_SIZE
            )
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            raised.append(error)
        finally:
            ended.set()

    try:
        Thread(target=write, name="markscheme parquet", daemon=True).start()
        ended.wait()  # `join` is lost when it is interrupted
    except BaseException:
        given_up.set()
        ended.wait(_WRITER_TIMEOUT)
        raise
    if raised:
        raise raised[0]
