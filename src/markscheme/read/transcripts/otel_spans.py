"""Spans, whatever exported them: OTLP JSON, Tempo, Jaeger. Attributes become one flat mapping."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from markscheme.read.transcripts.values import (
    Object,
    count,
    mapping,
    microseconds,
    objects,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_VALUES = ("stringValue", "intValue", "doubleValue", "boolValue", "string_value", "int_value")
_SCOPES = ("scopeSpans", "instrumentationLibrarySpans", "scope_spans")
_RESOURCES = ("resourceSpans", "batches", "resource_spans")


@dataclass(slots=True, kw_only=True)
class Span:
    """One span with what it is under and when it was."""

    id: str
    parent: str | None
    trace: str
    name: str
    attributes: Object = field(default_factory=dict)
    start: datetime | None = None
    end: datetime | None = None
    failed: bool = False

    def first(self, *names: str) -> Any:
        """Return the first of these attributes that there is."""
        for name in names:
            if name in self.attributes:
                return self.attributes[name]
        return None

    def text(self, *names: str) -> str | None:
        """Return the first of these attributes that is there, as text."""
        return text(self.first(*names))


def spans_in(record: Object) -> Iterator[Span]:
    """Yield the spans of one document or one line."""
    for key in _RESOURCES:
        for resource in objects(record.get(key)):
            for scope in _SCOPES:
                for scoped in objects(resource.get(scope)):
                    yield from map(_otlp, objects(scoped.get("spans")))
    trace = record.get("trace")
    if isinstance(trace, dict):
        yield from spans_in(trace)
    for found in objects(record.get("data")):
        yield from map(_jaeger, objects(found.get("spans")))
    if "traceID" in record:
        yield from map(_jaeger, objects(record.get("spans")))


def _otlp(span: Object) -> Span:
    attributes = _attributes(span.get("attributes"))
    status = mapping(span.get("status")).get("code")
    failed = str(status) in {"2", "STATUS_CODE_ERROR"} or "error.type" in attributes
    return Span(
        id=text(span.get("spanId")) or text(span.get("span_id")) or "",
        parent=text(span.get("parentSpanId")) or text(span.get("parent_span_id")),
        trace=text(span.get("traceId")) or text(span.get("trace_id")) or "",
        name=text(span.get("name")) or "",
        attributes=attributes,
        start=_nanoseconds(span.get("startTimeUnixNano") or span.get("start_time_unix_nano")),
        end=_nanoseconds(span.get("endTimeUnixNano") or span.get("end_time_unix_nano")),
        failed=failed,
    )


def _jaeger(span: Object) -> Span:
    tags = {text(tag.get("key")) or "": tag.get("value") for tag in objects(span.get("tags"))}
    parents = [r for r in objects(span.get("references")) if r.get("refType") == "CHILD_OF"]
    start, took = count(span.get("startTime")), count(span.get("duration"))
    failed = str(tags.get("error")).lower() == "true" or tags.get("otel.status_code") == "ERROR"
    return Span(
        id=text(span.get("spanID")) or "",
        parent=text(parents[0].get("spanID")) if parents else None,
        trace=text(span.get("traceID")) or "",
        name=text(span.get("operationName")) or "",
        attributes=tags,
        start=microseconds(start),
        end=microseconds(start + took) if start is not None and took is not None else None,
        failed=failed or "error.type" in tags,
    )


def _nanoseconds(value: Any) -> datetime | None:
    found = count(value)
    return microseconds(found // 1000) if found else None


def _attributes(value: Any) -> Object:
    if isinstance(value, dict):
        return value
    return {text(a.get("key")) or "": _value(a.get("value")) for a in objects(value)}


def _value(value: Any, depth: int = 0) -> Any:
    """Return a value of an attribute as plain data."""
    if not isinstance(value, dict):
        return value
    for key in _VALUES:
        if key in value:
            return value[key]
    if depth > 8:  # noqa: PLR2004 - no attribute is nested this deep
        return None
    if "arrayValue" in value:
        listed = mapping(value["arrayValue"]).get("values")
        return [_value(v, depth + 1) for v in listed] if isinstance(listed, list) else []
    if "kvlistValue" in value:
        pairs = objects(mapping(value["kvlistValue"]).get("values"))
        return {text(p.get("key")) or "": _value(p.get("value"), depth + 1) for p in pairs}
    return None
