"""What rows show beside their marks, counted frame by frame: no object for each row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import polars as pl

from markscheme.mark import get_expectation_key
from markscheme.vocabulary import to_fraction

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markscheme.vocabulary import Rubric


@dataclass(frozen=True, slots=True, kw_only=True)
class RowObservations:
    """The median latency of each item, near misses by item and axis, and wrong answers by item.

    Of several near misses or wrong answers of one item the most frequent one stands for it.
    """

    latency_ms: Mapping[str, Fraction] = field(default_factory=dict)
    near_misses: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    wrong: Mapping[str, str] = field(default_factory=dict)


class FrameObserver:
    """Looks at the frames of a run as they pass, and keeps counts."""

    def __init__(self, rubric: Rubric) -> None:
        self._axes = [spec.name for spec in rubric]
        self._leading = find_leading_axis_name(rubric)
        self._latencies: list[pl.DataFrame] = []
        self._near_misses: dict[str, list[pl.DataFrame]] = {axis: [] for axis in self._axes}
        self._wrong: list[pl.DataFrame] = []

    def observe_frames(self, frames: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        """Hand every frame on, after a look at it."""
        for frame in frames:
            self.observe_frame(frame)
            yield frame

    def observe_frame(self, frame: pl.DataFrame) -> None:
        """Count what one frame shows."""
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

    def build_observations(self) -> RowObservations:
        """Return what was seen."""
        near: dict[str, dict[str, str]] = {}
        for axis, frames in self._near_misses.items():
            for item, step in _find_most_frequent(frames).items():
                near.setdefault(item, {})[axis] = step
        return RowObservations(
            latency_ms=_compute_item_medians(self._latencies),
            near_misses=near,
            wrong=_find_most_frequent(self._wrong),
        )


def observe_rows(rubric: Rubric, frames: Iterable[pl.DataFrame]) -> RowObservations:
    """Return what the rows of a run show."""
    observer = FrameObserver(rubric)
    for frame in frames:
        observer.observe_frame(frame)
    return observer.build_observations()


def find_leading_axis_name(rubric: Rubric) -> str | None:
    """Return the name of the axis whose field is `got`."""
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
    """Return the lower median of each item: a latency that was measured, so it is exact."""
    if not frames:
        return {}
    rows = _merge_item_counts(frames).sort("item", "value")
    before = pl.col("n").cum_sum().over("item")
    middle = (pl.col("n").sum().over("item") + 1) // 2
    first = rows.filter(before >= middle).unique("item", keep="first", maintain_order=True)
    return {item: to_fraction(value) for item, value in first.select("item", "value").iter_rows()}
