"""Sinks: where the rows of a run go while they are produced.

`write_rows` drives a list of sinks: it opens all, hands every frame to each, and closes them in
order. No sink keeps more rows than it needs. A file appears under its name when it is complete.

polars is imported late: sinks are created before worker processes are forked (see `workers`).
"""

from __future__ import annotations

import errno
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import replace
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

import orjson

from markscheme.read.spreadsheets import guard_column
from markscheme.vocabulary import MESSAGE_COLUMN, Exam, Rubric, Status
from markscheme.workflows.output_files import create_file_atomically

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from markscheme.weigh.result import Result
    from markscheme.workflows.run_writer import RunRecorder

BuildResult: TypeAlias = "Callable[[], Result]"
WriteFrame: TypeAlias = "Callable[[pl.DataFrame], object]"

ROWS_SHOWN = 120
LARGE_RUN_ROWS_SHOWN = 20
FRAMES_SAMPLED = 8
# Rows that the Parquet writer holds back; smaller groups make a larger index.
_ROW_GROUP_SIZE = 32_768
_QUEUE_POLL_SECONDS = 0.05
_ABANDON_TIMEOUT = 2.0


class RowSink(ABC):
    """A destination for the rows of a run.

    `frames_needed` is how many frames the sink wants of rows that are already stored elsewhere, as
    those of a Ray run are; None means all of them. `needs_messages` asks for the hidden column of
    messages, which pages in another language need.
    """

    frames_needed: int | None = None
    needs_messages: bool = False

    @abstractmethod
    def open(self, build_result: BuildResult) -> AbstractContextManager[WriteFrame]:
        """Return a context manager that yields the function to write a frame with.

        `build_result` returns the run as it stands, without rows: before the first row its
        documents and columns, on leaving the context its totals. Leaving the context completes what
        was written; leaving it with an error must leave nothing behind.
        """


def write_rows(
    frames: Iterable[pl.DataFrame], sinks: Sequence[RowSink], build_result: BuildResult
) -> None:
    """Write every frame to every sink, then close the sinks in their order."""
    with ExitStack() as stack:
        # An exit stack closes what was opened last first.
        opened = [stack.enter_context(sink.open(build_result)) for sink in reversed(sinks)]
        for frame in frames:
            for write in reversed(opened):
                write(frame)


class FrameCollector(RowSink):
    """Keeps all frames in memory."""

    def __init__(self, *, messages: bool = False) -> None:
        self.needs_messages = messages
        self.frames: list[pl.DataFrame] = []

    def open(self, build_result: BuildResult) -> AbstractContextManager[WriteFrame]:
        """Yield the function that keeps a frame."""
        del build_result
        return nullcontext(self.frames.append)

    def show_in(self, result: Result) -> Result:
        """Return the result with the kept rows in place of its own."""
        import polars as pl

        return replace(result, frame=pl.concat(self.frames)) if self.frames else result


class Preview(RowSink):
    """Keeps the rows that a person will look at: all of a small run, the worst of a large one.

    Rows that were no answers are left out; the result lists them.
    """

    frames_needed = FRAMES_SAMPLED

    def __init__(self, *, messages: bool = False) -> None:
        self.needs_messages = messages
        self.frames: list[pl.DataFrame] = []
        self.total = 0
        self._kept = 0

    @property
    def hidden(self) -> int:
        """Number of rows that are not kept."""
        return self.total - self._kept

    def open(self, build_result: BuildResult) -> AbstractContextManager[WriteFrame]:
        """Yield the function that takes a frame."""
        del build_result
        return nullcontext(self.add_frame)

    def add_frame(self, frame: pl.DataFrame) -> None:
        """Count the rows of a frame, and keep those that will be shown."""
        import polars as pl

        answers = frame.filter(frame["status"] != "error")
        self.total += answers.height
        self.frames.append(answers)
        if self.total > ROWS_SHOWN:
            self.frames = [select_worst(pl.concat(self.frames), LARGE_RUN_ROWS_SHOWN)]
        self._kept = sum(kept.height for kept in self.frames)

    def show_in(self, result: Result) -> Result:
        """Return the result with the kept rows in place of its own."""
        import polars as pl

        return replace(result, frame=pl.concat(self.frames)) if self.frames else result


def select_worst(frame: pl.DataFrame, most: int) -> pl.DataFrame:
    """Return the rows that lost most points, those without a score first; equal ones in order.

    A row to which no axis applies has no score and lost nothing.
    """
    score, is_excused = frame["score"], frame["status"] == Status.NOT_APPLICABLE.value
    lost = frame.filter((score.is_null() & ~is_excused) | (score < 1))
    return lost.sort("score", nulls_last=False, maintain_order=True).head(most)


