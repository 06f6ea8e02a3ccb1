"""The axis that checks a response against a JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

from markscheme.mark.axes.base import BaseAxis, quote_excerpt
from markscheme.mark.axes.schema_limits import (
    MAX_CHECKS,
    REFERENCE_KEYS,
    SchemaSize,
    measure_depth,
)
from markscheme.vocabulary import Cell, Item, Reading, Response, join_messages, sentence

if TYPE_CHECKING:
    import jsonschema_rs

_MAX_SHOWN_VIOLATIONS = 3
_MAX_MESSAGE_LENGTH = 200
_ANNOTATION_KEYWORDS = {"$schema", "title", "description"}
_USUAL_KEYWORDS = {"type", "required", "properties", "additionalProperties"}
_KEY_KEYWORDS = _USUAL_KEYWORDS | _ANNOTATION_KEYWORDS
# Their values are no schemas.
_VALUE_KEYWORDS = frozenset({"const", "default", "enum", "examples"})
_TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")


@dataclass(frozen=True, kw_only=True)
class JsonSchema(BaseAxis):
    """The response itself is one JSON object that the schema admits, with every field in place.

    A response that was read by fallback does not conform, whatever it holds.
    """

    kind: ClassVar[str] = "json_schema"
    schema: Mapping[str, Any]

    def parameter_problems(self) -> Iterator[tuple[str, str]]:
        """Refuse an invalid JSON Schema, and references outside the document."""
        for path, reference in _find_references(self.schema):
            if not reference.startswith("#"):
                yield (
                    path,
                    f"{quote_excerpt(reference)} leads outside; only #… within the schema may be",
                )
                return
        if is_simple_schema(self.schema):
            return
        if self._size.checks > MAX_CHECKS:
            yield "schema", f"takes more than {MAX_CHECKS:,} checks even without any nesting"
            return
        try:
            self._validator.is_valid({})
        except ValueError as error:
            yield from _find_unknown_types(self.schema) or [_describe_error(error)]

    @cached_property
    def checks_keys_only(self) -> bool:
        """Whether the schema only asks for keys, and admits any text under them.

        Then the cell of an object of texts depends on its keys alone.
        """
        if not set(self.schema) <= _KEY_KEYWORDS or self.schema.get("type", "object") != "object":
            return False
        known, rest = (
            self.schema.get("properties", {}),
            self.schema.get("additionalProperties", True),
        )
        if rest is False:
            return bool(known) and all(map(_can_hold_any_text, known.values()))
        return all(map(_can_hold_any_text, [*known.values(), rest]))

    def get_cell_key(self, response: Response) -> Hashable:
        """Return what the cell depends on, or `None` if that is the whole response."""
        if response.document is None or response.reading is Reading.FENCED:
            return "read as", response.reading, response.why
        if self.checks_keys_only and set(map(type, response.document.values())) <= {str}:
            return "keys", *response.document
        return None

    @cached_property
    def _size(self) -> SchemaSize:
        return SchemaSize(self.schema)

    @cached_property
    def _validator(self) -> jsonschema_rs.Validator:
        import jsonschema_rs

        return jsonschema_rs.validator_for(
            json.loads(json.dumps(self.schema, default=_to_plain_json)),
            pattern_options=jsonschema_rs.RegexOptions(),
            retriever=_refuse_retrieval,
        )

    def mark(self, response: Response, item: Item) -> Cell:  # noqa: ARG002 - same for every item
        """Give the first violations with their paths, or why the response is no object."""
        if response.reading is Reading.FENCED:
            return Cell.missed(
                sentence("the JSON object stands in a code fence; the response must be bare")
            )
        if response.document is None:
            return Cell.missed(sentence("the response is no JSON object: {why}", why=response.why))
        most = None if is_simple_schema(self.schema) else self._size.max_depth
        if most is not None and measure_depth(response.document) > most:
            return Cell.failed(
                sentence(
                    "the object is nested deeper than {most} levels, the most for a schema that"
                    " refers to itself in several alternatives",
                    most=most,
                )
            )
        try:
            violations = [
                _format_violation(error)
                for error in islice(self._find_errors(response), _MAX_SHOWN_VIOLATIONS + 1)
            ]
        # The object is nested too deep, or holds a number too long or a lone surrogate.
        except ValueError as error:
            return Cell.missed(
                sentence("the object is too hard to hold to be checked: {words}", words=error)
            )
        violations += [
            sentence(
                "{field}: an axis reads this field and does not find what it can read", field=name
            )
            for name in response.lacking
            if not any(f'"{name}"' in told or told.startswith(f"{name}:") for told in violations)
        ]
        if violations:
            told = join_messages("; ", violations[:_MAX_SHOWN_VIOLATIONS])
            if len(violations) > _MAX_SHOWN_VIOLATIONS:
                told = sentence("{violations}; and more", violations=told)
            return Cell.missed(told)
        return Cell.passed(sentence("conforms to the schema"))

    def _find_errors(self, response: Response) -> Iterator[jsonschema_rs.ValidationError]:
        return iter(self._validator.iter_errors(response.document))


def _can_hold_any_text(schema: Any) -> bool:
    if schema is True:
        return True
    if not isinstance(schema, Mapping) or not set(schema) <= {"type", *_ANNOTATION_KEYWORDS}:
        return False
    types = schema.get("type", "string")
    return types == "string" or (not isinstance(types, str) and "string" in types)


def is_simple_schema(schema: Any) -> bool:
    """Return whether a schema has only common keywords, used correctly.

    Such a schema is valid, so no validator needs to be loaded to check it.
    """
    if not isinstance(schema, Mapping) or not set(schema) <= _USUAL_KEYWORDS:
        return False
    required, known = schema.get("required", ()), schema.get("properties", {})
    return (
        schema.get("type", "object") in _TYPES
        and isinstance(schema.get("additionalProperties", True), bool)
        and isinstance(required, list | tuple)
        and {str}.issuperset(map(type, required))
        and len(set(required)) == len(required)
        and isinstance(known, Mapping)
        and all(map(is_simple_schema, known.values()))
    )


def _format_violation(error: jsonschema_rs.ValidationError) -> str:
    path = ".".join(map(str, error.instance_path)) or "(the object)"
    message = (
        error.message
        if len(error.message) <= _MAX_MESSAGE_LENGTH
        else f"{error.message[:_MAX_MESSAGE_LENGTH]}…"
    )
    return f"{path}: {message}"


def _describe_error(error: ValueError) -> tuple[str, str]:
    """Return the field of an invalid JSON Schema and what is wrong there."""
    field = ".".join(["schema", *map(str, getattr(error, "instance_path", ()))])
    return field, f"not a JSON Schema: {str(error).splitlines()[0]}"


def _find_unknown_types(schema: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return each field `type` that names no type of JSON; values of other keys may hold any."""
    from markscheme.read.documents import describe_unknown_word

    problems = []
    pending: list[tuple[str, Any]] = [("schema", schema)]
    while pending:
        path, node = pending.pop(0)
        if isinstance(node, Mapping):
            unknown = [word for word in _list_type_words(node.get("type")) if word not in _TYPES]
            if unknown:
                message = describe_unknown_word(unknown[0], "type of JSON", _TYPES)
                problems.append((f"{path}.type", message))
            keys = (key for key in node if key not in _VALUE_KEYWORDS)
            pending += [(f"{path}.{key}", node[key]) for key in keys]
        elif isinstance(node, tuple):
            pending += [(f"{path}.{index}", inner) for index, inner in enumerate(node)]
    return problems


def _list_type_words(value: Any) -> tuple[Any, ...]:
    return (value,) if isinstance(value, str) else value if isinstance(value, tuple) else ()


def _find_references(node: Any, path: str = "schema") -> Iterator[tuple[str, str]]:
    pending = [(path, node)]
    while pending:
        here, value = pending.pop()
        if isinstance(value, Mapping):
            for key, inner in value.items():
                if key in REFERENCE_KEYS and isinstance(inner, str):
                    yield f"{here}.{key}", inner
                pending.append((f"{here}.{key}", inner))
        elif isinstance(value, list | tuple):
            pending.extend((f"{here}.{index}", inner) for index, inner in enumerate(value))


def _refuse_retrieval(uri: str) -> Any:
    raise ValueError(f"{uri} leads outside the document")


def _to_plain_json(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(type(value).__name__)
