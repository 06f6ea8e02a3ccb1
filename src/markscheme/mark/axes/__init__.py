"""The axes that rubrics can name. A new kind is one class and one line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.mark.axes.budget import TokenBudget
from markscheme.mark.axes.contract import JsonSchema
from markscheme.mark.axes.numeric import NumberWithin
from markscheme.mark.axes.pattern import Pattern
from markscheme.mark.axes.size import Length, MaxWords
from markscheme.mark.axes.structure import Citations, Sections
from markscheme.mark.axes.text import ContainsAll, Equals, OneOf
from markscheme.mark.axes.trace import CallLimit, CallOrder, ForbiddenCalls

if TYPE_CHECKING:
    from collections.abc import Mapping

    from markscheme.vocabulary import Axis

_KINDS: tuple[type[Axis], ...] = (
    ContainsAll,
    Equals,
    OneOf,
    Pattern,
    NumberWithin,
    Length,
    MaxWords,
    JsonSchema,
    Sections,
    TokenBudget,
    Citations,
    CallOrder,
    CallLimit,
    ForbiddenCalls,
)
AXES: Mapping[str, type[Axis]] = {axis.kind: axis for axis in _KINDS}
