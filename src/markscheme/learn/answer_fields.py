"""The fields in which a learner types an answer, made from the rubric's response schema.

A rubric without a schema gets one field for each field that an axis reads, and a rubric that reads
the whole text gets one field for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Any

from msgspec import Struct

from markscheme.mark import get_expectation_key
from markscheme.vocabulary import AxisSpec, Rubric, dump_json

WHOLE_TEXT = ""
"""The name of the only field where an answer is the whole text."""


class FieldKind(StrEnum):
    """How a field is typed."""

    LINE = "line"
    TEXT = "text"
    NUMBER = "number"
    CHOICE = "choice"


class AnswerField(Struct, frozen=True, kw_only=True):
    """One field of the form: its name in the answer, and its title for the learner.

    `leads` marks the fields that an axis compares with an expectation; the others are optional.
    """

    name: str
    title: str
    kind: FieldKind
    leads: bool
    options: tuple[str, ...] = ()


def list_answer_fields(rubric: Rubric) -> tuple[AnswerField, ...]:
    """Return the fields of an answer under a rubric, in the order of the schema."""
    properties = _find_schema_properties(rubric)
    if properties is None:
        names = [name for spec in rubric if (name := getattr(spec.axis, "reads", None)) is not None]
        properties = {name: {"type": "string"} for name in dict.fromkeys(names)}
    if not properties:
        title = next((spec.title or spec.name for spec in rubric), "")
        return (AnswerField(name=WHOLE_TEXT, title=title, kind=FieldKind.TEXT, leads=True),)
    return tuple(_build_field(rubric, name, schema) for name, schema in properties.items())


def build_answer(rubric: Rubric, typed: Mapping[str, str]) -> str:
    """Return the raw output that typed fields make: a JSON object, or the text itself.

    A field that is missing is empty, so a blank is an empty answer and never a missing one.
    """
    fields = list_answer_fields(rubric)
    if [field.name for field in fields] == [WHOLE_TEXT]:
        return typed.get(WHOLE_TEXT, "")
    return dump_json(
        {field.name: _read_value(field, typed.get(field.name, "")) for field in fields}
    )


def _find_schema_properties(rubric: Rubric) -> Mapping[str, Any] | None:
    for spec in rubric:
        schema = getattr(spec.axis, "schema", None)
        if isinstance(schema, Mapping) and isinstance(schema.get("properties"), Mapping):
            properties: Mapping[str, Any] = schema["properties"]
            return properties
    return None


def _build_field(rubric: Rubric, name: str, schema: Any) -> AnswerField:
    schema = schema if isinstance(schema, Mapping) else {}
    readers = list(_list_readers(rubric, name))
    options = schema.get("enum")
    leads = any(get_expectation_key(spec.axis) is not None for spec in readers)
    match schema.get("type"):
        case _ if isinstance(options, list | tuple):
            kind = FieldKind.CHOICE
        case "number" | "integer":
            kind = FieldKind.NUMBER
        case _:
            kind = FieldKind.LINE if leads else FieldKind.TEXT
    titled = [spec for spec in readers if spec.title]
    expecting = [spec for spec in titled if get_expectation_key(spec.axis) is not None]
    title = next((spec.title for spec in [*expecting, *titled]), name.replace("_", " "))
    return AnswerField(
        name=name,
        title=title,
        kind=kind,
        leads=leads,
        options=tuple(map(str, options)) if isinstance(options, list | tuple) else (),
    )


def _list_readers(rubric: Rubric, name: str) -> Iterator[AxisSpec]:
    return (spec for spec in rubric if getattr(spec.axis, "reads", None) == name)


def _read_value(field: AnswerField, text: str) -> Any:
    if field.kind is not FieldKind.NUMBER:
        return text
    try:
        number = Decimal(text.strip().replace(",", "."))
    except InvalidOperation:
        return text
    if not number.is_finite() or abs(number.adjusted()) > 15:  # noqa: PLR2004 - a double's digits
        return text
    return int(number) if number == number.to_integral_value() else float(number)
