"""Totals of a run in exact numbers: from counted answers to means.

- `marks`: how often each item got each set of axis values. Everything that is decided follows from
  them.
- `measures`: latency, cost and tokens of the answers.
- `run`: one subject's marks and measures, as gates, baselines and history use them.
- `tally`: counts answers in batches while they are scored, and builds runs from the counts.
- `summaries`: applies the weights of a rubric to marks.
- `operations`: operational metrics of session logs.

Every `score` loads this package, so nothing here imports gates, statistics or comparisons at start.
"""

from markscheme.weigh.totals.marks import (
    AxisValues,
    Marks,
    is_bounds,
    is_unscored,
    read_axis_values,
    recover_axis_value,
)
from markscheme.weigh.totals.measures import Measures, MeasureTotal
from markscheme.weigh.totals.operations import (
    METRICS,
    OperationalMetric,
    OperationGroup,
    OperationsCollector,
    build_variant_records,
    parse_operation_group,
)
from markscheme.weigh.totals.run import Run, explain_incomplete, parse_judging_records
from markscheme.weigh.totals.summaries import (
    ScoreTotals,
    Total,
    UnknownAnswers,
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
    "Total",
    "UnknownAnswers",
    "WeightScale",
    "build_variant_records",
    "explain_incomplete",
    "is_bounds",
    "is_unscored",
    "parse_judging_records",
    "parse_operation_group",
    "read_axis_values",
    "recover_axis_value",
    "summarise_marks",
    "summarise_tags",
]
