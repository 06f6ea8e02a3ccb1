"""Operational metrics over many sessions: measured, never scored. Sums and means are exact."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from markscheme.vocabulary import compute_mean, format_ratio, to_float

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markscheme.read.session_logs import LoggedAnswer
    from markscheme.vocabulary import Exam, Item, SessionMetrics

METRICS = ("latency_s", "tool_calls", "dispatches", "tokens")
"""OP-01 to OP-04, in this order. OP-05 is a note of the rater."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationalMetric:
    """One metric over some sessions: its sum over the `known` ones, and how many are not known.

    `lower_bounds` counts the sessions whose true value may be higher than what was measured.
    """

    known: int
    unknown: int
    lower_bounds: int
    sum: Fraction | None

    @property
    def mean(self) -> Fraction | None:
        """The mean over the sessions of which it is known."""
        return None if self.sum is None else compute_mean(self.sum, self.known)


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationGroup:
    """What was measured in the sessions of a group: of an item, a variant, a tag, or of several.

    What a group is not bound to is `None`; a group that is bound to nothing has all sessions.
    """

    sessions: int
    metrics: Mapping[str, OperationalMetric]
    item: str | None = None
    variant: str | None = None
    tag: str | None = None
    value: str | None = None


class OperationsCollector:
    """The measured sessions of a run."""

    def __init__(self, exam: Exam) -> None:
        self._items_by_id = {item.id: item for item in exam.items}
        self._rows: list[tuple[Item, str | None, SessionMetrics]] = []

    def add_answers(self, answers: Iterable[LoggedAnswer]) -> None:
        """Measure more sessions."""
        for answer in answers:
            self.add_session(answer.item, answer.variant, answer.metrics)

    def add_session(self, item: str, variant: str | None, found: SessionMetrics) -> None:
        """Add what was measured of one session."""
        self._rows.append((self._items_by_id[item], variant, found))

    def build_groups(self) -> tuple[OperationGroup, ...]:
        """Return all sessions, then those of each item and tag; each also by variant."""
        members: dict[tuple[str | None, ...], list[SessionMetrics]] = {}
        for item, variant, found in self._rows:
            for key in _iter_group_keys(item, variant):
                members.setdefault(key, []).append(found)
        order = sorted(members, key=lambda key: [(part is not None, part or "") for part in key])
        return tuple(_build_operation_group(key, members[key]) for key in order)


def _iter_group_keys(item: Item, variant: str | None) -> Iterator[tuple[str | None, ...]]:
    """Yield the groups that a session is in, as tag, value, item, variant."""
    tags = ((tag, value, None) for tag, value in item.tags.items())
    for place in ((None, None, None), (None, None, item.id), *tags):
        yield (*place, None)
        if variant is not None:
            yield (*place, variant)


def _build_operation_group(
    key: tuple[str | None, ...], found: list[SessionMetrics]
) -> OperationGroup:
    tag, value, item, variant = key
    return OperationGroup(
        sessions=len(found),
        metrics={name: _sum_operation(name, found) for name in METRICS},
        item=item,
        variant=variant,
        tag=tag,
        value=value,
    )


def _sum_operation(name: str, found: list[SessionMetrics]) -> OperationalMetric:
    values = [getattr(one, name) for one in found]
    known = [Fraction(value) for value in values if value is not None]
    return OperationalMetric(
        known=len(known),
        unknown=len(values) - len(known),
        lower_bounds=sum(name in one.lower_bounds for one in found),
        sum=sum(known, Fraction(0)) if known else None,
    )


def build_operation_record(group: OperationGroup) -> dict[str, Any]:
    """Return a group as plain data: nearest doubles for reading, exact ratios beside them."""
    return {
        "item": group.item,
        "variant": group.variant,
        "tag": group.tag,
        "value": group.value,
        "sessions": group.sessions,
        **{name: _build_metric_record(found) for name, found in group.metrics.items()},
    }


def _build_metric_record(found: OperationalMetric) -> dict[str, Any]:
    return {
        "sum": to_float(found.sum),
        "mean": to_float(found.mean),
        "exact": {"sum": format_ratio(found.sum), "mean": format_ratio(found.mean)},
        "known": found.known,
        "unknown": found.unknown,
        "lower_bounds": found.lower_bounds,
    }


def build_variant_records(
    groups: Iterable[OperationGroup], variant: str | None
) -> list[dict[str, Any]]:
    """Return what was measured of one variant as plain data, as a run of it alone would tell it."""
    own = (group for group in groups if group.variant == variant)
    return [build_operation_record(replace(group, variant=None)) for group in own]


def parse_operation_group(record: Mapping[str, Any]) -> OperationGroup:
    """Return the group that `operation_record` gave as plain data."""
    places = ("item", "variant", "tag", "value")
    return OperationGroup(
        sessions=record["sessions"],
        metrics={name: _parse_operation(record[name]) for name in METRICS},
        **{place: record[place] for place in places},
    )


def _parse_operation(record: Mapping[str, Any]) -> OperationalMetric:
    exact = record["exact"]["sum"]
    return OperationalMetric(
        known=record["known"],
        unknown=record["unknown"],
        lower_bounds=record["lower_bounds"],
        sum=None if exact is None else Fraction(exact),
    )
