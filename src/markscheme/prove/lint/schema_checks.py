"""Check R021: words in a `json_schema` axis that JSON Schema does not know.

A validator skips a keyword that it does not know, so with `requried` nothing is required and every
object passes. Only places where a schema stands are looked at: names of properties are free.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from markscheme.mark.axes import JsonSchema
from markscheme.prove.lint.findings import LintFinding, make_finding
from markscheme.prove.lint.rubric_checks import RubricDocument
from markscheme.read.documents import FieldPath, describe_unknown_word

# What the value of a keyword is: one schema, a list of schemas, or a mapping of names to schemas.
_ONE = "additionalItems additionalProperties contains contentSchema else if items not propertyNames"
_SINGLE_SCHEMAS = {*_ONE.split(), "then", "unevaluatedItems", "unevaluatedProperties"}
_SCHEMA_LISTS = {"allOf", "anyOf", "items", "oneOf", "prefixItems"}
_NAMED = "$defs definitions dependencies dependentSchemas patternProperties properties"
_NAMED_SCHEMAS = set(_NAMED.split())
_OTHERS = """\
$anchor $comment $dynamicAnchor $dynamicRef $id $recursiveAnchor $recursiveRef $ref $schema
$vocabulary const contentEncoding contentMediaType default dependentRequired deprecated description
enum examples exclusiveMaximum exclusiveMinimum format id maxContains maxItems maxLength
maxProperties maximum minContains minItems minLength minProperties minimum multipleOf pattern
readOnly required title type uniqueItems writeOnly"""
_KEYWORDS = sorted({*_OTHERS.split(), *_SINGLE_SCHEMAS, *_SCHEMA_LISTS, *_NAMED_SCHEMAS})
# Notes for other programs, which JSON Schema leaves alone on purpose.
_NOTE_PREFIX = "x-"


def check_schema_words(document: RubricDocument) -> Iterator[LintFinding]:
    """Yield the unknown keywords in the schemas of a rubric."""
    for index, spec in enumerate(document.rubric.axes):
        if not isinstance(spec.axis, JsonSchema):
            continue
        for path, word in _find_unknown_words(spec.axis.schema):
            message = describe_unknown_word(word, "keyword of JSON Schema", _KEYWORDS)
            location = document.locate("axes", index, "schema", *path)
            yield make_finding("R021", location, f"{message}; nothing is checked by it")


def _find_unknown_words(schema: Any) -> Iterator[tuple[FieldPath, str]]:
    pending: list[tuple[FieldPath, Any]] = [((), schema)]
    while pending:
        path, node = pending.pop()
        if not isinstance(node, Mapping):
            continue
        for word, value in node.items():
            if word not in _KEYWORDS and not word.startswith(_NOTE_PREFIX):
                yield (*path, word), word
            pending += [((*path, word, *inner), held) for inner, held in _list_inner(word, value)]


def _list_inner(word: str, value: Any) -> list[tuple[FieldPath, Any]]:
    """Return the schemas that the value of a keyword holds, with their paths in it."""
    if word in _NAMED_SCHEMAS and isinstance(value, Mapping):
        return [((name,), held) for name, held in value.items()]
    if word in _SCHEMA_LISTS and isinstance(value, tuple):
        return [((position,), held) for position, held in enumerate(value)]
    return [((), value)] if word in _SINGLE_SCHEMAS else []
