"""Mark answers: read the response, judge each axis, build the breakdown.

`definition` is the reference implementation for one answer; `batch` gives the same result for many
in columns, and `axes` holds the kinds of axes that rubrics can name. Totals, gates and all that is
computed over several answers belong to `weigh`.
"""

from typing import TYPE_CHECKING, Any

from markscheme.mark.axis_cells import find_bounds, mark_cell
from markscheme.mark.axis_values import combine_axis_values, may_not_apply
from markscheme.mark.definition import (
    check_axes,
    check_exam,
    combine_values,
    compute_score,
    find_item_problems,
    find_leading_axis,
    get_expectation_key,
    get_expected,
    mark_answer,
)
from markscheme.mark.look_alikes import find_invisible, find_lookalike
from markscheme.mark.normalise import DEFAULT_STEPS, STEPS, fold, list_unused_steps, normalise
from markscheme.mark.response import read_response

if TYPE_CHECKING:
    from markscheme.mark.headings import Outline

__all__ = [
    "DEFAULT_STEPS",
    "STEPS",
    "Outline",
    "check_axes",
    "check_exam",
    "combine_axis_values",
    "combine_values",
    "compute_score",
    "find_bounds",
    "find_invisible",
    "find_item_problems",
    "find_leading_axis",
    "find_lookalike",
    "fold",
    "get_expectation_key",
    "get_expected",
    "list_unused_steps",
    "mark_answer",
    "mark_cell",
    "may_not_apply",
    "normalise",
    "read_response",
]


def __getattr__(name: str) -> Any:
    """Import `Outline` on first use: its patterns take 10 ms to compile; few rubrics need it."""
    if name != "Outline":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from markscheme.mark.headings import Outline

    return Outline
