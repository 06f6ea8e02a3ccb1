"""Read the rows of a run again, as `score` wrote them, from the store or from a result file.

Answers and cells are read; scores, weighted values and expectations follow from them and from the
rubric and the exam. Values of a result file that cannot be used become null.
"""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import starmap
from typing import TYPE_CHECKING, Any

import polars as pl
from msgspec import structs

from markscheme.keep import RunStatus
from markscheme.mark import combine_values
from markscheme.mark.batch import (
    BOUNDS_TYPE,
    MARKS_TYPE,
    FrameBuilder,
    get_score_status,
    has_detailed_cells,
)
from markscheme.read.storable import validate_count
from markscheme.vocabulary import (
    RowError,
    Rubric,
    ScoreBounds,
    UsageError,
    restore_row_messages,
    to_float,
    to_plain,
)
from markscheme.weigh.gates import mismatch_reason
from markscheme.weigh.result import Result
from markscheme.weigh.totals import (
    Marks,
    parse_operation_group,
    recover_axis_value,
    summarise_marks,
)
from markscheme.workflows.stored_runs import fill_messages, restore_bad_rows, restore_live_record

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from markscheme.keep import Store, StoredRun
    from markscheme.weigh.compare import AttemptValues
    from markscheme.weigh.patterns import FrameObserver
    from markscheme.weigh.recalibrate import PastRun
    from markscheme.weigh.totals import AxisValues, OperationGroup
    from markscheme.workflows.find_run import FoundRun, RunFinder

    PublishedRecords = Sequence[Mapping[str, Any]]


def build_published_frame(rubric: Rubric, rows: PublishedRecords) -> pl.DataFrame:
    """Return the answers and cells of a result file as a frame, as the store would keep them."""
    axes = [spec.name for spec in rubric]
    columns = [
        _build_column(rows, name, read, dtype) for name, (read, dtype) in _ANSWER_FIELDS.items()
    ]
    columns += [
        _build_cells_column(rows, name, read, dtype, axes)
        for name, (read, dtype) in _CELL_FIELDS.items()
    ]
    if has_detailed_cells(rubric):
        columns += [
            _build_cells_column(rows, name, read, dtype, axes)
            for name, (read, dtype) in _DETAIL_FIELDS.items()
        ]
    return pl.DataFrame(columns)


def _parse_text_cell(value: Any) -> str | None:
    return None if value is None else str(value)


def _parse_number_cell(value: Any) -> float | None:
    return float(value) if isinstance(value, int | Decimal) else None


def _parse_attempt(value: Any) -> int | None:
    return 1 if value is None else validate_count(value)


_ANSWER_FIELDS: Mapping[str, tuple[Callable[[Any], Any], type[pl.DataType]]] = {
    "item": (_parse_text_cell, pl.String),
    "got": (_parse_text_cell, pl.String),
    "reading": (_parse_text_cell, pl.String),
    "subject": (_parse_text_cell, pl.String),
    "attempt": (_parse_attempt, pl.Int64),
    "latency_ms": (_parse_number_cell, pl.Float64),
    "tokens_in": (validate_count, pl.Int64),
    "tokens_out": (validate_count, pl.Int64),
    "cost": (_parse_number_cell, pl.Float64),
    "line": (validate_count, pl.Int64),
}
_CELL_FIELDS: Mapping[str, tuple[Callable[[Any], Any], type[pl.DataType]]] = {
    "breakdown": (_parse_number_cell, pl.Float64),
    "reason": (_parse_text_cell, pl.String),
    "near_miss": (_parse_text_cell, pl.String),
}


def _parse_bounds(value: Any) -> list[float] | None:
    bounds = value if isinstance(value, list) else []
    numbers = [float(bound) for bound in bounds if isinstance(bound, int | Decimal)]
    return numbers if len(numbers) == 2 else None  # noqa: PLR2004 - low and high


def _parse_marks(value: Any) -> list[dict[str, Any]] | None:
    """Return published marks; what is no mark is left out."""
    marks = [mark for mark in value if isinstance(mark, dict)] if isinstance(value, list) else []
    texts = ("criterion", "verdict", "source", "by", "why")
    return [
        {name: _parse_text_cell(mark.get(name)) for name in texts}
        | {"score": _parse_number_cell(mark.get("score"))}
        for mark in marks
    ] or None


