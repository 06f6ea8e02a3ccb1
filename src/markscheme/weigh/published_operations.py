"""What a published result says was measured in session logs, summed anew from its own rows."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from markscheme.exact import format_ratio
from markscheme.sentences import sentence
from markscheme.transcript import SessionMetrics
from markscheme.weigh.operations import METRICS, OperationsCollector
from markscheme.weigh.recomputing import is_correctly_rounded

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from markscheme.read.breakdowns import PublishedField
    from markscheme.vocabulary import Exam
    from markscheme.weigh.operations import OperationalMetric
    from markscheme.weigh.recomputing import FieldMismatches, RecomputedRow

_GROUP_KEYS = ("item", "variant", "tag", "value")
_COUNT_KEYS = ("known", "unknown", "lower_bounds")


def find_operation_mismatches(
    told: Any, exam: Exam, rows: Sequence[RecomputedRow]
) -> FieldMismatches:
    """Yield sums, means and counts that do not follow, where the rows hold what was measured."""
    records = [row.record for row in rows]
    if not isinstance(told, list) or not all("tool_calls" in record for record in records):
        return
    groups = {
        tuple(getattr(group, key) for key in _GROUP_KEYS): group
        for group in _sum_operation_groups(exam, records)
    }
    for at, entry in enumerate(told):
        found = entry if isinstance(entry, dict) else {}
        group = groups.get(tuple(_to_optional_text(found.get(key)) for key in _GROUP_KEYS))
        if group is None:
            because = sentence("no session is in such a group")
            yield ("operational", at), (_describe_operation_group(found), None, because)
            continue
        because = sentence("so many sessions are in the group")
        if found.get("sessions") != group.sessions:
            yield ("operational", at, "sessions"), (found.get("sessions"), group.sessions, because)
        for name in METRICS:
            yield from _compare_metric(
                ("operational", at, name), found.get(name), group.metrics[name]
            )


def _sum_operation_groups(exam: Exam, records: Iterable[Mapping[str, Any]]) -> Iterable[Any]:
    operations, items = OperationsCollector(exam), {item.id for item in exam.items}
    for record in records:
        item = str(record.get("item"))
        if item in items:
            operations.add_session(
                item, _to_optional_text(record.get("subject")), _parse_session_metrics(record)
            )
    return operations.build_groups()


def _parse_session_metrics(record: Mapping[str, Any]) -> SessionMetrics:
    """Return what was measured of one session; what is no number is not known."""
    latency = _to_optional_decimal(record.get("latency_ms"))
    tokens = _to_optional_decimal(record.get("tokens"))
    bounds = record.get("lower_bounds")
    return SessionMetrics(
        latency_s=None if latency is None else latency / 1000,
        last_turn_latency_s=None,
        tool_calls=int(_to_optional_decimal(record.get("tool_calls")) or 0),
        subagent_calls=0,
        dispatches=int(_to_optional_decimal(record.get("dispatches")) or 0),
        tokens_in=None if tokens is None else int(tokens),
        tokens_out=0,
        lower_bounds=tuple(map(str, bounds)) if isinstance(bounds, list) else (),
    )


def _to_optional_text(value: Any) -> str | None:
    return None if value is None else str(value)


def _to_optional_decimal(value: Any) -> Decimal | None:
    return Decimal(value) if isinstance(value, int | Decimal) else None


def _compare_metric(place: PublishedField, told: Any, right: OperationalMetric) -> FieldMismatches:
    found = told if isinstance(told, dict) else {}
    exact = found.get("exact")
    ratios = exact if isinstance(exact, dict) else {}
    for key, value in (("sum", right.sum), ("mean", right.mean)):
        because = sentence("over the sessions of which it is known")
        if not is_correctly_rounded(found.get(key), None if value is None else Fraction(value)):
            yield (*place, key), (found.get(key), value, because)
        if ratios.get(key) != format_ratio(value):
            yield (*place, "exact", key), (ratios.get(key), format_ratio(value), because)
    for key in _COUNT_KEYS:
        if found.get(key) != getattr(right, key):
            because = sentence("so many sessions are like that")
            yield (*place, key), (found.get(key), getattr(right, key), because)


def _describe_operation_group(entry: Mapping[str, Any]) -> str:
    return (
        ", ".join(str(entry[key]) for key in _GROUP_KEYS if entry.get(key) is not None) or "nothing"
    )
