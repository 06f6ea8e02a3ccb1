"""Gates for tests: on runs of two axes whose cells are given, so that every value is known."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

from markscheme import Exam, Gate, GateReport, Item, Level, Marks, Measures, Rubric, Run
from markscheme.mark.axes import MaxWords
from markscheme.vocabulary import UNKNOWN_SCORE, AxisSpec, FrozenDict
from markscheme.weigh.gates import evaluate_gates
from markscheme.weigh.totals import AxisValues

AXES = (
    AxisSpec(name="right", weight=Decimal("0.75"), axis=MaxWords(limit=1)),
    AxisSpec(name="brief", weight=Decimal("0.25"), axis=MaxWords(limit=1)),
)
Cells = tuple[Any, Any]
MIXED: dict[str, list[Cells]] = {"a": [(1, 1)], "b": [(0, 1)], "c": [(1, 0)], "d": [(1, 1)]}


def rubric(*gates: Gate, bar: str = "1") -> Rubric:
    return Rubric(
        name="r",
        version=1,
        axes=AXES,
        gates=gates,
        fingerprint="b2:r",
        pass_mark=Decimal(bar),
    )


def gate(metric: str = "score", **more: Any) -> Gate:
    limits: dict[str, Any] = {
        key: Decimal(more.pop(key)) for key in ("at_least", "at_most", "target") if key in more
    }
    level = more.pop("level", Level.HARD)
    return Gate(name=more.pop("name", "bar"), level=level, metric=metric, **limits, **more)


def exam_of(items: dict[str, list[Cells]], tags: dict[str, dict[str, str]] | None = None) -> Exam:
    given_tags = tags or {}
    made = (Item(id=i, prompt="?", tags=FrozenDict(given_tags.get(i, {}))) for i in items)
    return Exam(names=("e",), items=tuple(made), fingerprint="b2:e")


def run_of(items: dict[str, list[Cells]], *, errors: int = 0, **measures: Any) -> Run:
    counts: dict[str, dict[AxisValues, int]] = {}
    for item, answers in items.items():
        cells: list[AxisValues] = [
            tuple(UNKNOWN_SCORE if v is None else Fraction(v) for v in answer) for answer in answers
        ]
        counts[item] = {values: cells.count(values) for values in cells}
    marks = Marks(axes=("right", "brief"), items=counts, errors=errors)
    return Run(
        name="mine",
        rubric="b2:r",
        exam="b2:e",
        marks=marks,
        measures=Measures(answers=marks.answers, **measures),
    )


def judged(
    items: dict[str, list[Cells]],
    *gates: Gate,
    bar: str = "1",
    tags: dict[str, dict[str, str]] | None = None,
    **run: Any,
) -> GateReport:
    return evaluate_gates(rubric(*gates, bar=bar), exam_of(items, tags), run_of(items, **run))
