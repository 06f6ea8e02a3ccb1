"""What became of one item in a judged run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any

from markscheme.vocabulary.frozen import FrozenDict

Row = Mapping[str, Any]
"""One answer as `score` gives it: a row of a result's frame."""


class ItemStatus(StrEnum):
    """What became of an item; only the first is good."""

    PASSED = "passed"
    FAILED = "failed"
    UNSCORED = "unscored"
    MISSING = "missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemReport:
    """One item: its exact means over its attempts, and some of its answers.

    `answers` are rows as `score` gives them, there only where somebody asked for reasons: those
    that lost points, or the first of all. `more` counts those that were left out.
    """

    item: str
    status: ItemStatus
    score: Fraction | None
    axes: Mapping[str, Fraction | None] = field(default_factory=FrozenDict)
    answers: tuple[Row, ...] = ()
    more: int = 0
