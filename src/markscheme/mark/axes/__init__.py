"""The axes that rubrics can name. A new kind is one class and one line here.

A rubric uses few of them, so the module of a kind is loaded when the kind is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.vocabulary import Axis

# Where the kind is, and the key of an item that it reads unless it is told otherwise.
_KINDS = {
    "contains_all": ("text.ContainsAll", "expected_contains"),
    "equals": ("text.Equals", "expected"),
    "one_of": ("text.OneOf", "expected_one_of"),
    "pattern": ("pattern.PatternAxis", "expected_pattern"),
    "number_within": ("numeric.NumberWithin", "expected_number"),
    "length": ("size.Length", None),
    "max_words": ("size.MaxWords", None),
    "json_schema": ("contract.JsonSchema", None),
    "sections": ("structure.Sections", None),
    "token_budget": ("budget.TokenBudget", None),
    "citations": ("structure.Citations", None),
    "call_order": ("trace.CallOrder", None),
    "call_limit": ("trace.CallLimit", None),
    "forbidden_calls": ("trace.ForbiddenCalls", None),
}


class _AxisRegistry(Mapping[str, "type[Axis]"]):
    """The kinds by name, in the order above."""

    def __getitem__(self, kind: str) -> type[Axis]:
        module, _, name = _KINDS[kind][0].partition(".")
        axis: type[Axis] = getattr(import_module(f"{__name__}.{module}"), name)
        return axis

    def __iter__(self) -> Iterator[str]:
        return iter(_KINDS)

    def __len__(self) -> int:
        return len(_KINDS)


AXES: Mapping[str, type[Axis]] = _AxisRegistry()
EXPECTATIONS = tuple(key for _, key in _KINDS.values() if key is not None)
"""The keys of an item that the kinds read unless they are told otherwise."""
