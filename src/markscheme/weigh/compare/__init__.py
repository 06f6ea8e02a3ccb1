"""Comparing variants by ratings, and runs by their scores: verdicts, decision, evidence.

Every comparison follows the same path: observations in pairs (`pairs`), statistics computed from
them (`statistics`), a result with its JSON document (`result`) and sentences (`advice`). `ratings`
and `runs` say what is paired. Nothing here reads files or draws: files are read by
`markscheme.workflows`, pages are drawn by `markscheme.tell.compare`.
"""

from markscheme.weigh.compare.advice import describe_attempts, describe_doubts
from markscheme.weigh.compare.gaps import describe_gaps
from markscheme.weigh.compare.operating_characteristic import (
    DecisionChances,
    OperatingCharacteristic,
    Simulation,
    SimulationResult,
    compute_operating_characteristic,
)
from markscheme.weigh.compare.pairs import (
    AskedFirstCounts,
    AskedOrder,
    AttemptPairs,
    AttemptValues,
    PairedSummary,
    Sides,
    count_first,
    count_first_in_pairs,
    extract_single_attempts,
    find_first_asked,
    summarise_pairs,
)
from markscheme.weigh.compare.rating_order import RatedFirst
from markscheme.weigh.compare.ratings import collect_observations, compare_ratings
from markscheme.weigh.compare.result import (
    Aggregate,
    CheckSummary,
    Comparison,
    MetricSummary,
    Observed,
    PairComparison,
    PairedTag,
    Query,
    RunPair,
    RunsComparison,
    UnusedLog,
    VariantsComparison,
    adjust_pairs,
)
from markscheme.weigh.compare.rules import ComparisonRules, index_scores
from markscheme.weigh.compare.ruling import FollowUpRuling, RequirementOutcome, Ruling
from markscheme.weigh.compare.runs import ComparedRun, pair_runs, rename_by_subject
from markscheme.weigh.compare.statistics import (
    ComparisonPlan,
    Statistics,
    compute_non_inferiority_p,
    plan_comparison,
    summarise_axes,
)

__all__ = [
    "Aggregate",
    "AskedFirstCounts",
    "AskedOrder",
    "AttemptPairs",
    "AttemptValues",
    "CheckSummary",
    "ComparedRun",
    "Comparison",
    "ComparisonPlan",
    "ComparisonRules",
    "DecisionChances",
    "FollowUpRuling",
    "MetricSummary",
    "Observed",
    "OperatingCharacteristic",
    "PairComparison",
    "PairedSummary",
    "PairedTag",
    "Query",
    "RatedFirst",
    "RequirementOutcome",
    "Ruling",
    "RunPair",
    "RunsComparison",
    "Sides",
    "Simulation",
    "SimulationResult",
    "Statistics",
    "UnusedLog",
    "VariantsComparison",
    "adjust_pairs",
    "collect_observations",
    "compare_ratings",
    "compute_non_inferiority_p",
    "compute_operating_characteristic",
    "count_first",
    "count_first_in_pairs",
    "describe_attempts",
    "describe_doubts",
    "describe_gaps",
    "extract_single_attempts",
    "find_first_asked",
    "index_scores",
    "pair_runs",
    "plan_comparison",
    "rename_by_subject",
    "summarise_axes",
    "summarise_pairs",
]
