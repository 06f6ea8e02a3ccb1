"""The axis kinds that code decides: a rubric can name them, and so can the check of a criterion.

To add a kind, write one class and one line in `CHECKS`. If it has a default for `expects`, add that
key to `EXPECTATIONS` in `registry` in the same order. CONTRIBUTING.md lists the other steps.
"""

from __future__ import annotations

from collections.abc import Mapping

from markscheme.mark.axes.json_schema import JsonSchema
from markscheme.mark.axes.length import Length, MaxWords
from markscheme.mark.axes.number import NumberWithin
from markscheme.mark.axes.pattern import PatternAxis
from markscheme.mark.axes.structure import Citations, Sections
from markscheme.mark.axes.text import ContainsAll, Equals, OneOf
from markscheme.mark.axes.token_budget import TokenBudget
from markscheme.mark.axes.trace import CallLimit, CallOrder, ForbiddenCalls
from markscheme.vocabulary import Axis

CHECKS: Mapping[str, type[Axis]] = {
    "contains_all": ContainsAll,
    "equals": Equals,
    "one_of": OneOf,
    "pattern": PatternAxis,
    "number_within": NumberWithin,
    "length": Length,
    "max_words": MaxWords,
    "json_schema": JsonSchema,
    "sections": Sections,
    "token_budget": TokenBudget,
    "citations": Citations,
    "call_order": CallOrder,
    "call_limit": CallLimit,
    "forbidden_calls": ForbiddenCalls,
}
