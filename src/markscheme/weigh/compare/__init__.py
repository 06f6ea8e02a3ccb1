"""TODO compare."""

from markscheme.weigh.compare.attempt_pairs import (
    AttemptPairs,
    AttemptValues,
    describe_attempts,
    extract_single_attempts,
)
from markscheme.weigh.compare.build import compare_ratings
from markscheme.weigh.compare.conclusions import describe_doubts
from markscheme.weigh.compare.observations import collect_observations
from markscheme.weigh.compare.operating_characteristic import (
    DecisionChances,
    OperatingCharacteristic,
    Simulation,
    SimulationResult,
    compute_operating_characteristic,
)
from markscheme.weigh.compare.order_effects import (
    AskedFirstCounts,
    AskedOrder,
    count_first,
    count_first_in_pairs,
    find_first_asked,
)
from markscheme.weigh.compare.planning import ComparisonPlan, plan_comparison
from markscheme.weigh.compare.result import (
    Aggregate,
    CheckSummary,
    Comparison,
    MetricSummary,
    Observed,
    Query,
    Ruling,
    Sides,
)
from markscheme.weigh.compare.rules import ComparisonRules, index_scores
from markscheme.weigh.compare.run_advice import rename_by_subject
from markscheme.weigh.compare.runs import ComparedRun, PairedTag, RunPair, RunsComparison, pair_runs
from markscheme.weigh.compare.statistics import (
    PairedSummary,
    Statistics,
    compute_non_inferiority_p,
    summarise_axes,
    summarise_pairs,
)
from markscheme.weigh.compare.variants import VariantsComparison, adjust_variant_pairs

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
    "MetricSummary",
    "Observed",
    "OperatingCharacteristic",
    "PairedSummary",
    "PairedTag",
    "Query",
    "Ruling",
    "RunPair",
    "RunsComparison",
    "Sides",
    "Simulation",
    "SimulationResult",
    "Statistics",
    "VariantsComparison",
    "adjust_variant_pairs",
    "collect_observations",
    "compare_ratings",
    "compute_non_inferiority_p",
    "compute_operating_characteristic",
    "count_first",
    "count_first_in_pairs",
    "describe_attempts",
    "describe_doubts",
    "extract_single_attempts",
    "find_first_asked",
    "index_scores",
    "pair_runs",
    "plan_comparison",
    "rename_by_subject",
    "summarise_axes",
    "summarise_pairs",
]
