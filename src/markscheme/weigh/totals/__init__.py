"""TODO totals."""

from markscheme.weigh.totals.marks import AxisValues, Marks
from markscheme.weigh.totals.measures import Measures, MeasureTotal
from markscheme.weigh.totals.operations import (
    METRICS,
    OperationalMetric,
    OperationGroup,
    OperationsCollector,
    build_variant_records,
    parse_operation_group,
)
from markscheme.weigh.totals.run import Run, explain_incomplete
from markscheme.weigh.totals.summaries import (
    ScoreTotals,
    WeightScale,
    summarise_marks,
    summarise_tags,
)
from markscheme.weigh.totals.tally import AnswerCounts, RunTally

__all__ = [
    "METRICS",
    "AnswerCounts",
    "AxisValues",
    "Marks",
    "MeasureTotal",
    "Measures",
    "OperationGroup",
    "OperationalMetric",
    "OperationsCollector",
    "Run",
    "RunTally",
    "ScoreTotals",
    "WeightScale",
    "build_variant_records",
    "explain_incomplete",
    "parse_operation_group",
    "summarise_marks",
    "summarise_tags",
]
