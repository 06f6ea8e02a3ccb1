"""The JSON Schemas of the two formats, made from the models, so that editors complete them."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from inspect import cleandoc
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

from markscheme.read.decisions import DecisionTableModel, VerdictRulesModel, VerdictsModel
from markscheme.read.families import ENTRY_KEYS
from markscheme.read.gates import MODELS as GATES
from markscheme.read.models import RATED, ExamModel, RubricModel, axis_models
from markscheme.read.shapes import UNSAID, Limits, Made, Model

if TYPE_CHECKING:
    from collections.abc import Collection

    from markscheme.read.shapes import Key
    from markscheme.vocabulary import Axis

    Schema = dict[str, Any]

_COMPARISON: dict[str, type[Model]] = {
    "verdict_rules": VerdictRulesModel,
    "decision_table": DecisionTableModel,
}
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TYPES = {str: "string", bool: "boolean", int: "integer", NoneType: "null", dict: "object"}
_LENGTHS = {"string": "Length", "array": "Items", "object": "Properties"}


def rubric_schema(kinds: Mapping[str, type[Axis]], steps: Collection[str]) -> Schema:
    """Return the schema of a rubric: an axis is chosen by its `kind`, a gate by its `metric`."""
    axes: list[type[Model]] = [*axis_models(kinds, tuple(steps)).values(), *RATED.values()]
    gates = list(dict.fromkeys(GATES.values()))
    found = _Schemas()
    schema = found.of_model(RubricModel)
    for key, models in (("axes", axes), ("gates", gates)):
        schema["properties"][key]["items"] = {"oneOf": [found.of(model) for model in models]}
    for key, model in _COMPARISON.items():
        schema["properties"][key] = found.of(model)
    schema["properties"]["verdicts"] = found.of_model(VerdictsModel)["properties"]["verdicts"]
    schema["anyOf"] = [{"required": [key]} for key in ("axes", *_COMPARISON)]
    schema["properties"]["tool_families"] = _families()
    schema["properties"]["normalise"] = {"type": "array", "items": {"enum": list(steps)}}
    schema["$defs"] = dict(sorted(found.definitions.items()))
    return _finished(schema, "markscheme rubric")


def _families() -> Schema:
    """Return the schema of families of tools: a list, or what is added and removed."""
    text = {"type": "string", "minLength": 1}
    keys = dict.fromkeys(ENTRY_KEYS, text)
    entry = {"anyOf": [text, _closed(keys) | {"minProperties": 1}]}
    entries = {"type": "array", "items": entry}
    changed = _closed({"add": entries, "remove": entries})
    return {"type": "object", "additionalProperties": {"anyOf": [entries, changed]}}


def _closed(properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def exam_schema(expectations: Collection[str]) -> Schema:
    """Return the schema of an exam; the usual expectations are completed, others are admitted."""
    found = _Schemas()
    schema = {"$defs": found.definitions, **found.of_model(ExamModel)}
    item = found.definitions["ItemModel"]
    text = {"type": "string"}
    value = {"anyOf": [text, {"type": "number"}, {"type": "array", "items": text, "minItems": 1}]}
    item["properties"] |= dict.fromkeys(expectations, value)
    item["additionalProperties"] = value
    return _finished(schema, "markscheme exam")


def _finished(schema: Schema, title: str) -> Schema:
    return {"$schema": _DIALECT, **schema, "title": title}


class _Schemas:
    """Schemas of models, and the definitions that they refer to."""

    def __init__(self) -> None:
        self.definitions: dict[str, Schema] = {}

    def of_model(self, model: type[Model]) -> Schema:
        """Return the schema of a mapping with keys."""
        keys = model.own_keys().values()
        required = [key.alias for key in keys if key.required]
        return {
            "additionalProperties": model.open,
            "description": cleandoc(model.__doc__ or ""),
            "properties": {key.alias: self._of_key(key) for key in keys},
            **({"required": required} if required else {}),
            "title": model.__name__,
            "type": "object",
        }

    def _of_key(self, key: Key) -> Schema:
        schema = self.of(key.hint)
        if not any("$ref" in arm for arm in schema.get("anyOf", [schema])):
            schema["title"] = key.alias.replace("_", " ").title()
        if not key.required and key.default is not UNSAID:
            schema["default"] = _written(key.default)
        return dict(sorted(schema.items()))

    def of(self, hint: Any) -> Schema:
        """Return the schema of what is annotated with a type."""
        origin, arguments = get_origin(hint), get_args(hint)
        if origin is Annotated:
            return self._limited(arguments[0], arguments[1:])
        if origin in {Union, UnionType}:
            arms = [self.of(argument) for argument in arguments]
            return {"anyOf": [inner for arm in arms for inner in arm.get("anyOf", [arm])]}
        if origin is Literal:
            words = {"const": arguments[0]} if len(arguments) == 1 else {"enum": list(arguments)}
            return {**words, "type": "string"}
        if origin is list:
            return {"items": self.of(arguments[0]), "type": "array"}
        if origin is dict:
            return self._mapping(*arguments)
        if isinstance(hint, type) and issubclass(hint, Model):
            return self._reference(hint)
        return {} if hint is Any else {"type": _TYPES[hint]}

    def _reference(self, model: type[Model]) -> Schema:
        if model.__name__ not in self.definitions:
            self.definitions[model.__name__] = {}  # it may hold itself
            self.definitions[model.__name__] |= self.of_model(model)
        return {"$ref": f"#/$defs/{model.__name__}"}

    def _mapping(self, key: Any, value: Any) -> Schema:
        if key is str:
            return {"additionalProperties": value is Any or self.of(value), "type": "object"}
        named = self.of(key)
        found = {"patternProperties": {named.pop("pattern"): self.of(value)}, "type": "object"}
        del named["type"]
        return dict(sorted({**found, "propertyNames": named}.items())) if named else found

    def _limited(self, hint: Any, notes: tuple[Any, ...]) -> Schema:
        made = next((note for note in notes if isinstance(note, Made)), None)
        if made is not None:
            return dict(_plain(made.schema))
        schema = self.of(hint)
        for limits in (note for note in notes if isinstance(note, Limits)):
            schema |= _bounds(limits, _LENGTHS.get(schema["type"], ""))
        return dict(sorted(schema.items()))


def _bounds(limits: Limits, of: str) -> Schema:
    stated = {
        "minimum": limits.at_least,
        "maximum": limits.at_most,
        f"min{of}": limits.shortest,
        f"max{of}": limits.longest,
        "pattern": limits.pattern,
    }
    return {key: limit for key, limit in stated.items() if limit is not None}


def _plain(value: Any) -> Any:
    """Return a frozen schema as one that can be added to."""
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in sorted(value.items())}
    return [_plain(inner) for inner in value] if isinstance(value, tuple) else value


def _written(default: Any) -> Any:
    """Return a default as JSON can hold it."""
    return str(default) if isinstance(default, Decimal) else _plain(default)
