"""Build the JSON Schemas of the rubric and exam formats from the models, for editors.

`make schemas` writes them to `builtin/schemas/`. This module is not behind the door of the package,
because no command needs it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from decimal import Decimal
from inspect import cleandoc
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from markscheme.read.documents.decisions import (
    DecisionTableModel,
    RequirementsModel,
    VerdictRulesModel,
    VerdictsModel,
)
from markscheme.read.documents.gates import GATE_MODELS
from markscheme.read.documents.models import (
    RATED_MODELS,
    CriterionGroupModel,
    CriterionModel,
    ExamModel,
    RubricModel,
    build_axis_models,
    build_check_model,
)
from markscheme.read.documents.validation import UNSET, Constraints, Converter, Model, ModelKey
from markscheme.vocabulary import Axis

Schema = dict[str, Any]

_COMPARISON_MODELS: dict[str, type[Model]] = {
    "verdict_rules": VerdictRulesModel,
    "decision_table": DecisionTableModel,
}
_SCHEMA_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_JSON_TYPES = {str: "string", bool: "boolean", int: "integer", NoneType: "null", dict: "object"}
_LENGTH_SUFFIXES = {"string": "Length", "array": "Items", "object": "Properties"}


def build_rubric_schema(kinds: Mapping[str, type[Axis]], steps: Collection[str]) -> Schema:
    """Return the JSON Schema of the rubric format, with one definition per axis kind and gate."""
    models_by_kind = {**build_axis_models(kinds, tuple(steps)), **RATED_MODELS}
    axes: list[type[Model]] = list(models_by_kind.values())
    gates = list(dict.fromkeys(GATE_MODELS.values()))
    builder = _SchemaBuilder()
    schema = builder.build_model_schema(RubricModel)
    for key, models in (("axes", axes), ("gates", gates)):
        schema["properties"][key]["items"] = {
            "oneOf": [builder.build_type_schema(model) for model in models]
        }
    for key, model in _COMPARISON_MODELS.items():
        schema["properties"][key] = builder.build_type_schema(model)
    verdicts = builder.build_model_schema(VerdictsModel)
    schema["properties"]["verdicts"] = verdicts["properties"]["verdicts"]
    schema["properties"] |= builder.build_model_schema(RequirementsModel)["properties"]
    schema["anyOf"] = [{"required": [key]} for key in ("axes", *_COMPARISON_MODELS)]
    schema["properties"]["tool_families"] = _build_families_schema()
    schema["properties"]["normalise"] = {"type": "array", "items": {"enum": list(steps)}}
    schema["$defs"] = dict(sorted(builder.definitions.items()))
    return _add_schema_header(schema, "markscheme rubric")


def _build_families_schema() -> Schema:
    """Return the schema of `tool_families`: a list of entries, or entries to add and to remove."""
    text = {"type": "string", "minLength": 1}
    from markscheme.read.tools import ENTRY_KEYS

    keys = dict.fromkeys(ENTRY_KEYS, text)
    entry = {"anyOf": [text, _build_closed_object(keys) | {"minProperties": 1}]}
    entries = {"type": "array", "items": entry}
    changed = _build_closed_object({"add": entries, "remove": entries})
    return {"type": "object", "additionalProperties": {"anyOf": [entries, changed]}}


def _build_closed_object(properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def build_exam_schema(
    expectations: Collection[str], checks: Mapping[str, type[Axis]], steps: Collection[str]
) -> Schema:
    """Return the JSON Schema of the exam format. Editors complete the given expectation keys.

    `checks` are the axis kinds that criteria may use as checks.
    """
    builder = _SchemaBuilder()
    schema = {"$defs": builder.definitions, **builder.build_model_schema(ExamModel)}
    item = builder.definitions["ItemModel"]
    text = {"type": "string"}
    alternatives = {"type": "array", "items": text, "minItems": 1}
    entries = {"type": "array", "items": {"anyOf": [text, alternatives]}, "minItems": 1}
    value = {"anyOf": [text, {"type": "number"}, entries]}
    item["properties"] |= dict.fromkeys(expectations, value)
    item["properties"]["criteria"] = _build_criteria_schema(builder, checks, tuple(steps), value)
    # Criteria may stand under another key, which an axis then names.
    item["additionalProperties"] = {"anyOf": [value, item["properties"]["criteria"]]}
    builder.definitions = dict(sorted(builder.definitions.items()))
    schema["$defs"] = builder.definitions
    return _add_schema_header(schema, "markscheme exam")


def _build_criteria_schema(
    builder: _SchemaBuilder,
    checks: Mapping[str, type[Axis]],
    steps: tuple[str, ...],
    expectation: Schema,
) -> Schema:
    """Return the schema of a list of criteria and groups of criteria."""
    entries = [builder.build_type_schema(model) for model in (CriterionModel, CriterionGroupModel)]
    criteria = {"type": "array", "items": {"anyOf": entries}, "minItems": 1}
    kinds = []
    for axis in checks.values():
        model = build_check_model(axis, steps)
        kinds.append(builder.build_type_schema(model))
        if "expects" in builder.definitions[model.__name__]["properties"]:
            builder.definitions[model.__name__]["additionalProperties"] = expectation
    criterion = builder.definitions[CriterionModel.__name__]
    criterion["properties"]["check"] = {"oneOf": kinds}
    criterion["oneOf"] = [{"required": ["says"]}, {"required": ["check"]}]
    builder.definitions[CriterionGroupModel.__name__]["properties"]["criteria"] = criteria
    return criteria


def _add_schema_header(schema: Schema, title: str) -> Schema:
    return {"$schema": _SCHEMA_DIALECT, **schema, "title": title}


class _SchemaBuilder:
    """Builds schemas of models, and collects the definitions that they refer to."""

    def __init__(self) -> None:
        self.definitions: dict[str, Schema] = {}

    def build_model_schema(self, model: type[Model]) -> Schema:
        """Return the schema of a model: an object with properties."""
        keys = model.get_keys().values()
        required = [key.alias for key in keys if key.required]
        return {
            "additionalProperties": model.allows_extra_keys,
            "description": cleandoc(model.__doc__ or ""),
            "properties": {key.alias: self._build_key_schema(key) for key in keys},
            **({"required": required} if required else {}),
            "title": model.__name__,
            "type": "object",
        }

    def _build_key_schema(self, key: ModelKey) -> Schema:
        schema = self.build_type_schema(key.hint)
        if not any("$ref" in arm for arm in schema.get("anyOf", [schema])):
            schema["title"] = key.alias.replace("_", " ").title()
        if not key.required and key.default is not UNSET:
            schema["default"] = _encode_default(key.default)
        return dict(sorted(schema.items()))

    def build_type_schema(self, hint: Any) -> Schema:
        """Return the schema of values annotated with a type."""
        origin, arguments = get_origin(hint), get_args(hint)
        if origin is Annotated:
            return self._build_constrained_schema(arguments[0], arguments[1:])
        if origin in {Union, UnionType}:
            arms = [self.build_type_schema(argument) for argument in arguments]
            return {"anyOf": [inner for arm in arms for inner in arm.get("anyOf", [arm])]}
        if origin is Literal:
            words = {"const": arguments[0]} if len(arguments) == 1 else {"enum": list(arguments)}
            return {**words, "type": "string"}
        if origin is list:
            return {"items": self.build_type_schema(arguments[0]), "type": "array"}
        if origin is dict:
            return self._build_mapping_schema(*arguments)
        if isinstance(hint, type) and issubclass(hint, Model):
            return self._build_reference(hint)
        return {} if hint is Any else {"type": _JSON_TYPES[hint]}

    def _build_reference(self, model: type[Model]) -> Schema:
        if model.__name__ not in self.definitions:
            # Reserve the name first, because a model may contain itself.
            self.definitions[model.__name__] = {}
            self.definitions[model.__name__] |= self.build_model_schema(model)
        return {"$ref": f"#/$defs/{model.__name__}"}

    def _build_mapping_schema(self, key: Any, value: Any) -> Schema:
        if key is str:
            return {
                "additionalProperties": value is Any or self.build_type_schema(value),
                "type": "object",
            }
        named = self.build_type_schema(key)
        schema = {
            "patternProperties": {named.pop("pattern"): self.build_type_schema(value)},
            "type": "object",
        }
        del named["type"]
        return dict(sorted({**schema, "propertyNames": named}.items())) if named else schema

    def _build_constrained_schema(self, hint: Any, notes: tuple[Any, ...]) -> Schema:
        converter = next((note for note in notes if isinstance(note, Converter)), None)
        if converter is not None:
            return dict(_thaw_schema(converter.schema))
        schema = self.build_type_schema(hint)
        for limits in (note for note in notes if isinstance(note, Constraints)):
            schema |= _build_limit_keywords(limits, schema["type"])
        return dict(sorted(schema.items()))


def _build_limit_keywords(limits: Constraints, json_type: str) -> Schema:
    # Lengths are `minLength` for text, `minItems` for a list, `minProperties` for a mapping.
    noun = _LENGTH_SUFFIXES.get(json_type, "")
    stated = {
        "minimum": limits.at_least,
        "maximum": limits.at_most,
        f"min{noun}": limits.shortest,
        f"max{noun}": limits.longest,
        "pattern": limits.pattern,
    }
    return {key: limit for key, limit in stated.items() if limit is not None}


def _thaw_schema(value: Any) -> Any:
    """Return a frozen schema as plain dicts and lists."""
    if isinstance(value, Mapping):
        return {key: _thaw_schema(inner) for key, inner in sorted(value.items())}
    return [_thaw_schema(inner) for inner in value] if isinstance(value, tuple) else value


def _encode_default(default: Any) -> Any:
    """Return a default as a JSON value."""
    return str(default) if isinstance(default, Decimal) else _thaw_schema(default)
