"""The JSON Schemas of the two formats, made from the models, so that editors complete them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic.json_schema import models_json_schema

from markscheme.read.decisions import DecisionTableModel, VerdictRulesModel, VerdictsModel
from markscheme.read.families import ENTRY_KEYS
from markscheme.read.gates import MODELS as GATES
from markscheme.read.models import RATED, ExamModel, RubricModel, axis_models

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from pydantic import BaseModel

    from markscheme.vocabulary import Axis

_COMPARISON: dict[str, type[BaseModel]] = {
    "verdict_rules": VerdictRulesModel,
    "decision_table": DecisionTableModel,
}
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def rubric_schema(kinds: Mapping[str, type[Axis]], steps: Collection[str]) -> dict[str, Any]:
    """Return the schema of a rubric: an axis is chosen by its `kind`, a gate by its `metric`."""
    axes: list[type[BaseModel]] = [*axis_models(kinds, tuple(steps)).values(), *RATED.values()]
    gates = list(dict.fromkeys(GATES.values()))
    references, definitions = models_json_schema(
        [(model, "validation") for model in (*axes, *gates, *_COMPARISON.values())],
        ref_template="#/$defs/{model}",
    )
    schema = RubricModel.model_json_schema()
    for key, models in (("axes", axes), ("gates", gates)):
        one_of = [references[model, "validation"] for model in models]
        schema["properties"][key]["items"] = {"oneOf": one_of}
    for key, model in _COMPARISON.items():
        schema["properties"][key] = references[model, "validation"]
    schema["properties"]["verdicts"] = VerdictsModel.model_json_schema()["properties"]["verdicts"]
    schema["anyOf"] = [{"required": [key]} for key in ("axes", *_COMPARISON)]
    schema["properties"]["tool_families"] = _families()
    schema["properties"]["normalise"] = {"type": "array", "items": {"enum": list(steps)}}
    schema["$defs"] = {**schema.get("$defs", {}), **definitions["$defs"]}
    return _finished(schema, "markscheme rubric")


def _families() -> dict[str, Any]:
    """Return the schema of families of tools: a list, or what is added and removed."""
    text = {"type": "string", "minLength": 1}
    keys = dict.fromkeys(ENTRY_KEYS, text)
    entry = {"anyOf": [text, _closed(keys) | {"minProperties": 1}]}
    entries = {"type": "array", "items": entry}
    changed = _closed({"add": entries, "remove": entries})
    return {"type": "object", "additionalProperties": {"anyOf": [entries, changed]}}


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def exam_schema(expectations: Collection[str]) -> dict[str, Any]:
    """Return the schema of an exam; the usual expectations are completed, others are admitted."""
    schema = ExamModel.model_json_schema()
    item = schema["$defs"]["ItemModel"]
    text = {"type": "string"}
    value = {"anyOf": [text, {"type": "number"}, {"type": "array", "items": text, "minItems": 1}]}
    item["properties"] |= dict.fromkeys(expectations, value)
    item["additionalProperties"] = value
    return _finished(schema, "markscheme exam")


def _finished(schema: dict[str, Any], title: str) -> dict[str, Any]:
    return {"$schema": _DIALECT, **schema, "title": title}
