"""The axis kinds that a rubric can name, and the keys of items that they read by default."""

from __future__ import annotations

from collections.abc import Mapping

from markscheme.mark.axes.checks import CHECKS
from markscheme.mark.axes.criteria import CriteriaAxis
from markscheme.mark.axes.marked import RatedChoice, RatedScale
from markscheme.vocabulary import Axis

AXES: Mapping[str, type[Axis]] = {
    **CHECKS,
    "criteria": CriteriaAxis,
    "scale": RatedScale,
    "choice": RatedChoice,
}
EXPECTATIONS = (
    "expected_contains",
    "expected",
    "expected_one_of",
    "expected_pattern",
    "expected_number",
    "criteria",
)
"""The keys of an item that axes read by default."""
