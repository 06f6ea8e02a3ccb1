"""The JSON Schema of the documents that `score`, `show` and `gate` write with `--format json`.

It says what a reader can rely on. More keys may follow, so no object is closed.
"""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_TEXT: Schema = {"type": "string"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_NUMBER: Schema = {"type": ["number", "null"]}
_RATIO: Schema = {"type": ["string", "null"], "pattern": "^-?[0-9]+/[1-9][0-9]*$"}
_TEXTS: Schema = {"type": "array", "items": _TEXT}
_BOUNDS: Schema = {
    "description": "The lowest and the highest value that is still possible.",
    "type": "array",
    "items": {"type": "number", "maximum": 1},
    "minItems": 2,
    "maxItems": 2,
}
_MARK: Schema = {
    "type": "object",
    "properties": {
        "criterion": {"type": ["string", "null"]},
        "score": _NUMBER,
        "verdict": {"type": ["string", "null"]},
        "source": {"enum": ["person", "judge", "check"]},
        "by": _TEXT,
        "why": {"type": ["string", "null"]},
    },
    "required": ["criterion", "score", "verdict", "source", "by", "why"],
}


def build_result_schema() -> Schema:
    """Return the schema of what `score` and `show` write."""
    return {
        "$schema": _DRAFT,
        "title": "A result of markscheme",
        "type": "object",
        "properties": {
            "rubric": _build_object(name=_TEXT, version={"type": "integer"}, fingerprint=_TEXT),
            "exam": _build_object(name=_TEXT, fingerprint=_TEXT, items=_COUNT),
            "items": {"type": "array", "items": _build_item_schema()},
            "errors": {"type": "array", "items": _build_object(line=_COUNT, reason=_TEXT)},
            "errors_left_out": _COUNT,
            "summary": _build_summary_schema(),
            "unmarked": _by_axis(_COUNT),
            "judging": _by_axis({"type": "object"}),
            "operational": {"type": "array", "items": {"type": "object"}},
        },
        "required": ["rubric", "exam", "items", "errors", "summary"],
    }


def build_gate_schema() -> Schema:
    """Return the schema of what `gate` writes."""
    outcome = {"enum": ["pass", "warn", "fail", "undecided", "not applicable"]}
    gate = _build_object(
        gate=_TEXT,
        level={"enum": ["hard", "soft"]},
        metric=_TEXT,
        outcome=outcome,
        observed=_NUMBER,
        margin=_NUMBER,
        because=_TEXT,
    )
    gate["properties"]["bounds"] = {**_BOUNDS, "items": {"type": "number"}}
    return {
        "$schema": _DRAFT,
        "title": "The outcome of the gates of markscheme on a run",
        "type": "object",
        "properties": {
            "rubric": _build_object(name=_TEXT, version={"type": "integer"}, fingerprint=_TEXT),
            "exam": _build_object(name=_TEXT, fingerprint=_TEXT, items=_COUNT),
            "verdict": {"enum": ["pass", "fail", "undecided"]},
            "because": _TEXT,
            "gates": {"type": "array", "items": gate},
            "items": {
                "type": "array",
                "items": _build_object(
                    item=_TEXT,
                    status={"enum": ["passed", "failed", "unscored", "missing", "n/a"]},
                    score=_NUMBER,
                    exact=_RATIO,
                ),
            },
        },
        "required": ["rubric", "exam", "verdict", "because", "gates", "items"],
    }


def _build_object(**properties: Schema) -> Schema:
    """Return the schema of an object that has all of these keys, and perhaps more."""
    return {"type": "object", "properties": properties, "required": list(properties)}


def _by_axis(value: Schema) -> Schema:
    """Return the schema of a mapping of axes, or of null where nothing was scored."""
    return {"type": ["object", "null"], "additionalProperties": value}


def _build_item_schema() -> Schema:
    schema = _build_object(
        item=_TEXT,
        prompt=_TEXT,
        expected={"type": ["array", "null"], "items": _TEXT},
        got={"type": ["string", "null"]},
        score={**_NUMBER, "maximum": 1},
        breakdown=_by_axis({**_NUMBER, "maximum": 1}),
        weighted=_by_axis(_NUMBER),
        status={"enum": ["scored", "unscored", "missing", "n/a"]},
        reading={"enum": ["object", "fenced", "text", None]},
        reason=_by_axis({"type": ["string", "null"]}),
        near_miss=_by_axis({"type": ["string", "null"]}),
    )
    statuses = ["scored", "abstained", "failed", "n/a", None]
    schema["properties"] |= {
        "bounds": _BOUNDS,
        "cell_status": _by_axis({"enum": statuses}),
        "cell_bounds": _by_axis({**_BOUNDS, "type": ["array", "null"]}),
        "marks": _by_axis({"type": ["array", "null"], "items": _MARK}),
    }
    schema["allOf"] = [
        _require_if({"status": {"const": "scored"}}, {"score": {"type": "number"}}),
        _require_if({"status": {"const": "unscored"}}, {"score": {"const": None}}, "bounds"),
    ]
    return schema


def _require_if(seen: Schema, then: Schema, *required: str) -> Schema:
    condition = {"properties": seen, "required": list(seen)}
    return {"if": condition, "then": {"properties": then, "required": list(required)}}


def _build_summary_schema() -> Schema:
    means = _build_object(n=_COUNT, score=_NUMBER, axes=_by_axis(_NUMBER))
    means["properties"] |= {
        "bounds": _BOUNDS,
        "axis_bounds": _by_axis(_BOUNDS),
        "score_cut": {"type": "number", "minimum": 0, "maximum": 1},
        "judged": _by_axis(_COUNT),
        "unjudged": _by_axis(_COUNT),
        "not_applicable": _by_axis(_COUNT),
    }
    subject = _extend(means, subject={"type": ["string", "null"]}, missing=_TEXTS)
    group = _extend(means, tag=_TEXT, value=_TEXT)
    summary = _extend(
        means,
        complete={"type": "boolean"},
        items=_COUNT,
        answers=_COUNT,
        unscored=_COUNT,
        errors=_COUNT,
        missing=_TEXTS,
        exact=_build_object(score=_RATIO, axes=_by_axis(_RATIO)),
        subjects={"type": "array", "items": subject},
        groups={"type": "array", "items": group},
    )
    # The mean over the answers that happen to have a score is never shown as the score.
    some = {"unscored": {"type": "integer", "minimum": 1}}
    summary["allOf"] = [_require_if(some, {"score": {"const": None}}, "bounds")]
    return summary


def _extend(schema: Schema, **properties: Schema) -> Schema:
    """Return a schema with further keys, all of them required."""
    return {
        **schema,
        "properties": {**schema["properties"], **properties},
        "required": [*schema["required"], *properties],
    }