_DETAIL_FIELDS: Mapping[str, tuple[Callable[[Any], Any], Any]] = {
    "cell_status": (_parse_text_cell, pl.String),
    "cell_bounds": (_parse_bounds, BOUNDS_TYPE),
    "marks": (_parse_marks, MARKS_TYPE),
}


def _build_column(
    rows: PublishedRecords, name: str, read: Callable[[Any], Any], dtype: Any
) -> pl.Series:
    return pl.Series(name, [read(row.get(name)) for row in rows], dtype=dtype)


def _build_cells_column(
    rows: PublishedRecords,
    name: str,
    read: Callable[[Any], Any],
    dtype: Any,
    axes: Sequence[str],
) -> pl.Series:
    """Return a struct column with one field for each axis."""
    values = [row.get(name) for row in rows]
    cells = [value if isinstance(value, dict) else {} for value in values]
    return pl.DataFrame([_build_column(cells, axis, read, dtype) for axis in axes]).to_struct(name)


class RunRows:
    """The rows of a run, read frame by frame, and its result."""

    def __init__(self, past: PastRun, *, messages: bool = False) -> None:
        self._past = past
        self._frames = FrameBuilder(past.rubric, past.exam, messages=messages)
        self._marks = past.run.marks
        self.schema = self._frames.schema

    def read_answers(self) -> Iterator[pl.DataFrame]:
        """Yield the answers in order, with their raw output if it is stored."""
        raise NotImplementedError

    def read_bad_rows(self) -> tuple[RowError, ...]:
        """Return the first rows that were no answers."""
        raise NotImplementedError

    def read_operations(self) -> tuple[OperationGroup, ...]:
        """Return what was measured in session logs, if it is stored."""
        return ()

    def read_by_axis(self, name: str) -> Mapping[str, Any]:  # noqa: ARG002 - stored runs need it
        """Return what is stored of each axis: `unmarked` or `judging`."""
        return {}

    def read_live_record(self) -> Mapping[str, Any] | None:
        """Return the record of a live run; None for any other run."""
        return None

    def read_frames(self) -> Iterator[pl.DataFrame]:
        """Yield the answers in order, then the missing items."""
        yield from (frame.drop("output", strict=False) for frame in self.read_answers())
        positions = {item.id: number for number, item in enumerate(self._past.exam.items)}
        missing = self._marks.missing
        if missing:
            subject = self._past.run.subject
            yield self._frames.build_missing([(subject, positions[item]) for item in missing])

    def build_result(self, frames: Iterable[pl.DataFrame] = ()) -> Result:
        """Return the result of the run, with these rows."""
        past, rows = self._past, list(frames)
        run = structs.replace(past.run, marks=self._marks)
        return Result(
            rubric=past.rubric,
            exam=past.exam,
            summary=summarise_marks(past.rubric, past.exam, run.marks, [(run.subject, run.marks)]),
            frame=pl.concat(rows) if rows else pl.DataFrame(schema=self.schema),
            errors=self.read_bad_rows(),
            each_run=lambda: [run],
            operations=self.read_operations(),
            unmarked=self.read_by_axis("unmarked"),
            judging=self.read_by_axis("judging"),
        )

    def _complete_rows(self, kept: pl.DataFrame) -> pl.DataFrame:
        """Add to answers and cells what follows from them and the documents."""
        return self._frames.build_stored_answers(kept, _weigh_rows(self._past.rubric, kept))