class JsonStream(RowSink):
    """Writes the JSON document of a run to a binary stream.

    `more` is called after the last row and returns what else the document says.
    """

    def __init__(self, stream: BinaryIO, more: Callable[[], Mapping[str, Any]] = dict) -> None:
        self._stream = stream
        self._more = more

    @contextmanager
    def open(self, build_result: BuildResult) -> Iterator[WriteFrame]:
        """Write the documents, the rows one by one, then the totals."""
        from markscheme.weigh.result import iter_item_records

        stream = self._stream
        stream.write(b"{\n")
        head = build_result().head().items()
        stream.writelines(b'"%s": %s,\n' % (key.encode(), orjson.dumps(val)) for key, val in head)
        stream.write(b'"items": [')
        separator = b"\n"

        def write_records(frame: pl.DataFrame) -> None:
            nonlocal separator
            for record in iter_item_records(frame):
                stream.write(separator + orjson.dumps(record))
                separator = b",\n"

        yield write_records
        stream.write(b"\n]")
        tail = {**build_result().tail(), **self._more()}.items()
        stream.writelines(b',\n"%s": %s' % (key.encode(), orjson.dumps(val)) for key, val in tail)
        stream.write(b"\n}\n")
        stream.flush()


class FileSink(RowSink):
    """Writes all rows to a file in the format of its suffix: .json, .jsonl, .parquet or .csv.

    No file has the hidden column of messages. In CSV, texts that a spreadsheet would compute are
    guarded, unless `raw_csv` says not to.
    """

    def __init__(self, path: Path, *, raw_csv: bool = False) -> None:
        self._path = path
        self._raw_csv = raw_csv

    @contextmanager
    def open(self, build_result: BuildResult) -> Iterator[WriteFrame]:
        """Write to a temporary sibling file; rename it to `path` on success."""
        with create_file_atomically(self._path) as partial, ExitStack() as stack:
            write = stack.enter_context(self._open_writer(partial, build_result))
            yield lambda frame: write(frame.drop(MESSAGE_COLUMN, strict=False))

    @contextmanager
    def _open_writer(self, partial: Path, build_result: BuildResult) -> Iterator[WriteFrame]:
        suffix = self._path.suffix.lower()
        empty = build_result().frame.drop(MESSAGE_COLUMN, strict=False)
        if suffix == ".parquet":
            with _open_parquet(partial, empty.schema) as write:
                yield write
            return
        with partial.open("wb") as stream:
            if suffix == ".json":
                with JsonStream(stream).open(build_result) as write:
                    yield write
            elif suffix == ".csv":
                yield _create_csv_writer(stream, empty, raw=self._raw_csv)
            else:
                yield lambda frame: _write_json_lines(frame, stream)


def _write_json_lines(frame: pl.DataFrame, stream: BinaryIO) -> None:
    stream.writelines(
        orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in frame.iter_rows(named=True)
    )


def _create_csv_writer(stream: BinaryIO, empty: pl.DataFrame, *, raw: bool) -> WriteFrame:
    """Write the header, also of a run without rows; return the function that writes the rows."""
    _flatten_columns(empty).write_csv(stream)

    def write_rows_as_csv(frame: pl.DataFrame) -> None:
        table = _flatten_columns(frame)
        guarded = table if raw else table.with_columns(map(guard_column, _iter_texts(table)))
        guarded.write_csv(stream, include_header=False)

    return write_rows_as_csv


def _iter_texts(table: pl.DataFrame) -> Iterator[pl.Series]:
    return (column for column in table.iter_columns() if not column.dtype.is_numeric())


def _flatten_columns(frame: pl.DataFrame) -> pl.DataFrame:
    """Return columns that CSV can hold: `breakdown.correctness`, and lists as JSON."""
    import polars as pl

    columns: list[pl.Series] = []
    for column in frame.iter_columns():
        if isinstance(column.dtype, pl.Struct):
            fields = column.struct.unnest().iter_columns()
            named = (field.alias(f"{column.name}.{field.name}") for field in fields)
            columns.extend(map(_flatten_lists, named))
        else:
            columns.append(_flatten_lists(column))
    return pl.DataFrame(columns)


