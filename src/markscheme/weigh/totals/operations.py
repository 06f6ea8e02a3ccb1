"""Operational metrics of session logs (latency, calls, tokens), summed exactly and never scored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import Struct, structs

from markscheme.vocabulary import (
    Exam,
    Item,
    RecordFields,
    SessionMetrics,
    compute_mean,
    exact_ratios,
    to_record,
)

if TYPE_CHECKING:
    from markscheme.read.session_logs import LoggedAnswer

METRICS = ("latency_s", "tool_calls", "dispatches", "tokens")
"""OP-01 to OP-04, in this order. OP-05 is a note of the rater."""


class OperationalMetric(Struct, frozen=True, kw_only=True):
    """One metric over several sessions: its sum over those that `known` counts.

    `unknown` counts the sessions in which it was not measured, and `lower_bounds` those whose true
    value may be higher than the measured one.
    """

    known: int
    unknown: int
    lower_bounds: int
    sum: Fraction | None

    record_fields: ClassVar[RecordFields] = (
        "sum",
        "mean",
        exact_ratios("sum", "mean"),
        "known",
        "unknown",
        "lower_bounds",
    )

    @property
    def mean(self) -> Fraction | None:
        """The mean over the sessions in which it was measured."""
        return None if self.sum is None else compute_mean(self.sum, self.known)


def _get_metric(name: str, group: OperationGroup) -> OperationalMetric:
    return group.metrics[name]


class OperationGroup(Struct, frozen=True, kw_only=True):
    """The metrics of a group of sessions, selected by item, by tag, and by variant.

    A selector that does not apply is `None`; if all are, the group holds every session.
    """

    sessions: int
    metrics: Mapping[str, OperationalMetric]
    item: str | None = None
    variant: str | None = None
    tag: str | None = None
    value: str | None = None

    record_fields: ClassVar[RecordFields] = (
        "item",
        "variant",
        "tag",
        "value",
        "sessions",
        *((name, partial(_get_metric, name)) for name in METRICS),
    )


class OperationsCollector:
    """Collects the metrics of the sessions of a run, and groups them."""

    def __init__(self, exam: Exam) -> None:
        self._items_by_id = {item.id: item for item in exam.items}
        self._rows: list[tuple[Item, str | None, SessionMetrics]] = []

    def add_answers(self, answers: Iterable[LoggedAnswer]) -> None:
        """Add the metrics of the sessions that gave these answers."""
        for answer in answers:
            self.add_session(answer.item, answer.variant, answer.metrics)

    def add_session(self, item: str, variant: str | None, metrics: SessionMetrics) -> None:
        """Add the metrics of one session."""
        self._rows.append((self._items_by_id[item], variant, metrics))

    def build_groups(self) -> tuple[OperationGroup, ...]:
        """Return the group of all sessions, then one per item and per tag; each also by variant."""
        members: dict[tuple[str | None, ...], list[SessionMetrics]] = {}
        for item, variant, metrics in self._rows:
            for key in _iter_group_keys(item, variant):
                members.setdefault(key, []).append(metrics)
        order = sorted(members, key=lambda key: [(part is not None, part or "") for part in key])
        return tuple(_build_operation_group(key, members[key]) for key in order)


def _iter_group_keys(item: Item, variant: str | None) -> Iterator[tuple[str | None, ...]]:
    """Yield the groups that a session belongs to, as (tag, value, item, variant)."""
    tags = ((tag, value, None) for tag, value in item.tags.items())
    for place in ((None, None, None), (None, None, item.id), *tags):
        yield (*place, None)
        if variant is not None:
            yield (*place, variant)


def _build_operation_group(
    key: tuple[str | None, ...], sessions: list[SessionMetrics]
) -> OperationGroup:
    tag, value, item, variant = key
    return OperationGroup(
        sessions=len(sessions),
        metrics={name: _sum_metric(name, sessions) for name in METRICS},
        item=item,
        variant=variant,
        tag=tag,
        value=value,
    )


def _sum_metric(name: str, sessions: list[SessionMetrics]) -> OperationalMetric:
    values = [getattr(metrics, name) for metrics in sessions]
    known = [Fraction(value) for value in values if value is not None]
    return OperationalMetric(
        known=len(known),
        unknown=len(values) - len(known),
        lower_bounds=sum(name in metrics.lower_bounds for metrics in sessions),
        sum=sum(known, Fraction(0)) if known else None,
    )


def build_variant_records(
    groups: Iterable[OperationGroup], variant: str | None
) -> list[dict[str, Any]]:
    """Return the records of one variant's groups, as a run of that variant alone would have."""
    own = (group for group in groups if group.variant == variant)
    return [to_record(structs.replace(group, variant=None)) for group in own]


def parse_operation_group(record: Mapping[str, Any]) -> OperationGroup:
    """Return the group that a record was made from."""
    return OperationGroup(
        sessions=record["sessions"],
        metrics={name: _parse_metric(record[name]) for name in METRICS},
        item=record["item"],
        variant=record["variant"],
        tag=record["tag"],
        value=record["value"],
    )


def _parse_metric(record: Mapping[str, Any]) -> OperationalMetric:
    exact = record["exact"]["sum"]
    return OperationalMetric(
        known=record["known"],
        unknown=record["unknown"],
        lower_bounds=record["lower_bounds"],
        sum=None if exact is None else Fraction(exact),
    )
