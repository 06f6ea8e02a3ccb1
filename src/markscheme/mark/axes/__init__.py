"""The axes that rubrics can name: one module for each family of kinds, and their registry.

An axis measures one thing about one answer and gives a reason. Weights, directions and thresholds
belong to the rubric, not to an axis.
"""

from markscheme.mark.axes.base import (
    ALTERNATIVE_BAR,
    TextAxis,
    compute_cell_keys,
    format_expected,
    iterate_texts,
    list_alternatives,
    quote_excerpt,
)
from markscheme.mark.axes.checks import CHECKS
from markscheme.mark.axes.criteria import (
    BelowZero,
    CriteriaAxis,
    CriterionFinding,
    describe_criterion,
    format_criteria,
)
from markscheme.mark.axes.json_schema import JsonSchema, is_simple_schema
from markscheme.mark.axes.length import Length, MaxWords, Unit
from markscheme.mark.axes.marked import (
    NOT_APPLICABLE_MARK,
    MarkedAxis,
    RatedChoice,
    RatedScale,
)
from markscheme.mark.axes.number import NumberWithin
from markscheme.mark.axes.pattern import PatternAxis, find_match
from markscheme.mark.axes.plugins import (
    FILE_MODULE_PREFIX,
    AxisRegistry,
    find_axis_problem,
    load_plugin_file,
)
from markscheme.mark.axes.registry import AXES, EXPECTATIONS
from markscheme.mark.axes.structure import Citations, Sections
from markscheme.mark.axes.text import ComparingAxis, ContainsAll, Equals, Match, OneOf
from markscheme.mark.axes.token_budget import (
    TokenBudget,
    Tokenizer,
    has_token_counter,
    load_token_counter,
)
from markscheme.mark.axes.trace import Agents, CallLimit, CallOrder, ForbiddenCalls, TraceAxis

__all__ = [
    "ALTERNATIVE_BAR",
    "AXES",
    "CHECKS",
    "EXPECTATIONS",
    "FILE_MODULE_PREFIX",
    "NOT_APPLICABLE_MARK",
    "Agents",
    "AxisRegistry",
    "BelowZero",
    "CallLimit",
    "CallOrder",
    "Citations",
    "ComparingAxis",
    "ContainsAll",
    "CriteriaAxis",
    "CriterionFinding",
    "Equals",
    "ForbiddenCalls",
    "JsonSchema",
    "Length",
    "MarkedAxis",
    "Match",
    "MaxWords",
    "NumberWithin",
    "OneOf",
    "PatternAxis",
    "RatedChoice",
    "RatedScale",
    "Sections",
    "TextAxis",
    "TokenBudget",
    "Tokenizer",
    "TraceAxis",
    "Unit",
    "compute_cell_keys",
    "describe_criterion",
    "find_axis_problem",
    "find_match",
    "format_criteria",
    "format_expected",
    "has_token_counter",
    "is_simple_schema",
    "iterate_texts",
    "list_alternatives",
    "load_plugin_file",
    "load_token_counter",
    "quote_excerpt",
]
