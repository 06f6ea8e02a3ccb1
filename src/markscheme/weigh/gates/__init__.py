"""Gates: decide whether a run passes, fails, or cannot be decided, and say why.

"Why did this gate say undecided?" Start at `evaluate_gates` in `judge`: its module docstring lists
the reasons within a run. (A run that is still open is refused before that, in `workflows/gate.py`.)
`outcomes` holds the results: a `GateReport` with the verdict on the run, and one
`GateOutcome` per gate with what was observed, the margin, and `because`. `metrics` computes the
number that a gate limits; `baseline` compares a run with its baseline and tests whether a drop is
more than noise; `calibration` says whether a gate may rest on the marks of a judge.

Everything is computed from a `Run` in exact numbers. Reading gate documents, finding runs and
baselines in a store, and showing outcomes are done elsewhere.
"""

from markscheme.vocabulary import Evidence
from markscheme.weigh.gates.baseline import evaluate_non_inferiority
from markscheme.weigh.gates.calibration import CALIBRATE_COMMAND, find_doubt
from markscheme.weigh.gates.judge import build_undecided_report, evaluate_gates, mismatch_reason
from markscheme.weigh.gates.metrics import is_cost_metric
from markscheme.weigh.gates.outcomes import (
    AxisChange,
    BaselineReport,
    GateOutcome,
    GateReport,
    ItemChange,
    ItemLoss,
    NonInferiority,
)

__all__ = [
    "CALIBRATE_COMMAND",
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
    "find_doubt",
    "is_cost_metric",
    "mismatch_reason",
]
