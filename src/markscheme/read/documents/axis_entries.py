"""Build axes from validated entries: the axes of a rubric, and the checks of criteria."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from markscheme.read.documents.models import get_parameter_types
from markscheme.read.documents.validation import Model
from markscheme.vocabulary import Axis, FrozenDict


def build_axis(model: Model, kind: type[Axis], inherited: Mapping[str, Any]) -> Axis:
    """Return an axis with the parameters that its entry states.

    Parameters that are not stated get the value that is `inherited`, else keep their default.
    """
    fields = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    stated = {
        key.alias: getattr(model, name)
        for name, key in model.get_keys().items()
        if name in model.stated_keys and key.alias in fields
    }
    for name, value in inherited.items():
        if name in fields and value is not None:
            stated.setdefault(name, value)
    types = get_parameter_types(kind)
    parameters = {
        name: float(value)
        if types[name] is float
        else _freeze_parameter(value, fields[name].default)
        for name, value in stated.items()
        if value is not None
    }
    return kind(**parameters)


def _freeze_parameter(value: Any, default: Any) -> Any:
    """Freeze lists and mappings, and turn a word into the enum member that the field holds."""
    if isinstance(value, list | dict):
        return FrozenDict.freeze(value)
    if isinstance(value, str) and isinstance(default, str) and type(default) is not str:
        return type(default)(value)
    return value