def _flatten_lists(column: pl.Series) -> pl.Series:
    """Return a column of lists as JSON texts, and any other column as it is."""
    import polars as pl

    if not isinstance(column.dtype, pl.List):
        return column
    if column.null_count() == len(column):
        return pl.Series(column.name, [None], dtype=pl.String).new_from_index(0, len(column))
    texts = [None if row is None else orjson.dumps(row).decode() for row in column.to_list()]
    return pl.Series(column.name, texts, dtype=pl.String)


@contextmanager
def _open_parquet(path: Path, schema: pl.Schema) -> Iterator[WriteFrame]:
    """Stream frames into the Parquet writer of polars, which pulls them in a thread of its own."""
    writer = _ParquetThread(path, schema)
    try:
        # Inside `try`: an interruption here must not leave a thread that makes the file again.
        writer.start()
        yield writer.write
        writer.finish()
    except BaseException:
        writer.abandon()
        raise


class _ParquetThread:
    """Runs polars' `sink_parquet`, which pulls frames, behind a `write` that pushes them."""

    def __init__(self, path: Path, schema: pl.Schema) -> None:
        self._path = path
        self._schema = schema
        # One frame waits while another is written: memory stays flat.
        self._frames: Queue[pl.DataFrame | None] = Queue(maxsize=1)
        self._abandoned, self._ended = Event(), Event()
        self._error: BaseException | None = None

    def start(self) -> None:
        """Start the thread."""
        Thread(target=self._run, name="markscheme parquet", daemon=True).start()

    def write(self, frame: pl.DataFrame | None) -> None:
        """Hand a frame to the thread, or None for the end; raise what the thread has raised."""
        while not self._ended.is_set():
            with suppress(Full):
                self._frames.put(frame, timeout=_QUEUE_POLL_SECONDS)
                return
        self._raise_error()

    def finish(self) -> None:
        """Wait until all is written."""
        self.write(None)
        self._ended.wait()
        self._raise_error()

    def abandon(self) -> None:
        """Stop the thread; do not wait long for what it is writing."""
        self._abandoned.set()
        self._ended.wait(_ABANDON_TIMEOUT)

    def _raise_error(self) -> None:
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        from polars.exceptions import PanicException, PolarsError
        from polars.io.plugins import register_io_source

        try:
            if not self._abandoned.is_set():
                register_io_source(self._iter_frames, schema=self._schema).sink_parquet(
                    self._path, compression="lz4", statistics=False, row_group_size=_ROW_GROUP_SIZE
                )
        except (PolarsError, PanicException) as error:
            # The rows are ours, so what polars cannot do is write them; it hides why.
            self._error = OSError(errno.EIO, f"the Parquet writer failed: {error}")
            self._error.__cause__ = error
        except BaseException as error:  # noqa: BLE001 - raised by `write` or `finish`
            self._error = error
        finally:
            self._ended.set()

    def _iter_frames(self, *_: object) -> Iterator[pl.DataFrame]:
        while not self._abandoned.is_set():
            with suppress(Empty):
                frame = self._frames.get(timeout=_QUEUE_POLL_SECONDS)
                if frame is None:
                    return
                yield frame


class StoreSink(RowSink):
    """Stores the run of each subject; `run_ids` are their ids, once the sink is closed.

    The store needs the raw outputs, which rows do not have: `store_batch` takes both and must be
    the `keep` callback of the session. Without it, as with Ray, a run is stored without its rows.
    """

    frames_needed = 0

    def __init__(
        self,
        place: str | Path,
        rubric: Rubric,
        exam: Exam,
        *,
        source: str | None = None,
        tag: str | None = None,
    ) -> None:
        self.run_ids: tuple[str, ...] = ()
        self._place = place
        self._rubric = rubric
        self._exam = exam
        self._source = source
        self._tag = tag
        self._recorder: RunRecorder | None = None

    def store_batch(self, outputs: pl.Series, frame: pl.DataFrame) -> None:
        """Store the answers of one batch while the sink is open."""
        if self._recorder is None:
            raise RuntimeError("the store is not open")
        self._recorder.store_batch(outputs, frame)

    @contextmanager
    def open(self, build_result: BuildResult) -> Iterator[WriteFrame]:
        """Open the store, which is created if it does not exist; finish all runs at the end."""
        from markscheme.keep import open_store
        from markscheme.workflows.run_writer import RunRecorder, RunWriter

        with open_store(self._place, create=True) as store:
            writer = RunWriter(
                store, self._rubric, self._exam, source=lambda _: self._source, tag=self._tag
            )
            self._recorder = RunRecorder(writer)
            yield lambda _: None
            self.run_ids = tuple(self._recorder.finish_runs(build_result()))