class StoredRows(RunRows):
    """The rows of a stored run."""

    def __init__(self, past: PastRun, stored: StoredRun, store: Store) -> None:
        super().__init__(past, messages=True)
        self._stored = stored
        self._store = store
        if stored.status is RunStatus.OPEN:
            self._marks = self._count_cells()

    def read_answers(self) -> Iterator[pl.DataFrame]:
        """Yield the answers in order, with their raw output."""
        for answers, cells in _read_chunks(self._store, self._stored):
            kept = pl.concat([answers, fill_messages(cells)], how="horizontal")
            yield self._complete_rows(kept).with_columns(kept["output"])

    def _count_cells(self) -> Marks:
        """Count the cells of a run that was never finished and so has no stored marks."""
        axes = [spec.name for spec in self._past.rubric]
        items: dict[str, Counter[AxisValues]] = {
            item.id: Counter() for item in self._past.exam.items
        }
        for answers, cells in _read_chunks(self._store, self._stored):
            values = _read_axis_values(cells, axes).iter_rows()
            for item, row in zip(answers["item"], values, strict=True):
                items[item][_recover_values(row)] += 1
        return Marks(axes=tuple(axes), items=items)

    def read_operations(self) -> tuple[OperationGroup, ...]:
        """Return what was measured in session logs, if the answers come from logs."""
        return tuple(map(parse_operation_group, self._load_summary().get("operational", ())))

    def read_by_axis(self, name: str) -> Mapping[str, Any]:
        """Return what is stored of each axis: `unmarked` or `judging`."""
        found: Mapping[str, Any] = self._load_summary().get(name, {})
        return found

    def read_live_record(self) -> Mapping[str, Any] | None:
        """Return the record of a live run; None for any other run."""
        return restore_live_record(self._load_summary())

    def read_bad_rows(self) -> tuple[RowError, ...]:
        """Return the first rows that were no answers."""
        return restore_bad_rows(self._load_summary())

    def _load_summary(self) -> Mapping[str, Any]:
        summaries = self._store.read_summaries([self._stored.id])
        return next((summary for _, summary in summaries), {})


def _read_chunks(store: Store, run: StoredRun) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Yield the answers and the cells of each stored chunk."""
    return zip(store.read_answers(run.id), store.read_cells(run.id), strict=True)


class PublishedRows(RunRows):
    """The rows of a result file, which must match the rubric and the exam it is read with."""

    def __init__(self, found: FoundRun) -> None:
        past = found.past
        if reason := mismatch_reason(past.rubric, past.exam, past.run):
            raise UsageError(f"`{found.name}` cannot be shown: {reason}")
        super().__init__(past)
        self._found = found

    def read_answers(self) -> Iterator[pl.DataFrame]:
        """Yield the answers in order; a result file has no raw output."""
        if self._found.rows:
            yield self._complete_rows(build_published_frame(self._past.rubric, self._found.rows))

    def read_bad_rows(self) -> tuple[RowError, ...]:
        """Return the rows that were no answers, as far as the file lists them."""
        return self._found.bad_rows


def open_rows(runs: RunFinder, found: FoundRun) -> RunRows:
    """Return the rows of a run, from the store or from its file."""
    if found.stored is None:
        return PublishedRows(found)
    return StoredRows(found.past, found.stored, runs.store)


def select_item_rows(
    runs: RunFinder, found: FoundRun, items: Collection[str]
) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of some items, as `score` wrote them."""
    if found.stored is None:
        yield from (row for row in found.rows if row["item"] in items)
        return
    wanted = pl.col("item").is_in(list(items))
    for frame in open_rows(runs, found).read_frames():
        yield from restore_row_messages(frame.filter(wanted).iter_rows(named=True))


def select_answers(
    runs: RunFinder, found: FoundRun, items: Collection[str]
) -> Iterator[Mapping[str, Any]]:
    """Yield the answers to some items, with their raw `output` if the store has it."""
    if found.stored is None:
        yield from select_item_rows(runs, found, items)
        return
    for frame in open_rows(runs, found).read_answers():
        rows = frame.filter(pl.col("item").is_in(list(items)))
        yield from restore_row_messages(rows.iter_rows(named=True))


def load_bad_rows(runs: RunFinder, found: FoundRun) -> tuple[RowError, ...]:
    """Return the first rows of a run that were no answers."""
    if found.stored is None or not found.past.run.marks.errors:
        return found.bad_rows
    return open_rows(runs, found).read_bad_rows()


def is_live_run(runs: RunFinder, found: FoundRun) -> bool:
    """Whether the answers of a stored run came from a live subject."""
    return found.stored is not None and open_rows(runs, found).read_live_record() is not None


def read_rows_with_outputs(
    runs: RunFinder, found: FoundRun, observer: FrameObserver
) -> Iterator[Mapping[str, Any]]:
    """Yield every answer as `score` wrote it, with its raw `output` if the store has it.

    The `observer` sees the frames of a stored run.
    """
    if found.stored is None:
        yield from found.rows
        return
    for frame in observer.observe_frames(open_rows(runs, found).read_answers()):
        yield from restore_row_messages(frame.iter_rows(named=True))


