"""Spans, whatever exported them: OTLP JSON, Tempo, Jaeger. Attributes become one flat mapping."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from markscheme.read.transcripts.values import (
    JsonObject,
    iter_objects,
    parse_count,
    parse_epoch_microseconds,
    to_object,
    to_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_VALUE_KEYS = ("stringValue", "intValue", "doubleValue", "boolValue", "string_value", "int_value")
_SCOPE_KEYS = ("scopeSpans", "instrumentationLibrarySpans", "scope_spans")
_RESOURCE_KEYS = ("resourceSpans", "batches", "resource_spans")


@dataclass(slots=True, kw_only=True)
class OtelSpan:
    """One span with what it is under and when it was."""

    id: str
    parent: str | None
    trace: str
    name: str
    attributes: JsonObject = field(default_factory=dict)
    start: datetime | None = None
    end: datetime | None = None
    failed: bool = False

    def get_first(self, *names: str) -> Any:
        """Return the first of these attributes that there is."""
        for name in names:
            if name in self.attributes:
                return self.attributes[name]
        return None

    def get_text(self, *names: str) -> str | None:
        """Return the first of these attributes that is there, as text."""
        return to_text(self.get_first(*names))


def iter_spans(record: JsonObject) -> Iterator[OtelSpan]:
    """Yield the spans of one document or one line."""
    for key in _RESOURCE_KEYS:
        for resource in iter_objects(record.get(key)):
            for scope in _SCOPE_KEYS:
                for scoped in iter_objects(resource.get(scope)):
                    yield from map(_parse_otlp_span, iter_objects(scoped.get("spans")))
    trace = record.get("trace")
    if isinstance(trace, dict):
        yield from iter_spans(trace)
    for found in iter_objects(record.get("data")):
        yield from map(_parse_jaeger_span, iter_objects(found.get("spans")))
    if "traceID" in record:
        yield from map(_parse_jaeger_span, iter_objects(record.get("spans")))


def _parse_otlp_span(span: JsonObject) -> OtelSpan:
    attributes = _parse_attributes(span.get("attributes"))
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


def _parse_jaeger_span(span: JsonObject) -> OtelSpan:
    tags = {
        to_text(tag.get("key")) or "": tag.get("value") for tag in iter_objects(span.get("tags"))
    }
    parents = [r for r in iter_objects(span.get("references")) if r.get("refType") == "CHILD_OF"]
    start, took = parse_count(span.get("startTime")), parse_count(span.get("duration"))
    failed = str(tags.get("error")).lower() == "true" or tags.get("otel.status_code") == "ERROR"
    return OtelSpan(
        id=to_text(span.get("spanID")) or "",
        parent=to_text(parents[0].get("spanID")) if parents else None,
        trace=to_text(span.get("traceID")) or "",
        name=to_text(span.get("operationName")) or "",
        attributes=tags,
        start=parse_epoch_microseconds(start),
        end=parse_epoch_microseconds(start + took)
        if start is not None and took is not None
        else None,
        failed=failed or "error.type" in tags,
    )


def _parse_nanoseconds(value: Any) -> datetime | None:
    found = parse_count(value)
    return parse_epoch_microseconds(found // 1000) if found else None


def _parse_attributes(value: Any) -> JsonObject:
    if isinstance(value, dict):
        return value
    return {
        to_text(a.get("key")) or "": _parse_attribute_value(a.get("value"))
        for a in iter_objects(value)
    }


def _parse_attribute_value(value: Any, depth: int = 0) -> Any:
    """Return a value of an attribute as plain data."""
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
