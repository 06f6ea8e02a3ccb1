"""The table that patterns are read from: which items miss which axis, and what the rows show.

`build_miss_columns` makes the table from marks. `FrameObserver` counts what only rows show:
latency, near misses and wrong answers. `PatternContext` holds both for the detectors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import polars as pl

from markscheme.mark import get_expectation_key
from markscheme.vocabulary import Exam, Rubric, to_fraction
from markscheme.weigh.patterns.groups import ItemGroup, MissColumn, list_item_groups
from markscheme.weigh.stats import sum_counts
from markscheme.weigh.totals import AxisValues, Marks, Run, is_unscored

# An item misses an axis below half of the points.
HALF = Fraction(1, 2)


def build_miss_columns(
    marks: Marks, within: Fraction | None = None
) -> dict[str | None, MissColumn]:
    """Return the column of each axis; under `None`, that of missing every axis at once.

    An item misses an axis if its answers get less than half of the points there, on average. With
    `within`, also if they are further than that below the mean over items.
    """
    alike = [(tuple(_iter_axis_means(counts, len(marks.axes))), at) for counts, at in marks.alike()]
    columns: dict[str | None, MissColumn] = {
        axis: _build_miss_column([(means[number], at) for means, at in alike], within)
        for number, axis in enumerate(marks.axes)
    }
    if len(columns) < 2:  # noqa: PLR2004 - one axis is every axis
        return columns
    every = MissColumn(
        seen=frozenset.intersection(*(column.seen for column in columns.values())),
        missed=frozenset.intersection(*(column.missed for column in columns.values())),
    )
    return {None: every, **columns}


def _build_miss_column(
    means: Iterable[tuple[Fraction | None, list[int]]], within: Fraction | None
) -> MissColumn:
    """Return one column, from each different mean and the positions of the items that have it."""
    known = [(value, at) for value, at in means if value is not None]
    counts = sum_counts((value, len(at)) for value, at in known)
    limit = HALF
    if within is not None and counts:
        total = sum((value * n for value, n in counts.items()), Fraction(0))
        limit = max(HALF, total / counts.total() - within)
    below = {value for value in counts if value < limit}
    missed = frozenset(position for value, at in known if value in below for position in at)
    return MissColumn(seen=frozenset(position for _, at in known for position in at), missed=missed)


def compute_item_axis_means(marks: Marks) -> list[tuple[Fraction | None, ...]]:
    """Return the mean of each axis for each item; None if the item has no value there."""
    each = {
        id(counts): tuple(_iter_axis_means(counts, len(marks.axes))) for counts, _ in marks.alike()
    }
    return [each[id(counts)] for counts in marks.items.values()]


def _iter_axis_means(counts: Mapping[AxisValues, int], axes: int) -> Iterator[Fraction | None]:
    """Yield the mean of each axis over the answers to one item that have a value there."""
    for axis in range(axes):
        cells = [(values[axis], n) for values, n in counts.items()]
        known = [(value, n) for value, n in cells if isinstance(value, Fraction)]
        if len(known) == 1:
            yield known[0][0]
            continue
        n = sum(count for _, count in known)
        yield sum((value * count for value, count in known), Fraction(0)) / n if n else None


def build_failing_column(marks: Marks) -> MissColumn:
    """Return the column of failing items: no answer, or at least half of the answers unscored."""
    bad: set[int] = set()
    for counts, at in marks.alike():
        unscored = sum(n for values, n in counts.items() if is_unscored(values))
        if 2 * unscored >= sum(counts.values()):
            bad.update(at)
    return MissColumn(seen=frozenset(range(len(marks.items))), missed=frozenset(bad))


@dataclass(frozen=True, slots=True, kw_only=True)
class RowObservations:
    """The median latency of each item, near misses by item and axis, and wrong answers by item.

    `criteria` holds the mean score of each criterion, by axis and id, on each item that was marked.
    If an item has several near misses or wrong answers, the most frequent one is kept.
    """

    latency_ms: Mapping[str, Fraction] = field(default_factory=dict)
    near_misses: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    wrong: Mapping[str, str] = field(default_factory=dict)
    criteria: Mapping[tuple[str, str], Mapping[str, Fraction]] = field(default_factory=dict)


class FrameObserver:
    """Counts what the rows of a run show, frame by frame, without an object for each row."""

    def __init__(self, rubric: Rubric) -> None:
        self._axes = [spec.name for spec in rubric]
        self._leading = find_leading_axis_name(rubric)
        self._latencies: list[pl.DataFrame] = []
        self._near_misses: dict[str, list[pl.DataFrame]] = {axis: [] for axis in self._axes}
        self._wrong: list[pl.DataFrame] = []
        self._criteria: dict[str, list[pl.DataFrame]] = {}

    def observe_frames(self, frames: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        """Yield every frame unchanged, after counting what it shows."""
        for frame in frames:
            self.observe_frame(frame)
            yield frame

    def observe_frame(self, frame: pl.DataFrame) -> None:
        """Count the latencies, near misses and wrong answers of one frame."""
        answered = frame.filter(pl.col("status").is_in(["scored", "unscored"]))
        timed = answered.select("item", value="latency_ms").drop_nulls()
        self._latencies.append(_count_item_values(timed))
        for axis in self._axes:
            near = answered.select("item", value=pl.col("near_miss").struct.field(axis))
            self._near_misses[axis].append(_count_item_values(near.drop_nulls()))
        if self._leading is not None:
            value = pl.col("breakdown").struct.field(self._leading)
            wrong = answered.filter(value < 0.5)  # noqa: PLR2004 - half of the points
            self._wrong.append(_count_item_values(wrong.select("item", value="got").drop_nulls()))

        if "marks" in frame.columns:
            self._observe_criteria(answered)

    def _observe_criteria(self, answered: pl.DataFrame) -> None:
        """Add up the scores that criteria got; `n/a` and what was not read is left out."""
        for axis in self._axes:
            marks = answered.select("item", mark=pl.col("marks").struct.field(axis)).explode("mark")
            scores = marks.drop_nulls("mark").unnest("mark").drop_nulls(["criterion", "score"])
            summed = scores.group_by("item", "criterion").agg(pl.col("score").sum(), n=pl.len())
            self._criteria.setdefault(axis, []).append(summed)

    def build_observations(self) -> RowObservations:
        """Return what was counted so far."""
        near: dict[str, dict[str, str]] = {}
        for axis, frames in self._near_misses.items():
            for item, step in _find_most_frequent(frames).items():
                near.setdefault(item, {})[axis] = step
        return RowObservations(
            latency_ms=_compute_item_medians(self._latencies),
            near_misses=near,
            wrong=_find_most_frequent(self._wrong),
            criteria=_average_criteria(self._criteria),
        )


def _average_criteria(
    frames: Mapping[str, list[pl.DataFrame]],
) -> dict[tuple[str, str], dict[str, Fraction]]:
    """Return the mean score of each criterion on each item."""
    means: dict[tuple[str, str], dict[str, Fraction]] = {}
    for axis, parts in frames.items():
        summed = pl.concat(parts).group_by("item", "criterion").agg(pl.col("score", "n").sum())
        for item, criterion, score, n in summed.sort("criterion", "item").iter_rows():
            means.setdefault((axis, criterion), {})[item] = to_fraction(score) / n
    return means


def observe_rows(rubric: Rubric, frames: Iterable[pl.DataFrame]) -> RowObservations:
    """Return what all rows of a run show."""
    observer = FrameObserver(rubric)
    for frame in frames:
        observer.observe_frame(frame)
    return observer.build_observations()


def find_leading_axis_name(rubric: Rubric) -> str | None:
    """Return the name of the leading axis: the first that expects something."""
    return next((spec.name for spec in rubric if get_expectation_key(spec.axis) is not None), None)


def _count_item_values(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.group_by("item", "value").agg(n=pl.len().cast(pl.UInt64))


def _merge_item_counts(frames: list[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(frames).group_by("item", "value").agg(pl.col("n").sum())


def _find_most_frequent(frames: list[pl.DataFrame]) -> dict[str, str]:
    if not frames:
        return {}
    rows = _merge_item_counts(frames).sort("n", "value", descending=[True, False])
    return dict(
        rows.unique("item", keep="first", maintain_order=True).select("item", "value").iter_rows()
    )


def _compute_item_medians(frames: list[pl.DataFrame]) -> dict[str, Fraction]:
    """Return the lower median of each item: one of the measured values, so it is exact."""
    if not frames:
        return {}
    rows = _merge_item_counts(frames).sort("item", "value")
    before = pl.col("n").cum_sum().over("item")
    middle = (pl.col("n").sum().over("item") + 1) // 2
    first = rows.filter(before >= middle).unique("item", keep="first", maintain_order=True)
    return {item: to_fraction(value) for item, value in first.select("item", "value").iter_rows()}


@dataclass(frozen=True, kw_only=True)
class PatternContext:
    """One run as the detectors see it: rubric, exam, marks, groups and what the rows show."""

    rubric: Rubric
    exam: Exam
    run: Run
    observed: RowObservations

    @cached_property
    def item_ids(self) -> tuple[str, ...]:
        """The item ids in the order of the exam."""
        return tuple(item.id for item in self.exam.items)

    @cached_property
    def groups(self) -> tuple[ItemGroup, ...]:
        """The groups of items by tag."""
        return list_item_groups(self.exam)

    @cached_property
    def leading_axis_name(self) -> str:
        """The axis that decides whether an answer is right: the leading one, else the heaviest."""
        heaviest = max(self.rubric, key=lambda spec: spec.weight).name
        return find_leading_axis_name(self.rubric) or heaviest

    def list_item_ids(self, positions: Iterable[int]) -> tuple[str, ...]:
        """Return the ids of items in the order of the exam."""
        return tuple(self.item_ids[at] for at in sorted(positions))

    @cached_property
    def _item_axis_means(self) -> list[tuple[Fraction | None, ...]]:
        return compute_item_axis_means(self.run.marks)

    def compute_lost_score(self, axis: str | None, positions: Iterable[int]) -> Fraction:
        """Return what items take from the mean score on an axis; `None` is every axis.

        A mean that is not known counts as 0.
        """
        at = {spec.name: number for number, spec in enumerate(self.rubric)}
        weights = [(at[s.name], Fraction(s.weight)) for s in self.rubric if axis in {None, s.name}]
        counts = Counter(self._item_axis_means[item] for item in positions)
        total = sum(
            (
                weight * (1 - (means[number] or 0)) * count
                for means, count in counts.items()
                for number, weight in weights
            ),
            Fraction(0),
        )
        return total / len(self.item_ids)
