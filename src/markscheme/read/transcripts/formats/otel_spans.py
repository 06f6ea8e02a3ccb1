"""The spans of OTLP JSON, Tempo and Jaeger, with their attributes as plain data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from markscheme.read.json_fields import (
    JsonObject,
    iter_objects,
    parse_count,
    parse_epoch_microseconds,
    parse_json,
    to_object,
    to_text,
)
from markscheme.vocabulary import CallStatus

RESOURCE_KEYS = ("resourceSpans", "batches", "resource_spans")
_SCOPE_KEYS = ("scopeSpans", "instrumentationLibrarySpans", "scope_spans")
_VALUE_KEYS = ("stringValue", "intValue", "doubleValue", "boolValue", "string_value", "int_value")
# The attribute in which the calls are kept that an event of the span holds.
EVENT_CALLS_KEY = "markscheme.event_calls"


@dataclass(slots=True, kw_only=True)
class OtelSpan:
    """One span, with its attributes as one flat mapping whatever exported it."""

    id: str
    parent: str | None
    trace: str
    name: str
    attributes: JsonObject = field(default_factory=dict)
    start: datetime | None = None
    end: datetime | None = None
    failed: bool = False

    @property
    def status(self) -> CallStatus:
        """The status of the call that this span is; a span that has not ended has no result."""
        if self.end is None:
            return CallStatus.NONE
        return CallStatus.ERROR if self.failed else CallStatus.OK

    def get_first(self, *names: str) -> Any:
        """Return the first of these attributes that the span has."""
        for name in names:
            if name in self.attributes:
                return self.attributes[name]
        return None

    def get_text(self, *names: str) -> str | None:
        """Return the first of these attributes that the span has, if it is text."""
        return to_text(self.get_first(*names))


def iter_spans(record: JsonObject) -> Iterator[OtelSpan]:
    """Yield the spans of one document or one line."""
    for key in RESOURCE_KEYS:
        for resource in iter_objects(record.get(key)):
            for scope in _SCOPE_KEYS:
                for scoped in iter_objects(resource.get(scope)):
                    yield from map(_parse_otlp_span, _iter_listed_spans(scoped.get("spans")))
    trace = record.get("trace")
    if isinstance(trace, dict):
        yield from iter_spans(trace)
    for jaeger_trace in iter_objects(record.get("data")):
        yield from map(_parse_jaeger_span, _iter_listed_spans(jaeger_trace.get("spans")))
    if "traceID" in record:
        yield from map(_parse_jaeger_span, _iter_listed_spans(record.get("spans")))


def _iter_listed_spans(listed: Any) -> Iterator[JsonObject]:
    """Yield the spans of a list; what is no object becomes a span of an unknown operation."""
    for span in listed if isinstance(listed, list) else [listed]:
        if isinstance(span, dict):
            yield span
        elif span is not None:
            lost = "gen_ai.operation.name", "(no object)"
            yield {
                "attributes": dict([lost]),
                "tags": [dict(zip(("key", "value"), lost, strict=True))],
            }


def _parse_otlp_span(span: JsonObject) -> OtelSpan:
    attributes = _parse_attributes(span.get("attributes"))
    calls = [
        call for event in iter_objects(span.get("events")) for call in _iter_event_calls(event)
    ]
    if calls:
        attributes = {**attributes, EVENT_CALLS_KEY: calls}
    status = to_object(span.get("status")).get("code")
    failed = str(status) in {"2", "STATUS_CODE_ERROR"} or "error.type" in attributes
    return OtelSpan(
        id=to_text(span.get("spanId")) or to_text(span.get("span_id")) or "",
        parent=to_text(span.get("parentSpanId")) or to_text(span.get("parent_span_id")),
        trace=to_text(span.get("traceId")) or to_text(span.get("trace_id")) or "",
        name=to_text(span.get("name")) or "",
        attributes=attributes,
        start=_parse_nanoseconds(span.get("startTimeUnixNano") or span.get("start_time_unix_nano")),
        end=_parse_nanoseconds(span.get("endTimeUnixNano") or span.get("end_time_unix_nano")),
        failed=failed,
    )


def _iter_event_calls(event: JsonObject) -> Iterator[JsonObject]:
    """Yield name and id of the calls in the answer of a model that an event of a span holds."""
    if event.get("name") != "gen_ai.choice":
        return
    waiting = [parse_json(value) for value in _parse_attributes(event.get("attributes")).values()]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting.extend(value)
        elif isinstance(value, dict):
            for call in iter_objects(value.get("tool_calls")):
                name = to_object(call.get("function")).get("name") or call.get("name")
                yield {"type": "tool_call", "name": name, "id": call.get("id")}
            waiting.extend(inner for key, inner in value.items() if key != "tool_calls")


def _parse_nanoseconds(value: Any) -> datetime | None:
    nanoseconds = parse_count(value)
    return parse_epoch_microseconds(nanoseconds // 1000) if nanoseconds else None


def _parse_attributes(value: Any) -> JsonObject:
    if isinstance(value, dict):
        return value
    return {
        to_text(a.get("key")) or "": _parse_attribute_value(a.get("value"))
        for a in iter_objects(value)
    }


def _parse_attribute_value(value: Any, depth: int = 0) -> Any:
    """Return the value of an OTLP attribute as plain data."""
    if not isinstance(value, dict):
        return value
    for key in _VALUE_KEYS:
        if key in value:
            return value[key]
    if depth > 8:  # noqa: PLR2004 - no attribute is nested this deep
        return None
    if "arrayValue" in value:
        listed = to_object(value["arrayValue"]).get("values")
        return (
            [_parse_attribute_value(v, depth + 1) for v in listed]
            if isinstance(listed, list)
            else []
        )
    if "kvlistValue" in value:
        pairs = iter_objects(to_object(value["kvlistValue"]).get("values"))
        return {
            to_text(p.get("key")) or "": _parse_attribute_value(p.get("value"), depth + 1)
            for p in pairs
        }
    return None


def _parse_jaeger_span(span: JsonObject) -> OtelSpan:
    tags = {
        to_text(tag.get("key")) or "": tag.get("value") for tag in iter_objects(span.get("tags"))
    }
    parents = [r for r in iter_objects(span.get("references")) if r.get("refType") == "CHILD_OF"]
    start, duration = parse_count(span.get("startTime")), parse_count(span.get("duration"))
    end = None if start is None or duration is None else start + duration
    failed = str(tags.get("error")).lower() == "true" or tags.get("otel.status_code") == "ERROR"
    return OtelSpan(
        id=to_text(span.get("spanID")) or "",
        parent=to_text(parents[0].get("spanID")) if parents else None,
        trace=to_text(span.get("traceID")) or "",
        name=to_text(span.get("operationName")) or "",
        attributes=tags,
        start=parse_epoch_microseconds(start),
        end=parse_epoch_microseconds(end),
        failed=failed or "error.type" in tags,
    )