def load_attempts(runs: RunFinder, found: FoundRun) -> AttemptValues:
    """Return the axis values of every answer of a run, by item and attempt."""
    axes = found.past.run.marks.axes
    answers: dict[str, dict[int, AxisValues]] = {item: {} for item in found.past.run.marks.items}
    known: dict[tuple[Any, ...], AxisValues] = {}
    for item, attempt, values in _read_values(runs, found, axes):
        if values not in known:
            known[values] = _recover_values(values)
        answers[item][attempt] = known[values]
    return answers


def _read_values(
    runs: RunFinder, found: FoundRun, axes: tuple[str, ...]
) -> Iterator[tuple[str, int, tuple[Any, ...]]]:
    """Yield the item, the attempt and the published axis values of every answer."""
    if found.stored is None:
        for row in found.rows:
            attempt = row.get("attempt")
            number = 1 if attempt is None else attempt
            yield row["item"], number, tuple(_list_published_cells(row, axes))
        return
    for answers, cells in _read_chunks(runs.store, found.stored):
        rows = answers.select("item", "attempt").hstack(_read_axis_values(cells, axes))
        yield from ((row[0], row[1], row[2:]) for row in rows.iter_rows())


def _list_published_cells(row: Mapping[str, Any], axes: Sequence[str]) -> Iterator[Any]:
    """Yield the value, the status and the bounds of each published cell, as the columns below."""
    statuses, bounds = (row.get(name) or {} for name in ("cell_status", "cell_bounds"))
    for axis in axes:
        low, high = _parse_bounds(bounds.get(axis)) or (None, None)
        yield from (row["breakdown"][axis], statuses.get(axis), low, high)


def _read_axis_values(cells: pl.DataFrame, axes: Sequence[str]) -> pl.DataFrame:
    """Return four columns for each axis: the value of its cell, its status and its two bounds.

    Cells of axes that give only values have neither status nor bounds; then they are null.
    """
    values = cells["breakdown"].struct.unnest()
    height, columns = cells.height, list[pl.Series]()
    statuses, bounds = (
        cells[name].struct.unnest() if name in cells.columns else None
        for name in ("cell_status", "cell_bounds")
    )
    no_text = pl.Series([None], dtype=pl.String).new_from_index(0, height)
    no_bounds = pl.Series([None], dtype=BOUNDS_TYPE).new_from_index(0, height)
    for at, axis in enumerate(axes):
        known = no_bounds if bounds is None else bounds[axis]
        columns += [
            values[axis].alias(f"value {at}"),
            (no_text if statuses is None else statuses[axis]).alias(f"status {at}"),
            known.list.get(0, null_on_oob=True).alias(f"low {at}"),
            known.list.get(1, null_on_oob=True).alias(f"high {at}"),
        ]
    return pl.DataFrame(columns)


def _weigh_rows(rubric: Rubric, kept: pl.DataFrame) -> pl.DataFrame:
    """Return score, bounds, status and weighted values of each row, computed once per set."""
    rows = _read_axis_values(kept, [spec.name for spec in rubric])
    sets = rows.unique()
    records = [_weigh_values(rubric, _recover_values(row)) for row in sets.iter_rows()]
    schema: dict[str, Any] = {
        "score": pl.Float64,
        "bounds": BOUNDS_TYPE,
        "status": pl.String,
        "weighted": pl.Struct({spec.name: pl.Float64 for spec in rubric}),
    }
    weighed = pl.DataFrame(
        [pl.Series(name, [r[name] for r in records], dtype=dtype) for name, dtype in schema.items()]
    )
    joined = rows.join(
        sets.hstack(weighed), on=rows.columns, how="left", nulls_equal=True, maintain_order="left"
    )
    return joined.select(*schema)


def _weigh_values(rubric: Rubric, values: AxisValues) -> dict[str, Any]:
    score = combine_values(rubric, values)
    return {
        "score": to_float(score) if isinstance(score, Fraction) else None,
        "bounds": to_plain(score) if isinstance(score, ScoreBounds) else None,
        "status": get_score_status(score),
        "weighted": {
            spec.name: to_float(Fraction(spec.weight) * value)
            if isinstance(value, Fraction)
            else None
            for spec, value in zip(rubric, values, strict=True)
        },
    }


def _recover_values(cells: Iterable[Any]) -> AxisValues:
    """Return the axis values of one row of `_read_axis_values`."""
    parts = iter(cells)
    return tuple(starmap(recover_axis_value, zip(parts, parts, parts, parts, strict=True)))
