"""TODO gates."""

from markscheme.weigh.gates.evidence import evaluate_non_inferiority
from markscheme.weigh.gates.judge import build_undecided_report, evaluate_gates, mismatch_reason
from markscheme.weigh.gates.outcomes import (
    AxisChange,
    BaselineReport,
    Evidence,
    GateOutcome,
    GateReport,
    ItemChange,
    ItemLoss,
    NonInferiority,
)

__all__ = [
    "AxisChange",
    "BaselineReport",
    "Evidence",
    "GateOutcome",
    "GateReport",
    "ItemChange",
    "ItemLoss",
    "NonInferiority",
    "build_undecided_report",
    "evaluate_gates",
    "evaluate_non_inferiority",
    "mismatch_reason",
]
